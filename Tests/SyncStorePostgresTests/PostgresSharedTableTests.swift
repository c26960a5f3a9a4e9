#if Postgres
import Foundation
import OneWayPostgresTestSupport
import OneWayStoreTestSupport
import OneWayTestLimits
import SyncModel
import SyncStore
import SyncStorePostgres
import SyncStoreSQL
import Testing

/// Migrations of tables that other roles, programs and tables depend on.
@Suite(
    .enabled(if: SharedPostgres.isAvailable, "\(SharedPostgres.absence)"), .endsInTime)
struct PostgresSharedTableTests {
    private func user(
        _ attributes: SyncAttribute..., named name: String = "User", formerName: String? = nil
    ) -> SyncEntity {
        var entity = SyncEntity(
            name, identity: ["id"], attributes: [SyncAttribute("id", .int64)] + attributes, relationships: [])
        entity.formerName = formerName
        return entity
    }

    private func open(
        _ database: TestDatabase, version: Int = 0, _ entities: SyncEntity...
    ) async throws -> PostgresStore {
        var options = PostgresStore.Options.patient
        options.modelVersion = version
        return try await PostgresStore(exactly: try DataModel(entities), at: database.url, options: options)
    }

    private func insert(
        _ entity: String, into store: PostgresStore, _ values: [String: AttributeValue], isAtHand: Bool = false
    ) async throws {
        try await store.transaction(isAtHand: isAtHand) { transaction in
            var record = Record(of: try transaction.model.layout(of: entity))
            for (name, value) in values { record[name] = value }
            _ = try await transaction.insert(record)
        }
    }

    @Test(arguments: [
        ("User_identity", #"CREATE TABLE "User_identity" (x int)"#),
        ("_sync_schema", "CREATE TABLE _sync_schema (x int)"),
    ])
    func aNameOfOthersThatTheStoreNeedsIsARefusal(name: String, creation: String) async throws {
        try await SharedPostgres.withDatabase { database in
            try await database.run(creation)
            do {
                _ = try await open(database, user())
                Issue.record("the name was taken")
            } catch SQLSchemaError.unfitDependentObject(let found, let reason) {
                #expect(found == name)
                #expect(reason.contains("rename it"))
            }
        }
    }

    @Test func whatOthersAttachedToATableStays() async throws {
        try await SharedPostgres.withDatabase { database in
            let text = SyncAttribute("text", .string)
            var store = try await open(
                database, user(SyncAttribute("age", .int16), SyncAttribute("gone", .bool), text))
            try await insert("User", into: store, ["id": 1, "age": 7, "text": "a"])
            let role = "reader_\(UUID().uuidString.replacing("-", with: "").lowercased())"
            try await database.run(
                """
                CREATE ROLE \(role); GRANT SELECT ON "User" TO \(role); \
                ALTER TABLE "User" ADD COLUMN theirs text NOT NULL DEFAULT 'x'; COMMENT ON TABLE "User" IS 'people'; \
                CREATE TABLE orders (user_row bigint REFERENCES "User"); INSERT INTO orders VALUES (1); \
                CREATE VIEW names AS SELECT text FROM "User"; \
                CREATE FUNCTION deny() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE ''no''; END'; \
                CREATE TRIGGER deny BEFORE UPDATE ON "User" FOR EACH ROW EXECUTE FUNCTION deny()
                """)
            do {
                store = try await open(
                    database, version: 1,
                    user(
                        SyncAttribute("years", .int64, formerName: "age"), text,
                        SyncAttribute("rank", .int32, default: 5), named: "Person", formerName: "User"),
                    SyncEntity("Boss", parent: "Person", attributes: [SyncAttribute("car", .string)], relationships: [])
                )
                let found = try await database.run(
                    """
                    SELECT has_table_privilege('\(role)', '"Person"', 'SELECT'), obj_description('"Person"'::regclass), \
                    (SELECT theirs FROM "Person"), (SELECT text FROM names), (SELECT count(*) FROM orders)
                    """)
                #expect(found == [["t", "people", "x", "a", "1"]])
                let people = try await store.records(StoreQuery("Person"))
                #expect(people.map { $0.record["years"] } == [7] && people.map { $0.record["rank"] } == [5])
                // New rows are numbered after the old ones.
                try await insert("Boss", into: store, ["id": 2, "car": "c"])
                #expect(try await store.count(StoreQuery("Boss")) == 1)
            }
            try await database.run("DROP OWNED BY \(role); DROP ROLE \(role)")
        }
    }

    @Test func namesThatAreSwappedTakeTheirValuesAlong() async throws {
        try await SharedPostgres.withDatabase { database in
            func pair(_ first: SyncEntity, _ second: SyncEntity, version: Int) async throws -> PostgresStore {
                try await open(database, version: version, first, second)
            }
            var store = try await pair(
                user(SyncAttribute("x", .string), SyncAttribute("y", .string), named: "A"),
                user(SyncAttribute("z", .int32), named: "B"), version: 0)
            try await insert("A", into: store, ["id": 1, "x": "x", "y": "y"])
            try await insert("B", into: store, ["id": 2, "z": 3])
            store = try await pair(
                user(
                    SyncAttribute("x", .string, formerName: "y"), SyncAttribute("y", .string, formerName: "x"),
                    named: "B", formerName: "A"),
                user(SyncAttribute("w", .string, default: "new"), named: "A", formerName: "B"), version: 1)
            let former = try #require(try await store.records(StoreQuery("B")).first?.record)
            #expect(former["id"] == 1 && former["x"] == "y" && former["y"] == "x")
            #expect(try await store.count(StoreQuery("A", where: PropertyPath("id") == 2)) == 1)
        }
    }

    @Test func aTableThatWasThereIsExtendedButNeverRebuiltOrDropped() async throws {
        try await SharedPostgres.withDatabase { database in
            try await database.run(
                """
                CREATE TABLE "User" (object bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, id bigint UNIQUE, \
                name varchar(9) NOT NULL DEFAULT '-', more text); \
                INSERT INTO "User" (id, name, more) VALUES (1, 'a', 'm')
                """)
            func naming(_ version: Int, _ entities: SyncEntity...) async throws -> PostgresStore {
                var options = PostgresStore.Options.patient
                options.modelVersion = version
                options.naming.rowColumn = "object"
                return try await PostgresStore(exactly: try DataModel(entities), at: database.url, options: options)
            }
            let name = SyncAttribute("name", .string)
            let note = user(named: "Note")
            _ = try await naming(0, user(name), note)
            let store = try await naming(1, user(name, SyncAttribute("age", .int16, default: 3)), note)
            #expect(try await store.records(StoreQuery("User")).map { $0.record["age"] } == [3])
            await #expect(throws: SQLSchemaError.self) {
                try await naming(2, user(SyncAttribute("title", .string, formerName: "name")), note)
            }
            // The entity goes; the table of others stays, the store's own does not.
            _ = try await naming(3, user(named: "Other"))
            #expect(try await database.run(#"SELECT name, more, age FROM "User""#) == [["a", "m", "3"]])
            #expect(try await database.run(#"SELECT to_regclass('"Note"')"#) == [[nil]])
        }
    }

