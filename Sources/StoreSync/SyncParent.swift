public import SyncModel

/// An object of a store whose children a payload lists.
public struct SyncParent: Sendable {
    /// Its entity.
    public var entity: String
    /// What holds for it and no other object of the entity.
    public var predicate: RecordPredicate
    /// The relationship that leads to the children; nil where the entity has but one to their entity.
    public var relationship: String?

    /// Names a parent.
    ///
    /// - Parameters:
    ///   - entity: Its entity.
    ///   - predicate: What holds for it and no other object of the entity.
    ///   - relationship: The relationship that leads to the children; nil, the default, where the entity has but one to their entity.
    public init(_ entity: String, where predicate: RecordPredicate, relationship: String? = nil) {
        self.entity = entity
        self.predicate = predicate
        self.relationship = relationship
    }

    /// The relationship, looked up.
    func relationship(to child: EntityLayout, in model: DataModel) throws -> RelationshipLayout {
        let layout = try model.layout(of: entity)
        let suitable = layout.relationships.filter { candidate in
            let destination = model.layouts[candidate.destination]
            return (child.isKind(of: destination) || destination.isKind(of: child))
                && (relationship.map { $0 == candidate.name } ?? true)
        }
        guard suitable.count == 1 else {
            throw StoreSyncError.noRelationship(entity: entity, destination: child.name)
        }
        return suitable[0]
    }
}
