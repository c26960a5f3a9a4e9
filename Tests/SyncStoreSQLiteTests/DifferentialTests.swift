import Foundation
import JSONMapper
import OneWayTestSupport
import StoreSync
import SyncModel
import SyncStore
import Testing

@testable import SyncStoreSQLite

/// Random models, payloads, operations and migrations, on an SQLite store beside one in memory, and
/// a plain expectation beside both.
///
/// `SEED=17` repeats one life, `LIVES=5000` runs more of them.
@Suite struct DifferentialTests {
    private static let seeds: [UInt64] = {
        let environment = ProcessInfo.processInfo.environment
        if let seed = environment["SEED"].flatMap(UInt64.init) { return [seed] }
        return Array(1...(environment["LIVES"].flatMap(UInt64.init) ?? 40))
    }()

    @Test(arguments: seeds)
    func bothStoresHoldWhatIsExpected(seed: UInt64) async throws {
        var life = try await StoreLife(seed: seed)
        for step in 0..<12 {
            let action = try await life.act()
            try await life.check("seed \(seed), step \(step): \(action)")
        }
    }
}

/// An attribute of a random model.
private struct Field {
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

private struct StoreLife {
    private typealias Values = [String: AttributeValue]

    private static let entities = ["One", "Two"]

    private var random: SeededRandom
    private let folder: TemporaryDirectory
    private var fields: [String: [Field]] = [:]
    private let isOrdered: Bool
    private var fieldCount = 0
    private var expected: [String: [Int64: Values]] = ["One": [:], "Two": [:]]
    private var memory: JSONStore
    private var sqlite: JSONStore

    private var path: String { folder.url.appending(path: "store.sqlite").path }

    init(seed: UInt64) async throws {
        var random = SeededRandom(seed: seed)
        folder = try TemporaryDirectory()
        isOrdered = Bool.random(using: &random)
        for entity in Self.entities {
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                fieldCount += 1
                let type = Field.types.randomElement(using: &random) ?? .string
                fields[entity, default: []].append(Field(name: "f\(fieldCount)", type: type))
            }
        }
        self.random = random
        let mapper = try RecordMapper(try Self.model(fields, isOrdered: isOrdered))
        memory = try JSONStore(MemoryStore(mapper.model), mapper: mapper)
        let path = folder.url.appending(path: "store.sqlite").path
        sqlite = try JSONStore(try await SQLiteStore(mapper.model, at: .file(path)), mapper: mapper)
    }

    private static func model(_ fields: [String: [Field]], isOrdered: Bool) throws -> DataModel {
        try DataModel(
            entities.map { name in
                let other = name == "One" ? "Two" : "One"
                var relationships = [
                    SyncRelationship("friends", toMany: name, inverse: "friends"),
                    SyncRelationship("partner", toOne: name, inverse: "partner"),
                    SyncRelationship("tags", toMany: other, ordered: isOrdered),
                ]
                relationships.append(
                    name == "One"
                        ? SyncRelationship("children", toMany: "Two", ordered: isOrdered, inverse: "parent")
                        : SyncRelationship("parent", toOne: "One", inverse: "children"))
                return SyncEntity(
                    name, identity: ["id"],
                    attributes: [SyncAttribute("id", .int64)]
                        + (fields[name] ?? []).map { SyncAttribute($0.name, $0.type, formerName: $0.formerName) },
                    relationships: relationships)
            })
    }

    // MARK: Actions

    /// Does something to both stores.
    ///
    /// - Returns: What was done.
    mutating func act() async throws -> String {
        switch Int.random(in: 0..<10, using: &random) {
        case 0...5: return try await sync()
        case 6: return try await delete()
        case 7: return try await reopen()
        default: return try await migrate()
        }
    }

    private mutating func sync() async throws -> String {
        let entity = Self.entities.randomElement(using: &random) ?? "One"
        var state: [Int64: Values] = [:]
        var objects: [String] = []
        for id in Int64(1)...6 where Bool.random(using: &random) {
            var values = expected[entity]?[id] ?? [:]
            var parts = ["\"id\":\(id)"]
            for field in fields[entity] ?? [] where Bool.random(using: &random) {
                let (json, value) = field.value(&random)
                parts.append("\"\(field.name)\":\(json)")
                values[field.name] = value
            }
            state[id] = values
            objects.append("{\((parts + links(of: entity)).joined(separator: ","))}")
        }
        expected[entity] = state
        let json = "[\(objects.shuffled(using: &random).joined(separator: ","))]"
        let plan = try await sqlite.plan(.bytes(Array(json.utf8)), into: entity)
        let one = try await memory.sync(.bytes(Array(json.utf8)), into: entity)
        let other = try await sqlite.sync(.bytes(Array(json.utf8)), into: entity)
        #expect(plan == other, "the plan of \(json)")
        #expect(one == other, "the counts of \(json)")
        try await expectNothingWritten(json, into: entity)
        return "sync \(json) into \(entity)"
    }