    /// Others refer to an object by its identity, whose index the store made.
    @Test func aForeignKeyOfOthersToAnIdentityStays() async throws {
        try await SharedPostgres.withDatabase { database in
            let store = try await open(database, user(SyncAttribute("name", .string)))
            try await insert("User", into: store, ["id": 1])
            try await database.run(
                #"CREATE TABLE orders (user_id bigint REFERENCES "User" (id)); INSERT INTO orders VALUES (1)"#)
            _ = try await open(
                database, user(SyncAttribute("name", .string), SyncAttribute("age", .int16, default: 3)))
            #expect(try await database.run(#"SELECT age FROM "User""#) == [["3"]])
            #expect(
                try await database.run("SELECT 1 FROM pg_constraint WHERE conname = 'orders_user_id_fkey'") == [["1"]])
        }
    }

    @Test(arguments: [
        "ADD CONSTRAINT theirs CHECK (gone < other)", "ADD CONSTRAINT theirs EXCLUDE USING btree (gone WITH =)",
    ])
    func aConstraintOfOthersIsNotDroppedWithAColumn(constraint: String) async throws {
        try await SharedPostgres.withDatabase { database in
            let (gone, other) = (SyncAttribute("gone", .int64), SyncAttribute("other", .int64))
            _ = try await open(database, user(gone, other))
            try await database.run("ALTER TABLE \"User\" \(constraint)")
            let error = await #expect(throws: SQLSchemaError.self) { try await open(database, version: 1, user(other)) }
            #expect(error?.description.contains("theirs") == true)
            _ = try await open(database, user(gone, other))
            #expect(try await database.run("SELECT 1 FROM pg_constraint WHERE conname = 'theirs'") == [["1"]])
        }
    }

