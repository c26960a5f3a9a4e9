import Foundation
import SyncModel

/// A writer of models as Swift source.
///
///     import SyncModel
///
///     func makeModel() throws(ModelError) -> DataModel {
///         try DataModel {
///             SyncEntity("User", identity: "id") {
///                 SyncAttribute("id", .int64, optional: false)
///             }
///         }
///     }
///
/// Arguments with default values are omitted.
struct SwiftModelWriter {
    private var lines: [String] = []
    private var needsFoundation = false

    /// Returns the source of a function that creates an equal model; it compiles in any file.
    static func source(of model: DataModel) -> String {
        var writer = SwiftModelWriter()
        for entity in model.entities { writer.write(entity) }
        let imports = writer.needsFoundation ? "import Foundation\nimport SyncModel" : "import SyncModel"
        let body = writer.lines.map { "        \($0)" }
        return """
            \(imports)

            func makeModel() throws(ModelError) -> DataModel {
                try DataModel {
            \(body.joined(separator: "\n"))
                }
            }

            """
    }

    private mutating func write(_ entity: SyncEntity) {
        var arguments = [Self.literal(entity.name)]
        if let parent = entity.parent { arguments.append("parent: \(Self.literal(parent))") }
        if entity.isAbstract { arguments.append("abstract: true") }
        if !entity.identity.isEmpty {
            arguments.append("identity: \(entity.identity.map(Self.literal).joined(separator: ", "))")
        }
        arguments += Self.tail(formerName: entity.formerName, userInfo: entity.userInfo)
        let isEmpty = entity.attributes.isEmpty && entity.relationships.isEmpty
        lines.append("SyncEntity(\(arguments.joined(separator: ", "))) {\(isEmpty ? "}" : "")")
        for attribute in entity.attributes { lines.append("    \(source(of: attribute))") }
        for relationship in entity.relationships { lines.append("    \(Self.source(of: relationship))") }
        if !isEmpty { lines.append("}") }
    }

    private mutating func source(of attribute: SyncAttribute) -> String {
        var arguments = [Self.literal(attribute.name), ".\(attribute.type.rawValue)"]
        if !attribute.isOptional { arguments.append("optional: false") }
        if !attribute.defaultValue.isNull { arguments.append("default: \(source(of: attribute.defaultValue))") }
        if let name = attribute.transformerName { arguments.append("transformer: \(Self.literal(name))") }
        arguments += Self.tail(formerName: attribute.formerName, userInfo: attribute.userInfo)
        return "SyncAttribute(\(arguments.joined(separator: ", ")))"
    }

    private static func source(of relationship: SyncRelationship) -> String {
        var arguments = [
            literal(relationship.name),
            "\(relationship.isToMany ? "toMany" : "toOne"): \(literal(relationship.destination))",
        ]
        if relationship.isOrdered { arguments.append("ordered: true") }
        if let inverse = relationship.inverse { arguments.append("inverse: \(literal(inverse))") }
        if relationship.deleteRule != .nullify { arguments.append("deleteRule: .\(relationship.deleteRule.rawValue)") }
        if !relationship.isOptional { arguments.append("optional: false") }
        arguments += tail(formerName: relationship.formerName, userInfo: relationship.userInfo)
        return "SyncRelationship(\(arguments.joined(separator: ", ")))"
    }

    /// Returns the last arguments, which entities and properties share.
    private static func tail(formerName: String?, userInfo: [String: String]) -> [String] {
        var arguments: [String] = []
        if let formerName { arguments.append("formerName: \(literal(formerName))") }
        if !userInfo.isEmpty {
            let pairs = userInfo.sorted { $0.key < $1.key }.map { "\(literal($0.key)): \(literal($0.value))" }
            arguments.append("userInfo: [\(pairs.joined(separator: ", "))]")
        }
        return arguments
    }

    // MARK: Literals

    private mutating func source(of value: AttributeValue) -> String {
        switch value {
        case .null: return ".null"
        case .bool(let flag): return ".bool(\(flag))"
        case .int(let number): return ".int(\(number))"
        case .double(let number): return ".double(\(Self.literal(number)))"
        case .string(let text): return ".string(\(Self.literal(text)))"
        case .uri(let text): return ".uri(\(Self.literal(text)))"
        case .date(let moment): return ".date(Timestamp(microseconds: \(moment.microseconds)))"
        case .json(let json): return "CanonicalJSON(\(Self.literal(json.text)))?.value ?? .null"
        case .decimal(let number):
            needsFoundation = true
            return ".decimal(Decimal(string: \(Self.literal(number.description))) ?? 0)"
        case .uuid(let uuid):
            needsFoundation = true
            let bytes = withUnsafeBytes(of: uuid.uuid) { $0.map { "\($0)" } }
            return ".uuid(UUID(uuid: (\(bytes.joined(separator: ", ")))))"
        case .binary(let data):
            needsFoundation = true
            return ".binary(Data([\(data.map { "\($0)" }.joined(separator: ", "))]))"
        }
    }

    private static func literal(_ number: Double) -> String {
        if number.isNaN { return ".nan" }
        if number.isInfinite { return number < 0 ? "-.infinity" : ".infinity" }
        return "\(number)"
    }

    /// Returns a string literal in which all special characters are escaped.
    private static func literal(_ text: String) -> String {
        text.debugDescription
    }
}
