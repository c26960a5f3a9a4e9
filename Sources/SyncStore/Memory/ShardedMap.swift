/// A dictionary in parts. Changing a copy copies only the changed parts.
struct ShardedMap<Key: Hashable & Sendable, Element: Sendable>: Sendable {
    private var shards: [[Key: Element]] = Array(repeating: [:], count: 256)

    subscript(key: Key) -> Element? {
        get { shards[Self.shard(of: key)][key] }
        set { shards[Self.shard(of: key)][key] = newValue }
    }

    private static func shard(of key: Key) -> Int {
        // A dictionary seeds its hashes by its size, so that the keys of one shard spread within
        // it.
        key.hashValue & 255
    }
}
