import Foundation

extension DataModel {
    /// Returns Swift source with a `SyncObject` type for each entity.
    ///
    /// `DataModel` makes an equal model of the types. Relationships are `Related`, so that each
    /// query includes only what it needs. Bookkeeping entities are left out.
    public func swiftTypes() -> String {
        let types = layouts.filter { !$0.entity.isBookkeeping }.map { SwiftTypeWriter($0, in: self).text }
        return "import Foundation\nimport SyncModel\n\n" + types.joined(separator: "\n")
    }
}

/// Writes the Swift type of an entity.
private struct SwiftTypeWriter {
    private let layout: EntityLayout
    private let model: DataModel

    init(_ layout: EntityLayout, in model: DataModel) {
        self.layout = layout
        self.model = model
    }

    var text: String {
        let name = Self.typeName(layout.name)
        var lines = ["struct \(name): SyncObject {"]
        lines += properties.map { "    var \(Self.identifier($0.name)): \($0.type)" }
        if properties.contains(where: { Self.plain($0.name) != $0.name }) {
            lines += ["", "    enum CodingKeys: String, CodingKey {"]
            lines += properties.map { property in
                let plain = Self.plain(property.name)
                let identifier = Self.identifier(property.name)
                return "        case \(identifier)"
                    + (plain == property.name ? "" : " = \(Self.literal(property.name))")
            }
            lines.append("    }")
        }
        var parts = self.parts
        if name != layout.name { parts.insert(Self.literal(layout.name), at: 0) }
        lines.append("")
        if parts.isEmpty {
            lines.append("    static let declaration = SyncDeclaration<\(name)>()")
        } else {
            lines.append("    static let declaration = SyncDeclaration<\(name)>(")
            lines.append(parts.map { "        \($0)" }.joined(separator: ",\n") + ")")
        }
        lines.append("}\n")
        return lines.joined(separator: "\n")
    }

    private var properties: [(name: String, type: String)] {
        layout.attributes.map { ($0.name, $0.type.swiftName + ($0.isOptional ? "?" : "")) }
            + layout.relationships.map { relationship in
                let type = Self.typeName(relationship.declaration.destination)
                return (relationship.name, relationship.isToMany ? "Related<[\(type)]>" : "Related<\(type)?>")
            }
    }

    private var parts: [String] {
        let entity = layout.entity
        var parts: [String] = []
        if let parent = entity.parent { parts.append(".parent(\(Self.typeName(parent)).self)") }
        if entity.isAbstract { parts.append(".abstract") }
        if !entity.identity.isEmpty {
            let scope = entity.identityScope.map { ", within: \(Self.path($0))" } ?? ""
            parts.append(".identity(\(entity.identity.map(Self.path).joined(separator: ", "))\(scope))")
        }
        parts += entity.attributes.compactMap(part)
        parts += entity.relationships.compactMap(part)
        parts += entity.indexes.map(part)
        if let former = entity.formerName { parts.append(".formerEntity(\(Self.literal(former)))") }
        let userInfo = entity.userInfo.filter { $0.key != "sync.identityScope" }
        if !userInfo.isEmpty { parts.append(".userInfo(\(Self.literal(userInfo)))") }
        return parts
    }

    private func part(_ attribute: SyncAttribute) -> String? {
        var arguments: [String] = []
        if attribute.type == .transformable { arguments.append("type: .transformable") }
        if !attribute.defaultValue.isNull { arguments.append("default: \(attribute.defaultValue.swiftLiteral)") }
        var userInfo = attribute.userInfo
        if let key = userInfo.removeValue(forKey: SyncEntity.remoteKeyAnnotation) {
            arguments.append("remoteKey: \(Self.literal(key))")
        }
        if let name = attribute.transformerName { arguments.append("transformer: \(Self.literal(name))") }
        if let name = attribute.formerName { arguments.append("formerName: \(Self.literal(name))") }
        if !userInfo.isEmpty { arguments.append("userInfo: \(Self.literal(userInfo))") }
        guard !arguments.isEmpty else { return nil }
        return ".attribute(\(([Self.path(attribute.name)] + arguments).joined(separator: ", ")))"
    }

