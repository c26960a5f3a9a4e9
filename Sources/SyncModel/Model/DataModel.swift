/// A validated set of entities that describes the data of a store.
///
///     let model = try DataModel {
///         SyncEntity("User", identity: "id") {
///             SyncAttribute("id", .int64, optional: false)
///             SyncAttribute("email", .string)
///             SyncRelationship("notes", toMany: "Note", inverse: "user", deleteRule: .cascade)
///         }
///         SyncEntity("Note", identity: "id") {
///             SyncAttribute("id", .int64, optional: false)
///             SyncRelationship("user", toOne: "User", inverse: "notes")
///         }
///     }
///
/// Two models are equal if they declare the same entities in the same order.
public struct DataModel: Sendable {
    /// The resolved entities with inherited properties, in declaration order.
    public let layouts: [EntityLayout]

    private let indices: [String: Int]
    /// Values that were made from the model once, such as its compiled mapping, by their type.
    private var companions: [ObjectIdentifier: any Sendable] = [:]
    /// The conversions of attributes that declarations of types state as closures, by the name of
    /// the attribute's transformer. Equality ignores them.
    package private(set) var conversions: [String: any Sendable] = [:]

    /// The maximum number of ancestors of an entity: 100.
    public static let maximumAncestorCount = 100
    /// The maximum number of properties of all entities together: 200,000.
    ///
    /// A property counts once for each entity that has it, declared or inherited.
    public static let maximumPropertyCount = 200_000

    /// Creates a model from a list of entities. The time that it takes is linear in the number of
    /// all properties, inherited ones included.
    ///
    /// - Throws: `ModelError` for the first contradiction between declarations, with the entity and
    ///   property.
    public init(_ entities: [SyncEntity]) throws(ModelError) {
        layouts = try ModelResolver(entities).layouts()
        indices = Dictionary(uniqueKeysWithValues: entities.enumerated().map { ($1.name, $0) })
        for layout in layouts {
            for index in layout.entity.indexes { _ = try bound(index, of: layout) }
        }
    }

    /// Checks the names and parents of entities, and the limits of a model.
    package static func checkFamilies(of entities: [SyncEntity]) throws(ModelError) {
        _ = try ModelResolver(families: entities)
    }

    /// Creates a model from the entities in a result-builder closure.
    ///
    /// - Throws: `ModelError` for the first contradiction between declarations, with the entity and
    ///   property.
    public init(@DataModel.Builder<SyncEntity> entities: () -> [SyncEntity]) throws(ModelError) {
        try self.init(entities())
    }

    /// The declared entities, in declaration order.
    public var entities: [SyncEntity] {
        layouts.map(\.entity)
    }

    /// The entity with a name, or nil if the model has none.
    public subscript(entity: String) -> EntityLayout? {
        indices[entity].map { layouts[$0] }
    }

    /// Returns the entity with a name.
    ///
    /// - Throws: `ModelError.unknownEntity` if the model has no such entity.
    public func layout(of entity: String) throws(ModelError) -> EntityLayout {
        guard let layout = self[entity] else { throw .unknownEntity(entity: entity) }
        return layout
    }

    /// Returns a copy of the model with more entities at the end.
    ///
    /// A sync adds its bookkeeping entities to the model of the data this way. An entity equal to
    /// one in the model is not added again, so the call is idempotent. An entity of bookkeeping
    /// replaces that of an earlier version.
    ///
    /// - Throws: `ModelError.duplicateEntity` if the model has a different entity of the same name;
    ///   another `ModelError` if a new entity contradicts the others.
    public func adding(_ entities: [SyncEntity]) throws(ModelError) -> DataModel {
        let added = entities.filter { self[$0.name]?.entity != $0 }
        let former = Set(added.lazy.filter(\.isBookkeeping).map(\.name))
        let kept = self.entities.filter { !$0.isBookkeeping || !former.contains($0.name) }
        return try replacing(by: kept + added)
    }

    /// Returns a copy of the model in which some entities have other identities.
    ///
    /// A mapper that finds primary keys by names or annotations uses it to pass the identities to
    /// stores.
    ///
    /// - Parameter identities: The attributes that each entity adds to the identity of its parent,
    ///   by entity name. Other entities keep their declared identity.
    /// - Throws: `ModelError` if an entity or an attribute does not exist.
    public func replacingIdentities(_ identities: [String: [String]]) throws(ModelError) -> DataModel {
        for name in identities.keys.sorted() where self[name] == nil {
            throw .unknownEntity(entity: name)
        }
        return try replacing(
            by: entities.map { entity in
                var entity = entity
                entity.identity = identities[entity.name] ?? entity.identity
                return entity
            })
    }
}

extension DataModel {
    /// Returns the value of a type that accompanies the model; nil if there is none.
    ///
    /// A store opens with a model, and every wrapper of the store has the same one. Higher layers
    /// therefore keep what they compiled from the model with it.
    package func companion<Value: Sendable>(_ type: Value.Type) -> Value? {
        companions[ObjectIdentifier(type)] as? Value
    }

    /// Returns a model of other entities that has the conversions of this one.
    package func replacing(by entities: [SyncEntity]) throws(ModelError) -> DataModel {
        try DataModel(entities).converting(by: conversions)
    }

    /// Returns a copy of the model with conversions of attributes.
    func converting(by conversions: [String: any Sendable]) -> DataModel {
        var copy = self
        copy.conversions = conversions
        return copy
    }

    /// Returns a copy of the model that a value accompanies. Equality ignores it.
    package func accompanied<Value: Sendable>(by value: Value) -> DataModel {
        var copy = self
        copy.companions[ObjectIdentifier(Value.self)] = value
        return copy
    }
}

extension DataModel: Hashable {
    /// Returns whether two models declare the same entities in the same order.
    public static func == (one: DataModel, other: DataModel) -> Bool {
        one.entities == other.entities
    }

    /// Hashes the declared entities.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(entities)
    }
}
