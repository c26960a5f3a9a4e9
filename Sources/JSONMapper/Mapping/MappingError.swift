public import Foundation
public import SyncModel
package import SyncBase

extension MappingError {
    /// A misfit between a JSON object and the model, with its position.
    ///
    /// The value itself is only in `debugDescription`, and only if an error has it, because it may
    /// be personal data.
    public struct Problem: Hashable, Sendable, Codable {
        /// The kind of a misfit.
        public enum Reason: Hashable, Sendable {
            /// No attribute or relationship claims a key.
            case unknownKey
            /// A value cannot be converted to the attribute's type.
            case wrongType(AttributeType)
            /// A number is too large for the attribute's type or the Swift type of its property, or
            /// has a fraction that the type cannot hold.
            case outOfRange(AttributeType)
            /// A value is not one of the attribute's allowed ones, such as a case that an enum
            /// lacks, or the Swift type of the property cannot hold it. The payload is the text of
            /// the value, which is empty after decoding, and the allowed values; these are empty if
            /// only a Swift type knows them.
            case notAllowed(String, allowed: [AttributeValue])
            /// A text or number is not a date.
            case unreadableDate
            /// A mandatory attribute has no value.
            case missingMandatory
            /// A transformer, entity mapper or object transformer threw an error. The payload is
            /// its name and the description of the error, which is empty after decoding.
            case refused(by: String, String)
            /// An index or a constraint of the store refused the object. The payload is a sentence.
            case refusedByStore(String)
            /// The element is neither an object nor an accepted identifier.
            case notAnObject
            /// The element is an identifier, but the entity's identity is not exactly one
            /// attribute. Mapping fails, whatever the contract.
            case noIdentity
        }

        /// The requested entity, or the one that the entity mapper returned.
        public let entity: String
        /// The name of the attribute; nil if the problem is not about one attribute.
        public let attribute: String?
        /// The keys that lead to the value, separated by dots. Empty for the whole object.
        public let keyPath: String
        /// The index of the object among the elements that were read, starting at 0.
        public let index: Int
        /// The kind of the misfit.
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
}

extension MappingError.Problem {
    /// Returns the same problem in another element.
    package func moved(to index: Int) -> MappingError.Problem {
        MappingError.Problem(entity: entity, attribute: attribute, keyPath: keyPath, index: index, reason: reason)
    }
}

extension MappingError.Problem: CustomStringConvertible, CustomDebugStringConvertible {
    /// The problem as a sentence, without the value.
    public var description: String { "\(place): \(reason)" }

    /// The sentence with the text of a transformer's error, which may contain the value, or the
    /// value that is not allowed.
    public var debugDescription: String { "\(place): \(String(reflecting: reason))" }

    private var place: String {
        let property = attribute.map { "\(entity).\($0)" } ?? entity
        return "\(property), element \(index)" + (keyPath.isEmpty ? "" : " at \(keyPath)")
    }
}

extension MappingError.Problem.Reason: CustomStringConvertible, CustomDebugStringConvertible {
    /// The reason in words, without the value.
    public var description: String {
        switch self {
        case .unknownKey: "the entity has no property for the key"
        case .wrongType(let type): "the value is not of type \(type.rawValue)"
        case .outOfRange(let type): "the number is out of range for the \(type.rawValue) property"
        case .notAllowed(_, let allowed) where allowed.isEmpty: "the type of the property cannot hold the value"
        case .notAllowed(_, let allowed): "the value is not one of \(AttributeValue.list(allowed))"
        case .unreadableDate: "the value is not a date"
        case .missingMandatory: "a mandatory value is missing"
        case .refused(let name, _): "the transformer \(name) refused the value"
        case .refusedByStore(let text): text
        case .notAnObject: "an object was expected"
        case .noIdentity: "a bare identifier requires an identity with one attribute"
        }
    }

    /// The reason with the text of a transformer's error, which may contain the value, or the value
    /// that is not allowed.
    public var debugDescription: String {
        switch self {
        case .refused(_, let text) where !text.isEmpty: "\(description): \(text)"
        case .notAllowed(let value, _) where !value.isEmpty: "\(description): \(value)"
        default: description
        }
    }
}

/// An error in mapping JSON or exporting objects.
///
/// Malformed JSON is a ``JSONError`` instead.
public enum MappingError: Error, Hashable, Sendable {
    /// The model has no entity of this name.
    case unknownEntity(String)
    /// An annotation names a transformer, entity mapper or object transformer that is not
    /// registered. `attribute` is nil for an annotation of the entity.
    case unknownTransformer(entity: String, attribute: String?, name: String)
    /// An entity mapper returned an entity that does not inherit from the requested one.
    case unrelatedEntity(entity: String, answer: String)
    /// An object does not fit the model, and the contract makes that an error.
    case unfit(MappingError.Problem)
    /// On export, a transformer could not convert a value back. The last payload is the description
    /// of the error.
    case irreversible(entity: String, attribute: String, by: String, String)
    /// On export, a value has no form in JSON: it is infinite, NaN, or a date outside the years 0
    /// to 9999. `key` is the identity of the object; nil if it has none.
    case inexpressible(entity: String, key: Record.Key?, attribute: String)
    /// On export, objects are nested deeper than ``RecordMapper/Exporter/Options/maximumDepth``.
    case nestedTooDeep(entity: String, maximumDepth: Int)
}

extension MappingError: CustomStringConvertible, CustomDebugStringConvertible, LocalizedError {
    /// The error as a sentence, without any value from the input.
    public var description: String {
        switch self {
        case .unknownEntity(let entity): "there is no entity \(entity)"
        case .unknownTransformer(let entity, let attribute, let name):
            "\(entity)\(attribute.map { ".\($0)" } ?? "") names \(name), which is not registered"
        case .unrelatedEntity(let entity, let answer):
            "the mapper of \(entity) returned \(answer), which is not \(entity) or a sub-entity of it"
        case .unfit(let problem): problem.description
        case .irreversible(let entity, let attribute, let name, _):
            "\(entity).\(attribute) cannot be exported: \(name) refused the value"
        case .inexpressible(let entity, let key, let attribute):
            "\(entity)\(Self.name(key)) cannot be exported: \(attribute) is infinite, NaN, or a date outside the years "
                + "0 to 9999, which JSON cannot express"
        case .nestedTooDeep(let entity, let maximumDepth):
            "\(entity) cannot be exported: it is nested deeper than \(maximumDepth) objects"
        }
    }

    /// The sentence with the text of a transformer's error, which may contain the value.
    public var debugDescription: String {
        switch self {
        case .unfit(let problem): problem.debugDescription
        case .irreversible(_, _, _, let text): "\(description): \(text)"
        case .unknownEntity, .unknownTransformer, .unrelatedEntity, .inexpressible, .nestedTooDeep: description
        }
    }

    /// The values of an identity, after a space; empty for an object without one.
    private static func name(_ key: Record.Key?) -> String {
        guard case .identity(let values) = key else { return "" }
        return " " + values.map(\.description).joined(separator: ", ")
    }

    /// The description of the error, the same as `description`.
    public var errorDescription: String? { description }
}

extension MappingError: AreaError {
    package var errorArea: ErrorArea {
        switch self {
        case .unfit, .irreversible, .inexpressible, .nestedTooDeep: .data
        case .unknownEntity, .unknownTransformer, .unrelatedEntity: .program
        }
    }
}
