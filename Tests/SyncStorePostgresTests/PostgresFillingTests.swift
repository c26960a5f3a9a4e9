#if Postgres
import Foundation
import OneWayPostgresTestSupport
import OneWayStoreTestSupport
import OneWayTestLimits
import SyncModel
import SyncStore
@testable import SyncStorePostgres
import SyncStoreSQL
import Testing

/// First syncs, which copy rows directly into empty tables.
@Suite(.enabled(if: SharedPostgres.isAvailable, "\(SharedPostgres.absence)"), .endsInTime)
struct PostgresFillingTests {
    private func model() throws -> DataModel {
        var person = SyncEntity("Person", identity: "id") {
            SyncAttribute("id", .string)
            SyncAttribute("name", .string, default: "nobody")
            SyncAttribute("email", .string)
            SyncAttribute("age", .int16)
            SyncRelationship("boss", toOne: "Person", inverse: "staff")
            SyncRelationship("staff", toMany: "Person", inverse: "boss")
            SyncRelationship("events", toOrdered: "Event", inverse: "person")
        }
        person.indexes = [SyncEntity.Index(["email"], unique: true)]
        let event = SyncEntity("Event") {
            SyncAttribute("text", .string)
            SyncRelationship("person", toOne: "Person", inverse: "events")
        }
        return try DataModel([person, event])
    }

    /// A batch of people; nil is an absent cell.
    private func batch(_ people: [(id: String?, name: String?, email: String?)]) throws -> RecordBatch {
        var batch = RecordBatch(of: try model().layout(of: "Person"))
        for person in people {
            batch.beginRecord()
            for (column, text) in [person.id, person.name, person.email].enumerated() {
                if let text { batch.setValue(.string(text), at: column) }
            }
            batch.endRecord()
        }
        return batch
    }

    /// Merges batches in one transaction.
    ///
    /// - Returns: What changed in each row.
    private func merge(_ batches: [RecordBatch], into store: some Store) async throws -> [[MergeRequest.Result.Change?]]
    {
        try await store.transaction { transaction in
            var changes: [[MergeRequest.Result.Change?]] = []
            for batch in batches {
                let result = try await transaction.merge(MergeRequest(batch))
                changes.append(result.rows.map { $0?.change })
            }
            return changes
        }
    }

    /// All that is stored, in the order of the ids.
    private func people(_ store: some Store) async throws -> [[AttributeValue]] {
        try await store.records(StoreQuery("Person", orderedBy: [Ordering("id"), Ordering("name")])).map { stored in
            ["id", "name", "email", "age"].map { stored.record[$0] }
        }
    }

    // MARK: Results

    /// The same batches in one transaction, in PostgreSQL and in memory.
    @Test(arguments: [1, 3, 1000])
    func resultsAreThoseOfAMerge(fillMinimum: Int) async throws {
        let long = String(repeating: "k", count: 3000)
        let batches = [
            // Absent cells, no identity, a long one, special bytes.
            try batch([
                ("a", "Ann", nil), ("b", nil, "b@x"), (nil, "nameless", nil), (long, "long", nil),
                (nil, nil, nil), ("n\u{0}l", "\u{1}\t\\N", "e@x"),
            ]),
            try batch([("c", "Cleo", nil), ("d", "Dan", nil), ("e", nil, nil)]),
            // What earlier batches have, among new rows.
            try batch([("f", "Fay", nil), ("b", "Bob", nil), (long, "longer", nil), (nil, "nameless", nil)]),
            try batch([("g", "Gus", nil), ("h", "Hal", nil), ("a", "Anna", nil)]),
            try batch([("i", "Ida", nil), ("j", "Jo", nil), ("k", nil, nil)]),
        ]
        try await SharedPostgres.withSchemas { schemas in
            var options = schemas.emptyStore()
            options.fillMinimum = fillMinimum
            let store = try await PostgresStore(exactly: try model(), at: schemas.url, options: options)
            let memory = MemoryStore(exactly: try model())
            // The second time, nothing is filled.
            for _ in 0..<2 {
                #expect(try await merge(batches, into: store) == merge(batches, into: memory))
                #expect(try await people(store) == people(memory))
            }
        }
    }

