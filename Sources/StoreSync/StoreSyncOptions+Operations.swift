extension StoreSyncOptions {
    /// The operations a sync may perform on objects and their relationships.
    ///
    /// Without any operation for relationships, those of the payload are ignored:
    /// ``StoreSyncResult/excludedRelationshipCount`` counts them.
    public struct Operations: OptionSet, Hashable, Sendable {
        /// The operations as bits.
        public let rawValue: Int

        /// Creates operations from bits.
        public init(rawValue: Int) {
            self.rawValue = rawValue
        }

        /// Inserts objects that the store does not have.
        public static let insert = StoreSyncOptions.Operations(rawValue: 1 << 0)
        /// Updates objects that the store has. Only then does a list of the children of a parent
        /// take children from other parents.
        public static let update = StoreSyncOptions.Operations(rawValue: 1 << 1)
        /// Deletes objects that are absent from the payload.
        public static let delete = StoreSyncOptions.Operations(rawValue: 1 << 2)
        /// Inserts and relates nested objects.
        public static let insertRelationships = StoreSyncOptions.Operations(rawValue: 1 << 3)
        /// Updates and relates nested objects, and replaces the targets of to-one relationships.
        public static let updateRelationships = StoreSyncOptions.Operations(rawValue: 1 << 4)
        /// Unlinks objects that their parent no longer nests or names.
        ///
        /// If the relationship has a to-one inverse and the payload nests whole objects, an
        /// unlinked object is deleted, unless the payload contains it elsewhere.
        public static let deleteRelationships = StoreSyncOptions.Operations(rawValue: 1 << 5)

        /// All operations.
        public static let all: StoreSyncOptions.Operations = [
            .insert, .update, .delete, .insertRelationships, .updateRelationships, .deleteRelationships,
        ]
    }
}
