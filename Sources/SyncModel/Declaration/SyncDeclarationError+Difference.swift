extension SyncDeclarationError {
    /// A difference between a type and the entity of a model.
    public enum Difference: Hashable, Sendable {
        /// The model has no entity of the type.
        case noEntity(type: String, entity: String)
        /// The entity has no such property.
        case noProperty(entity: String, property: String)
        /// A property is an attribute on one side and a relationship on the other.
        case otherKind(entity: String, property: String)
        /// An attribute has another type in the model.
        case otherType(entity: String, property: String, declared: AttributeType, model: AttributeType)
        /// The model allows null for a property that the type requires.
        case nullable(entity: String, property: String)
        /// A relationship leads to another entity in the model.
        case otherDestination(entity: String, property: String, declared: String, model: String)
        /// A relationship is to-one on one side and to-many on the other, or is ordered on one side
        /// only.
        case otherCardinality(entity: String, property: String)
        /// A relationship has another inverse in the model; nil for none.
        case otherInverse(entity: String, property: String, declared: String?, model: String?)
        /// Other properties identify the objects in the model.
        case otherIdentity(entity: String, declared: [String], model: [String])
    }
}

extension SyncDeclarationError.Difference: CustomStringConvertible {
    /// The difference as a readable sentence.
    public var description: String {
        switch self {
        case .noEntity(let type, let entity): "the model has no entity \(entity), which \(type) declares"
        case .noProperty(let entity, let property): "the model has no \(entity).\(property)"
        case .otherKind(let entity, let property):
            "\(entity).\(property) is an attribute on one side and a relationship on the other"
        case .otherType(let entity, let property, let declared, let model):
            "\(entity).\(property) is \(declared.rawValue) in the type and \(model.rawValue) in the model"
        case .nullable(let entity, let property):
            "\(entity).\(property) can be null in the model, but is not optional in the type"
        case .otherDestination(let entity, let property, let declared, let model):
            "\(entity).\(property) leads to \(declared) in the type and to \(model) in the model"
        case .otherCardinality(let entity, let property):
            "\(entity).\(property) leads to another number of objects, or is ordered, on one side only"
        case .otherInverse(let entity, let property, let declared, let model):
            "\(entity).\(property) has the inverse \(declared ?? "none") in the type and \(model ?? "none") in the model"
        case .otherIdentity(let entity, let declared, let model):
            "\(entity) is identified by \(Self.list(declared)) in the type and by \(Self.list(model)) in the model"
        }
    }

    private static func list(_ names: [String]) -> String {
        names.isEmpty ? "nothing" : names.joined(separator: ", ")
    }
}

extension DataModel {
    /// Verifies that some types describe entities of the model, such as one of a Core Data file.
    ///
    /// The model may have more entities and properties than the types. An integer of a type may be
    /// wider than that of the model, and a type without an identity, or a relationship without an
    /// inverse, states nothing about them. A property that the model declares optional must be
    /// optional in the type.
    ///
    /// - Throws: `SyncDeclarationError.differences` with every difference; another
    ///   `SyncDeclarationError` if a type cannot be examined.
    public func check(_ first: any SyncObject.Type, _ others: any SyncObject.Type...) throws {
        var differences: [SyncDeclarationError.Difference] = []
        for type in [first] + others { differences += try type.differences(from: self) }
        if !differences.isEmpty { throw SyncDeclarationError.differences(differences) }
    }
}

extension SyncObject {
    fileprivate static func differences(from model: DataModel) throws -> [SyncDeclarationError.Difference] {
        let declared = try declaredEntity()
        let entity = declared.name
        guard let layout = model[entity] else { return [.noEntity(type: "\(Self.self)", entity: entity)] }
        var differences: [SyncDeclarationError.Difference] = []
        for attribute in declared.attributes {
            guard let column = layout.column(of: attribute.name) else {
                differences.append(
                    layout.relationship(attribute.name) == nil
                        ? .noProperty(entity: entity, property: attribute.name)
                        : .otherKind(entity: entity, property: attribute.name))
                continue
            }
            let found = layout.attributes[column]
            if !found.type.isReadable(as: attribute.type) {
                differences.append(
                    .otherType(entity: entity, property: attribute.name, declared: attribute.type, model: found.type))
            }
            if found.isOptional, !attribute.isOptional {
                differences.append(.nullable(entity: entity, property: attribute.name))
            }
        }
        for relationship in declared.relationships {
            guard let found = layout.relationship(relationship.name)?.declaration else {
                differences.append(
                    layout.column(of: relationship.name) == nil
                        ? .noProperty(entity: entity, property: relationship.name)
                        : .otherKind(entity: entity, property: relationship.name))
                continue
            }
            if found.destination != relationship.destination {
                differences.append(
                    .otherDestination(
                        entity: entity, property: relationship.name, declared: relationship.destination,
                        model: found.destination))
            }
            if found.isToMany != relationship.isToMany || relationship.isOrdered && !found.isOrdered {
                differences.append(.otherCardinality(entity: entity, property: relationship.name))
            }
            if let inverse = relationship.inverse, inverse != found.inverse {
                differences.append(
                    .otherInverse(
                        entity: entity, property: relationship.name, declared: inverse, model: found.inverse))
            }
        }
        let identity = layout.keyColumns.map { layout.attributes[$0].name }
        if !declared.identity.isEmpty, declared.identity != identity {
            differences.append(.otherIdentity(entity: entity, declared: declared.identity, model: identity))
        }
        return differences
    }
}

extension AttributeType {
    /// Whether every value of this type is one of a type that a Swift type declares.
    fileprivate func isReadable(as declared: AttributeType) -> Bool {
        switch (self, declared) {
        case _ where self == declared: true
        case (.int16, .int32), (.int16, .int64), (.int32, .int64), (.float, .double), (.uri, .string),
            (.uuid, .string), (.transformable, .binary), (.binary, .json):
            true
        default: false
        }
    }
}
