public import SyncModel

/// The rules by which a model's annotations and names determine its JSON.
///
/// ``sync`` and ``groot`` are the conventions of the two frameworks whose models this package
/// reads. To define a custom dialect, change a copy of one of them:
///
///     var dialect = JSONDialect.sync
///     dialect.name = "mine"
///     dialect.annotations.key.insert("api.key", at: 0)
public struct JSONDialect: Hashable, Sendable {
    /// The user-info keys of annotations.
    ///
    /// Each list has alternative keys for one annotation, and the first one that is present wins.
    /// An empty list means that the dialect does not have the annotation.
    public struct Annotations: Hashable, Sendable {
        /// The key or key path of a property in JSON.
        public var key: [String]
        /// The name of an attribute's transformer.
        public var transformer: [String]
        /// The mark of the primary key attribute: `YES` or `true`.
        public var primaryKey: [String]
        /// The mark of a property that is not exported, with any value.
        public var nonExportable: [String]
        /// The names of an entity's identity attributes, separated by commas.
        public var identity: [String]
        /// The name of the entity mapper, which determines the sub-entity of each object.
        public var entityMapper: [String]
        /// The name of the transformer that rewrites each object before mapping.
        public var objectTransformer: [String]

        /// Creates annotations. Each list is empty by default.
        public init(
            key: [String] = [], transformer: [String] = [], primaryKey: [String] = [], nonExportable: [String] = [],
            identity: [String] = [], entityMapper: [String] = [], objectTransformer: [String] = []
        ) {
            self.key = key
            self.transformer = transformer
            self.primaryKey = primaryKey
            self.nonExportable = nonExportable
            self.identity = identity
            self.entityMapper = entityMapper
            self.objectTransformer = objectTransformer
        }
    }

    /// The name of the dialect, for display. Bookmarks depend on the name, as on every other rule
    /// of the dialect.
    public var name: String
    /// The user-info keys of annotations.
    public var annotations: Annotations
    /// Whether names determine the keys of properties without an annotation, and attribute names
    /// such as `id` the identity.
    ///
    /// If false, a property without a key annotation is neither read nor written.
    public var infersFromNames: Bool
    /// The default contract of a mapper for values that do not fit the model.
    public var contract: ValueContract
    /// Whether an identifier may represent an object in the list of a payload.
    public var acceptsIdentifiers: Bool
    /// Whether an import fails for a new object that lacks a value for a mandatory attribute.
    public var demandsMandatory: Bool
    /// Whether an export writes null for an empty to-one relationship. If false, the key is
    /// omitted.
    public var writesNullRelationships: Bool

    /// Whether the value of a to-many relationship must be a JSON array. If false, a single value
    /// counts as an array of one.
    public var demandsArrays: Bool

    /// Creates a dialect without annotations and with the most lenient rules.
    public init(name: String) {
        self.name = name
        annotations = Annotations()
        infersFromNames = true
        contract = ValueContract()
        acceptsIdentifiers = false
        demandsMandatory = false
        writesNullRelationships = false
        demandsArrays = false
    }

    /// The convention-based dialect, with annotations for exceptions.
    ///
    /// The annotations are `sync.remoteKey`, `sync.isPrimaryKey`, `sync.valueTransformer` and
    /// `sync.nonExportable`, each also with the older prefix `hyper.`. Without an annotation, an
    /// attribute is matched by its name in snake_case or camelCase.
    public static let sync: JSONDialect = {
        var dialect = JSONDialect(name: "sync")
        func names(_ name: String) -> [String] { ["sync.\(name)", "hyper.\(name)"] }
        dialect.annotations = Annotations(
            key: names("remoteKey"), transformer: names("valueTransformer"), primaryKey: names("isPrimaryKey"),
            nonExportable: names("nonExportable"))
        dialect.contract = ValueContract(wrongType: .null, outOfRange: .null)
        return dialect
    }()

