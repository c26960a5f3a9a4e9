extension DataModel {
    /// Creates the model of some types, in their order, and of all types related to them.
    ///
    ///     let model = try DataModel(User.self)
    ///
    /// If one of two types names the inverse of a relationship, the model completes the other side.
    ///
    /// - Throws: ``SyncDeclarationError`` if a type cannot be examined or its declaration does not
    ///   fit it; `ModelError` if the entities contradict each other.
    public init(_ first: any SyncObject.Type, _ others: any SyncObject.Type...) throws {
        try self.init(types: [first] + others)
    }

    /// Creates the model of a list of types, and of all types related to them.
    ///
    /// - Throws: As ``init(_:_:)``.
    package init(types given: [any SyncObject.Type]) throws {
        var types: [any SyncObject.Type] = []
        var known: Set<ObjectIdentifier> = []
        var waiting = given
        var next = 0
        while next < waiting.count {
            let type = waiting[next]
            next += 1
            guard known.insert(ObjectIdentifier(type)).inserted else { continue }
            types.append(type)
            waiting += try type.relatedTypes()
        }
        var entities = try types.map { try $0.declaredEntity() }
        Self.completeInverses(&entities)
        var conversions: [String: any Sendable] = [:]
        for type in types { conversions.merge(try type.declaredConversions()) { $1 } }
        self = try DataModel(entities).converting(by: conversions)
    }

    /// Sets the missing inverse of each relationship that another one names as its inverse.
    private static func completeInverses(_ entities: inout [SyncEntity]) {
        for entity in entities {
            for relationship in entity.relationships {
                guard let inverse = relationship.inverse else { continue }
                var name: String? = relationship.destination
                // An ancestor of the destination may declare the inverse.
                while let other = entities.firstIndex(where: { $0.name == name }) {
                    if let back = entities[other].relationships.firstIndex(where: { $0.name == inverse }) {
                        if entities[other].relationships[back].inverse == nil {
                            entities[other].relationships[back].inverse = relationship.name
                        }
                        break
                    }
                    name = entities[other].parent
                }
            }
        }
    }
}
