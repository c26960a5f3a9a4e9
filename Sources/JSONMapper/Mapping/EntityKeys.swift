public import SyncModel

/// The keys of JSON for all properties of an entity: which are read, which are written, and which is the primary key.
///
/// **In the Sync dialect** an attribute is found under
/// 1. its custom key, if it has one: nested objects for a key with dots, or one flat key spelled with the dots;
/// 2. its name, and every key whose camelCase is its name (`first_name`, `first-name`, `FirstName` for `firstName`);
/// 3. a reserved word (`type`, `description`, `signed`), where the name is the entity's name, or that of an entity it inherits from,
///    followed by the word: `description` for `userDescription` of `User`;
/// 4. `id`, where its name is `remoteID` or `id`.
///
/// A key that several attributes claim goes to the claim that stands first in this list, among equals to the first
/// attribute; a custom key goes to all attributes that are annotated with it. An attribute is written under its custom
/// key, else `id` for `remoteID`, else the reserved word, else its name in the wanted style.
///
/// A relationship with a custom key is found under that alone, objects or identifiers; any other has its objects under
/// its name in snake_case or as it is, and identifiers under the name followed by `_id` (to-one) or `_ids` (to-many), `ID` or `IDs`,
/// `Id` or `Ids`. One key may serve an attribute and a relationship at once; of several relationships the first has it. The primary key is the attribute so marked, else the
/// identity that the model declares, else `id`, else `remoteID`; the topmost entity that has one of these gives it to all that inherit from
/// it.
///
/// **In the Groot dialect** a property has the key path of its annotation or none, and the identity is what the entity and those
/// it inherits from are annotated with, else what the model declares.
public struct EntityKeys: Sendable {
    /// The entity.
    public let layout: EntityLayout
    /// The dialect that the rules are taken from.
    public let dialect: JSONDialect
    /// The keys of each attribute, in slot order.
    public let attributes: [AttributeKeys]
    /// The keys of each relationship, by its index.
    public let relationships: [RelationshipKeys]
    /// The slots of the attributes that tell objects apart, as the dialect finds them; empty for an entity without identity.
    public let identitySlots: [Int]
    /// The name of the entity mapper that picks a sub-entity for each object; nil where there is none.
    public let entityMapperName: String?
    /// The name of the transformer that each object goes through before it is mapped; nil where there is none.
    public let objectTransformerName: String?

    /// Works out the keys of an entity.
    ///
    /// - Parameters:
    ///   - layout: The entity, one of the model's.
    ///   - model: The model.
    ///   - dialect: Where the rules are taken from; Sync's by default.
    public init(_ layout: EntityLayout, in model: DataModel, dialect: JSONDialect = .sync) {
        self.layout = layout
        self.dialect = dialect
        let lineage = Self.lineage(of: layout, in: model)
        switch dialect {
        case .sync:
            let prefixes = lineage.map(\.name)
            attributes = layout.attributes.enumerated().map { slot, attribute in
                Self.syncKeys(attribute, slot: slot, prefixes: prefixes)
            }
            relationships = layout.relationships.map(Self.syncKeys)
            entityMapperName = nil
            objectTransformerName = nil
        case .groot:
            attributes = layout.attributes.enumerated().map(Self.grootKeys)
            relationships = layout.relationships.map(Self.grootKeys)
            entityMapperName = lineage.lazy.compactMap { Annotation.entityMapper($0.entity.userInfo) }.first
            objectTransformerName = lineage.lazy.compactMap { Annotation.objectTransformer($0.entity.userInfo) }.first
        }
        identitySlots = Self.identitySlots(lineage, dialect: dialect)
    }

    /// The name of the one attribute that is the primary key; nil where there is none, or several make up the identity.
    public var localPrimaryKey: String? {
        identitySlots.count == 1 ? layout.attributes[identitySlots[0]].name : nil
    }

    /// The key of JSON, dots between the levels, of the one attribute that is the primary key; nil where there is none, or
    /// several make up the identity.
    public var remotePrimaryKey: String? {
        identitySlots.count == 1 ? attributes[identitySlots[0]].path()?.joined(separator: ".") : nil
    }

    /// The keys of an attribute; nil where there is none of that name.
    public func attribute(_ name: String) -> AttributeKeys? {
        layout.slot(of: name).map { attributes[$0] }
    }

    /// The keys of a relationship; nil where there is none of that name.
    public func relationship(_ name: String) -> RelationshipKeys? {
        layout.relationship(name).map { relationships[$0.index] }
    }

    // MARK: Identity

    /// The names that make an attribute the primary key by convention, the preferred one first.
    static let primaryKeyNames = ["id", "remoteID"]
    static let remotePrimaryKey = "id"

    /// The entity and those it inherits from, the nearest first.
    static func lineage(of layout: EntityLayout, in model: DataModel) -> [EntityLayout] {
        Array(sequence(first: layout) { $0.parent.map { model.layouts[$0] } })
    }

