public import Foundation

extension Record {
    /// Why a record does not fit a `Codable` type, or a value of such a type an entity.
    public enum CodingError: Error, Hashable, Sendable {
        /// The entity has no such attribute or relationship, and the type cannot do without it.
        case unknownProperty(entity: String, property: String)
        /// There is no value, and the type cannot do without it.
        case missingValue(entity: String, property: String)
        /// What is there cannot become what the type asks for, or the other way round. The value
        /// itself is left out: it may be personal data.
        case wrongType(entity: String, property: String, type: String)
        /// The type is not a plain list of properties: it nests objects or lists that a record does
        /// not have.
        case unsupportedShape(entity: String, property: String?)
    }
}

extension Record.CodingError: CustomStringConvertible {
    /// The error as a readable sentence.
    public var description: String {
        switch self {
        case .unknownProperty(let entity, let property): "\(entity) has no property \(property)"
        case .missingValue(let entity, let property): "\(entity).\(property) has no value"
        case .wrongType(let entity, let property, let type): "\(entity).\(property) does not fit \(type)"
        case .unsupportedShape(let entity, let property):
            "\(entity)\(property.map { ".\($0)" } ?? "") is coded in a shape that records do not have"
        }
    }
}

extension Record.CodingError: LocalizedError {
    /// The error as a readable sentence, the same as `description`.
    public var errorDescription: String? {
        description
    }
}