    private mutating func links(of entity: String) -> [String] {
        var parts: [String] = []
        func ids() -> [Int] { (1...6).filter { _ in Int.random(in: 0..<3, using: &random) == 0 } }
        for name in ["friends_ids", "tags_ids"] + (entity == "One" ? ["children_ids"] : [])
        where Int.random(in: 0..<3, using: &random) == 0 {
            parts.append("\"\(name)\":\(ids().shuffled(using: &random))")
        }
        for name in ["partner_id"] + (entity == "One" ? [] : ["parent_id"])
        where Int.random(in: 0..<3, using: &random) == 0 {
            parts.append("\"\(name)\":\(ids().first.map(String.init) ?? "null")")
        }
        return parts
    }

    /// The same again is no change, of which no byte is written.
    private func expectNothingWritten(_ json: String, into entity: String) async throws {
        // What the first time left to be settled may be settled by the second.
        let again = try await memory.sync(.bytes(Array(json.utf8)), into: entity)
        let before = try bytes()
        #expect(try await sqlite.sync(.bytes(Array(json.utf8)), into: entity) == again, "again \(json)")
        if again.isUnchanged { #expect(try bytes() == before, "bytes written by \(json)") }
    }

    private func bytes() throws -> [Data?] {
        ["", "-wal"].map { FileManager.default.contents(atPath: path + $0) }
    }

    private mutating func delete() async throws -> String {
        let entity = Self.entities.randomElement(using: &random) ?? "One"
        let id = Int64.random(in: 1...6, using: &random)
        let wasThere = expected[entity]?.removeValue(forKey: id) != nil
        for store in [memory, sqlite] {
            #expect(try await store.delete(.identity(id), in: entity) == wasThere)
        }
        return "delete \(entity) \(id)"
    }

    private mutating func reopen() async throws -> String {
        sqlite = try JSONStore(
            try await SQLiteStore(sqlite.mapper.model, at: .file(path)), mapper: sqlite.mapper)
        return "reopen"
    }

    private mutating func migrate() async throws -> String {
        let entity = Self.entities.randomElement(using: &random) ?? "One"
        var own = (fields[entity] ?? []).map { Field(name: $0.name, formerName: nil, type: $0.type) }
        var rename: [String: String] = [:]
        switch Int.random(in: 0..<5, using: &random) {
        case 0:
            fieldCount += 1
            own.append(Field(name: "f\(fieldCount)", type: Field.types.randomElement(using: &random) ?? .bool))
        case 1 where own.count > 1:
            own.removeLast()
        case 2:
            fieldCount += 1
            rename[own[0].name] = "f\(fieldCount)"
            own[0] = Field(name: "f\(fieldCount)", formerName: own[0].name, type: own[0].type)
        case 3 where own.count > 1:
            // Two attributes swap their names.
            let (one, other) = (own[0], own[1])
            rename = [one.name: other.name, other.name: one.name]
            own[0] = Field(name: other.name, formerName: one.name, type: one.type)
            own[1] = Field(name: one.name, formerName: other.name, type: other.type)
        default:
            own.shuffle(using: &random)
        }
        fields[entity] = own
        let names = Set(own.map(\.name))
        expected[entity] = expected[entity]?.mapValues { values in
            var next: Values = [:]
            for (name, value) in values where names.contains(rename[name] ?? name) {
                next[rename[name] ?? name] = value
            }
            return next
        }
        let mapper = try RecordMapper(try Self.model(fields, isOrdered: isOrdered))
        sqlite = try JSONStore(try await SQLiteStore(mapper.model, at: .file(path)), mapper: mapper)
        // A store in memory has no migration: it is filled with what is expected, and with the same
        // links.
        let former = memory
        memory = try JSONStore(MemoryStore(mapper.model), mapper: mapper)
        for entity in Self.entities {
            try await memory.store.transaction { [expected, memory] transaction in
                for (_, values) in (expected[entity] ?? [:]).sorted(by: { $0.key < $1.key }).map({
                    ($0.key, Self.with($0))
                }) {
                    var record = Record(of: try memory.store.model.layout(of: entity))
                    for (name, value) in values { record[name] = value }
                    let inserted = record
                    try await transaction.insert(inserted)
                }
            }
        }
        for entity in Self.entities { try await copyLinks(of: entity, from: former) }
        return "migrate \(entity) to \(own.map(\.name))"
    }

    private static func with(_ element: (key: Int64, value: Values)) -> Values {
        var values = element.value
        values["id"] = .int(element.key)
        return values
    }

    private func copyLinks(of entity: String, from former: JSONStore) async throws {
        let names = try former.store.model.layout(of: entity).relationships.map(\.name)
        let records = try await former.store.records(StoreQuery(entity), with: names)
        try await memory.store.transaction { [memory] transaction in
            for name in names {
                guard let relationship = try memory.store.model.layout(of: entity).relationship(name) else { continue }
                let destination = memory.store.model.layouts[relationship.destination].name
                var batch = LinkBatch(relationship, mode: .replace)
                for stored in records {
                    guard let source = try await transaction.record(entity, key: stored.key) else { continue }
                    var targets: [ObjectID] = []
                    for key in stored.record[related: name]?.keys ?? [] {
                        if let target = try await transaction.record(destination, key: key) {
                            targets.append(target.object)
                        }
                    }
                    batch.append(source.object, to: targets)
                }
                _ = try await transaction.link(batch)
            }
        }
    }

    // MARK: Checks

    func check(_ place: String) async throws {
        for entity in Self.entities {
            let one = try await content(of: entity, in: memory)
            let other = try await content(of: entity, in: sqlite)
            #expect(one == other, "\(place): memory beside SQLite, \(entity)")
            var found: [Int64: Values] = [:]
            for (id, record) in other { found[id] = record.values.filter { !$0.value.isNull } }
            #expect(found == expected[entity]?.mapValues { $0.filter { !$0.value.isNull } }, "\(place): \(entity)")
        }
        try await checkInverses(place)
        let connection = try SQLiteConnection(path: path, isReadOnly: true, busyTimeout: 1000)
        let integrity = try connection.prepare("PRAGMA integrity_check")
        #expect(try integrity.step() && integrity.text(at: 0) == "ok", "\(place)")
        #expect(try connection.prepare("PRAGMA foreign_key_check").step() == false, "\(place)")
    }

    private struct Content: Equatable {
        var values: Values
        var targets: [String: [RecordKey]]
    }

    private func content(of entity: String, in store: JSONStore) async throws -> [Int64: Content] {
        let layout = try store.store.model.layout(of: entity)
        let names = layout.relationships.map(\.name)
        var content: [Int64: Content] = [:]
        for stored in try await store.store.records(StoreQuery(entity), with: names) {
            guard case .int(let id) = stored.record["id"] else { continue }
            var values: Values = [:]
            for attribute in layout.attributes where attribute.name != "id" {
                values[attribute.name] = stored.record[attribute.name]
            }
            var targets: [String: [RecordKey]] = [:]
            for relationship in layout.relationships {
                let keys = stored.record[related: relationship.name]?.keys ?? []
                targets[relationship.name] = relationship.isOrdered ? keys : keys.sorted { "\($0)" < "\($1)" }
            }
            content[id] = Content(values: values, targets: targets)
        }
        return content
    }

    private func checkInverses(_ place: String) async throws {
        for (entity, name, destination, inverse) in [
            ("One", "friends", "One", "friends"), ("Two", "friends", "Two", "friends"),
            ("One", "partner", "One", "partner"),
            ("One", "children", "Two", "parent"),
        ] {
            var pairs: Set<[RecordKey]> = []
            for stored in try await sqlite.store.records(StoreQuery(entity), with: [name]) {
                for key in stored.record[related: name]?.keys ?? [] { pairs.insert([stored.key, key]) }
            }
            var back: Set<[RecordKey]> = []
            for stored in try await sqlite.store.records(StoreQuery(destination), with: [inverse]) {
                for key in stored.record[related: inverse]?.keys ?? [] { back.insert([key, stored.key]) }
            }
            #expect(pairs == back, "\(place): \(entity).\(name)")
        }
    }
}
