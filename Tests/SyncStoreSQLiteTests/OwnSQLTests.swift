import OneWayTestLimits
import SyncModel
import SyncStore
import SyncStoreSQLite
import Testing

@Suite(.endsInTime) struct OwnSQLTests {
    private static func store() async throws -> SQLiteStore {
        let model = try DataModel {
            SyncEntity("User", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("name", .string)
                SyncRelationship("boss", toOne: "User", inverse: "staff")
                SyncRelationship("staff", toMany: "User", inverse: "boss")
                SyncRelationship("friends", toOrdered: "User")
            }
        }
        var options = SQLiteStore.Options()
        options.naming = SQLNaming(tables: ["User": "users"], columns: ["User.name": "full_name"])
        let store = try await SQLiteStore(exactly: model, at: .memory, options: options)
        for id in 1...3 {
            var record = Record(of: try model.layout(of: "User"))
            record["id"] = .int(Int64(id))
            record["name"] = .string("name \(id)")
            let user = record
            _ = try await store.transaction { try await $0.insert(user) }
        }
        return store
    }

    @Test func selectsWithValues() async throws {
        let store = try await Self.store()
        let rows = try await store.sql { reader in
            try await reader.rows("SELECT count(*) AS n, max(full_name) AS name FROM users WHERE id >= ?", 2)
        }
        #expect(rows == [["n": 2, "name": "name 3"]])
    }

    @Test(arguments: [
        "DELETE FROM users", "COMMIT", "BEGIN", "ATTACH DATABASE ':memory:' AS x", "CREATE TABLE x (a)",
        "SELECT 1; DELETE FROM users", "PRAGMA user_version = 5", "/* x */ -- y\n PRAGMA locking_mode = EXCLUSIVE",
        "/*\u{301}*/ PRAGMA locking_mode = EXCLUSIVE", "\u{FEFF}\u{C}pragma locking_mode = EXCLUSIVE",
    ])
    func aStatementThatDoesMoreThanReadIsRefused(statement: String) async throws {
        let store = try await Self.store()
        let error = await #expect(throws: SQLiteError.self) {
            try await store.sql { try await $0.rows(statement) }
        }
        #expect(error?.code == SQLiteError.Code.readOnly)
        #expect(try await store.count(StoreQuery("User")) == 3)
    }

    @Test(arguments: ["SELECT 1 AS n", "SELECT 1 AS n;", "SELECT 1 AS n ; ;\n ", "VALUES (1)"])
    func whatFollowsAStatementCanBeSpace(statement: String) async throws {
        let store = try await Self.store()
        let rows = try await store.sql { try await $0.rows(statement) }
        #expect(rows.map(\.values).map(Array.init) == [[1]])
    }

    /// Otherwise a value would be lost, or be null.
    @Test func valuesAndColumnsFitTheStatement() async throws {
        let store = try await Self.store()
        let statements: [(String, [AttributeValue])] = [
            ("SELECT a.id, b.id FROM users a, users b", []), ("SELECT id FROM users WHERE id = ?", []),
            ("SELECT id FROM users", [1]), ("", []), ("-- nothing", []),
            ("SELECT id FROM users WHERE id = ?1 OR id = ?3", [1, 2]),
        ]
        for (statement, values) in statements {
            let error = await #expect(throws: SQLiteError.self, "\(statement)") {
                try await store.sql { reader in
                    switch values.count {
                    case 0: try await reader.rows(statement)
                    case 1: try await reader.rows(statement, values[0])
                    default: try await reader.rows(statement, values[0], values[1])
                    }
                }
            }
            #expect(error?.code == SQLiteError.Code.misuse)
        }
        let rows = try await store.sql { reader in
            try await reader.rows("/* pragma */ SELECT a.id AS x, b.id AS y FROM users a, users b WHERE a.id = ?", 1)
        }
        #expect(rows.count == 3)
    }

    @Test func readsOneSnapshotAndEndsWithItsBody() async throws {
        let store = try await Self.store()
        let escaped = try await store.sql { reader in
            let before = try await reader.rows("SELECT count(*) AS n FROM users")
            _ = try await store.transaction { try await $0.remove(StoreQuery("User")) }
            #expect(try await reader.rows("SELECT count(*) AS n FROM users") == before)
            return reader
        }
        await #expect(throws: StoreError.transactionEnded) { try await escaped.rows("SELECT 1") }
        #expect(try await store.count(StoreQuery("User")) == 0)
    }

    @Test func tablesAndColumnsHaveNames() async throws {
        let store = try await Self.store()
        #expect(store.table(of: "User") == "users" && store.table(of: "Nobody") == nil)
        #expect(store.column(of: "name", in: "User") == "full_name" && store.column(of: "boss", in: "User") == "boss")
        #expect(store.column(of: "staff", in: "User") == nil && store.column(of: "none", in: "User") == nil)
        let join = try #require(store.joinTable(of: "friends", in: "User"))
        #expect(join.table == "User_friends" && join.position == "position")
        #expect(store.joinTable(of: "boss", in: "User") == nil)
        #expect(store.objectColumn == "_id" && store.entityColumn(of: "User") == nil)
        #expect(store.positionColumn(of: "friends", in: "User") == nil)
        let columns = [join.source, join.target, join.position ?? ""]
        _ = try await store.sql { try await $0.rows("SELECT \(columns.joined(separator: ", ")) FROM \(join.table)") }
    }

    @Test func columnsOfFamiliesAndPositionsHaveNames() async throws {
        let model = try DataModel {
            SyncEntity("List", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("items", toOrdered: "Item", inverse: "list")
            }
            SyncEntity("Item", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("list", toOne: "List", inverse: "items")
            }
            SyncEntity("Task", parent: "Item") { SyncAttribute("due", .date) }
        }
        let store = try await SQLiteStore(exactly: model, at: .memory)
        let position = try #require(store.positionColumn(of: "items", in: "List"))
        let entity = try #require(store.entityColumn(of: "Task"))
        #expect(store.entityColumn(of: "List") == nil && store.entityColumn(of: "Nothing") == nil)
        #expect(store.positionColumn(of: "list", in: "Item") == nil)
        let list = try #require(store.column(of: "list", in: "Item"))
        let table = try #require(store.table(of: "Task"))
        let rows = try await store.sql { reader in
            try await reader.rows("SELECT \(store.objectColumn), \(entity), \(list), \(position) FROM \(table)")
        }
        #expect(rows == [])
    }
}
