#if Postgres
import Foundation
import OneWayPostgresTestSupport
import OneWayTestLimits
import SyncModel
import SyncStore
import SyncStorePostgres
import SyncStoreSQL
import Testing

/// What becomes of tables when the model changes, and of tables that were there before.
@Suite(
    .enabled(if: SharedPostgres.isAvailable, "\(SharedPostgres.absence)"), .endsInTime)
struct PostgresMigrationTests {
    private func before() throws -> DataModel {
        try DataModel {
            SyncEntity("User", identity: "id") {
                SyncAttribute("id", .int32)
                SyncAttribute("name", .string)
                SyncAttribute("tag", .uuid)
                SyncAttribute("gone", .bool)
                SyncRelationship("notes", toMany: "Note", inverse: "user", deleteRule: .cascade)
                SyncRelationship("friends", toOrdered: "User")
            }
            SyncEntity("Note", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("user", toOne: "User", inverse: "notes")
            }
            SyncEntity("Old", attributes: [SyncAttribute("x", .string)], relationships: [])
        }
    }

    private func after() throws -> DataModel {
        try DataModel {
            SyncEntity("Person", identity: "id", formerName: "User") {
                SyncAttribute("id", .int64)
                SyncAttribute("fullName", .string, formerName: "name")
                SyncAttribute("tag", .string)
                SyncAttribute("age", .int16, default: 7)
                SyncRelationship("notes", toMany: "Note", inverse: "user", deleteRule: .cascade)
                SyncRelationship("friends", toOrdered: "Person")
                SyncRelationship("best", toOne: "Note")
            }
            SyncEntity("Employee", parent: "Person") { SyncAttribute("salary", .decimal, default: .decimal(1.5)) }
            SyncEntity("Note", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("user", toOne: "Person", inverse: "notes")
            }
            SyncEntity("Place", attributes: [SyncAttribute("name", .string)], relationships: [])
        }
    }

    /// The join table has the name of the index of the former column.
    @Test func aToOneRelationshipThatBecomesToManyIsNamed() async throws {
        try await SharedPostgres.withDatabase { database in
            for isToMany in [false, true] {
                let model = try DataModel {
                    SyncEntity("User", identity: "id") {
                        SyncAttribute("id", .int64)
                        isToMany ? SyncRelationship("note", toMany: "Note") : SyncRelationship("note", toOne: "Note")
                    }
                    SyncEntity("Note", identity: "id") { SyncAttribute("id", .int64) }
                }
                do {
                    _ = try await PostgresStore(exactly: model, at: database.url, options: .patient)
                    #expect(!isToMany)
                } catch {
                    #expect(error as? SQLSchemaError == .changedRelationship(entity: "User", relationship: "note"))
                }
            }
        }
    }

    private static let uuid = UUID(uuid: (0xAB, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))

    private func fill(_ store: PostgresStore) async throws {
        try await store.transaction { transaction in
            let user = try transaction.model.layout(of: "User")
            var rows: [Int64] = []
            for number in 1...3 {
                var record = Record(of: user)
                record["id"] = .int(Int64(number))
                record["name"] = .string("n\(number)")
                record["tag"] = .uuid(Self.uuid)
                rows.append(try await transaction.insert(record))
            }
            var note = Record(of: try transaction.model.layout(of: "Note"))
            note["id"] = 9
            let noteRow = try await transaction.insert(note)
            for (name, targets) in [("notes", [noteRow]), ("friends", [rows[2], rows[1]])] {
                guard let relationship = user.relationship(name) else { continue }
                var batch = LinkBatch(relationship, mode: .replace)
                batch.append(rows[0], to: targets)
                _ = try await transaction.link(batch)
            }
        }
    }

    @Test func aChangedModelKeepsTheData() async throws {
        try await SharedPostgres.withDatabase { database in
            try await fill(try await PostgresStore(exactly: try before(), at: database.url))
            let store = try await PostgresStore(exactly: try after(), at: database.url)
            let people = try await store.records(
                StoreQuery("Person", orderedBy: [Ordering("id")]), with: ["notes", "friends", "best"])
            #expect(people.map { $0.record["fullName"] } == ["n1", "n2", "n3"])
            #expect(people.map { $0.record["age"] } == [7, 7, 7])
            #expect(people.map { $0.record["tag"] } == Array(repeating: .string(Self.uuid.uuidString), count: 3))
            #expect(people[0].record[related: "notes"] == .many([.identity(9)]))
            #expect(people[0].record[related: "friends"] == .many([.identity(3), .identity(2)]))
            #expect(people[0].record[related: "best"] == .one(nil))
            let tables = try await database.run(
                "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename")
            #expect(tables.map { $0[0] } == ["Note", "Old", "Person", "Person_friends", "Place", "_sync_schema"])
            // New rows are numbered after the old ones, and rules still hold.
            try await store.transaction { transaction in
                var record = Record(of: try transaction.model.layout(of: "Employee"))
                record["id"] = 4
                #expect(try await transaction.insert(record) == 4)
                let removed = try await transaction.remove(StoreQuery("Person", where: PropertyPath("id") == 1))
                #expect(removed.counts == ["Person": 1, "Note": 1])
            }
            let again = try await PostgresStore(exactly: try after(), at: database.url)
            #expect(try await again.count(StoreQuery("Person")) == 3)
        }
    }

