import JSONMapper
import OneWayTestLimits
import StoreSync
import SyncModel
import SyncStore
import SyncStoreSQL
import Testing

/// Triggers of others that change identities and links that were just written.
@Suite(.endsInTime) struct ChangingTriggerTests {
    private static func model() throws -> DataModel {
        try DataModel {
            SyncEntity("User", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("name", .string)
                SyncRelationship("boss", toOne: "User")
                SyncRelationship("groups", toMany: "Group")
            }
            SyncEntity("Group", identity: "id") { SyncAttribute("id", .int64) }
        }
    }

    private static func sync(_ json: String, _ store: any Store) async throws {
        let mapper = try RecordMapper(store.model)
        _ = try await JSONStore(store, mapper: mapper).sync(.bytes(Array(json.utf8)), into: "User")
    }

    private static func createTrigger(
        on event: String, _ statement: String, in database: UniqueDatabase
    ) async throws {
        guard !database.isSQLite else {
            return try await database.run("CREATE TRIGGER change AFTER \(event) BEGIN \(statement); END")
        }
        try await database.run(
            """
            CREATE FUNCTION change() RETURNS trigger LANGUAGE plpgsql SET search_path TO public AS \
            'BEGIN \(statement); RETURN NULL; END'; \
            CREATE TRIGGER change AFTER \(event) FOR EACH ROW EXECUTE FUNCTION change()
            """)
    }

    /// Otherwise, the object would be inserted again by each sync.
    @Test(arguments: UniqueDatabase.sql, ["INSERT", "UPDATE OF name"])
    func aTriggerThatChangesAnIdentityIsAnError(kind: UniqueDatabase.Kind, event: String) async throws {
        try await kind.use { database in
            let store = try await database.open(try Self.model())
            try await Self.sync(#"[{"id":1,"name":"a"},{"id":2,"name":"b"}]"#, store)
            try await Self.createTrigger(
                on: "\(event) ON \"User\"", "UPDATE \"User\" SET id = NEW.id + 100 WHERE n = NEW.n AND NEW.id <> 4",
                in: database)
            let error = await #expect(throws: SQLSchemaError.self) {
                try await Self.sync(
                    #"[{"id":1,"name":"A"},{"id":2,"name":"b"},{"id":3},{"id":4}]"#, store)
            }
            // PostgreSQL inserts and updates by one statement.
            let rows = database.isSQLite ? event == "INSERT" ? "1 of 2 rows" : "1 of 1 rows" : "1 of 3 rows"
            let reason = "the trigger change gave \(rows) another value of id, which identifies the object"
            #expect(error == .unsuitableTable(table: "User", reason: reason))
            let stored = try await database.rows("SELECT id, name FROM \"User\" ORDER BY id")
            #expect(stored == [["1", "a"], ["2", "b"]])
        }
    }

    /// A trigger that clears the link of a row with another column does not keep the link out.
    @Test(arguments: UniqueDatabase.sql, ["INSERT", "UPDATE OF name"])
    func aLinkThatATriggerClearsIsWrittenAgain(kind: UniqueDatabase.Kind, event: String) async throws {
        try await kind.use { database in
            let store = try await database.open(try Self.model())
            let clearing = "UPDATE \"User\" SET boss = NULL WHERE n = NEW.n AND boss IS NOT NULL"
            try await Self.createTrigger(on: "\(event) ON \"User\"", clearing, in: database)
            let bosses = "SELECT u.id, b.id FROM \"User\" u LEFT JOIN \"User\" b ON b.n = u.boss ORDER BY u.id"
            for name in ["a", "b"] {
                try await Self.sync(#"[{"id":1,"name":"boss"},{"id":2,"name":"\#(name)","boss":{"id":1}}]"#, store)
                #expect(try await database.rows(bosses) == [["1", nil], ["2", "1"]])
            }
        }
    }

    static let clearings = [
        ("UPDATE ON \"User\"", "UPDATE \"User\" SET boss = NULL WHERE n = NEW.n AND boss IS NOT NULL", "User"),
        ("INSERT ON \"User_groups\"", "DELETE FROM \"User_groups\"", "User_groups"),
    ]

    @Test(arguments: UniqueDatabase.sql, clearings)
    func aTriggerThatClearsEachLinkIsAnError(
        kind: UniqueDatabase.Kind, clearing: (event: String, statement: String, table: String)
    ) async throws {
        try await kind.use { database in
            let store = try await database.open(try Self.model())
            try await Self.sync(#"[{"id":1},{"id":2}]"#, store)
            try await Self.createTrigger(on: clearing.event, clearing.statement, in: database)
            let reason = "the trigger change kept links from being written"
            await #expect(throws: SQLSchemaError.unsuitableTable(table: clearing.table, reason: reason)) {
                try await Self.sync(#"[{"id":1},{"id":2,"boss":{"id":1},"groups":[{"id":5}]}]"#, store)
            }
            #expect(try await store.count(StoreQuery("Group")) == 0)
        }
    }
}
