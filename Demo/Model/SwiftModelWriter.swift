import Foundation
import SyncModel

/// A writer of models as Swift source.
///
///     import SyncModel
///
///     func makeModel() throws(ModelError) -> DataModel {
///         try DataModel([
///             makeUser(),
///         ])
///     }
///
///     private func makeUser() -> SyncEntity {
///         SyncEntity("User", identity: "id") {
///             SyncAttribute("id", .int64, optional: false)
///         }
///     }
///
/// Arguments with default values are omitted. Each entity has a function of its own, because the
/// time for checking the types of one large expression grows much faster than its size.
struct SwiftModelWriter {
    private var functions: [(name: String, lines: [String])] = []
    private var names: Set<String> = ["makeModel"]
    private var needsFoundation = false

    /// Returns the source of a function that creates an equal model; it compiles in any file.
    static func source(of model: DataModel) -> String {
        var writer = SwiftModelWriter()
        for entity in model.entities { writer.write(entity) }
        var lines = writer.needsFoundation ? ["import Foundation"] : []
        lines += ["import SyncModel", "", "func makeModel() throws(ModelError) -> DataModel {", "    try DataModel(["]
        lines += writer.functions.map { "        \($0.name)()," }
        lines += ["    ])", "}"]
        for function in writer.functions {
            lines += ["", "private func \(function.name)() -> SyncEntity {"]
            lines += function.lines.map { "    \($0)" } + ["}"]
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Returns a new name for the function of an entity, whose name may contain any characters.
    private mutating func functionName(of entity: String) -> String {
        let words = entity.split { !($0.isASCII && ($0.isLetter || $0.isNumber)) }
        let name =
            "make" + (words.isEmpty ? ["Entity"] : words.map { $0.prefix(1).uppercased() + $0.dropFirst() }).joined()
        var unique = name
        var number = 2
        while !names.insert(unique).inserted {
            unique = "\(name)\(number)"
            number += 1
        }
        return unique
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
        var lines = ["SyncEntity(\(arguments.joined(separator: ", "))) {\(isEmpty ? "}" : "")"]
        for attribute in entity.attributes { lines.append("    \(source(of: attribute))") }
        for relationship in entity.relationships { lines.append("    \(Self.source(of: relationship))") }
        if !isEmpty { lines.append("}") }
        functions.append((functionName(of: entity.name), lines))
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
        let label = relationship.isOrdered ? "toOrdered" : relationship.isToMany ? "toMany" : "toOne"
        var arguments = [
            literal(relationship.name),
            "\(label): \(literal(relationship.destination))",
        ]
        if let inverse = relationship.inverse { arguments.append("inverse: \(literal(inverse))") }
        if relationship.deleteRule != .nullify { arguments.append("deleteRule: .\(relationship.deleteRule.rawValue)") }
        var rest = relationship
        if let owns = rest.ownsTargets {
            arguments.append("owns: \(owns)")
            rest.ownsTargets = nil
        }
        if !relationship.isOptional { arguments.append("optional: false") }
        arguments += tail(formerName: relationship.formerName, userInfo: rest.userInfo)
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