    /// A column that gets another type gets new indices and checks.
    @Test(arguments: [
        #"CREATE INDEX theirs ON "User" (n)"#, #"CREATE INDEX theirs ON "User" (id) WHERE n > 1"#,
        #"ALTER TABLE "User" ADD CONSTRAINT theirs UNIQUE (n)"#,
        #"ALTER TABLE "User" ADD CONSTRAINT theirs CHECK (n > 0)"#,
    ])
    func whatOthersAddedToAColumnStaysWithAnotherType(addition: String) async throws {
        try await SharedPostgres.withDatabase { database in
            let narrow = try await open(database, user(SyncAttribute("n", .int64)))
            try await insert("User", into: narrow, ["id": 1, "n": 2])
            try await database.run(addition)
            let wide = try await open(database, user(SyncAttribute("n", .double)))
            let values = try await wide.records(StoreQuery("User")).map { $0.record["n"] }
            #expect(values == [.double(2)])
            let found = try await database.run(
                """
                SELECT indexname FROM pg_indexes WHERE indexname = 'theirs' \
                UNION SELECT conname FROM pg_constraint WHERE conname = 'theirs'
                """)
            #expect(found == [["theirs"]])
        }
    }

    @Test(arguments: [
        #"CREATE VIEW theirs AS SELECT n FROM "User""#, #"CREATE POLICY theirs ON "User" USING (n > 0)"#,
        #"ALTER TABLE "User" ADD COLUMN theirs bigint GENERATED ALWAYS AS (n * 2) STORED"#,
    ])
    func whatKeepsAColumnFromGettingAnotherTypeIsNamed(addition: String) async throws {
        try await SharedPostgres.withDatabase { database in
            _ = try await open(database, user(SyncAttribute("n", .int64)))
            try await database.run(addition)
            let error = await #expect(throws: SQLSchemaError.self) {
                try await open(database, user(SyncAttribute("n", .double)))
            }
            guard case .unfitDependentObject(_, _)? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(error?.description.contains("theirs") == true, "\(String(describing: error))")
            _ = try await open(database, user(SyncAttribute("n", .int64)))
        }
    }

    /// The server tells the cases of letters apart.
    @Test(arguments: [true, false])
    func aColumnOfOthersWhoseNameDiffersInCaseIsAnotherOne(isOwn: Bool) async throws {
        try await SharedPostgres.withDatabase { database in
            if !isOwn {
                try await database.run(#"CREATE TABLE "User" (_id bigserial PRIMARY KEY, id bigint, "Extra" text)"#)
            }
            _ = try await open(database, user())
            if isOwn { try await database.run(#"ALTER TABLE "User" ADD COLUMN "Extra" text"#) }
            let store = try await open(database, user(SyncAttribute("extra", .string)))
            try await insert("User", into: store, ["id": 1, "extra": "a"])
            let found = try await database.run(#"SELECT extra, "Extra" FROM "User""#)
            #expect(found == [["a", nil]])
        }
    }

    @Test func anExistingTableOfANewEntityThatLacksAColumnIsNamed() async throws {
        try await SharedPostgres.withDatabase { database in
            _ = try await open(database, user())
            try await database.run(#"CREATE TABLE "Team" (i int)"#)
            var entity = user()
            entity.relationships = [SyncRelationship("team", toOne: "Team")]
            let member = entity
            await #expect(throws: SQLSchemaError.missingColumn(table: "Team", column: "_id")) {
                try await open(database, member, user(named: "Team"))
            }
        }
    }

    /// A program of an older version goes on while a newer one gives its columns other meanings.
    @Test(arguments: [false, true])
    func anOlderProgramDoesNotWriteIntoNewerTables(isAtHand: Bool) async throws {
        try await SharedPostgres.withDatabase { database in
            let old = try await open(database, user(SyncAttribute("x", .string), SyncAttribute("y", .string)))
            try await insert("User", into: old, ["id": 1, "x": "x", "y": "y"])
            let new = try await open(
                database, version: 1,
                user(SyncAttribute("x", .string, formerName: "y"), SyncAttribute("y", .string, formerName: "x")))
            await #expect(throws: SQLSchemaError.newer(found: 1, known: 0)) {
                try await insert("User", into: old, ["id": 2, "x": "x", "y": "y"], isAtHand: isAtHand)
            }
            await #expect(throws: SQLSchemaError.newer(found: 1, known: 0)) {
                try await old.count(StoreQuery("User"))
            }
            #expect(try await new.count(StoreQuery("User")) == 1)
        }
    }

    @Test func takenValuesAreReportedForAnyNameOfTheIndex() async throws {
        try await SharedPostgres.withDatabase { database in
            var entity = user(SyncAttribute("mail", .string), named: "A\"B")
            entity.indexes = [SyncEntity.Index(["mail"], unique: true)]
            let store = try await open(database, entity)
            try await insert("A\"B", into: store, ["id": 1, "mail": "m"])
            await #expect {
                try await insert("A\"B", into: store, ["id": 2, "mail": "m"])
            } throws: {
                $0.isTaken(["mail"], of: "A\"B")
            }
        }
    }
}
#endif
