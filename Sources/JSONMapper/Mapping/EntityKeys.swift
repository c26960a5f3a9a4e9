package import SyncModel

/// The keys of JSON for all properties of an entity: which are read, which are written, and which
/// is the primary key.
///
/// **In the Sync dialect** an attribute is found under
/// 1. its custom key, if it has one: nested objects for a key with dots, or one flat key spelled
///    with the dots;
/// 2. its name, and every key whose camelCase is its name (`first_name`, `first-name`, `FirstName`
///    for `firstName`);
/// 3. a reserved word (`type`, `description`, `signed`), where the name is the entity's name, or
///    that of an entity it inherits from, followed by the word: `description` for `userDescription`
///    of `User`;
/// 4. `id`, where its name is `remoteID` or `id`.
///
/// A key that several attributes claim goes to the claim that stands first in this list, among
/// equals to the first attribute; a custom key goes to all attributes that are annotated with it.
/// An attribute is written under its custom key, else `id` for `remoteID`, else the reserved word,
/// else its name in the wanted style.
///
/// A relationship with a custom key is found under that alone, objects or identifiers; any other
/// has its objects under its name in snake_case or as it is, and identifiers under the name
/// followed by `_id` (to-one) or `_ids` (to-many), `ID` or `IDs`, `Id` or `Ids`. One key may serve
/// an attribute and a relationship at once; of several relationships the first has it. The primary
/// key is the attribute so marked, else the identity that the model declares, else `id`, else
/// `remoteID`; the topmost entity that has one of these gives it to all that inherit from it.
///
/// **In the Groot dialect** a property has the key path of its annotation or none, and the identity
/// is what the entity and those it inherits from are annotated with, else what the model declares.
package struct EntityKeys: Sendable {
    /// The entity.
    package let layout: EntityLayout
    /// The dialect that the rules are taken from.
    package let dialect: JSONDialect
    /// The keys of each attribute, in slot order.
    package let attributes: [AttributeKeys]
    /// The keys of each relationship, by its index.
    package let relationships: [RelationshipKeys]
    /// The slots of the attributes that identify objects, as the dialect finds them; empty for an
    /// entity without identity.
    package let identitySlots: [Int]
    /// The name of the entity mapper that picks a sub-entity for each object; nil where there is
    /// none.
    package let entityMapperName: String?
    /// The name of the transformer that each object goes through before it is mapped; nil where
    /// there is none.
    package let objectTransformerName: String?

    /// Works out the keys of an entity.
    ///
    /// - Parameters:
    ///   - layout: The entity, one of the model's.
    ///   - model: The model.
    ///   - dialect: Where the rules are taken from; Sync's by default.
    package init(_ layout: EntityLayout, in model: DataModel, dialect: JSONDialect = .sync) {
        self.layout = layout
        self.dialect = dialect
        let lineage = Self.lineage(of: layout, in: model)
        if dialect.infersFromNames {
            let prefixes = lineage.map(\.name)
            attributes = layout.attributes.enumerated().map { slot, attribute in
                Self.inferredKeys(attribute, slot: slot, prefixes: prefixes, dialect.annotations)
            }
            relationships = layout.relationships.map { Self.inferredKeys($0, dialect.annotations) }
        } else {
            attributes = layout.attributes.enumerated().map { slot, attribute in
                Self.annotatedKeys(attribute, slot: slot, dialect.annotations)
            }
            relationships = layout.relationships.map { Self.annotatedKeys($0, dialect.annotations) }
        }
        let annotations = dialect.annotations
        entityMapperName = lineage.lazy.compactMap { annotations.entityMapper($0.entity.userInfo) }.first
        objectTransformerName = lineage.lazy.compactMap { annotations.objectTransformer($0.entity.userInfo) }.first
        identitySlots = Self.identitySlots(lineage, dialect: dialect)
    }

    /// The name of the one attribute that is the primary key; nil where there is none, or several
    /// make up the identity.
    package var localPrimaryKey: String? {
        identitySlots.count == 1 ? layout.attributes[identitySlots[0]].name : nil
    }

    /// The key of JSON, dots between the levels, of the one attribute that is the primary key; nil
    /// where there is none, or several make up the identity.
    package var remotePrimaryKey: String? {
        identitySlots.count == 1 ? attributes[identitySlots[0]].path()?.joined(separator: ".") : nil
    }

    /// The keys of an attribute; nil where there is none of that name.
    package func attribute(_ name: String) -> AttributeKeys? {
        layout.slot(of: name).map { attributes[$0] }
    }

    /// The keys of a relationship; nil where there is none of that name.
    package func relationship(_ name: String) -> RelationshipKeys? {
        layout.relationship(name).map { relationships[$0.index] }
    }

    // MARK: Identity

    /// The names that make an attribute the primary key by convention, the preferred one first.
    package static let primaryKeyNames = ["id", "remoteID"]
    static let remotePrimaryKey = "id"

    /// The entity and those it inherits from, the nearest first.
    static func lineage(of layout: EntityLayout, in model: DataModel) -> [EntityLayout] {
        Array(sequence(first: layout) { $0.parent.map { model.layouts[$0] } })
    }

    /// In the Sync dialect, the names that the entity itself makes its identity: its marked
    /// attribute, what it declares, or an attribute named so; nil where it has none of these.
    static func ownIdentity(_ layout: EntityLayout, _ dialect: JSONDialect) -> [String]? {
        let own = layout.entity.attributes
        if let marked = own.first(where: { dialect.annotations.isPrimaryKey($0.userInfo) }) { return [marked.name] }
        guard layout.entity.identity.isEmpty else { return layout.entity.identity }
        return primaryKeyNames.first { name in own.contains { $0.name == name } }.map { [$0] }
    }

    private static func identitySlots(_ lineage: [EntityLayout], dialect: JSONDialect) -> [Int] {
        let layout = lineage[0]
        let names: [String]
        if dialect.infersFromNames {
            names = lineage.reversed().lazy.compactMap { ownIdentity($0, dialect) }.first ?? []
        } else {
            let annotated = lineage.reversed().flatMap {
                dialect.annotations.identityAttributes($0.entity.userInfo) ?? []
            }
            guard !annotated.isEmpty else { return layout.identitySlots }
            names = annotated
        }
        return names.compactMap { layout.slot(of: $0) }
    }

    // MARK: Keys by name

    /// Words that an attribute of Core Data cannot be named, so that its name has the entity's
    /// before it.
    private static let reservedWords = ["type", "description", "signed"]

    private static func inferredKeys(
        _ attribute: SyncAttribute, slot: Int, prefixes: [String], _ annotations: JSONDialect.Annotations
    ) -> AttributeKeys {
        let name = attribute.name
        let custom = annotations.key(attribute.userInfo)
        let reserved = reservedWords.first { word in
            prefixes.contains { JSONKey.camelCase("\(JSONKey.snakeCase($0) ?? $0)_\(word)") == name }
        }
        let snake = JSONKey.snakeCase(name) ?? name
        var spellings: [[String]] = []
        if let custom {
            spellings.append(components(custom))
            spellings.append([custom])
        }
        // A key leads to the attribute whose name is its camelCase; not every name is the camelCase
        // of its own snake_case.
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
            transformerName: annotations.transformer(attribute.userInfo)
                ?? (attribute.type == .transformable ? attribute.transformerName : nil),
            isExportable: attribute.type != .transformable && !annotations.isNonExportable(attribute.userInfo),
            snakeCasePath: custom.map(components) ?? [conventional ?? snake],
            camelCasePath: custom.map(components) ?? [conventional ?? name])
    }

    private static func inferredKeys(
        _ relationship: RelationshipLayout, _ annotations: JSONDialect.Annotations
    ) -> RelationshipKeys {
        let name = relationship.name
        let userInfo = relationship.declaration.userInfo
        let snake = JSONKey.snakeCase(name) ?? name
        let custom = annotations.key(userInfo).map(components)
        let suffixes = relationship.isToMany ? ["IDs", "Ids"] : ["ID", "Id"]
        var identifiers = [snake + (relationship.isToMany ? "_ids" : "_id")] + suffixes.map { name + $0 }
        if relationship.isToMany {
            identifiers += [Plural.singular(snake) + "_ids"] + suffixes.map { Plural.singular(name) + $0 }
        }
        return RelationshipKeys(
            relationship: relationship, customPath: custom,
            spellings: custom.map { [$0] } ?? unique([[snake], [name]]),
            identifierSpellings: custom == nil ? unique(identifiers.map { [$0] }) : [],
            isExportable: !annotations.isNonExportable(userInfo), snakeCasePath: custom ?? [snake],
            camelCasePath: custom ?? [name])
    }

    // MARK: Keys by annotation

    private static func annotatedKeys(
        _ attribute: SyncAttribute, slot: Int, _ annotations: JSONDialect.Annotations
    ) -> AttributeKeys {
        let path = annotations.key(attribute.userInfo).map(components)
        return AttributeKeys(
            attribute: attribute, slot: slot, customPath: path, spellings: path.map { [$0] } ?? [],
            transformerName: annotations.transformer(attribute.userInfo),
            isExportable: path != nil && !annotations.isNonExportable(attribute.userInfo),
            snakeCasePath: path ?? [], camelCasePath: path ?? [])
    }

    private static func annotatedKeys(
        _ relationship: RelationshipLayout, _ annotations: JSONDialect.Annotations
    ) -> RelationshipKeys {
        let path = annotations.key(relationship.declaration.userInfo).map(components)
        return RelationshipKeys(
            relationship: relationship, customPath: path, spellings: path.map { [$0] } ?? [], identifierSpellings: [],
            isExportable: path != nil && !annotations.isNonExportable(relationship.declaration.userInfo),
            snakeCasePath: path ?? [], camelCasePath: path ?? [])
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
