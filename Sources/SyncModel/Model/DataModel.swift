/// The entities that data consists of, checked against each other.
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
/// Two models are equal when they declare the same entities in the same order.
public struct DataModel: Sendable {
    /// The entities with all their properties, in the order of declaration.
    public let layouts: [EntityLayout]

    private let indices: [String: Int]

    /// Creates a model from entities.
    ///
    /// - Throws: `ModelError` for the first contradiction, with the entity and the property.
    public init(_ entities: [SyncEntity]) throws(ModelError) {
        layouts = try ModelResolver(entities).layouts()
        indices = Dictionary(uniqueKeysWithValues: entities.enumerated().map { ($1.name, $0) })
    }

    /// Creates a model from entities in a builder.
    ///
    /// - Throws: `ModelError` for the first contradiction, with the entity and the property.
    public init(@ModelBuilder<SyncEntity> entities: () -> [SyncEntity]) throws(ModelError) {
        try self.init(entities())
    }

    /// The declarations of the entities, in order.
    public var entities: [SyncEntity] {
        layouts.map(\.entity)
    }

    /// The entity with a name, or nil if there is none.
    public subscript(entity: String) -> EntityLayout? {
        indices[entity].map { layouts[$0] }
    }

    /// Returns the entity with a name.
    ///
    /// - Throws: `ModelError.unknownEntity` if there is none.
    public func layout(of entity: String) throws(ModelError) -> EntityLayout {
        guard let layout = self[entity] else { throw .unknownEntity(entity: entity) }
        return layout
    }

    /// Returns the model with more entities at its end, such as those of bookkeeping.
    ///
    /// An entity that the model has with the same declaration is not added again.
    ///
    /// - Throws: `ModelError.duplicateEntity` if the model has another entity of the same name;
    ///   `ModelError` if an entity contradicts the others.
    public func adding(_ entities: [SyncEntity]) throws(ModelError) -> DataModel {
        try DataModel(self.entities + entities.filter { self[$0.name]?.entity != $0 })
    }

    /// Returns the model with the identities of some entities replaced.
    ///
    /// A mapper uses this to state the primary keys that it finds by names or annotations, for stores.
    ///
    /// - Parameter identities: What each named entity adds to its parent's identity. Other entities keep
    ///   their declared identity.
    /// - Throws: `ModelError` if an entity or an attribute does not exist.
    public func replacingIdentities(_ identities: [String: [String]]) throws(ModelError) -> DataModel {
        for name in identities.keys.sorted() where self[name] == nil {
            throw .unknownEntity(entity: name)
        }
        return try DataModel(
            entities.map { entity in
                var entity = entity
                entity.identity = identities[entity.name] ?? entity.identity
                return entity
            })
    }
}

extension DataModel: Hashable {
    /// Whether both declare the same entities in the same order.
    public static func == (one: DataModel, other: DataModel) -> Bool {
        one.entities == other.entities
    }

    /// Hashes what is declared.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(entities)
    }
}
