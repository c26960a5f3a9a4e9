public import Foundation
public import SyncModel

/// The problem of one object. It does not contain the value, which may be personal data.
public struct MappingProblem: Hashable, Sendable {
    /// The kind of problem.
    public enum Reason: Hashable, Sendable {
        /// A key that no attribute or relationship claims.
        case unknownKey
        /// A value that the type cannot hold.
        case wrongType(AttributeType)
        /// A number that is too large for the type, or that has a fraction where the type has none.
        case outOfRange(AttributeType)
        /// Text or a number that is not a date.
        case unreadableDate
        /// A mandatory attribute without a value, or a missing key.
        case missingMandatory
        /// A transformer, entity mapper or object transformer threw an error, with its description.
        case refused(by: String, String)
        /// An element that is neither an object nor an identifier.
        case notAnObject
        /// An identifier for an entity without an identity of exactly one attribute.
        case noIdentity
    }

    /// The requested entity.
    public let entity: String
    /// The attribute; nil if no single attribute has the problem.
    public let attribute: String?
    /// The keys that lead to the value, separated by dots; empty for the whole object.
    public let keyPath: String
    /// The index of the object among the elements.
    public let index: Int
    /// The kind of problem.
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

/// An error of mapping or exporting. Malformed JSON is a `JSONError`.
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
