/// The objects that a removal deleted.
public struct RemovalResult: Hashable, Sendable {
    /// The number of deleted objects by entity name, including objects deleted by a cascade.
    ///
    /// Entities without deleted objects are left out.
    public var counts: [String: Int]
    /// The deleted objects by entity name, in the order of their numbers; empty unless requested.
    public var keys: [String: [StoredRecord.Key]]

    /// Creates a result.
    public init(counts: [String: Int] = [:], keys: [String: [StoredRecord.Key]] = [:]) {
        self.counts = counts
        self.keys = keys
    }
}
