public import Foundation
package import SyncBase

/// A type that cannot describe an entity, or does not fit the entity of a model.
public enum SyncDeclarationError: Error, Hashable, Sendable {
    /// The type's `init(from:)` failed for invented values.
    ///
    /// An enum that is not `CaseIterable` is a common reason, because its raw values are unknown.
    case unreadableType(type: String, property: String?, reason: String)
    /// A key path leads to no coded property, such as to a computed one, or to one whose value
    /// `init(from:)` changes.
    case unknownKeyPath(type: String, keyPath: String)
    /// A declaration states something about an attribute, but the property is a relationship.
    case notAnAttribute(type: String, property: String)
    /// A declaration states something about a relationship, but the property is an attribute.
    case notARelationship(type: String, property: String)
    /// A declaration says to-one where the property holds a list, or to-many where it does not.
    case wrongCardinality(type: String, property: String, isToMany: Bool)
    /// A type and a model differ. The list has at least one element.
    case differences([SyncDeclarationError.Difference])
}

extension SyncDeclarationError: CustomStringConvertible, LocalizedError {
    /// The error as readable sentences.
    public var description: String {
        switch self {
        case .unreadableType(let type, let property, let reason):
            "\(type)\(property.map { ".\($0)" } ?? "") cannot be examined: \(reason)"
        case .unknownKeyPath(let type, let keyPath):
            "\(keyPath) leads to no property that \(type) decodes without changing it"
        case .notAnAttribute(let type, let property): "\(type).\(property) is not an attribute"
        case .notARelationship(let type, let property): "\(type).\(property) is not a relationship"
        case .wrongCardinality(let type, let property, let isToMany):
            isToMany
                ? "\(type).\(property) is declared as a relationship to one object, but holds a list"
                : "\(type).\(property) is declared as a relationship to many objects, but holds one"
        case .differences(let differences):
            differences.map(\.description).joined(separator: "; ")
        }
    }

    /// The same text as `description`.
    public var errorDescription: String? { description }
}

extension SyncDeclarationError: AreaError {
    package var errorArea: ErrorArea { .program }
}
