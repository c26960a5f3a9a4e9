/// A dictionary in parts. A change to a copy copies only the parts that it changes.
struct ShardedMap<Key: Hashable & Sendable, Element: Sendable>: Sendable {
    private var shards: [[Key: Element]] = Array(repeating: [:], count: 256)

    subscript(key: Key) -> Element? {
        get { shards[Self.shard(of: key)][key] }
        set { shards[Self.shard(of: key)][key] = newValue }
    }

    /// Changes an element in place; it is `empty` where there is none.
    mutating func update(_ key: Key, default empty: @autoclosure () -> Element, _ body: (inout Element) -> Void) {
        body(&shards[Self.shard(of: key)][key, default: empty()])
    }

    private static func shard(of key: Key) -> Int {
        // The dictionaries' own hashes are seeded by their sizes, so that keys of one shard spread
        // in it.
        key.hashValue & 255
    }
}
