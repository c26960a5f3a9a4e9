/// Extracts the values at some key paths from JSON values. Keys are compared by their names:
/// without case, underscores and hyphens.
///
/// The key path `has_more` finds `hasMore`, `HasMore` and `has-more`. A path leads through objects
/// only.
package struct JSONNameProbe: Sendable, Equatable {
    /// The values that were found: by the name of the key path, and by the key path as the document
    /// writes it. One name can have several values.
    package typealias Values = [String: [String: JSONValue]]

    /// A key on the path to one or more of the values.
    struct Node: Sendable, Equatable {
        /// The name of the key path that ends here; nil if none does.
        var end: String?
        /// The keys below this one, by name.
        var children: [String: Node] = [:]

        mutating func add(_ keys: ArraySlice<String>, end: String) {
            guard let first = keys.first else {
                self.end = end
                return
            }
            children[JSONNameProbe.name(of: first), default: Node()].add(keys.dropFirst(), end: end)
        }

        func child(_ key: String) -> Node? {
            children.isEmpty ? nil : children[JSONNameProbe.name(of: key)]
        }

        /// Reads a value and adds the requested parts of it.
        ///
        /// - Parameter path: The keys that lead to the value, as the document writes them.
        func read(_ cursor: inout JSONCursor, at path: [String], into values: inout Values) throws {
            if end != nil { return take(try JSONValue(&cursor, exactDecimals: true), at: path, into: &values) }
            guard try cursor.kind() == .object else { return try cursor.skipValue() }
            try cursor.beginObject()
            while let slice = try cursor.nextKey() {
                let key = slice.string
                if let child = child(key) {
                    try child.read(&cursor, at: path + [key], into: &values)
                } else {
                    try cursor.skipValue()
                }
            }
        }

        private func take(_ value: JSONValue, at path: [String], into values: inout Values) {
            if let end { values[end, default: [:]][JSONKeyPath.text(of: path)] = value }
            guard !children.isEmpty, case .object(let object) = value else { return }
            for (key, inner) in object.entries { child(key)?.take(inner, at: path + [key], into: &values) }
        }
    }

    private(set) var root = Node()

    /// Creates a probe.
    ///
    /// - Parameter keyPaths: Keys separated by dots. No key path may be empty.
    package init(_ keyPaths: [String]) {
        for keyPath in keyPaths { root.add(JSONKeyPath.keys(of: keyPath)[...], end: Self.name(of: keyPath)) }
    }

    /// The name of a key or a key path.
    package static func name(of key: String) -> String {
        let bytes = key.utf8.filter { $0 != UInt8(ascii: "_") && $0 != UInt8(ascii: "-") }
        let capitals = UInt8(ascii: "A")...UInt8(ascii: "Z")
        return String(decoding: bytes.map { capitals.contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    }
}
