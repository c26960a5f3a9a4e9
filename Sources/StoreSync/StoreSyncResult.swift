public import JSONMapper
public import SyncModel

/// The result of a sync into a store.
///
/// Its description is a text of a few lines for people; encoded, it is for programs.
public struct StoreSyncResult: Hashable, Sendable, Codable {
    /// The numbers of objects that were inserted, updated, deleted or kept.
    ///
    /// Each object counts once; an object that is inserted and then updated counts as inserted.
    public struct Counts: Hashable, Sendable, Codable {
        /// Objects that the store did not have.
        public var inserted = 0
        /// Objects whose values or relationships changed.
        public var updated = 0
        /// Objects of the payload that did not change.
        public var unchanged = 0
        /// Objects that were deleted, including those deleted by a delete rule.
        public var deleted = 0
        /// Objects that are absent from the payload but were kept, because of a limit or a doubt.
        public var kept = 0

        /// Creates counts of zero.
        public init() {}

        /// Whether no object was written.
        public var isUnchanged: Bool {
            inserted == 0 && updated == 0 && deleted == 0
        }

        static func += (counts: inout Counts, others: Counts) {
            counts.inserted += others.inserted
            counts.updated += others.updated
            counts.unchanged += others.unchanged
            counts.deleted += others.deleted
            counts.kept += others.kept
        }
    }

    /// The objects that a payload or a source reports.
    public enum Coverage: String, Hashable, Sendable, Codable {
        /// None: nothing has changed.
        case unchanged
        /// The objects that have changed: an absent object is unchanged.
        case changes
        /// All objects: an absent object is gone.
        case everything
    }

    /// The keys of the synced entity's objects, including its sub-entities.
    public struct Keys: Hashable, Sendable, Codable {
        /// Keys of inserted objects.
        public var inserted: [Record.Key] = []
        /// Keys of updated objects.
        public var updated: [Record.Key] = []
        /// Keys of deleted objects, including those deleted by a delete rule.
        public var deleted: [Record.Key] = []

        /// Creates lists of keys, empty by default.
        public init(inserted: [Record.Key] = [], updated: [Record.Key] = [], deleted: [Record.Key] = []) {
            self.inserted = inserted
            self.updated = updated
            self.deleted = deleted
        }
    }

    /// The counts of the synced entity, including its sub-entities.
    public var counts = Counts()
    /// The counts of every entity that the sync touched, by its name.
    public var countsByEntity: [String: Counts] = [:]
    /// The first 1,000 rejected objects, in the order of the payload.
    ///
    /// The index of each is the index of the payload's element that is or contains the object.
    public var rejected: [MappingError.Problem] = []
    /// The number of rejected objects.
    public var rejectedCount = 0
    /// The number of values that were cleared or ignored because they did not fit.
    public var toleratedCount = 0
    /// The number of values of relationships that were ignored because the operations include none
    /// for relationships. Null and empty lists do not count, nor does what is nested in a value.
    public var excludedRelationshipCount = 0
    /// The differences of the payload from the model, the store or itself.
    public var drift = DriftReport()
    /// The keys; nil unless `StoreSyncOptions.reportsKeys` is set, and for changes of several
    /// entities.
    public var keys: Keys?
    /// The objects that the payload or the source reported.
    public var coverage = Coverage.unchanged
    /// What happened to the properties whose keys an object lacked: `keep` or `clear`; nil if no
    /// object was read, or if entities have different rules.
    public var absentKeys: StoreSyncOptions.AbsentKeys?
    /// How the pages proved that no object is missing; nil if they did not.
    ///
    /// Proof is sought only if objects are absent, or if the next sync would ask for changes only.
    public var proof: RemoteEnd.Proof?
    /// The number of pages that were read, including pages that were read again.
    public var pageCount = 0
    /// The size of these pages in bytes, decompressed.
    public var byteCount = 0
    /// Readable sentences about the pages, such as why absent objects were kept.
    public var warnings: [String] = []

    /// Creates the result of a sync that did nothing.
    public init() {}

    /// Whether no object of any entity was written.
    public var isUnchanged: Bool {
        countsByEntity.values.allSatisfy(\.isUnchanged)
    }
}
