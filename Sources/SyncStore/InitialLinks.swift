public import SyncModel

/// What the objects that a merge inserts are related to from the start, so that they need not be written a second time.
public struct InitialLinks: Sendable {
    /// A to-one relationship of the merged entity, as it or one that it inherits from holds it; its inverse is to-many and not ordered.
    public let relationship: RelationshipLayout
    /// For each row of the batch the object that it leads to, which must exist; 0 for none.
    public let targets: [Int64]

    /// Makes the links of a batch.
    ///
    /// - Parameters:
    ///   - relationship: One for which ``isPossible(_:in:)`` holds.
    ///   - targets: As many as the batch has rows.
    public init(_ relationship: RelationshipLayout, targets: [Int64]) {
        self.relationship = relationship
        self.targets = targets
    }

    /// Whether a relationship is one that objects can be inserted with.
    public static func isPossible(_ relationship: RelationshipLayout, in model: DataModel) -> Bool {
        guard !relationship.isToMany, let inverse = model.inverse(of: relationship) else { return false }
        return inverse.isToMany && !inverse.isOrdered
    }
}
