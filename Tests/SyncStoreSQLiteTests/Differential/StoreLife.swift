import Foundation
import JSONMapper
import OneWayTestSupport
import StoreSync
import SyncModel
import SyncStore
import SyncStoreSQL
import Testing

@testable import SyncStoreSQLite

/// An attribute of a random model.
struct Field: Sendable {
    var name: String
    var formerName: String?
    var type: AttributeType

    static let types: [AttributeType] = [.int16, .int64, .string, .double, .bool, .uuid, .decimal]

    /// A random value, as JSON and as a store holds it.
    func value(_ random: inout SeededRandom) -> (json: String, value: AttributeValue) {
        let number = Int64.random(in: -3...3, using: &random)
        if Int.random(in: 0..<5, using: &random) == 0 { return ("null", .null) }
        switch type {
        case .int16, .int32, .int64: return ("\(number)", .int(number))
        case .double: return ("\(number).5", .double(Double(number) + (number < 0 ? -0.5 : 0.5)))
        case .bool: return (number > 0 ? "true" : "false", .bool(number > 0))
        case .decimal: return ("\(number)", .decimal(Decimal(number)))
        case .uuid:
            let text = "00000000-0000-4000-8000-00000000000\(abs(number))"
            return ("\"\(text)\"", UUID(uuidString: text).map { .uuid($0) } ?? .null)
        default:
            let text = ["", "a", "A", "ü", "007", "NULL", "x'y", "\u{1F600}"][Int(number + 3)]
            return ("\"\(text)\"", .string(text))
        }
    }
}

/// The life of a file, of a store in memory, and of what both should hold.
struct StoreLife {
    typealias Values = [String: AttributeValue]

    static let entities = ["One", "Two"]

    var random: SeededRandom
    let folder: TemporaryDirectory
    var shape: Shape
    var fieldCount = 0
    /// Whether two attributes have swapped their names. Doing so again would be the same model as
    /// after the first time.
    var hasSwapped = false
    /// The version of the model, raised with each change that removes something.
    var version = 0
    var expected: [String: [Int64: Values]] = ["One": [:], "Two": [:]]
    var memory: JSONStore
    var sqlite: JSONStore
    /// The tool that made the tables; nil for the store.
    let origin: ForeignSchema?
    /// What the tool made, which the store must leave as it is.
    private(set) var foreignObjects: [String] = []

    /// What a model has.
    struct Shape: Sendable {
        var fields: [String: [Field]] = [:]
        let isOrdered: Bool
        /// Whether there is a relationship that comes and goes.
        var hasLikes = false
    }

    var path: String { Self.path(folder) }

    private static func path(_ folder: TemporaryDirectory) -> String {
        folder.url.appending(path: "store.sqlite").path
    }

    init(seed: UInt64, origin: ForeignSchema?) async throws {
        var random = SeededRandom(seed: seed)
        folder = try TemporaryDirectory()
        self.origin = origin
        // Positions would be columns that no tool makes.
        var shape = Shape(isOrdered: Bool.random(using: &random) && origin == nil)
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
        memory = try JSONStore(MemoryStore(mapper.model), mapper: mapper)
        if let origin {
            let references = [
                "One": [("partner", "One")], "Two": [("partner", "Two"), ("parent", "One")],
            ]
            for entity in Self.entities {
                let creation = origin.creation(
                    of: entity, fields: shape.fields[entity] ?? [], references: references[entity] ?? [])
                try await SQLiteShell.run(creation.joined(separator: ";"), at: Self.path(folder))
            }
        }
        sqlite = try await Self.open(mapper, folder, origin, version: 0)
        foreignObjects = try foreignTexts()
    }

    static func model(_ shape: Shape) throws -> DataModel {
        try DataModel(
            entities.map { name in
                let other = name == "One" ? "Two" : "One"
                var relationships = [
                    SyncRelationship("friends", toMany: name, inverse: "friends"),
                    SyncRelationship("partner", toOne: name, inverse: "partner"),
                    SyncRelationship("tags", toMany: other, ordered: shape.isOrdered),
                    name == "One"
                        ? SyncRelationship("children", toMany: "Two", ordered: shape.isOrdered, inverse: "parent")
                        : SyncRelationship("parent", toOne: "One", inverse: "children"),
                ]
                if shape.hasLikes { relationships.append(SyncRelationship("likes", toMany: other)) }
                return SyncEntity(
                    name, identity: ["id"],
                    attributes: [SyncAttribute("id", .int64)]
                        + (shape.fields[name] ?? []).map { SyncAttribute($0.name, $0.type, formerName: $0.formerName) },
                    relationships: relationships)
            })
    }

