public import Foundation
package import SyncBase

extension Record {
    /// A mismatch between an entity and a `Codable` type that a record is converted to or from.
    public enum CodingError: Error, Hashable, Sendable {
        /// The type requires an attribute or relationship that the entity does not have.
        case unknownProperty(entity: String, property: String)
        /// The type requires a value where the record has none.
        case missingValue(entity: String, property: String)
        /// A value cannot be converted between the attribute's type and the Swift type. The error
        /// omits the value, because it may be personal data.
        case wrongType(entity: String, property: String, type: String)
        /// The type is not a flat list of properties; only JSON attributes have nested objects or
        /// lists.
        case unsupportedShape(entity: String, property: String?)
    }
}

extension Record.CodingError: CustomStringConvertible, LocalizedError {
    /// The error as a readable sentence.
    public var description: String {
        switch self {
        case .unknownProperty(let entity, let property): "\(entity) has no property \(property)"
        case .missingValue(let entity, let property): "\(entity).\(property) has no value"
        case .wrongType(let entity, let property, let type): "\(entity).\(property) does not fit \(type)"
        case .unsupportedShape(let entity, let property):
            "\(entity)\(property.map { ".\($0)" } ?? "") has nested objects or lists, which only JSON attributes can hold"
        }
    }

    /// The same text as `description`.
    public var errorDescription: String? { description }
}

extension Record.CodingError: AreaError {
    package var errorArea: ErrorArea {
        switch self {
        case .missingValue, .wrongType: .data
        case .unknownProperty, .unsupportedShape: .program
        }
    }
}
