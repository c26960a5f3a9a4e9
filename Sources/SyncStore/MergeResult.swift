/// What a merge may do.
public struct MergePolicy: Hashable, Sendable {
    /// Whether records that match nothing are inserted.
    public var inserts: Bool
    /// Whether objects that are matched are updated.
    public var updates: Bool

    /// Makes a policy; by default both are allowed. With neither, a merge finds what there is.
    public init(inserts: Bool = true, updates: Bool = true) {
        self.inserts = inserts
        self.updates = updates
    }

    /// Nothing may be changed; a merge finds what there is.
    public static let find = MergePolicy(inserts: false, updates: false)
}

/// What became of the rows of a merged batch.
public struct MergeResult: Sendable {
    /// What became of one row.
    public enum Change: UInt8, Hashable, Sendable {
        /// It matched nothing, and was not to be inserted.
        case none
        /// It is an object of its own now.
        case inserted
        /// It matched an object, which holds other values now.
        case updated
        /// It matched an object that was left as it is.
        case unchanged
    }

    /// The object of each row of the batch; 0 for none.
    public var rows: [Int64] = []
    /// What became of each row of the batch.
    public var changes: [Change] = []

    /// Makes a result without rows.
    ///
    /// - Parameter capacity: How many rows will be added.
    public init(capacity: Int = 0) {
        rows.reserveCapacity(capacity)
        changes.reserveCapacity(capacity)
    }

    /// Adds what became of the next row.
    public mutating func append(_ row: Int64, _ change: Change) {
        rows.append(row)
        changes.append(change)
    }
}
