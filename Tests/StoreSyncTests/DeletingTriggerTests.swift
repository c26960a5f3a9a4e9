import JSONMapper
import OneWayTestLimits
import StoreSync
import SyncModel
import SyncStore
import SyncStoreSQL
import Testing

/// Triggers of others that delete objects which no change of the store reports.
@Suite(.endsInTime) struct DeletingTriggerTests {
    struct Case: CustomTestStringConvertible, Sendable {
        /// The event and the table of the trigger.
        let event: String
        /// The table from which it deletes.
        let target: String

        var testDescription: String { "\(event), \(target)" }
    }

    static let cases = [
        "INSERT ON \"User\"", "UPDATE ON \"User\"", "INSERT ON \"User_groups\"", "DELETE ON \"User_groups\"",
        "DELETE ON \"User\"",
    ].flatMap { event in ["User", "Group", "log"].map { Case(event: event, target: $0) } }

    private static func model() throws -> DataModel {
        try DataModel {
            SyncEntity("User", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("name", .string)
                SyncRelationship("groups", toMany: "Group")
            }
            SyncEntity("Group", identity: "id") { SyncAttribute("id", .int64) }
        }
    }

    private static func sync(_ json: String, _ store: any Store) async throws {
        let mapper = try RecordMapper(store.model)
        _ = try await JSONStore(store, mapper: mapper).sync(.bytes(Array(json.utf8)), into: "User")
    }

    @Test(arguments: UniqueDatabase.sql, cases)
    func furtherDeletedObjectsAreTold(kind: UniqueDatabase.Kind, item: Case) async throws {
        try await kind.use { database in
            let store = try await database.open(try Self.model())
            // The group 9 and the user 9 are related to nothing.
            try await Self.sync(
                #"[{"id":1,"name":"a","groups":[{"id":1},{"id":9}]},{"id":2,"groups":[{"id":2}]},{"id":9}]"#, store)
            try await Self.sync(
                #"[{"id":1,"name":"a","groups":[{"id":1}]},{"id":2,"groups":[{"id":2}]},{"id":9}]"#, store)
            try await database.run("CREATE TABLE log (id bigint)")
            try await database.run("INSERT INTO log VALUES (9)")
            let deletion = "DELETE FROM \"\(item.target)\" WHERE id = 9;"
            try await Self.createTrigger("gone", after: item.event, deletion, in: database)
            let json =
                switch item.event.prefix(6) {
                case "INSERT":
                    #"[{"id":1,"groups":[{"id":1},{"id":2}]},{"id":2,"groups":[{"id":2}]},{"id":3},{"id":9}]"#
                case "UPDATE":
                    #"[{"id":1,"name":"b","groups":[{"id":1}]},{"id":2,"groups":[{"id":2}]},{"id":9}]"#
                default: #"[{"id":1,"name":"a","groups":[{"id":1}]},{"id":9}]"#
                }
            guard item.target != "log" else {
                try await Self.sync(json, store)
                #expect(try await database.rows("SELECT * FROM log") == [])
                return
            }
            let error = await #expect(throws: SQLSchemaError.self) { try await Self.sync(json, store) }
            let text = error?.description ?? ""
            #expect(text.contains("a trigger (gone of User") && text.hasSuffix("the model's tables: 1"), "\(text)")
            #expect(try await store.count(StoreQuery("User")) == 3)
            #expect(try await store.count(StoreQuery("Group")) == 3)
        }
    }

    private static func createTrigger(
        _ name: String, after event: String, _ statement: String, in database: UniqueDatabase
    ) async throws {
        guard !database.isSQLite else {
            return try await database.run("CREATE TRIGGER \(name) AFTER \(event) BEGIN \(statement) END")
        }
        try await database.run(
            """
            CREATE FUNCTION \(name)() RETURNS trigger LANGUAGE plpgsql SET search_path TO public AS \
            'BEGIN \(statement) RETURN NULL; END'; \
            CREATE TRIGGER \(name) AFTER \(event) FOR EACH ROW EXECUTE FUNCTION \(name)()
            """)
    }

    /// The rows that a trigger inserts after a deletion.
    enum Insertion: String, CaseIterable, Sendable {
        case same = "(n, id, name) VALUES (OLD.n, OLD.id, OLD.name)"
        case renumbered = "(id, name) VALUES (OLD.id, OLD.name)"
        case other = "(id, name) VALUES (OLD.id + 100, OLD.name)"
    }

    /// Otherwise, each sync would report the same deletion.
    @Test(arguments: UniqueDatabase.sql, Insertion.allCases)
    func anObjectThatIsInsertedAgainIsTold(kind: UniqueDatabase.Kind, insertion: Insertion) async throws {
        try await kind.use { database in
            let store = try await database.open(try Self.model())
            try await Self.sync(#"[{"id":1},{"id":2,"name":"b"},{"id":9}]"#, store)
            let statement = "INSERT INTO \"User\" \(insertion.rawValue);"
            try await Self.createTrigger("back", after: "DELETE ON \"User\"", statement, in: database)
            let json = #"[{"id":1},{"id":9}]"#
            let ids = "SELECT id FROM \"User\" ORDER BY id"
            guard insertion != .other else {
                try await Self.sync(json, store)
                #expect(try await database.rows(ids) == [["1"], ["9"], ["102"]])
                return
            }
            let error = await #expect(throws: SQLSchemaError.self) { try await Self.sync(json, store) }
            let text = error?.description ?? ""
            #expect(text.contains("the trigger back kept rows from being deleted"), "\(text)")
            #expect(try await database.rows(ids) == [["1"], ["2"], ["9"]])
        }
    }
}
