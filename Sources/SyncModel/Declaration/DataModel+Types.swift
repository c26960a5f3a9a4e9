extension DataModel {
    /// Creates the model of some types and of all types that are related to them.
    ///
    ///     let model = try DataModel(User.self)
    ///
    /// If one of two types names the inverse of a relationship, the model completes the other side.
    ///
    /// - Throws: ``SyncDeclarationError`` if a type cannot be examined or its declaration does not
    ///   fit it; `ModelError` if the entities contradict each other.
    public init(_ first: any SyncObject.Type, _ others: any SyncObject.Type...) throws {
        var types: [any SyncObject.Type] = []
        var known: Set<ObjectIdentifier> = []
        var waiting = [first] + others
        waiting.reverse()
        while let type = waiting.popLast() {
            guard known.insert(ObjectIdentifier(type)).inserted else { continue }
            types.append(type)
            waiting += try type.relatedTypes().reversed()
        }
        var entities = try types.map { try $0.declaredEntity() }
        Self.completeInverses(&entities)
        try self.init(entities)
    }

    /// Names the inverse of each relationship that another one names as its own.
    private static func completeInverses(_ entities: inout [SyncEntity]) {
        for entity in entities {
            for relationship in entity.relationships {
                guard let inverse = relationship.inverse,
                    let other = entities.firstIndex(where: { $0.name == relationship.destination }),
                    let back = entities[other].relationships.firstIndex(where: { $0.name == inverse }),
                    entities[other].relationships[back].inverse == nil
                else { continue }
                entities[other].relationships[back].inverse = relationship.name
            }
        }
    }
}
