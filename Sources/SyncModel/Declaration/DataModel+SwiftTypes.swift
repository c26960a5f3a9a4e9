import SyncBase

extension DataModel {
    /// Returns Swift source with a `SyncObject` type for each entity, and a function that makes an
    /// equal model of them.
    ///
    /// An entity that states no identity and has an attribute `id` is identified by it, as it is in
    /// a mapping by convention.
    ///
    /// Relationships are `Related`, so that each query includes only what it needs. Bookkeeping
    /// entities are omitted. A type cannot state that a to-many relationship is mandatory, that an
    /// inverse belongs to a parent or sub-entity, and some conditions of indexes. Comments name
    /// what is missing.
    public func swiftTypes() -> String {
        let layouts = layouts.filter { !$0.entity.isBookkeeping }
        let names = SwiftNames(layouts)
        let types = layouts.map { SwiftTypeWriter($0, in: self, names: names).text }
        let list = layouts.map { "\(names.type(of: $0.name)).self" }.joined(separator: ", ")
        let model = layouts.isEmpty ? "DataModel([])" : "DataModel(\(list))"
        return "import Foundation\nimport SyncModel\n\n" + types.map { $0 + "\n" }.joined()
            + "/// Returns the model of all types.\nfunc makeModel() throws -> DataModel {\n    try \(model)\n}\n"
    }
}

/// Writes the Swift type of an entity.
private struct SwiftTypeWriter {
    private let layout: EntityLayout
    private let model: DataModel
    private let names: SwiftNames
    private let properties: [String: String]
    private var parts: [String] = []
    /// The facts that the type cannot state.
    private var omissions: [String] = []

    init(_ layout: EntityLayout, in model: DataModel, names: SwiftNames) {
        self.layout = layout
        self.model = model
        self.names = names
        properties = names.properties(of: layout.name)
        addParts()
    }

    /// The source of the type, with a newline at the end.
    var text: String {
        let name = names.type(of: layout.name)
        var lines = omissions.map { "// Not part of the type: \($0)." }
        lines.append("struct \(name): SyncObject {")
        let declared =
            layout.attributes.map { ($0.name, $0.type.swiftName + ($0.isOptional ? "?" : "")) }
            + layout.relationships.map { ($0.name, type(of: $0.declaration)) }
        lines += declared.map { "    var \(identifier($0.0)): \($0.1)" }
        if declared.contains(where: { SwiftNames.unquoted(identifier($0.0)) != $0.0 }) {
            lines += ["", "    enum CodingKeys: String, CodingKey {"]
            lines += declared.map { property in
                let identifier = identifier(property.0)
                let isSame = SwiftNames.unquoted(identifier) == property.0
                return "        case \(identifier)" + (isSame ? "" : " = \(property.0.debugDescription)")
            }
            lines.append("    }")
        }
        let statements = (name == layout.name ? [] : [layout.name.debugDescription]) + parts
        if !statements.isEmpty {
            if !declared.isEmpty { lines.append("") }
            lines.append("    static let declaration = SyncDeclaration<\(name)>(")
            lines.append(statements.map { "        \($0)" }.joined(separator: ",\n") + ")")
        }
        lines.append("}\n")
        return lines.joined(separator: "\n")
    }

    private func type(of relationship: SyncRelationship) -> String {
        let type = names.type(of: relationship.destination)
        if relationship.isToMany { return "Related<[\(type)]>" }
        return "Related<\(type)\(relationship.isOptional ? "?" : "")>"
    }

    private func identifier(_ property: String) -> String { properties[property] ?? property }

    private func path(_ property: String) -> String { "\\.\(identifier(property))" }

    // MARK: Parts

    private mutating func addParts() {
        let entity = layout.entity
        if let parent = entity.parent { parts.append(".parent(\(names.type(of: parent)).self)") }
        if entity.isAbstract { parts.append(".abstract") }
        if statesIdentity {
            let scope = entity.identityScope.map { ["within: \(path($0))"] } ?? []
            parts.append(".identity(\((entity.identity.map(path) + scope).joined(separator: ", ")))")
        }
        for attribute in entity.attributes { add(attribute) }
        for relationship in entity.relationships { add(relationship) }
        for index in entity.indexes { add(index) }
        if let former = entity.formerName { parts.append(".formerEntity(\(former.debugDescription))") }
        let isStated = statesIdentity && entity.identity.isEmpty && entity.identityScope == nil
        let userInfo = entity.userInfo.filter {
            $0.key != "sync.identityScope" && !(isStated && $0.key == SyncEntity.identityAnnotation)
        }
        if !userInfo.isEmpty { parts.append(".userInfo(\(Self.literal(userInfo)))") }
    }

    /// Whether the type has to state the entity's identity, because it would have another one.
    private var statesIdentity: Bool {
        let entity = layout.entity
        guard entity.identityScope == nil else { return true }
        if entity.identity.isEmpty { return !isIdentified(by: entity.parent) && isWithoutIdentity }
        let isUsual = !isIdentified(by: entity.parent) && layout.column(of: SyncEntity.usualIdentity) != nil
        return entity.identity != (isUsual ? [SyncEntity.usualIdentity] : [])
    }

    /// Whether objects of an entity that adds nothing to an inherited identity have none.
    ///
    /// An attribute `id` of its own is the identity by convention.
    private var isWithoutIdentity: Bool {
        let entity = layout.entity
        if entity.userInfo[SyncEntity.identityAnnotation] == SyncEntity.noIdentity { return true }
        let usual = SyncEntity.usualIdentity
        return layout.column(of: usual) != nil && !entity.attributes.contains { $0.name == usual }
    }