    @Test func indicesAndTriggersOfOthersAreKept() async throws {
        try await SharedPostgres.withDatabase { database in
            func model(_ attributes: SyncAttribute...) throws -> DataModel {
                try DataModel {
                    SyncEntity("User", identity: "id") {
                        SyncAttribute("id", .int64)
                        for attribute in attributes { attribute }
                    }
                }
            }
            _ = try await PostgresStore(exactly: try model(SyncAttribute("name", .string)), at: database.url)
            _ = try await database.run(
                """
                CREATE INDEX mine ON "User" (lower(name)); \
                CREATE FUNCTION noted() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'; \
                CREATE TRIGGER noted AFTER INSERT ON "User" FOR EACH ROW EXECUTE FUNCTION noted()
                """)
            let names = """
                SELECT indexname FROM pg_indexes WHERE indexname = 'mine' \
                UNION ALL SELECT tgname FROM pg_trigger WHERE NOT tgisinternal
                """
            _ = try await PostgresStore(
                exactly:
                    try model(SyncAttribute("name", .string), SyncAttribute("age", .int16)), at: database.url)
            #expect(try await database.run(names) == [["mine"], ["noted"]])
            let error = SQLSchemaError.unfitDependentObject(
                name: "mine", reason: "the model no longer has a column that it uses")
            // Of the same version, it would keep the columns.
            var newer = PostgresStore.Options()
            newer.modelVersion = 1
            let options = newer
            await #expect(throws: error) {
                try await PostgresStore(exactly: try model(), at: database.url, options: options)
            }
            #expect(try await database.run(names) == [["mine"], ["noted"]])
        }
    }

    @Test func anotherDeleteRuleIsAnotherForeignKey() async throws {
        try await SharedPostgres.withDatabase { database in
            func model(_ rule: SyncRelationship.DeleteRule) throws -> DataModel {
                try DataModel {
                    SyncEntity("User", identity: "id") {
                        SyncAttribute("id", .int64)
                        SyncRelationship("notes", toMany: "Note", inverse: "user", deleteRule: rule)
                    }
                    // Notes without an identity would belong to their user.
                    SyncEntity("Note", identity: "id") {
                        SyncAttribute("id", .int64)
                        SyncRelationship("user", toOne: "User", inverse: "notes")
                    }
                }
            }
            let rules = "SELECT confdeltype FROM pg_constraint WHERE contype = 'f'"
            _ = try await PostgresStore(exactly: try model(.cascade), at: database.url)
            #expect(try await database.run(rules) == [["c"]])
            _ = try await PostgresStore(exactly: try model(.nullify), at: database.url)
            #expect(try await database.run(rules) == [["n"]])
        }
    }

    @Test func whatIsNotPossibleChangesNothing() async throws {
        try await SharedPostgres.withDatabase { database in
            try await fill(try await PostgresStore(exactly: try before(), at: database.url))
            let narrowed = try DataModel {
                SyncEntity("User", identity: "id") {
                    SyncAttribute("id", .int32)
                    SyncAttribute("name", .int64)
                }
            }
            await #expect(
                throws: SQLSchemaError.unfitValue(
                    entity: "User", object: .identity(1), attribute: "name", type: .int64, value: "n1")
            ) {
                try await PostgresStore(exactly: narrowed, at: database.url)
            }
            var options = PostgresStore.Options()
            options.isReadOnly = true
            await #expect(throws: SQLSchemaError.outdated) {
                try await PostgresStore(exactly: try after(), at: database.url, options: options)
            }
            let store = try await PostgresStore(exactly: try before(), at: database.url)
            #expect(try await store.count(StoreQuery("User", where: PropertyPath("notes.@count") == 1)) == 1)
        }
    }

    /// The server converts numbers into other numbers, and the store all other values.
    @Test func valuesAreConvertedUntilThereAreNoMore() async throws {
        guard PostgresServer.isInstalled else { return }
        try await TestProxy.with { _, proxy in
            func open(_ types: [AttributeType]) async throws -> PostgresStore {
                let model = try DataModel {
                    SyncEntity("Thing", identity: "id") {
                        SyncAttribute("id", .int64)
                        SyncAttribute("ratio", types[0])
                        SyncAttribute("flag", types[1])
                        SyncAttribute("number", types[2])
                    }
                }
                return try await PostgresStore(exactly: model, at: proxy.url(), options: .patient)
            }
            let former = try await open([.int64, .int64, .string])
            try await former.transaction { transaction in
                var record = Record(of: try transaction.model.layout(of: "Thing"))
                record["id"] = 1
                record["ratio"] = 2
                record["flag"] = 1
                record["number"] = "3"
                _ = try await transaction.insert(record)
            }
            // A conversion without end is cut off.
            proxy.cut(atMessage: 1000, isPassedOn: false)
            let store = try await open([.double, .bool, .int64])
            let things = try await store.records(StoreQuery("Thing")).map(\.record)
            #expect(things.map { $0["ratio"] } == [.double(2)])
            #expect(things.map { $0["flag"] } == [.bool(true)])
            #expect(things.map { $0["number"] } == [3])
        }
    }

    @Test func aNewerSchemaIsRefused() async throws {
        try await SharedPostgres.withDatabase { database in
            var options = PostgresStore.Options()
            options.modelVersion = 2
            _ = try await PostgresStore(exactly: try before(), at: database.url, options: options)
            await #expect(throws: SQLSchemaError.newer(found: 2, known: 0)) {
                try await PostgresStore(exactly: try before(), at: database.url)
            }
        }
    }

    @Test func tablesThatAreThereAreTaken() async throws {
        try await SharedPostgres.withDatabase { database in
            try await database.run(
                """
                CREATE TABLE users (row_number serial PRIMARY KEY, id integer, full_name varchar(50), made timestamp);
                INSERT INTO users (id, full_name, made) VALUES (1, 'a', '2014-02-14'), (2, 'b', NULL);
                CREATE TABLE notes (row_number bigint PRIMARY KEY, id bigint, author bigint);
                INSERT INTO notes VALUES (5, 7, 1)
                """)
            let model = try DataModel {
                SyncEntity("User", identity: "id") {
                    SyncAttribute("id", .int64)
                    SyncAttribute("name", .string)
                    SyncAttribute("made", .date)
                    SyncRelationship("notes", toMany: "Note", inverse: "user")
                }
                SyncEntity("Note", identity: "id") {
                    SyncAttribute("id", .int64)
                    SyncRelationship("user", toOne: "User", inverse: "notes")
                }
            }
            var options = PostgresStore.Options()
            options.naming = SQLNaming(
                tables: ["User": "users", "Note": "notes"],
                columns: ["User.name": "full_name", "Note.user": "author"], rowColumn: "row_number")
            let store = try await PostgresStore(exactly: model, at: database.url, options: options)
            let users = try await store.records(StoreQuery("User", orderedBy: [Ordering("name")]), with: ["notes"])
            #expect(users.map { $0.record["name"] } == ["a", "b"])
            #expect(users[0].record["made"] == .date(Timestamp(microseconds: 1_392_336_000_000_000)))
            #expect(users[0].record[related: "notes"] == .many([.identity(7)]))
            try await store.transaction { transaction in
                for (entity, id, row) in [("User", 3, 3), ("Note", 8, 6)] as [(String, Int64, Int64)] {
                    var record = Record(of: try transaction.model.layout(of: entity))
                    record["id"] = .int(id)
                    #expect(try await transaction.insert(record) == row)
                }
                var changed = Record(of: try transaction.model.layout(of: "User"))
                changed["id"] = 2
                changed["name"] = "c"
                #expect(try await transaction.insert(changed) == 2)
            }
            let names = try await database.run("SELECT id, full_name FROM users ORDER BY id")
            #expect(names == [["1", "a"], ["2", "c"], ["3", nil]])
            options.naming.columns["User.made"] = "created"
            options.schema = "public"
            try await database.run("DROP TABLE _sync_schema")
            await #expect(throws: SQLSchemaError.missingColumn(table: "users", column: "created")) {
                try await PostgresStore(exactly: model, at: database.url, options: options)
            }
        }
    }

    @Test func twoHostsThatOpenAtOnceMakeTheTablesOnce() async throws {
        try await SharedPostgres.withDatabase { database in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<6 {
                    group.addTask { _ = try await PostgresWorld.store(at: database.url) { $0.schema = "new" } }
                }
                try await group.waitForAll()
            }
        }
    }
}
#endif