    /// In the Sync dialect, the names that the entity itself makes its identity: its marked attribute, what it declares,
    /// or an attribute named so; nil where it has none of these.
    static func ownIdentity(_ layout: EntityLayout) -> [String]? {
        let own = layout.entity.attributes
        if let marked = own.first(where: { Annotation.isPrimaryKey($0.userInfo) }) { return [marked.name] }
        guard layout.entity.identity.isEmpty else { return layout.entity.identity }
        return primaryKeyNames.first { name in own.contains { $0.name == name } }.map { [$0] }
    }

    private static func identitySlots(_ lineage: [EntityLayout], dialect: JSONDialect) -> [Int] {
        let layout = lineage[0]
        let names: [String]
        switch dialect {
        case .groot:
            let annotated = lineage.reversed().flatMap { Annotation.identityAttributes($0.entity.userInfo) ?? [] }
            guard !annotated.isEmpty else { return layout.identitySlots }
            names = annotated
        case .sync: names = lineage.reversed().lazy.compactMap { ownIdentity($0) }.first ?? []
        }
        return names.compactMap { layout.slot(of: $0) }
    }

    // MARK: Sync

    /// Words that an attribute of Core Data cannot be named, so that its name has the entity's before it.
    private static let reservedWords = ["type", "description", "signed"]

    private static func syncKeys(_ attribute: SyncAttribute, slot: Int, prefixes: [String]) -> AttributeKeys {
        let name = attribute.name
        let custom = Annotation.remoteKey(attribute.userInfo)
        let reserved = reservedWords.first { word in
            prefixes.contains { JSONKey.camelCase("\(JSONKey.snakeCase($0) ?? $0)_\(word)") == name }
        }
        let snake = JSONKey.snakeCase(name) ?? name
        var spellings: [[String]] = []
        if let custom {
            spellings.append(components(custom))
            spellings.append([custom])
        }
        // A key leads to the attribute whose name is its camelCase; not every name is the camelCase of its own snake_case.
        spellings.append([name])
        if JSONKey.camelCase(snake) == name {
            spellings.append([snake])
        }
        if let reserved {
            spellings.append([reserved])
        }
        if primaryKeyNames.contains(name) {
            spellings.append([remotePrimaryKey])
        }
        let conventional = primaryKeyNames.contains(name) ? remotePrimaryKey : reserved
        return AttributeKeys(
            attribute: attribute, slot: slot, customPath: custom.map(components), spellings: unique(spellings),
            transformerName: Annotation.valueTransformer(attribute.userInfo)
                ?? (attribute.type == .transformable ? attribute.transformerName : nil),
            isExportable: attribute.type != .transformable && !Annotation.isNonExportable(attribute.userInfo),
            snakeCasePath: custom.map(components) ?? [conventional ?? snake],
            camelCasePath: custom.map(components) ?? [conventional ?? name])
    }

    private static func syncKeys(_ relationship: RelationshipLayout) -> RelationshipKeys {
        let name = relationship.name
        let userInfo = relationship.declaration.userInfo
        let snake = JSONKey.snakeCase(name) ?? name
        let custom = Annotation.remoteKey(userInfo).map(components)
        let suffixes = relationship.isToMany ? ["IDs", "Ids"] : ["ID", "Id"]
        let identifiers = [snake + (relationship.isToMany ? "_ids" : "_id")] + suffixes.map { name + $0 }
        return RelationshipKeys(
            relationship: relationship, customPath: custom,
            spellings: custom.map { [$0] } ?? unique([[snake], [name]]),
            identifierSpellings: custom == nil ? identifiers.map { [$0] } : [],
            isExportable: !Annotation.isNonExportable(userInfo), snakeCasePath: custom ?? [snake],
            camelCasePath: custom ?? [name])
    }

    // MARK: Groot

    private static func grootKeys(slot: Int, attribute: SyncAttribute) -> AttributeKeys {
        let path = Annotation.keyPath(attribute.userInfo).map(components)
        return AttributeKeys(
            attribute: attribute, slot: slot, customPath: path, spellings: path.map { [$0] } ?? [],
            transformerName: Annotation.transformer(attribute.userInfo), isExportable: path != nil,
            snakeCasePath: path ?? [], camelCasePath: path ?? [])
    }

    private static func grootKeys(_ relationship: RelationshipLayout) -> RelationshipKeys {
        let path = Annotation.keyPath(relationship.declaration.userInfo).map(components)
        return RelationshipKeys(
            relationship: relationship, customPath: path, spellings: path.map { [$0] } ?? [], identifierSpellings: [],
            isExportable: path != nil, snakeCasePath: path ?? [], camelCasePath: path ?? [])
    }

    /// The keys between the dots; a key of nothing but dots is one key.
    private static func components(_ path: String) -> [String] {
        let components = path.split(separator: ".").map(String.init)
        return components.isEmpty ? [path] : components
    }

    private static func unique(_ paths: [[String]]) -> [[String]] {
        var seen: Set<[String]> = []
        return paths.filter { seen.insert($0).inserted }
    }
}
