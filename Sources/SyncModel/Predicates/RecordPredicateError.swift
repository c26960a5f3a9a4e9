public import Foundation
package import SyncBase

/// A syntax error in a predicate's text, or a predicate or ordering that does not fit an entity.
public enum RecordPredicateError: Error, Hashable, Sendable {
    /// A name on the path is not a property of the entity in which it is resolved.
    case unknownProperty(entity: String, key: String, name: String)
    /// A path passes through an attribute or a to-many relationship, or ends in a property that
    /// cannot be compared.
    case unsuitableProperty(entity: String, key: String, name: String)
    /// A value cannot be compared with the attribute. The error omits the value, because it may be
    /// personal data.
    case wrongType(entity: String, key: String, type: AttributeType)
    /// The text is not a predicate. `byteOffset` is the 0-based position of the error in its UTF-8.
    case syntax(byteOffset: Int, expected: String)
}

extension RecordPredicateError: CustomStringConvertible, LocalizedError {
    /// The error as a readable sentence.
    public var description: String {
        switch self {
        case .unknownProperty(let entity, let key, let name):
            "\(entity) has no property \(name) (in the key \(key))"
        case .unsuitableProperty(let entity, let key, let name):
            "\(entity).\(name) cannot be used in this way in the key \(key)"
        case .wrongType(let entity, let key, let type):
            "\(entity).\(key) is \(type.rawValue), but is compared with a value of another type"
        case .syntax(let byteOffset, let expected):
            "not a predicate: expected \(expected) at byte \(byteOffset)"
        }
    }

    /// The same text as `description`.
    public var errorDescription: String? { description }
}

extension RecordPredicateError: AreaError {
    package var errorArea: ErrorArea { .program }
}
