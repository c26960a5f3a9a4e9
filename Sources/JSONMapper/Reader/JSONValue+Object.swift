extension JSONValue {
    /// The keys and values of a JSON object, in the order of the input. Keys are unique.
    ///
    /// Keys are compared by their UTF-8 bytes. Two objects are equal if they have the same keys and
    /// values, in any order.
    public struct Object: Sendable {
        /// A key and its value.
        public typealias Entry = (key: String, value: JSONValue)

        /// Objects with more keys than this have an index. For fewer keys, a linear search is
        /// faster.
        private static let indexedCount = 16

        /// The keys and values, in order.
        public private(set) var entries: [Entry] = []
        private var index: [[UInt8]: Int] = [:]

        /// Creates an object without keys.
        public init() {}

        /// The number of keys.
        public var count: Int { entries.count }

        /// The value of a key; nil if the object does not have the key.
        ///
        /// Setting a value for an existing key replaces the value in place. Setting a value for a
        /// new key appends it. Setting nil removes the key, in time linear in the number of keys.
        public subscript(key: String) -> JSONValue? {
            get { position(of: key).map { entries[$0].value } }
            set {
                switch (position(of: key), newValue) {
                case (let position?, let value?): entries[position].value = value
                case (let position?, nil):
                    entries.remove(at: position)
                    rebuildIndex()
                case (nil, let value?):
                    entries.append((key, value))
                    if entries.count > Self.indexedCount {
                        if index.isEmpty { rebuildIndex() } else { index[Array(key.utf8)] = entries.count - 1 }
                    }
                case (nil, nil): break
                }
            }
        }

        private func position(of key: String) -> Int? {
            guard entries.count <= Self.indexedCount else { return index[Array(key.utf8)] }
            return entries.firstIndex { $0.key.utf8.elementsEqual(key.utf8) }
        }

        private mutating func rebuildIndex() {
            index = [:]
            guard entries.count > Self.indexedCount else { return }
            for (position, entry) in entries.enumerated() { index[Array(entry.key.utf8)] = position }
        }
    }
}

extension JSONValue.Object: Equatable {
    /// Whether two objects have the same keys and values, in any order.
    public static func == (left: JSONValue.Object, right: JSONValue.Object) -> Bool {
        left.count == right.count && left.entries.allSatisfy { right[$0.key] == $0.value }
    }
}

extension JSONValue.Object: ExpressibleByDictionaryLiteral {
    /// Creates an object with keys and values in this order. For a repeated key, the last value
    /// wins and the first position is kept.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        for (key, value) in elements { self[key] = value }
    }
}
