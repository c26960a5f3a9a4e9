public import SyncModel

/// What was deleted.
public struct RemovalResult: Hashable, Sendable {
    /// How many objects of each entity are gone, those included that went with others (cascade); entities without any are left out.
    public var counts: [String: Int]
    /// Those objects of each entity, in the order of their rows; empty unless they were asked for.
    public var keys: [String: [StoredKey]]

    /// Makes a result; of nothing where nothing is said.
    public init(counts: [String: Int] = [:], keys: [String: [StoredKey]] = [:]) {
        self.counts = counts
        self.keys = keys
    }
}

/// What an object was known by.
public struct StoredKey: Hashable, Sendable {
    /// What the store knew it by.
    public let row: Int64
    /// What it was found by: its identity, else its row.
    public let key: RecordKey

    /// Puts a row and its key together.
    public init(row: Int64, key: RecordKey) {
        self.row = row
        self.key = key
    }
}