    /// Families of entities share a table. A merge finds objects of sub-entities, which the index
    /// of identities distinguishes.
    @Test(arguments: [1, 3, 1000])
    func objectsOfSubentitiesAreThoseOfAMerge(fillMinimum: Int) async throws {
        let model = try DataModel {
            SyncEntity("Vehicle", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("name", .string)
                SyncRelationship("owner", toOne: "Owner", inverse: "vehicles")
            }
            SyncEntity("Car", parent: "Vehicle") { SyncAttribute("doors", .int16) }
            SyncEntity("Truck", parent: "Vehicle") { SyncAttribute("load", .double) }
            SyncEntity("Owner") { SyncRelationship("vehicles", toMany: "Vehicle", inverse: "owner") }
            SyncEntity("Note") { SyncAttribute("text", .string) }
            SyncEntity("Remark", parent: "Note") {}
        }
        func batch(_ entity: String, _ ids: [Int64?]) throws -> RecordBatch {
            let layout = try model.layout(of: entity)
            var batch = RecordBatch(of: layout)
            for id in ids {
                batch.beginRecord()
                let value: AttributeValue = id.map { layout.hasIdentity ? .int($0) : .string("\($0)") } ?? .null
                batch.setValue(value, at: 0)
                batch.endRecord()
            }
            return batch
        }
        let batches = [
            try batch("Car", [1, 2, 3, nil]), try batch("Truck", [3, 4, 5]), try batch("Vehicle", [2, 4, 6, 7]),
            try batch("Car", [8, 9, 10]), try batch("Car", [9, 11, 6]), try batch("Truck", [12, 13, 1, nil]),
            try batch("Remark", [1, 2, 3]), try batch("Note", [1, 4, 5]), try batch("Remark", [1, 6, 7]),
        ]
        try await SharedPostgres.withSchemas { schemas in
            var options = schemas.emptyStore()
            options.fillMinimum = fillMinimum
            let store = try await PostgresStore(exactly: model, at: schemas.url, options: options)
            let memory = MemoryStore(exactly: model)
            for _ in 0..<2 {
                #expect(try await merge(batches, into: store) == merge(batches, into: memory))
                #expect(try await familyRows(store) == familyRows(memory))
            }
        }
    }

    /// All vehicles and notes, with their entities.
    private func familyRows(_ store: some Store) async throws -> [String] {
        var rows: [String] = []
        for entity in ["Vehicle", "Note"] {
            rows += try await store.records(StoreQuery(entity)).map { stored in
                "\(stored.record.entityName) \(stored.record.values)"
            }
        }
        return rows.sorted()
    }

    /// A leaf of a family is copied; its root could meet objects of its sub-entities.
    @Test(arguments: [("Car", true), ("Vehicle", false), ("Bike", false)])
    func onlyAnEntityThatTheIndexCoversIsCopied(entity: String, isCopied: Bool) throws {
        let model = try DataModel {
            SyncEntity("Vehicle", identity: "id") { SyncAttribute("id", .int64) }
            SyncEntity("Car", parent: "Vehicle") {}
            SyncEntity("Thing", abstract: true) { SyncAttribute("name", .string) }
            SyncEntity("Bike", parent: "Thing", identity: "number") { SyncAttribute("number", .int64) }
        }
        let schema = SQLSchema(model, dialect: .postgres(schema: "public"))
        let merge = PostgresMerge(try model.layout(of: entity).index, schema: schema, nextRow: "1", forms: [:])
        let copying = merge.statements.copying(linked: nil)
        #expect((copying != nil) == isCopied)
        #expect(copying?.contains("\"_entity\"") != false)
    }

    @Test func newRowsHaveTheirLinks() async throws {
        try await SharedPostgres.withSchemas { schemas in
            let store = try await PostgresStore(exactly: try model(), at: schemas.url, options: schemas.emptyStore())
            let objects = try await store.transaction { transaction in
                try await transaction.merge(MergeRequest(try batch([("a", nil, nil), ("b", nil, nil)]))).rows
            }.compactMap { $0?.object }
            #expect(objects.count == 2 && objects[0] < objects[1])
            let links = try await store.transaction { transaction in
                let layout = try transaction.model.layout(of: "Person")
                let boss = try #require(layout.relationship("boss"))
                let merged = try await transaction.merge(
                    MergeRequest(try batch([("c", nil, nil), ("d", nil, nil)])),
                    linking: [MergeRequest.InitialLinks(boss, targets: [objects[1], nil])])
                return try await transaction.links(boss, of: merged.rows.compactMap { $0?.object }).map(\.target)
            }
            #expect(links == [objects[1]])
        }
    }

    /// Rows without an identity match nothing, so that a table that has some is filled too.
    @Test func rowsWithoutAnIdentityHaveTheirPlacesInTheirLists() async throws {
        try await SharedPostgres.withSchemas { schemas in
            let options = schemas.emptyStore()
            let store = try await PostgresStore(exactly: try model(), at: schemas.url, options: options)
            for id in ["a", "b"] {
                try await store.transaction { transaction in
                    let people = try await transaction.merge(MergeRequest(try batch([(id, nil, nil)]))).rows
                    let person = try #require(people.first.flatMap { $0?.object })
                    let layout = try transaction.model.layout(of: "Event")
                    var events = RecordBatch(of: layout)
                    for text in ["x", "y", "z"] {
                        events.beginRecord()
                        events.setValue(.string(text), at: 0)
                        events.endRecord()
                    }
                    let links = MergeRequest.InitialLinks(
                        try #require(layout.relationship("person")), targets: [person, nil, person])
                    let merged = try await transaction.merge(MergeRequest(events), linking: [links])
                    #expect(merged.rows.map { $0?.change } == [.inserted, .inserted, .inserted])
                }
            }
            let found = try await schemas.run(
                #"SELECT p.id, e.text, e.person_position FROM "Event" e LEFT JOIN "Person" p ON p._id = e.person "#
                    + "ORDER BY p.id, e.person_position, e._id",
                in: options)
            #expect(
                found == [
                    ["a", "x", "0"], ["a", "z", "1"], ["b", "x", "0"], ["b", "z", "1"], [nil, "y", nil],
                    [nil, "y", nil],
                ])
        }
    }

