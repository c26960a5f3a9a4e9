public import Foundation

/// A contradiction in the declarations of a model.
public enum ModelError: Error, Hashable, Sendable {
    /// An entity, attribute or relationship has no name. `property` is nil where it is the entity.
    case emptyName(entity: String, property: String?)
    /// Two entities have the same name.
    case duplicateEntity(entity: String)
    /// An entity inherits from one that does not exist.
    case unknownParent(entity: String, parent: String)
    /// An entity inherits from itself, through the named entities.
    case inheritanceCycle(entity: String, through: [String])
    /// An entity declares two properties with one name.
    case duplicateProperty(entity: String, property: String)
    /// An entity declares a property that it inherits already.
    case inheritedProperty(entity: String, property: String, from: String)
    /// A relationship leads to an entity that does not exist.
    case unknownDestination(entity: String, relationship: String, destination: String)
    /// The destination of a relationship lacks the relationship named as its inverse.
    case unknownInverse(entity: String, relationship: String, destination: String, inverse: String)
    /// The inverse of a relationship names another inverse, or none, or leads to another entity.
    case inverseDoesNotPointBack(entity: String, relationship: String, destination: String, inverse: String)
    /// A to-one relationship is ordered.
    case orderedToOne(entity: String, relationship: String)
    /// An identity names something that is not an attribute of the entity.
    case unknownIdentity(entity: String, attribute: String)
    /// An identity names an attribute whose values cannot identify objects: it is transformable.
    case unsuitableIdentity(entity: String, attribute: String, type: AttributeType)
    /// An identity is scoped by something that is not a to-one relationship of the entity.
    case unsuitableScope(entity: String, relationship: String)
    /// An attribute's default is not a value that the attribute could hold.
    case defaultOfWrongType(entity: String, attribute: String, type: AttributeType)
    /// A model was asked for an entity that it lacks.
    case unknownEntity(entity: String)
}

extension ModelError: CustomStringConvertible {
    /// The error as a readable sentence.
    public var description: String {
        switch self {
        case .emptyName(let entity, nil):
            "an entity has an empty name\(entity.isEmpty ? "" : " (\(entity))")"
        case .emptyName(let entity, .some):
            "\(entity) has a property with an empty name"
        case .duplicateEntity(let entity):
            "there are two entities \(entity)"
        case .unknownParent(let entity, let parent):
            "\(entity) inherits from \(parent), which does not exist"
        case .inheritanceCycle(let entity, let through):
            "\(entity) inherits from itself: \(through.joined(separator: " → "))"
        case .duplicateProperty(let entity, let property):
            "\(entity).\(property) is declared twice"
        case .inheritedProperty(let entity, let property, let from):
            "\(entity).\(property) is declared already by \(from)"
        case .unknownDestination(let entity, let relationship, let destination):
            "\(entity).\(relationship) leads to \(destination), which does not exist"
        case .unknownInverse(let entity, let relationship, let destination, let inverse):
            "\(entity).\(relationship) has the inverse \(destination).\(inverse), which does not exist"
        case .inverseDoesNotPointBack(let entity, let relationship, let destination, let inverse):
            "\(entity).\(relationship) has the inverse \(destination).\(inverse), whose own inverse is another"
        case .orderedToOne(let entity, let relationship):
            "\(entity).\(relationship) is ordered, but relates to at most one object"
        case .unknownIdentity(let entity, let attribute):
            "the identity of \(entity) names \(attribute), which is no attribute of it"
        case .unsuitableIdentity(let entity, let attribute, let type):
            "the identity of \(entity) names \(attribute), which is \(type.rawValue)"
        case .unsuitableScope(let entity, let relationship):
            "the identity of \(entity) is scoped by \(relationship), which is not a to-one relationship of it"
        case .defaultOfWrongType(let entity, let attribute, let type):
            "the default of \(entity).\(attribute) is no value of type \(type.rawValue)"
        case .unknownEntity(let entity):
            "there is no entity \(entity)"
        }
    }
}

extension ModelError: LocalizedError {
    /// The error as a readable sentence, the same as `description`.
    public var errorDescription: String? {
        description
    }
}