    private static func open(
        _ mapper: RecordMapper, _ folder: TemporaryDirectory, _ origin: ForeignSchema?, version: Int
    ) async throws -> JSONStore {
        var options = SQLiteStore.Options()
        options.modelVersion = version
        if let origin {
            options.naming = origin.naming(
                entities: entities, references: [("One", "partner"), ("Two", "partner"), ("Two", "parent")])
        }
        return try JSONStore(
            try await SQLiteStore(mapper.model, at: .file(path(folder)), options: options), mapper: mapper)
    }

    func open(_ mapper: RecordMapper) async throws -> JSONStore {
        try await Self.open(mapper, folder, origin, version: version)
    }

    // MARK: Actions

    /// Does something to both stores.
    ///
    /// - Returns: What was done.
    mutating func act() async throws -> String {
        let action = try await actAtRandom()
        for store in [memory, sqlite] { try await forgetPendingLinksOfTheDead(in: store) }
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
        case 0...4: return try await sync(shape, in: sqlite)
        case 5: return try await importObjects()
        case 6: return try await delete()
        case 7:
            sqlite = try await open(sqlite.mapper)
            return "reopen"
        case 8: return try await syncByAnOlderProgram()
        case 9 where origin == nil: return try await rebuild()
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

    /// Repeating a sync changes nothing and writes no byte.
    private func expectNothingWritten(_ json: String, into entity: String, _ store: JSONStore) async throws {
        let source = JSONSource.bytes(Array(json.utf8))
        // What the first time left to be settled may be settled by the second: an object that the
        // payload names, and that went for being absent from it, is unknown from then on.
        let again = try await memory.sync(source, into: entity)
        #expect(try await store.sync(source, into: entity) == again, "again \(json)")
        guard again.isUnchanged else { return }
        let before = try bytes()
        #expect(try await store.sync(source, into: entity).isUnchanged, "once more \(json)")
        #expect(try bytes() == before, "bytes written by \(json)")
    }

    private func bytes() throws -> [Data?] {
        ["", "-wal"].map { FileManager.default.contents(atPath: path + $0) }
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
        let other = try await sqlite.importObjects(source, into: entity)
        #expect(one == other, "the counts of \(objects)")
        return "import \(objects) into \(entity)"
    }

    private mutating func delete() async throws -> String {
        let entity = randomEntity()
        let id = Int64.random(in: 1...6, using: &random)
        let wasThere = expected[entity]?.removeValue(forKey: id) != nil
        for store in [memory, sqlite] {
            #expect(try await store.delete(.identity(id), in: entity) == wasThere)
        }
        return "delete \(entity) \(id)"
    }

    /// A program whose model lacks the newest attributes, of the same version, syncs into the file.
    private mutating func syncByAnOlderProgram() async throws -> String {
        var older = shape
        for entity in Self.entities { older.fields[entity] = Array(shape.fields[entity]?.dropLast() ?? []) }
        // A renaming is followed once: the older program knows attributes by the names of now.
        for entity in Self.entities {
            older.fields[entity] = older.fields[entity]?.map { Field(name: $0.name, formerName: nil, type: $0.type) }
        }
        let mapper = try RecordMapper(try Self.model(older))
        let store = try await open(mapper)
        let action = try await sync(older, in: store)
        sqlite = try await open(sqlite.mapper)
        return "an older program: \(action)"
    }

    // MARK: What others made

    /// The texts of what the tool made, without columns that the store added.
    func foreignTexts() throws -> [String] {
        guard let origin else { return [] }
        let names = Self.entities.map { "'\(origin.table($0))'" }.joined(separator: ", ")
        let connection = try SQLiteConnection(path: path, isReadOnly: true, busyTimeout: 1000)
        let statement = try connection.prepare(
            """
            SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name LIKE 'index_%' \
            OR type = 'table' AND name IN (\(names)) ORDER BY name
            """)
        var texts: [String] = []
        while try statement.step() { texts.append(statement.text(at: 0)) }
        return texts
    }

    /// Verifies that the tool would recognize its tables.
    func checkForeignObjects(_ place: String) throws {
        let texts = try foreignTexts()
        #expect(texts.count == foreignObjects.count, "\(place)")
        for (now, before) in zip(texts, foreignObjects) {
            // New columns stand after the old ones, before the constraints of the table.
            let constraints = before.firstRange(of: /, (CONSTRAINT|FOREIGN KEY)|\)( STRICT)?$/)
            let end = constraints?.lowerBound ?? before.endIndex
            #expect(now.hasPrefix(before[..<end]) && now.hasSuffix(before[end...]), "\(place): \(now)")
        }
    }
}
