public import Foundation
package import SyncBase

/// An invalid or contradictory declaration in a model, or a missing entity.
public enum ModelError: Error, Hashable, Sendable {
    /// The name of an entity, attribute or relationship is empty. `property` is nil if the entity
    /// has no name.
    case emptyName(entity: String, property: String?)
    /// Two entities have the same name.
    case duplicateEntity(entity: String)
    /// The parent of an entity does not exist.
    case unknownParent(entity: String, parent: String)
    /// An entity inherits from itself, through the named entities.
    case inheritanceCycle(entity: String, through: [String])
    /// An entity has more ancestors than ``DataModel/maximumAncestorCount``.
    case tooManyAncestors(entity: String, limit: Int)
    /// The entities have more properties than ``DataModel/maximumPropertyCount``, inherited ones
    /// included. The entity is the first one beyond the limit.
    case tooManyProperties(entity: String, limit: Int)
    /// An entity declares two properties with the same name.
    case duplicateProperty(entity: String, property: String)
    /// An entity declares a property that it already inherits.
    case inheritedProperty(entity: String, property: String, from: String)
    /// The destination of a relationship does not exist.
    case unknownDestination(entity: String, relationship: String, destination: String)
    /// The declared inverse of a relationship does not exist in the destination.
    case unknownInverse(entity: String, relationship: String, destination: String, inverse: String)
    /// The inverse of a relationship names another inverse or none, or has another destination.
    case inverseDoesNotPointBack(entity: String, relationship: String, destination: String, inverse: String)
    /// A to-one relationship is declared as ordered.
    case orderedToOne(entity: String, relationship: String)
    /// A name in an identity is not an attribute of the entity.
    case unknownIdentity(entity: String, attribute: String)
    /// An identity contains an attribute of a type that cannot identify objects: transformable or
    /// JSON.
    case unsuitableIdentity(entity: String, attribute: String, type: AttributeType)
    /// The scope of an identity is not a to-one relationship of the entity, or it has no inverse.
    case unsuitableScope(entity: String, relationship: String)
    /// An index has unsuitable attributes or an unsuitable condition.
    ///
    /// It has no attributes, an attribute that the entity does not have or cannot index, or a
    /// condition other than comparisons of own attributes with values, joined by `and`.
    case unsuitableIndex(entity: String, attributes: [String])
    /// The type of an attribute does not accept its default value.
    case defaultOfWrongType(entity: String, attribute: String, type: AttributeType)
    /// The allowed values of an attribute are no list of values that its type accepts.
    case unsuitableAllowedValues(entity: String, attribute: String, type: AttributeType)
    /// The default of an attribute is not one of its allowed values, or the Swift type of the
    /// property cannot hold it.
    case defaultNotAllowed(entity: String, attribute: String)
    /// A requested entity does not exist in the model.
    case unknownEntity(entity: String)
}

extension ModelError: CustomStringConvertible, LocalizedError {
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
            "\(entity) inherits from itself: \(through.prefix(20).joined(separator: " → "))"
                + (through.count > 20 ? " → …" : "")
        case .tooManyAncestors(let entity, let limit):
            "\(entity) has more than \(limit) ancestors"
        case .tooManyProperties(let entity, let limit):
            "the entities have more than \(limit) properties, with those of \(entity); inherited properties count"
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
            "the identity of \(entity) names \(attribute), which is not an attribute of it"
        case .unsuitableIdentity(let entity, let attribute, let type):
            "the identity of \(entity) names \(attribute), which has the unsuitable type \(type.rawValue)"
        case .unsuitableScope(let entity, let relationship):
            "the identity of \(entity) is scoped by \(relationship), which is not a to-one relationship of it that has "
                + "an inverse"
        case .unsuitableIndex(let entity, let attributes):
            "the index of \(entity) by \(attributes.joined(separator: ", ")) names a property that is not an attribute, or "
                + "has a condition that an index cannot have"
        case .defaultOfWrongType(let entity, let attribute, let type):
            "the default of \(entity).\(attribute) is not a value of type \(type.rawValue)"
        case .unsuitableAllowedValues(let entity, let attribute, let type):
            "the allowed values of \(entity).\(attribute) are not a JSON array of values of type \(type.rawValue), such "
                + "as [\"open\", \"closed\"]"
        case .defaultNotAllowed(let entity, let attribute):
            "the default of \(entity).\(attribute) is not one that the property allows"
        case .unknownEntity(let entity):
            "there is no entity \(entity)"
        }
    }

    /// The same text as `description`.
    public var errorDescription: String? { description }
}

extension ModelError: AreaError {
    package var errorArea: ErrorArea { .program }
}
