public import Foundation

/// Why a text is no predicate, or a predicate or an ordering does not fit an entity.
public enum RecordPredicateError: Error, Hashable, Sendable {
    /// A name on the path is no property of the entity it is looked up in.
    case unknownProperty(entity: String, key: String, name: String)
    /// A path goes through an attribute or a to-many relationship, or ends in what cannot be
    /// compared.
    case unsuitableProperty(entity: String, key: String, name: String)
    /// A value cannot be compared with the attribute. The value itself is left out: it may be
    /// personal data.
    case wrongType(entity: String, key: String, type: AttributeType)
    /// A text is no predicate: at a byte offset, counted from 0, something else was expected.
    case syntax(byteOffset: Int, expected: String)
}

extension RecordPredicateError: CustomStringConvertible {
    /// The error as a readable sentence.
    public var description: String {
        switch self {
        case .unknownProperty(let entity, let key, let name):
            "\(entity) has no property \(name) (in the key \(key))"
        case .unsuitableProperty(let entity, let key, let name):
            "\(entity).\(name) cannot be used so in the key \(key)"
        case .wrongType(let entity, let key, let type):
            "\(entity).\(key) is \(type.rawValue), and is compared with a value of another kind"
        case .syntax(let byteOffset, let expected):
            "not a predicate: expected \(expected) at byte \(byteOffset)"
        }
    }
}

extension RecordPredicateError: LocalizedError {
    /// The error as a readable sentence, the same as `description`.
    public var errorDescription: String? {
        description
    }
}
