public import SyncModel

/// The rules by which a model's annotations and names describe its JSON.
///
/// ``sync`` and ``groot`` are the vocabularies of the two frameworks whose models this package
/// reads. Change a copy of one of them to define a dialect of your own:
///
///     var dialect = JSONDialect.sync
///     dialect.name = "mine"
///     dialect.annotations.key.insert("api.key", at: 0)
public struct JSONDialect: Hashable, Sendable {
    /// The user-info keys that hold annotations.
    ///
    /// Each list names alternatives for one annotation; the first that is present counts. An empty
    /// list means that the dialect does not have the annotation.
    public struct Annotations: Hashable, Sendable {
        /// A property's key or key path in JSON.
        public var key: [String]
        /// The name of an attribute's transformer.
        public var transformer: [String]
        /// Marks the attribute that is the primary key: `YES` or `true`.
        public var primaryKey: [String]
        /// Marks a property that is not exported; any value.
        public var nonExportable: [String]
        /// The names of an entity's identity attributes, separated by commas.
        public var identity: [String]
        /// The name of the entity mapper that picks the sub-entity of each object.
        public var entityMapper: [String]
        /// The name of the transformer that each object passes through before it is mapped.
        public var objectTransformer: [String]

        /// Creates a list of annotations; the default for each is none.
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

    /// A name that identifies the dialect to people and in bookmarks.
    public var name: String
    /// The user-info keys that hold annotations.
    public var annotations: Annotations
    /// Whether names give the keys of properties without an annotation, and `id` an identity.
    ///
    /// If false, a property without a key annotation is neither read nor written.
    public var infersFromNames: Bool
    /// What a mapper does by default about values that do not fit the model.
    public var contract: ValueContract
    /// Whether an identifier may stand for an object in a payload's list.
    public var acceptsIdentifiers: Bool
    /// Whether an import fails for a new object without a value for a mandatory attribute.
    public var demandsMandatory: Bool
    /// Whether an export writes null for a to-one relationship without an object.
    public var writesNullRelationships: Bool

    /// Whether a to-many relationship must be an array in JSON; if not, an object stands for an
    /// array of it.
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

    /// The dialect that follows conventions, with annotations for exceptions.
    ///
    /// The annotations are `sync.remoteKey`, `sync.isPrimaryKey`, `sync.valueTransformer` and
    /// `sync.nonExportable`, each also with the older prefix `hyper.`. A key reaches an attribute
    /// through its name in snake_case or camelCase. A value that does not fit clears its attribute,
    /// unless the model was inferred from a sample.
    public static let sync: JSONDialect = {
        var dialect = JSONDialect(name: "sync")
        func names(_ name: String) -> [String] { ["sync.\(name)", "hyper.\(name)"] }
        dialect.annotations = Annotations(
            key: names("remoteKey"), transformer: names("valueTransformer"), primaryKey: names("isPrimaryKey"),
            nonExportable: names("nonExportable"))
        dialect.contract = ValueContract(wrongType: .null, outOfRange: .null)
        return dialect
    }()

    /// The dialect in which only annotated properties are read and written.
    ///
    /// The annotations are `JSONKeyPath` and `JSONTransformerName` of properties,
    /// `identityAttributes` (or the older `identityAttribute`), `entityMapperName` and
    /// `JSONDictionaryTransformerName` of entities.
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

    /// Returns the identities that this dialect finds in a model.
    ///
    /// The result has what each entity adds to its parent's identity. Where names give identities,
    /// an entity that inherits one adds nothing.
    ///
    /// - Throws: `ModelError` if an annotation names an attribute that does not exist.
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
            for attribute in found where layout.slot(of: attribute) == nil {
                throw .unknownIdentity(entity: layout.name, attribute: attribute)
            }
            if !found.isEmpty {
                result[layout.name] = found
            }
        }
        return result
    }

    /// Returns the model with the identities that ``identities(in:)`` finds, which stores need.
    ///
    /// Where names give identities, whole numbers of an identity get 64 bits, because keys are the
    /// server's: an object whose key outgrows its type would be lost.
    ///
    /// - Throws: `ModelError` if an annotation names an attribute that does not exist, or one that
    ///   cannot identify objects.
    public func identified(_ model: DataModel) throws(ModelError) -> DataModel {
        let identified = try model.replacingIdentities(try identities(in: model))
        return infersFromNames ? try identified.wideningIdentities() : identified
    }
}

extension DataModel {
    /// Returns the model with 64 bits for whole numbers that are part of an identity.
    fileprivate func wideningIdentities() throws(ModelError) -> DataModel {
        var wide: [String: Set<String>] = [:]
        for layout in layouts {
            let names = layout.identitySlots.map { layout.attributes[$0] }.filter(\.type.isInteger).map(\.name)
            for declaring in EntityKeys.lineage(of: layout, in: self) {
                wide[declaring.name, default: []].formUnion(names)
            }
        }
        return try DataModel(
            entities.map { entity in
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
    /// The value of the first alternative that is present.
    private func value(_ names: [String], _ userInfo: [String: String]) -> String? {
        names.lazy.compactMap { userInfo[$0] }.first
    }

    /// Returns a property's key, or nil if it has none or an empty one.
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

    /// Returns the names between commas, without white space around them.
    func identityAttributes(_ userInfo: [String: String]) -> [String]? {
        value(identity, userInfo).map { list in
            list.split(separator: ",").map { name in
                String(name.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
            }
        }
    }
}