    /// Whether the type of an entity has an identity, stated or by its attribute `id`.
    private func isIdentified(by name: String?) -> Bool {
        guard let layout = name.flatMap({ model[$0] }) else { return false }
        let entity = layout.entity
        guard entity.identity.isEmpty, !isIdentified(by: entity.parent) else { return true }
        return entity.userInfo[SyncEntity.identityAnnotation] != SyncEntity.noIdentity
            && entity.attributes.contains { $0.name == SyncEntity.usualIdentity }
    }

    private mutating func add(_ attribute: SyncAttribute) {
        var arguments: [String] = []
        if attribute.type == .transformable { arguments.append("type: .transformable") }
        if !attribute.defaultValue.isNull { arguments.append("default: \(attribute.defaultValue.swiftLiteral)") }
        var userInfo = attribute.userInfo
        let values = attribute.allowedValues
        // An annotation in another spelling stays an annotation.
        if !values.isEmpty,
            SyncAttribute("", attribute.type, allowedValues: values).userInfo.allSatisfy({ userInfo[$0] == $1 })
        {
            arguments.append("allowedValues: [\(values.map(\.swiftLiteral).joined(separator: ", "))]")
            userInfo[SyncAttribute.allowedValuesAnnotation] = nil
        }
        if let key = userInfo.removeValue(forKey: SyncEntity.remoteKeyAnnotation) {
            arguments.append("remoteKey: \(key.debugDescription)")
        }
        if let name = attribute.transformerName { arguments.append("transformer: \(name.debugDescription)") }
        if let name = attribute.formerName { arguments.append("formerName: \(name.debugDescription)") }
        if !userInfo.isEmpty { arguments.append("userInfo: \(Self.literal(userInfo))") }
        guard !arguments.isEmpty else { return }
        parts.append(".attribute(\(([path(attribute.name)] + arguments).joined(separator: ", ")))")
    }

    private mutating func add(_ relationship: SyncRelationship) {
        var arguments: [String] = []
        if let inverse = relationship.inverse {
            if model.canName(relationship, of: layout.name) {
                let names = names.properties(of: relationship.destination)
                arguments.append("inverse: \\.\(names[inverse] ?? inverse)")
            } else if !model.canNameInverse(of: relationship) {
                omissions.append("\(inverse) of \(relationship.destination), the inverse of \(relationship.name)")
            }
        }
        if relationship.isOrdered { arguments.append("ordered: true") }
        if relationship.deleteRule != .nullify { arguments.append("deleteRule: .\(relationship.deleteRule)") }
        var userInfo = relationship.userInfo
        if let owned = userInfo["sync.owned"], ["YES", "NO"].contains(owned) {
            userInfo["sync.owned"] = nil
            arguments.append("owns: \(owned == "YES")")
        }
        if let key = userInfo.removeValue(forKey: SyncEntity.remoteKeyAnnotation) {
            arguments.append("remoteKey: \(key.debugDescription)")
        }
        if let name = relationship.formerName { arguments.append("formerName: \(name.debugDescription)") }
        if !userInfo.isEmpty { arguments.append("userInfo: \(Self.literal(userInfo))") }
        if relationship.isToMany, !relationship.isOptional {
            omissions.append("\(relationship.name) is mandatory")
        }
        guard !arguments.isEmpty else { return }
        let kind = relationship.isToMany ? "toMany" : "toOne"
        parts.append(".\(kind)(\(([path(relationship.name)] + arguments).joined(separator: ", ")))")
    }

    private mutating func add(_ index: SyncEntity.Index) {
        var arguments = index.attributes.map(path)
        if let condition = index.condition {
            guard let text = text(condition) else {
                omissions.append("an index of \(index.attributes.joined(separator: ", ")), because of its condition")
                return
            }
            arguments.append("where: \(text)")
        }
        parts.append("\(index.isUnique ? ".unique" : ".index")(\(arguments.joined(separator: ", ")))")
    }

    /// The condition of an index as Swift; nil if key paths cannot express it.
    private func text(_ condition: RecordPredicate) -> String? {
        switch condition {
        case .comparison(let key, let comparison, let value):
            let sign =
                switch comparison {
                case .equal: "=="
                case .notEqual: "!="
                default: comparison.rawValue
                }
            return value.swiftValue.map { "\(path(key.path)) \(sign) \($0)" }
        case .isNull(let key): return isOptional(key) ? "\(path(key.path)) == nil" : nil
        case .not(.isNull(let key)): return isOptional(key) ? "\(path(key.path)) != nil" : nil
        case .and(let conditions):
            let texts = conditions.compactMap(text)
            return texts.count == conditions.count ? texts.joined(separator: " && ") : nil
        default: return nil
        }
    }

    private func isOptional(_ key: PropertyPath) -> Bool {
        layout.column(of: key.path).map { layout.attributes[$0].isOptional } ?? false
    }

    private static func literal(_ userInfo: [String: String]) -> String {
        let pairs = userInfo.sortedByKey.map {
            "\($0.key.debugDescription): \($0.value.debugDescription)"
        }
        return "[\(pairs.joined(separator: ", "))]"
    }
}

extension DataModel {
    /// Whether the type of an entity can name the inverse of its relationship, which must lead back
    /// to that type.
    fileprivate func canName(_ relationship: SyncRelationship, of entity: String) -> Bool {
        relationship.inverse.flatMap { self[relationship.destination]?.relationship($0) }?.declaration.destination
            == entity
    }

    /// Whether the type at the other end can name a relationship as its inverse.
    fileprivate func canNameInverse(of relationship: SyncRelationship) -> Bool {
        guard let name = relationship.inverse, let back = self[relationship.destination]?.relationship(name) else {
            return false
        }
        return canName(back.declaration, of: layouts[back.source].name)
    }
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
