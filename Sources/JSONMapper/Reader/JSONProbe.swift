/// Extracts the values at some key paths from a JSON value and skips the rest.
///
///     let probe = JSONProbe(["updated_at", "meta.deleted"])
///     let found = try probe.read(&cursor)       // [.string("2024-…"), nil]
///
/// A path leads through objects only. If a key occurs twice, the last value wins.
package struct JSONProbe: Sendable, Equatable {
    /// A key on the path to one or more of the values.
    struct Node: Sendable, Equatable {
        var key: [UInt8] = []
        /// The index of the key path that ends here; nil if none does.
        var slot: Int?
        var children: [Node] = []

        mutating func add(_ path: ArraySlice<[UInt8]>, slot: Int) {
            guard let first = path.first else {
                self.slot = slot
                return
            }
            let index =
                children.firstIndex { $0.key == first }
                ?? {
                    children.append(Node(key: first))
                    return children.count - 1
                }()
            children[index].add(path.dropFirst(), slot: slot)
        }

        func child(_ key: JSONSlice) -> Node? {
            children.first { key.equals($0.key) }
        }

        /// Reads a value and stores the requested parts of it.
        func read(_ cursor: inout JSONCursor, into values: inout [JSONValue?]) throws {
            if slot != nil { return take(try JSONValue(&cursor, exactDecimals: true), into: &values) }
            guard !children.isEmpty, try cursor.kind() == .object else { return try cursor.skipValue() }
            try cursor.beginObject()
            while let key = try cursor.nextKey() {
                if let child = child(key) {
                    try child.read(&cursor, into: &values)
                } else {
                    try cursor.skipValue()
                }
            }
        }

        private func take(_ value: JSONValue, into values: inout [JSONValue?]) {
            if let slot { values[slot] = value }
            for child in children {
                if let inner = value[String(decoding: child.key, as: UTF8.self)] { child.take(inner, into: &values) }
            }
        }
    }

    /// The key paths, as passed to the initializer.
    package let keyPaths: [String]
    let root: Node

    /// Creates a probe.
    ///
    /// - Parameter keyPaths: Keys separated by dots. No key path may be empty or occur twice.
    package init(_ keyPaths: [String]) {
        self.keyPaths = keyPaths
        var root = Node()
        for (slot, keyPath) in keyPaths.enumerated() {
            root.add(JSONKeyPath.keys(of: keyPath).map { Array($0.utf8) }[...], slot: slot)
        }
        self.root = root
    }

    /// Reads the next value to its end.
    ///
    /// - Returns: The value at each key path, in the order of ``keyPaths``; nil if there is none.
    /// - Throws: ``JSONFault`` if the input is malformed.
    package func read(_ cursor: inout JSONCursor) throws -> [JSONValue?] {
        var values = [JSONValue?](repeating: nil, count: keyPaths.count)
        try root.read(&cursor, into: &values)
        return values
    }
}
