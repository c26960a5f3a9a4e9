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
    /// The entities with all they have, in the order of their declaration.
    public let layouts: [EntityLayout]

    private let indices: [String: Int]

    /// Creates a model of entities.
    ///
    /// - Throws: `ModelError`, naming the entity and property, for the first thing that contradicts
    ///   another.
    public init(_ entities: [SyncEntity]) throws(ModelError) {
        layouts = try ModelResolver(entities).layouts()
        indices = Dictionary(uniqueKeysWithValues: entities.enumerated().map { ($1.name, $0) })
    }

    /// Creates a model of the entities written out below it.
    ///
    /// - Throws: `ModelError`, naming the entity and property, for the first thing that contradicts
    ///   another.
    public init(@ModelBuilder<SyncEntity> entities: () -> [SyncEntity]) throws(ModelError) {
        try self.init(entities())
    }

    /// The entities as they were declared, in order.
    public var entities: [SyncEntity] {
        layouts.map(\.entity)
    }

    /// The entity of a name; nil where there is none.
    public subscript(entity: String) -> EntityLayout? {
        indices[entity].map { layouts[$0] }
    }

    /// The entity of a name.
    ///
    /// - Throws: `ModelError.unknownEntity` where there is none.
    public func layout(of entity: String) throws(ModelError) -> EntityLayout {
        guard let layout = self[entity] else { throw .unknownEntity(entity: entity) }
        return layout
    }

    /// The same model with more entities behind those it has, such as what a sync keeps beside the
    /// data it is about.
    ///
    /// An entity that the model declares already in the same words is not added again, so that
    /// adding twice is adding once.
    ///
    /// - Throws: `ModelError.duplicateEntity` for an entity of which the model has another of the
    ///   same name; `ModelError` where an entity contradicts the others.
    public func adding(_ entities: [SyncEntity]) throws(ModelError) -> DataModel {
        try DataModel(self.entities + entities.filter { self[$0.name]?.entity != $0 })
    }

    /// The same model with the identities of some entities replaced.
    ///
    /// A mapper that finds primary keys by names or annotations states here what it found, so that
    /// stores know.
    ///
    /// - Parameter identities: What each named entity adds to its parent's identity; entities that
    ///   are not named keep what they declare.
    /// - Throws: `ModelError` where an entity or an attribute does not exist.
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
