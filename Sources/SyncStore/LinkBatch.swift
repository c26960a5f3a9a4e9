public import SyncModel

/// Objects to be related by one relationship.
public struct LinkBatch: Sendable {
    /// What becomes of the links that a source has already.
    public enum Mode: Hashable, Sendable {
        /// A source is related to its targets and nothing else, in their order where the relationship is ordered.
        case replace
        /// The links there are stay as they are; missing ones come after them. A to-one relationship is replaced.
        case add
        /// Links that lead elsewhere are taken off; no new ones are made.
        case retain
    }

    /// The relationship, as the sources' entity or one it inherits from holds it.
    public let relationship: RelationshipLayout
    /// What becomes of the links that a source has already.
    public let mode: Mode
    /// The rows to start from, each once.
    public private(set) var sources: [Int64] = []
    /// The rows that the sources are related to: those of the first source in order, then those of the second one, …
    public private(set) var targets: [Int64] = []
    /// Where the targets of each source end in `targets`.
    public private(set) var ends: [Int] = []
    /// Targets that were inserted with a link of this relationship (see ``InitialLinks``) since it was last spoken of: what was done then
    /// counts as done now.
    public var newTargets = RowSet()

    /// Makes a batch without sources.
    public init(_ relationship: RelationshipLayout, mode: Mode) {
        self.relationship = relationship
        self.mode = mode
    }

    /// Whether there is no source.
    public var isEmpty: Bool {
        sources.isEmpty
    }

    /// Adds a source, which must not be there yet, with its targets in order.
    public mutating func append(_ source: Int64, to targets: [Int64]) {
        sources.append(source)
        self.targets += targets
        ends.append(self.targets.count)
    }

    /// The targets of the source at a place in `sources`.
    public func targets(at index: Int) -> ArraySlice<Int64> {
        targets[(index == 0 ? 0 : ends[index - 1])..<ends[index]]
    }
}

/// What linking changed.
public struct LinkResult: Sendable {
    /// The sources of the batch that are related to others than before, or in another order; each once.
    public var changed: [Int64]
    /// The targets that a source of the batch was related to before and is not any more; each once. Another source may have them.
    public var detached: [Int64]

    /// Makes a result.
    public init(changed: [Int64] = [], detached: [Int64] = []) {
        self.changed = changed
        self.detached = detached
    }
}
