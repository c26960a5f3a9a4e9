package import SyncModel

/// The JSON keys under which the properties of an entity are read and written, and its primary key.
///
/// **In the Sync dialect**, an attribute is read from
/// 1. its custom key, if it has one: a path of nested objects for a key with dots, or one flat key
///    that contains the dots;
/// 2. its name, and every key whose camelCase form is its name (`first_name`, `first-name`,
///    `FirstName` for `firstName`);
/// 3. a reserved word (`type`, `description`, `signed`), if the name is the word prefixed with the
///    name of the entity or of an entity it inherits from: `description` for `userDescription` of
///    `User`;
/// 4. `id`, if its name is `remoteID` or `id`.
///
/// The first step of a custom path is no key of the attribute: with `company.name` for `company`,
/// an object under `company` only leads to the value.
///
/// An annotation can also specify a literal key, or state that a property does not occur in JSON;
/// see `JSONDialect.literalKeyAnnotation` and `JSONDialect.unmappedAnnotation`.
///
/// If several attributes claim a key, the claim that comes first in this list wins, and among equal
/// claims the first attribute. A custom key fills all attributes that are annotated with it. An
/// attribute is written under the first of these that it has: its custom key, `id` for `remoteID`,
/// the reserved word, or its name in the requested style.
///
/// If an object has several keys of one attribute, the last one counts. Of keys under 2, only the
/// name and its snake_case form take part: any other one, such as `_id` or `FirstName`, counts only
/// if it is the first, and the object does not set the attribute otherwise.
///
/// A relationship with a custom key is read only from that key, which may hold objects or
/// identifiers. Any other relationship has its objects under its name, in snake_case or unchanged.
/// Its identifiers are under the name followed by `_id`, `ID` or `Id` (to-one), or by `_ids`, `IDs`
/// or `Ids` (to-many, also after the singular of the name). One key may fill attributes and a
/// relationship at once. If several relationships claim a key, the first one gets it.
///
/// The primary key is the first of these: the attributes that are marked as such, together; the
/// identity that the model declares; `id`; or `remoteID`. The topmost entity that has one
/// determines it for all entities that inherit from it.
///
/// **In the Groot dialect**, a property has only the key path of its annotation. The identity
/// consists of the attributes that the annotations of the entity and its ancestors name; without
/// annotations, it is the identity that the model declares.
package struct EntityKeys: Sendable {
    /// The layout of the entity.
    package let layout: EntityLayout
    /// The dialect that determines the keys.
    package let dialect: JSONDialect
    /// The keys of each attribute, in column order.
    package let attributes: [AttributeKeys]
    /// The keys of each relationship, by its index.
    package let relationships: [RelationshipKeys]
    /// The columns of the identity attributes that the dialect finds; empty for an entity without
    /// an identity.
    package let identityColumns: [Int]
    /// The name of the entity mapper, which determines the sub-entity of each object; nil for none.
    package let entityMapperName: String?
    /// The name of the transformer that rewrites each object before mapping; nil for none.
    package let objectTransformerName: String?

    /// Creates the keys of an entity.
    ///
    /// - Parameters:
    ///   - layout: The layout of an entity of `model`.
    ///   - model: The model.
    ///   - dialect: The rules for keys; ``JSONDialect/sync`` by default.
    package init(_ layout: EntityLayout, in model: DataModel, dialect: JSONDialect = .sync) {
        self.layout = layout
        self.dialect = dialect
        let lineage = Self.lineage(of: layout, in: model)
        if dialect.infersFromNames {
            let prefixes = lineage.map(\.name)
            attributes = layout.attributes.enumerated().map { column, attribute in
                Self.inferredKeys(attribute, column: column, prefixes: prefixes, dialect.annotations)
            }
            let keyAttributes = attributes.filter { $0.attribute.type == .string }
            relationships = layout.relationships.map { relationship in
                var keys = Self.inferredKeys(relationship, dialect.annotations)
                keys.keyAttribute = keyAttributes.first {
                    $0.attribute.userInfo[JSONDialect.keyOfAnnotation] == relationship.name
                }
                return keys
            }
        } else {
            attributes = layout.attributes.enumerated().map { column, attribute in
                Self.annotatedKeys(attribute, column: column, dialect.annotations)
            }
            relationships = layout.relationships.map { Self.annotatedKeys($0, dialect.annotations) }
        }
        let annotations = dialect.annotations
        entityMapperName = lineage.lazy.compactMap { annotations.entityMapper($0.entity.userInfo) }.first
        objectTransformerName = lineage.lazy.compactMap { annotations.objectTransformer($0.entity.userInfo) }.first
        identityColumns = Self.identityColumns(lineage, dialect: dialect)
    }

    /// The name of the primary key attribute; nil if the identity is not exactly one attribute.
    package var localPrimaryKey: String? {
        identityColumns.count == 1 ? layout.attributes[identityColumns[0]].name : nil
    }

    /// The key path of the primary key in JSON; nil if the identity is not exactly one attribute.
    ///
    /// Dots separate the keys.
    package var remotePrimaryKey: String? {
        identityColumns.count == 1 ? attributes[identityColumns[0]].path()?.joined(separator: ".") : nil
    }

    /// Returns the keys of an attribute; nil if the entity has no attribute of this name.
    package func attribute(_ name: String) -> AttributeKeys? {
        layout.column(of: name).map { attributes[$0] }
    }

    /// Returns the keys of a relationship; nil if the entity has no relationship of this name.
    package func relationship(_ name: String) -> RelationshipKeys? {
        layout.relationship(name).map { relationships[$0.index] }
    }

    // MARK: Identity

    /// The attribute names that are a primary key by convention, the preferred one first.
    package static let primaryKeyNames = ["id", "remoteID"]
    static let remotePrimaryKey = "id"

    /// The entity and its ancestors, starting with the entity itself.
    static func lineage(of layout: EntityLayout, in model: DataModel) -> [EntityLayout] {
        Array(sequence(first: layout) { $0.parent.map { model.layouts[$0] } })
    }

    /// The identity that the entity itself has in a dialect that infers keys from names; nil for
    /// none.
    ///
    /// It is the marked attributes, the declared identity, or an attribute with a conventional
    /// name.
    static func ownIdentity(_ layout: EntityLayout, _ dialect: JSONDialect) -> [String]? {
        let own = layout.entity.attributes
        let marked = own.filter { dialect.annotations.isPrimaryKey($0.userInfo) }
        guard marked.isEmpty else { return marked.map(\.name) }
        guard layout.entity.identity.isEmpty else { return layout.entity.identity }
        guard layout.entity.userInfo[JSONDialect.identityAnnotation] != SyncEntity.noIdentity else { return nil }
        return primaryKeyNames.first { name in own.contains { $0.name == name } }.map { [$0] }
    }

    private static func identityColumns(_ lineage: [EntityLayout], dialect: JSONDialect) -> [Int] {
        let layout = lineage[0]
        let names: [String]
        if dialect.infersFromNames {
            names = lineage.reversed().lazy.compactMap { ownIdentity($0, dialect) }.first ?? []
        } else {
            let annotated = lineage.reversed().flatMap {
                dialect.annotations.identityAttributes($0.entity.userInfo) ?? []
            }
            guard !annotated.isEmpty else { return layout.identityColumns }
            names = annotated
        }
        return names.compactMap { layout.column(of: $0) }
    }

    // MARK: Keys by name

    /// Words that Core Data does not allow as attribute names, so that models prefix them with the
    /// entity name.
    private static let reservedWords = ["type", "description", "signed"]

    private static func inferredKeys(
        _ attribute: SyncAttribute, column: Int, prefixes: [String], _ annotations: JSONDialect.Annotations
    ) -> AttributeKeys {
        let name = attribute.name
        let transformer =
            annotations.transformer(attribute.userInfo)
            ?? attribute.transformerName
        if attribute.isUnmapped {
            return AttributeKeys(
                attribute: attribute, column: column, customPath: nil, spellings: [], transformerName: transformer,
                isExportable: false, snakeCasePath: [], camelCasePath: [])
        }
        let holdsJSON = attribute.type != .transformable || transformer.map(RecordMapper.Transformers.isBuiltIn) == true
        let isExportable = holdsJSON && !annotations.isNonExportable(attribute.userInfo)
        if let key = attribute.userInfo[JSONDialect.literalKeyAnnotation] {
            return AttributeKeys(
                attribute: attribute, column: column, customPath: [key], spellings: [[key]],
                transformerName: transformer,
                isExportable: isExportable, snakeCasePath: [key], camelCasePath: [key])
        }
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
        // A key belongs to the attribute whose name is the camelCase form of the key. Some names
        // are not the camelCase form of their own snake_case form.
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
        let path = custom.map(components)
        if let path, path.count > 1 { spellings.removeAll { $0 == [path[0]] } }
        return AttributeKeys(
            attribute: attribute, column: column, customPath: path, spellings: unique(spellings),
            transformerName: transformer, isExportable: isExportable,
            snakeCasePath: path ?? [conventional ?? snake],
            camelCasePath: path ?? [conventional ?? name])
    }

    private static func inferredKeys(
        _ relationship: EntityLayout.Relationship, _ annotations: JSONDialect.Annotations
    ) -> RelationshipKeys {
        let name = relationship.name
        let userInfo = relationship.declaration.userInfo
        let snake = JSONKey.snakeCase(name) ?? name
        if userInfo[JSONDialect.unmappedAnnotation] != nil {
            return RelationshipKeys(
                relationship: relationship, customPath: nil, spellings: [], identifierSpellings: [],
                isExportable: false, snakeCasePath: [], camelCasePath: [])
        }
        let custom =
            userInfo[JSONDialect.literalKeyAnnotation].map { [$0] } ?? annotations.key(userInfo).map(components)
        let identifiers = identifierKeys(of: name, isToMany: relationship.isToMany)
        return RelationshipKeys(
            relationship: relationship, customPath: custom,
            spellings: custom.map { [$0] } ?? unique([[snake], [name]]),
            identifierSpellings: custom == nil ? unique(identifiers.map { [$0] }) : [],
            isExportable: !annotations.isNonExportable(userInfo), snakeCasePath: custom ?? [snake],
            camelCasePath: custom ?? [name])
    }

    /// The keys of identifiers of the objects of a relationship.
    private static func identifierKeys(of name: String, isToMany: Bool) -> [String] {
        let snake = JSONKey.snakeCase(name) ?? name
        let suffixes = isToMany ? ["IDs", "Ids"] : ["ID", "Id"]
        var identifiers = [snake + (isToMany ? "_ids" : "_id")] + suffixes.map { name + $0 }
        if isToMany {
            identifiers += [Plural.singular(snake) + "_ids"] + suffixes.map { Plural.singular(name) + $0 }
        }
        return identifiers
    }

    /// Returns all keys that a relationship without an annotation is read from.
    package static func spellings(of name: String, isToMany: Bool) -> Set<String> {
        Set([JSONKey.snakeCase(name) ?? name, name] + identifierKeys(of: name, isToMany: isToMany))
    }

    // MARK: Keys by annotation

    private static func annotatedKeys(
        _ attribute: SyncAttribute, column: Int, _ annotations: JSONDialect.Annotations
    ) -> AttributeKeys {
        let path = annotations.key(attribute.userInfo).map(components)
        return AttributeKeys(
            attribute: attribute, column: column, customPath: path, spellings: path.map { [$0] } ?? [],
            transformerName: annotations.transformer(attribute.userInfo),
            isExportable: path != nil && !annotations.isNonExportable(attribute.userInfo),
            snakeCasePath: path ?? [], camelCasePath: path ?? [])
    }

    private static func annotatedKeys(
        _ relationship: EntityLayout.Relationship, _ annotations: JSONDialect.Annotations
    ) -> RelationshipKeys {
        let path = annotations.key(relationship.declaration.userInfo).map(components)
        return RelationshipKeys(
            relationship: relationship, customPath: path, spellings: path.map { [$0] } ?? [], identifierSpellings: [],
            isExportable: path != nil && !annotations.isNonExportable(relationship.declaration.userInfo),
            snakeCasePath: path ?? [], camelCasePath: path ?? [])
    }

    /// The keys between the dots. A key that consists only of dots is one key.
    private static func components(_ path: String) -> [String] {
        let components = path.split(separator: ".").map(String.init)
        return components.isEmpty ? [path] : components
    }

    private static func unique(_ paths: [[String]]) -> [[String]] {
        var seen: Set<[String]> = []
        return paths.filter { seen.insert($0).inserted }
    }
}

extension SyncAttribute {
    /// Whether no JSON key leads to the attribute, in a dialect that infers keys from names.
    var isUnmapped: Bool {
        [
            JSONDialect.unmappedAnnotation, JSONDialect.otherKeysAnnotation, JSONDialect.contentHashAnnotation,
            JSONDialect.keyOfAnnotation,
        ].contains { userInfo[$0] != nil }
    }
}