    private func part(_ relationship: SyncRelationship) -> String? {
        var arguments: [String] = []
        if let inverse = relationship.inverse { arguments.append("inverse: \(Self.path(inverse))") }
        if relationship.isOrdered { arguments.append("ordered: true") }
        if relationship.deleteRule != .nullify { arguments.append("deleteRule: .\(relationship.deleteRule)") }
        if let owns = relationship.ownsTargets { arguments.append("owns: \(owns)") }
        var userInfo = relationship.userInfo
        userInfo["sync.owned"] = nil
        if let key = userInfo.removeValue(forKey: SyncEntity.remoteKeyAnnotation) {
            arguments.append("remoteKey: \(Self.literal(key))")
        }
        if let name = relationship.formerName { arguments.append("formerName: \(Self.literal(name))") }
        if !userInfo.isEmpty { arguments.append("userInfo: \(Self.literal(userInfo))") }
        guard !arguments.isEmpty else { return nil }
        let kind = relationship.isToMany ? "toMany" : "toOne"
        return ".\(kind)(\(([Self.path(relationship.name)] + arguments).joined(separator: ", ")))"
    }

    private func part(_ index: SyncIndex) -> String {
        var arguments = index.attributes.map(Self.path)
        if let condition = index.condition { arguments.append("where: \(Self.text(condition))") }
        return "\(index.isUnique ? ".unique" : ".index")(\(arguments.joined(separator: ", ")))"
    }

    /// The condition of an index as Swift.
    private static func text(_ condition: RecordPredicate) -> String {
        switch condition {
        case .comparison(let key, let comparison, let value):
            let sign =
                switch comparison {
                case .equal: "=="
                case .notEqual: "!="
                default: comparison.rawValue
                }
            return "\(path(key.path)) \(sign) \(value.swiftLiteral)"
        case .isNull(let key): return "\(path(key.path)) == nil"
        case .not(.isNull(let key)): return "\(path(key.path)) != nil"
        case .and(let parts): return parts.map(text).joined(separator: " && ")
        default: return ".constant(true)"
        }
    }

    // MARK: Names

    /// A name without characters that an identifier cannot have.
    private static func plain(_ name: String) -> String {
        var plain = String(name.unicodeScalars.map { $0.properties.isXIDContinue || $0 == "_" ? Character($0) : "_" })
        if plain.unicodeScalars.first.map({ !$0.properties.isXIDStart && $0 != "_" }) ?? true { plain = "_" + plain }
        return plain
    }

    private static func identifier(_ name: String) -> String {
        let plain = plain(name)
        return keywords.contains(plain) ? "`\(plain)`" : plain
    }

    private static func typeName(_ name: String) -> String {
        let plain = plain(name)
        return plain == "Type" || plain == "Self" || plain == "Any" || plain == "Protocol" ? plain + "Object" : plain
    }

    private static func path(_ name: String) -> String { "\\.\(identifier(name))" }

    static func literal(_ text: String) -> String { text.debugDescription }

    private static func literal(_ userInfo: [String: String]) -> String {
        let pairs = userInfo.sorted { $0.key < $1.key }.map { "\(literal($0.key)): \(literal($0.value))" }
        return "[\(pairs.joined(separator: ", "))]"
    }

    private static let keywords: Set<String> = [
        "as", "associatedtype", "break", "case", "catch", "class", "continue", "default", "defer", "deinit", "do",
        "else", "enum", "extension", "fallthrough", "false", "fileprivate", "for", "func", "guard", "if", "import",
        "in",
        "init", "inout", "internal", "is", "let", "nil", "operator", "precedencegroup", "private", "protocol", "public",
        "repeat", "rethrows", "return", "self", "static", "struct", "subscript", "super", "switch", "throw", "throws",
        "true", "try", "typealias", "var", "where", "while",
    ]
}

extension AttributeType {
    /// The Swift type of the values.
    fileprivate var swiftName: String {
        switch self {
        case .int16: "Int16"
        case .int32: "Int32"
        case .int64: "Int"
        case .double: "Double"
        case .float: "Float"
        case .decimal: "Decimal"
        case .string: "String"
        case .bool: "Bool"
        case .date: "Date"
        case .binary, .transformable: "Data"
        case .uuid: "UUID"
        case .uri: "URL"
        case .json: "CanonicalJSON"
        }
    }
}

extension AttributeValue {
    /// Swift source of the value.
    fileprivate var swiftLiteral: String {
        switch self {
        case .null: "nil"
        case .bool(let flag): "\(flag)"
        case .int(let number): "\(number)"
        case .double(let number): "\(number)"
        case .decimal(let number): ".decimal(Decimal(string: \"\(number)\") ?? 0)"
        case .string(let text): text.debugDescription
        case .date(let moment): ".date(Timestamp(microseconds: \(moment.microseconds)))"
        case .binary(let data): ".binary(Data([\(data.map { "\($0)" }.joined(separator: ", "))]))"
        case .uuid(let uuid): ".uuid(UUID(uuidString: \"\(uuid)\") ?? UUID())"
        case .uri(let text): ".uri(\(text.debugDescription))"
        case .json(let json): "CanonicalJSON(\(json.text.debugDescription))?.value ?? .null"
        }
    }
}
