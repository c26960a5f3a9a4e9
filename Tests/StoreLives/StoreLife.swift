import JSONMapper
import OneWayTestSupport
import StoreSync
import SyncModel
import SyncStore
import Testing

/// The life of a database, of a store in memory, and of what both should hold: random models,
/// payloads, operations and migrations.
package struct StoreLife {
    typealias Values = [String: AttributeValue]

    package static let entities = ["One", "Two"]
    /// The to-one relationships that have columns, by entity.
    package static let references = [
        "One": [(name: "partner", entity: "One")],
        "Two": [(name: "partner", entity: "Two"), (name: "parent", entity: "One")],
    ]

    let database: any LifeDatabase
    var random: SeededRandom
    var shape: Shape
    var fieldCount = 0
    /// Whether two attributes have swapped their names. Doing so again would be the same model as
    /// after the first time.
    var hasSwapped = false
    /// The version of the model, raised with each change that removes something.
    var version = 0
    var expected: [String: [Int64: Values]] = ["One": [:], "Two": [:]]
    var memory: JSONStore
    var store: JSONStore

    /// What a model has.
    struct Shape: Sendable {
        var fields: [String: [Field]] = [:]
        let isOrdered: Bool
        /// Whether there is a relationship that comes and goes.
        var hasLikes = false
    }

    /// Begins a life in an empty database.
    package init(seed: UInt64, in database: any LifeDatabase) async throws {
        var random = SeededRandom(seed: seed)
        self.database = database
        // Positions would be columns that no tool makes.
        var shape = Shape(isOrdered: Bool.random(using: &random) && !database.isExisting)
        for entity in Self.entities {
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                fieldCount += 1
                let type = Field.types.randomElement(using: &random) ?? .string
                shape.fields[entity, default: []].append(Field(name: "f\(fieldCount)", type: type))
            }
        }
        self.random = random
        self.shape = shape
        let mapper = try RecordMapper(try Self.model(shape))
        memory = try JSONStore(MemoryStore(exactly: mapper.model), mapper: mapper)
        try await database.prepare(shape.fields)
        store = try JSONStore(try await database.open(mapper.model, version: 0), mapper: mapper)
    }

    /// Does some things to both stores, and compares them after each.
    package mutating func live(stepCount: Int, _ place: String) async throws {
        for step in 0..<stepCount {
            let action = try await act()
            try await check("\(place), step \(step): \(action)")
        }
    }

    static func model(_ shape: Shape) throws -> DataModel {
        try DataModel(
            entities.map { name in
                let other = name == "One" ? "Two" : "One"
                var relationships = [
                    SyncRelationship("friends", toMany: name, inverse: "friends"),
                    SyncRelationship("partner", toOne: name, inverse: "partner"),
                    SyncRelationship("tags", toMany: other),
                    name == "One"
                        ? SyncRelationship("children", toMany: "Two", inverse: "parent")
                        : SyncRelationship("parent", toOne: "One", inverse: "children"),
                ]
                for index in relationships.indices where ["tags", "children"].contains(relationships[index].name) {
                    relationships[index].isOrdered = shape.isOrdered
                }
                if shape.hasLikes { relationships.append(SyncRelationship("likes", toMany: other)) }
                return SyncEntity(
                    name, identity: ["id"],
                    attributes: [SyncAttribute("id", .int64)]
                        + (shape.fields[name] ?? []).map { SyncAttribute($0.name, $0.type, formerName: $0.formerName) },
                    relationships: relationships)
            })
    }

    /// Opens the database, whatever its model is now.
    func open(_ mapper: RecordMapper) async throws -> JSONStore {
        try JSONStore(try await database.open(mapper.model, version: version), mapper: mapper)
    }

    // MARK: Actions

    /// Does something to both stores.
    ///
    /// - Returns: What was done.
    mutating func act() async throws -> String {
        let action = try await actAtRandom()
        for store in [memory, store] { try await forgetPendingLinksOfTheDead(in: store) }
        return action
    }

    /// An object that is inserted later may have the number and the key of one that is gone, in one
    /// store and not in the other, and would get its links.
    private func forgetPendingLinksOfTheDead(in store: JSONStore) async throws {
        var living: Set<String> = []
        for entity in Self.entities {
            for stored in try await store.store.records(StoreQuery(entity)) {
                living.insert("\(entity) \(stored.object)")
            }
        }
        let name = SyncEntity.pendingLink.name
        var gone: [ObjectID] = []
        for stored in try await store.store.records(StoreQuery(name)) {
            guard case .string(let relationship) = stored.record["relationship"],
                case .int(let object) = stored.record["object"]
            else { continue }
            if !living.contains("\(relationship.prefix { $0 != "." }) \(object)") { gone.append(stored.object) }
        }
        guard !gone.isEmpty else { return }
        let query = StoreQuery(name, objects: .only(gone))
        _ = try await store.store.transaction { try await $0.remove(query) }
    }

    private mutating func actAtRandom() async throws -> String {
        switch Int.random(in: 0..<12, using: &random) {
        case 0...4: return try await sync(shape, in: store)
        case 5: return try await importObjects()
        case 6: return try await delete()
        case 7:
            store = try await open(store.mapper)
            return "reopen"
        case 8: return try await syncByAnOlderProgram()
        case 9 where !database.isExisting: return try await rebuild()
        default: return try await migrate()
        }
    }

    /// A random payload, and what the store holds after it.
    private mutating func payload(
        of entity: String, _ shape: Shape, keeping: Bool
    ) -> (json: String, state: [Int64: Values]) {
        var state: [Int64: Values] = keeping ? expected[entity] ?? [:] : [:]
        var objects: [String] = []
        for id in Int64(1)...6 where Bool.random(using: &random) {
            var values = expected[entity]?[id] ?? [:]
            var parts = ["\"id\":\(id)"]
            for field in shape.fields[entity] ?? [] where Bool.random(using: &random) {
                let (json, value) = field.value(&random)
                parts.append("\"\(field.name)\":\(json)")
                values[field.name] = value
            }
            state[id] = values
            objects.append("{\((parts + links(of: entity, shape)).joined(separator: ","))}")
        }
        return ("[\(objects.shuffled(using: &random).joined(separator: ","))]", state)
    }

    private mutating func links(of entity: String, _ shape: Shape) -> [String] {
        var parts: [String] = []
        func ids() -> [Int] { (1...6).filter { _ in Int.random(in: 0..<3, using: &random) == 0 } }
        let many = ["friends", "tags"] + (entity == "One" ? ["children"] : []) + (shape.hasLikes ? ["likes"] : [])
        for name in many where Int.random(in: 0..<3, using: &random) == 0 {
            parts.append("\"\(name)_ids\":\(ids().shuffled(using: &random))")
        }
        for name in ["partner"] + (entity == "One" ? [] : ["parent"])
        where Int.random(in: 0..<3, using: &random) == 0 {
            parts.append("\"\(name)_id\":\(ids().first.map(String.init) ?? "null")")
        }
        return parts
    }

    private mutating func randomEntity() -> String {
        Self.entities.randomElement(using: &random) ?? "One"
    }

    private mutating func sync(_ shape: Shape, in store: JSONStore) async throws -> String {
        let entity = randomEntity()
        let (json, state) = payload(of: entity, shape, keeping: false)
        expected[entity] = state
        let source = JSONSource.bytes(Array(json.utf8))
        let plan = try await store.plan(source, into: entity)
        let one = try await memory.sync(source, into: entity)
        let other = try await store.sync(source, into: entity)
        #expect(plan == other, "the plan of \(json)")
        #expect(one == other, "the counts of \(json)")
        try await expectNothingWritten(json, into: entity, store)
        return "sync \(json) into \(entity)"
    }

    /// Repeating a sync changes nothing and writes nothing.
    private func expectNothingWritten(_ json: String, into entity: String, _ store: JSONStore) async throws {
        let source = JSONSource.bytes(Array(json.utf8))
        // What the first time left to be settled may be settled by the second: an object that the
        // payload names, and that went for being absent from it, is unknown from then on.
        let again = try await memory.sync(source, into: entity)
        #expect(try await store.sync(source, into: entity) == again, "again \(json)")
        guard again.isUnchanged else { return }
        let before = try await database.writtenState()
        #expect(try await store.sync(source, into: entity).isUnchanged, "once more \(json)")
        #expect(try await database.writtenState() == before, "written by \(json)")
    }

    private mutating func importObjects() async throws -> String {
        let entity = randomEntity()
        // An import replaces links, and inserts objects of which it knows the identifier only.
        let (json, state) = payload(of: entity, Shape(isOrdered: false), keeping: true)
        let ids = json.matches(of: /"id":(\d+)/).compactMap { Int64($0.1) }
        let objects = ids.map { "{\"id\":\($0)}" }.joined(separator: ",")
        for id in ids { expected[entity]?[id] = state[id] ?? [:] }
        let source = JSONSource.bytes(Array("[\(objects)]".utf8))
        let one = try await memory.importObjects(source, into: entity)
        let other = try await store.importObjects(source, into: entity)
        #expect(one == other, "the counts of \(objects)")
        return "import \(objects) into \(entity)"
    }

    private mutating func delete() async throws -> String {
        let entity = randomEntity()
        let id = Int64.random(in: 1...6, using: &random)
        let wasThere = expected[entity]?.removeValue(forKey: id) != nil
        for store in [memory, store] {
            #expect(try await store.delete(.identity(id), in: entity) == wasThere)
        }
        return "delete \(entity) \(id)"
    }

    /// A program whose model lacks the newest attributes, of the same version, syncs into the
    /// database.
    private mutating func syncByAnOlderProgram() async throws -> String {
        var older = shape
        for entity in Self.entities { older.fields[entity] = Array(shape.fields[entity]?.dropLast() ?? []) }
        // A renaming is followed once: the older program knows attributes by the names of now.
        for entity in Self.entities {
            older.fields[entity] = older.fields[entity]?.map { Field(name: $0.name, formerName: nil, type: $0.type) }
        }
        let mapper = try RecordMapper(try Self.model(older))
        let action = try await sync(older, in: try await open(mapper))
        store = try await open(store.mapper)
        return "an older program: \(action)"
    }
}