    /// The dialect that reads and writes only annotated properties.
    ///
    /// The annotations of properties are `JSONKeyPath` and `JSONTransformerName`. The annotations
    /// of entities are `identityAttributes` (or the older `identityAttribute`), `entityMapperName`
    /// and `JSONDictionaryTransformerName`.
    public static let groot: JSONDialect = {
        var dialect = JSONDialect(name: "groot")
        dialect.annotations = Annotations(
            key: ["JSONKeyPath"], transformer: ["JSONTransformerName"],
            identity: ["identityAttributes", "identityAttribute"], entityMapper: ["entityMapperName"],
            objectTransformer: ["JSONDictionaryTransformerName"])
        dialect.infersFromNames = false
        dialect.contract = ValueContract(wrongType: .fail, outOfRange: .fail, unreadableDate: .fail)
        dialect.acceptsIdentifiers = true
        dialect.demandsMandatory = true
        dialect.writesNullRelationships = true
        dialect.demandsArrays = true
        return dialect
    }()

    /// Returns the identities that the dialect finds in a model.
    ///
    /// The result has the attributes that each entity adds to the identity of its parent. If names
    /// determine identities, an entity that inherits an identity adds nothing.
    ///
    /// - Throws: `ModelError.unknownIdentity` if an annotation names an attribute that does not
    ///   exist.
    public func identities(in model: DataModel) throws(ModelError) -> [String: [String]] {
        var result: [String: [String]] = [:]
        for layout in model.layouts {
            let lineage = EntityKeys.lineage(of: layout, in: model)
            let found: [String]
            if infersFromNames {
                let isInherited = lineage.dropFirst().contains { EntityKeys.ownIdentity($0, self) != nil }
                found = isInherited ? [] : EntityKeys.ownIdentity(layout, self) ?? []
            } else {
                found = annotations.identityAttributes(layout.entity.userInfo) ?? []
            }
            for attribute in found where layout.column(of: attribute) == nil {
                throw .unknownIdentity(entity: layout.name, attribute: attribute)
            }
            if !found.isEmpty {
                result[layout.name] = found
            }
        }
        return result
    }

    /// Returns the model with the identities that ``identities(in:)`` finds, as stores require it.
    ///
    /// If names determine identities, integer attributes of an identity are widened to 64 bits. The
    /// server chooses the keys, and an object with a key beyond the type's range would be lost.
    ///
    /// - Throws: `ModelError` if an annotation names an attribute that does not exist or cannot be
    ///   part of an identity.
    public func identified(_ model: DataModel) throws(ModelError) -> DataModel {
        let identified = try model.replacingIdentities(try identities(in: model))
        return infersFromNames ? try identified.wideningIdentities() : identified
    }
}

extension DataModel {
    /// Returns the model with 64-bit integers for all integer attributes of an identity.
    fileprivate func wideningIdentities() throws(ModelError) -> DataModel {
        var wide: [String: Set<String>] = [:]
        for layout in layouts {
            let names = layout.identityColumns.map { layout.attributes[$0] }.filter(\.type.isInteger).map(\.name)
            for declaring in EntityKeys.lineage(of: layout, in: self) {
                wide[declaring.name, default: []].formUnion(names)
            }
        }
        return try replacing(
            by: entities.map { entity in
                var entity = entity
                for index in entity.attributes.indices
                where wide[entity.name]?.contains(entity.attributes[index].name) == true {
                    entity.attributes[index].type = .int64
                }
                return entity
            })
    }
}

extension JSONDialect.Annotations {
    /// The value of the first alternative that is present; nil if there is none.
    private func value(_ names: [String], _ userInfo: [String: String]) -> String? {
        names.lazy.compactMap { userInfo[$0] }.first
    }

    /// The key of a property; nil if it has none or an empty one.
    func key(_ userInfo: [String: String]) -> String? {
        value(key, userInfo).flatMap { $0.isEmpty ? nil : $0 }
    }

    func transformer(_ userInfo: [String: String]) -> String? {
        value(transformer, userInfo)
    }

    func isPrimaryKey(_ userInfo: [String: String]) -> Bool {
        let value = value(primaryKey, userInfo)
        return value == "YES" || value == "true"
    }

    func isNonExportable(_ userInfo: [String: String]) -> Bool {
        value(nonExportable, userInfo) != nil
    }

    func entityMapper(_ userInfo: [String: String]) -> String? {
        value(entityMapper, userInfo)
    }

    func objectTransformer(_ userInfo: [String: String]) -> String? {
        value(objectTransformer, userInfo)
    }

    /// The names in the comma-separated list, trimmed of white space; nil without the annotation.
    func identityAttributes(_ userInfo: [String: String]) -> [String]? {
        value(identity, userInfo).map { list in
            list.split(separator: ",").map { name in
                String(name.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
            }
        }
    }
}
