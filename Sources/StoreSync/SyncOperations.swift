/// What a sync may do to objects and to what they are related to.
public struct SyncOperations: OptionSet, Hashable, Sendable {
    /// The operations as bits.
    public let rawValue: Int

    /// Makes operations of bits.
    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// Objects that the store does not have are inserted.
    public static let insert = SyncOperations(rawValue: 1 << 0)
    /// Objects that it has are updated.
    public static let update = SyncOperations(rawValue: 1 << 1)
    /// Objects that are absent from the payload are deleted.
    public static let delete = SyncOperations(rawValue: 1 << 2)
    /// Objects nested in others are inserted and related.
    public static let insertRelationships = SyncOperations(rawValue: 1 << 3)
    /// Objects nested in others are updated and related, and what a to-one relationship leads to is replaced.
    public static let updateRelationships = SyncOperations(rawValue: 1 << 4)
    /// Objects that are no longer nested in, or named by, another are not related to it any more; where the relationship has a to-one
    /// inverse and the payload nests the objects themselves, they are deleted, unless the payload has them elsewhere.
    public static let deleteRelationships = SyncOperations(rawValue: 1 << 5)

    /// All of them.
    public static let all: SyncOperations = [
        .insert, .update, .delete, .insertRelationships, .updateRelationships, .deleteRelationships,
    ]
}
