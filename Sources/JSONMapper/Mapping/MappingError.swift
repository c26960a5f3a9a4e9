public import Foundation
public import SyncModel

/// What is wrong with one object, and where. The value itself is left out: it may be personal data.
public struct MappingProblem: Hashable, Sendable {
    /// What is wrong.
    public enum Reason: Hashable, Sendable {
        /// A key that no attribute or relationship claims.
        case unknownKey
        /// A value that cannot become one of the type.
        case wrongType(AttributeType)
        /// A number that the type cannot hold: too large, or with a fraction.
        case outOfRange(AttributeType)
        /// A text or number that is no date.
        case unreadableDate
        /// An attribute that must have a value has none.
        case missingMandatory
        /// A transformer, entity mapper or object transformer threw; its own description.
        case refused(by: String, String)
        /// The element is neither an object nor an identifier.
        case notAnObject
        /// The element is an identifier, and the entity has none, or one of several attributes.
        case noIdentity
    }

    /// The entity that was asked for.
    public let entity: String
    /// The attribute; nil where none is at fault.
    public let attribute: String?
    /// The keys that lead to the value, dots between them; empty for the whole object.
    public let keyPath: String
    /// The place of the object among the elements read, from 0.
    public let index: Int
    /// What is wrong.
    public let reason: Reason

    /// Creates a problem.
    public init(entity: String, attribute: String? = nil, keyPath: String = "", index: Int, reason: Reason) {
        self.entity = entity
        self.attribute = attribute
        self.keyPath = keyPath
        self.index = index
        self.reason = reason
    }
}

extension MappingProblem: CustomStringConvertible {
    /// The problem as a readable sentence.
    public var description: String {
        let place = "element \(index)" + (keyPath.isEmpty ? "" : " at \(keyPath)")
        let property = attribute.map { "\(entity).\($0)" } ?? entity
        let what =
            switch reason {
            case .unknownKey: "no property of the entity claims the key"
            case .wrongType(let type): "the value is no \(type.rawValue)"
            case .outOfRange(let type): "the number does not fit \(type.rawValue)"
            case .unreadableDate: "the value is no date"
            case .missingMandatory: "there is no value"
            case .refused(let name, let text): "\(name) refused it: \(text)"
            case .notAnObject: "an object was expected"
            case .noIdentity: "an identifier alone needs an identity of one attribute"
            }
        return "\(property), \(place): \(what)"
    }
}

/// Why JSON could not be mapped or objects exported, apart from JSON that is malformed, which is a
/// `JSONError`.
public enum MappingError: Error, Hashable, Sendable {
    /// The model has no such entity.
    case unknownEntity(String)
    /// An annotation names a transformer, entity mapper or object transformer that was not
    /// registered. `attribute` is nil where the annotation is the entity's.
    case unknownTransformer(entity: String, attribute: String?, name: String)
    /// An entity mapper named an entity that does not inherit from the one asked for.
    case unrelatedEntity(entity: String, answer: String)
    /// An object does not fit, and the contract says that mapping then ends.
    case unfit(MappingProblem)
    /// On export, a transformer could not turn a value back; its own description.
    case irreversible(entity: String, attribute: String, by: String, String)
    /// On export, objects are nested in one another deeper than the options allow.
    case nestedTooDeep(entity: String, maximumDepth: Int)
}

extension MappingError: CustomStringConvertible {
    /// The error as a readable sentence.
    public var description: String {
        switch self {
        case .unknownEntity(let entity): "there is no entity \(entity)"
        case .unknownTransformer(let entity, let attribute, let name):
            "\(entity)\(attribute.map { ".\($0)" } ?? "") names \(name), which is not registered"
        case .unrelatedEntity(let entity, let answer):
            "the mapper of \(entity) answered \(answer), which is none of its kind"
        case .unfit(let problem): problem.description
        case .irreversible(let entity, let attribute, let name, let text):
            "\(entity).\(attribute) cannot be exported: \(name) refused the value: \(text)"
        case .nestedTooDeep(let entity, let maximumDepth):
            "\(entity) cannot be exported: it is nested deeper than \(maximumDepth) objects"
        }
    }
}

extension MappingError: LocalizedError {
    /// The error as a readable sentence, the same as `description`.
    public var errorDescription: String? {
        description
    }
}
