public import JSONMapper
public import SyncModel

/// What a sync did.
public struct StoreSyncResult: Hashable, Sendable {
    /// How many objects were treated how; each object counts once, an inserted one as inserted alone.
    public struct Counts: Hashable, Sendable {
        /// Objects that the store did not have.
        public var inserted = 0
        /// Objects whose values or relationships are others now.
        public var updated = 0
        /// Objects of the payload that are as they were.
        public var unchanged = 0
        /// Objects that are gone, those included that went with others.
        public var deleted = 0
        /// Objects that were to be deleted for being absent from the payload, and were kept.
        public var withheld = 0

        /// Makes counts of nothing.
        public init() {}

        /// Whether nothing was written.
        public var isUnchanged: Bool {
            inserted == 0 && updated == 0 && deleted == 0
        }

        static func += (counts: inout Counts, others: Counts) {
            counts.inserted += others.inserted
            counts.updated += others.updated
            counts.unchanged += others.unchanged
            counts.deleted += others.deleted
            counts.withheld += others.withheld
        }
    }

    /// The keys of the synced entity's objects, sub-entities included.
    public struct Keys: Hashable, Sendable {
        /// Those that were inserted.
        public var inserted: [RecordKey] = []
        /// Those that were updated.
        public var updated: [RecordKey] = []
        /// Those that were deleted, those included that went with others.
        public var deleted: [RecordKey] = []
    }

    /// The objects of the synced entity, sub-entities included.
    public internal(set) var counts = Counts()
    /// The objects of every entity that the sync had to do with, by its name.
    public internal(set) var countsByEntity: [String: Counts] = [:]
    /// Objects that were left out, in the order in which they were met, the first 1,000 of them. The index is that of the
    /// payload's element; a nested object has that of the element it is in.
    public internal(set) var rejected: [MappingProblem] = []
    /// How many objects were left out.
    public internal(set) var rejectedCount = 0
    /// How many values were cleared or ignored because they did not fit.
    public internal(set) var toleratedCount = 0
    /// The keys; nil unless they were asked for.
    public internal(set) var keys: Keys?

    /// Whether nothing was written, for any entity.
    public var isUnchanged: Bool {
        countsByEntity.values.allSatisfy(\.isUnchanged)
    }
}
