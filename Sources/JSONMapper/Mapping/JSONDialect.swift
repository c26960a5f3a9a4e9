public import SyncModel

/// The vocabulary in which a model says how JSON maps onto it.
public enum JSONDialect: Hashable, Sendable, CaseIterable {
    /// By convention, with annotations for what differs: `sync.remoteKey`, `sync.isPrimaryKey` (`YES` or `true`),
    /// `sync.valueTransformer`, `sync.nonExportable` (any value), each also in the older spelling `hyper.…`, which counts where the newer
    /// one is absent. A key of JSON reaches an attribute by its name in snake_case or camelCase; `EntityKeys` has the rules.
    case sync
    /// By annotation alone: `JSONKeyPath` and `JSONTransformerName` of properties, `identityAttributes` (or the older
    /// `identityAttribute`), `entityMapperName` and `JSONDictionaryTransformerName` of entities. Nothing is inferred from
    /// names: a property without a key path is neither read nor written.
    case groot

    /// The identities that the annotations and conventions of this dialect give the entities of a model, or that the model
    /// declares where these say nothing, as what each adds to its parent's. In the Sync dialect an entity that inherits an
    /// identity adds nothing.
    ///
    /// - Throws: `ModelError` where an annotation names an attribute that does not exist.
    public func identities(in model: DataModel) throws(ModelError) -> [String: [String]] {
        var result: [String: [String]] = [:]
        for layout in model.layouts {
            let lineage = EntityKeys.lineage(of: layout, in: model)
            let found: [String]
            switch self {
            case .groot: found = Annotation.identityAttributes(layout.entity.userInfo) ?? []
            case .sync:
                let isInherited = lineage.dropFirst().contains { EntityKeys.ownIdentity($0) != nil }
                found = isInherited ? [] : EntityKeys.ownIdentity(layout) ?? []
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

    /// The model with the identities that ``identities(in:)`` finds, which is what stores need to tell objects apart.
    ///
    /// In the Sync dialect whole numbers of an identity get 64 bits, however many the model gives them: keys are the server's, and one that
    /// outgrows its type would be lost, and its object with it.
    ///
    /// - Throws: `ModelError` where an annotation names an attribute that does not exist, or is transformable.
    public func identified(_ model: DataModel) throws(ModelError) -> DataModel {
        let identified = try model.replacingIdentities(try identities(in: model))
        return self == .sync ? try identified.wideningIdentities() : identified
    }
}

extension DataModel {
    /// The same model with 64 bits for whole numbers that are part of an identity.
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

/// A convention for keys of more than one word.
public enum JSONKeyStyle: Hashable, Sendable, CaseIterable {
    /// `created_at`
    case snakeCase
    /// `createdAt`
    case camelCase
}

/// What annotations say, read from a user info.
enum Annotation {
    static func remoteKey(_ userInfo: [String: String]) -> String? {
        (userInfo["sync.remoteKey"] ?? userInfo["hyper.remoteKey"]).flatMap { $0.isEmpty ? nil : $0 }
    }

    static func isPrimaryKey(_ userInfo: [String: String]) -> Bool {
        let value = userInfo["sync.isPrimaryKey"] ?? userInfo["hyper.isPrimaryKey"]
        return value == "YES" || value == "true"
    }

    static func valueTransformer(_ userInfo: [String: String]) -> String? {
        userInfo["sync.valueTransformer"] ?? userInfo["hyper.valueTransformer"]
    }

    static func isNonExportable(_ userInfo: [String: String]) -> Bool {
        userInfo["sync.nonExportable"] != nil || userInfo["hyper.nonExportable"] != nil
    }

    static func keyPath(_ userInfo: [String: String]) -> String? {
        userInfo["JSONKeyPath"].flatMap { $0.isEmpty ? nil : $0 }
    }

    static func transformer(_ userInfo: [String: String]) -> String? {
        userInfo["JSONTransformerName"]
    }

    static func entityMapper(_ userInfo: [String: String]) -> String? {
        userInfo["entityMapperName"]
    }

    static func objectTransformer(_ userInfo: [String: String]) -> String? {
        userInfo["JSONDictionaryTransformerName"]
    }

    /// Names between commas, white space around them left out.
    static func identityAttributes(_ userInfo: [String: String]) -> [String]? {
        (userInfo["identityAttributes"] ?? userInfo["identityAttribute"]).map { list in
            list.split(separator: ",").map { name in
                String(name.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
            }
        }
    }
}
