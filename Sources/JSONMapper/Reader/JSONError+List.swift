extension JSONError {
    /// A list in a document that has none at its key path.
    public struct List: Hashable, Sendable {
        /// The keys that lead to the list, separated by dots.
        public var keyPath: String
        /// The number of elements, as far as the document was read.
        public var elementCount: Int
        /// Whether the list was read to its end.
        public var isWhole: Bool

        /// Creates a description of a list.
        public init(keyPath: String, elementCount: Int, isWhole: Bool = true) {
            self.keyPath = keyPath
            self.elementCount = elementCount
            self.isWhole = isWhole
        }

        /// The maximum number of lists.
        static let count = 8
        /// The maximum number of keys that lead to a list.
        fileprivate static let depth = 4

        /// A sentence that names lists, such as `its lists are items (2 elements) and tags (at
        /// least 9 elements); the key path chooses one`; nil without any.
        package static func text(_ lists: [JSONError.List]) -> String? {
            guard let last = lists.last else { return nil }
            guard lists.count > 1 else { return "its list is \(last); the key path chooses it" }
            let others = lists.dropLast().map { "\($0)" }.joined(separator: ", ")
            return "its lists are \(others) and \(last); the key path chooses one"
        }
    }
}

extension JSONError.List: CustomStringConvertible {
    /// The key path and the number of elements, such as `items (at least 300 elements)`.
    public var description: String {
        let count = elementCount == 1 ? "1 element" : "\(elementCount) elements"
        return "\(keyPath) (\(isWhole ? "" : "at least ")\(count))"
    }
}

extension JSONCursor {
    /// Reads a value, and adds the lists in it. Lists in the elements of lists are not added.
    ///
    /// - Parameters:
    ///   - path: The keys that lead to the value, none of them long.
    ///   - lists: The lists so far. After a fault, they include those that were read before it.
    /// - Throws: ``JSONFault`` as ``skipValue()`` does.
    mutating func readLists(at path: [String], into lists: inout [JSONError.List]) throws(JSONFault) {
        guard lists.count < JSONError.List.count, path.count <= JSONError.List.depth else { return try skipValue() }
        switch try kind() {
        case .array where !path.isEmpty:
            let index = lists.count
            lists.append(JSONError.List(keyPath: JSONKeyPath.text(of: path), elementCount: 0, isWhole: false))
            try beginArray()
            while try nextElement() {
                try skipValue()
                lists[index].elementCount += 1
            }
            lists[index].isWhole = true
        case .object:
            try beginObject()
            while let key = try nextKey() {
                if let name = JSONError.Missing.name(key) {
                    try readLists(at: path + [name], into: &lists)
                } else {
                    try skipValue()
                }
            }
        default: try skipValue()
        }
    }
}