    @Test func valuesOfAUniqueIndexThatAreTakenAreTold() async throws {
        try await SharedPostgres.withSchemas { schemas in
            let options = schemas.emptyStore()
            let store = try await PostgresStore(exactly: try model(), at: schemas.url, options: options)
            await #expect {
                try await store.transaction { transaction in
                    _ = try await transaction.merge(MergeRequest(try batch([("a", nil, "1"), ("b", nil, "2")])))
                    _ = try await transaction.merge(MergeRequest(try batch([("c", nil, "3"), ("d", nil, "1")])))
                }
            } throws: {
                $0.isTaken(["email"], of: "Person")
            }
            #expect(try await schemas.run(#"SELECT count(*) FROM "Person""#, in: options) == [["0"]])
        }
    }

    // MARK: Which tables are filled

    static let additions: [(statement: String, isFilled: Bool)] =
        [("SELECT 1", true), (#"INSERT INTO "Person" (id) VALUES ('x'); DELETE FROM "Person""#, true)]
        + obstacles.map { ($0, false) }

    private static let obstacles = [
        #"INSERT INTO "Person" (id) VALUES ('x')"#,
        """
        CREATE FUNCTION kept() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'; \
        CREATE TRIGGER guard BEFORE INSERT ON "Person" FOR EACH ROW EXECUTE FUNCTION kept()
        """,
        #"ALTER TABLE "Person" ENABLE ROW LEVEL SECURITY"#,
        #"CREATE RULE kept AS ON INSERT TO "Person" DO INSTEAD NOTHING"#,
        #"CREATE TABLE part () INHERITS ("Person")"#,
        #"DROP INDEX "Person_identity""#,
    ]

    /// Whether a transaction fills the table of an entity, for numbers of rows.
    private func fills(_ entity: Int, counts: [Int], after addition: String) async throws -> [Bool] {
        try await SharedPostgres.withSchemas { schemas in
            let options = schemas.emptyStore()
            let model = try model()
            let store = try await PostgresStore(exactly: model, at: schemas.url, options: options)
            try await schemas.run(addition, in: options)
            let schema = SQLSchema(model, dialect: .postgres(schema: options.schema))
            return try await store.writer.connected { connection in
                let filling = PostgresFilling(schema, rowMinimum: 2, existing: [])
                try connection.execute("BEGIN")
                defer { connection.rollback() }
                return try counts.map {
                    try filling.fills(schema.table(of: entity), count: $0, of: entity, connection)
                }
            }
        }
    }

    @Test(arguments: additions)
    func onlyAnEmptyTableWithoutAdditionsOfOthersIsFilled(addition: String, isFilled: Bool) async throws {
        #expect(try await fills(0, counts: [1, 2], after: addition) == [false, isFilled])
    }

    @Test(
        arguments: [
            (#"INSERT INTO "Event" (text) VALUES ('x')"#, true),
            (#"CREATE RULE kept AS ON INSERT TO "Event" DO INSTEAD NOTHING"#, false),
            (#"ALTER TABLE "Event" ENABLE ROW LEVEL SECURITY"#, false),
        ])
    func aTableOfRowsWithoutAnIdentityNeedNotBeEmpty(addition: String, isFilled: Bool) async throws {
        #expect(try await fills(1, counts: [2], after: addition) == [isFilled])
    }

    /// Somebody removed what numbers new rows.
    @Test func aTableWithoutNumbersIsAnError() async throws {
        try await SharedPostgres.withSchemas { schemas in
            let options = schemas.emptyStore()
            _ = try await PostgresStore(exactly: try model(), at: schemas.url, options: options)
            try await schemas.run(#"ALTER TABLE "Person" ALTER COLUMN _id DROP IDENTITY"#, in: options)
            let store = try await PostgresStore(exactly: try model(), at: schemas.url, options: options)
            await #expect {
                try await merge([try batch([("a", nil, nil)])], into: store)
            } throws: { error in
                guard case .refused(let refusal) = error as? StoreError else { return false }
                return refusal.reason == .null && refusal.constraint == "_id"
            }
        }
    }

    @Test func existingTablesAreNotFilled() async throws {
        try await SharedPostgres.withSchemas { schemas in
            let options = schemas.emptyStore()
            _ = try await PostgresStore(exactly: try model(), at: schemas.url, options: options)
            try await schemas.run(
                #"DROP TABLE _sync_schema; ALTER TABLE "Person" ALTER COLUMN age TYPE integer"#, in: options)
            let store = try await PostgresStore(exactly: try model(), at: schemas.url, options: options)
            let result = try await store.transaction {
                try await $0.merge(MergeRequest(try batch([("a", nil, nil), ("b", nil, nil)])))
            }
            #expect(result.rows.map { $0?.change } == [.inserted, .inserted])
        }
    }
}

#endif
