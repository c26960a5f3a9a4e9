public import SyncModel

extension StoreSyncOptions {
    /// A stored object whose children a payload lists.
    public struct Parent: Sendable {
        /// The entity of the parent.
        public var entity: String
        /// A predicate that holds for the parent and no other object of the entity.
        public var predicate: RecordPredicate
        /// The relationship to the children; nil if the entity has only one to their entity.
        public var relationship: String?

        /// Creates a parent.
        ///
        /// - Parameters:
        ///   - entity: The entity of the parent.
        ///   - predicate: A predicate that holds for the parent and no other object of the entity.
        ///   - relationship: The relationship to the children. Nil, the default, if the entity has
        ///     only one to their entity.
        public init(_ entity: String, where predicate: RecordPredicate, relationship: String? = nil) {
            self.entity = entity
            self.predicate = predicate
            self.relationship = relationship
        }

        /// Creates a parent of a known type.
        ///
        /// - Parameters:
        ///   - type: The type of the parent.
        ///   - predicate: A condition that holds for the parent and no other object of the type.
        ///   - relationship: The property with the children. Nil, the default, if the type has only
        ///     one of their type.
        /// - Throws: `SyncDeclarationError` for a key path that leads to no coded property.
        public init<Object: SyncObject>(
            _ type: Object.Type, where predicate: ObjectPredicate<Object>,
            relationship: PartialKeyPath<Object>? = nil
        ) throws {
            self.init(
                Object.entityName, where: try predicate.recordPredicate(),
                relationship: try relationship.map { try ObjectShape<Object>.shared().name(of: $0) })
        }

        /// Looks up the relationship to the children.
        func relationship(to child: EntityLayout, in model: DataModel) throws -> EntityLayout.Relationship {
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
}
