import OneWayTestLimits
import StoreSync
import SyncModel
import SyncStore
import SyncStoreSQL
import Testing

@testable import SyncStoreSQLite

/// Tables that another program changes while a store is open.
@Suite(.endsInTime) struct ChangedTablesTests {
    private let world: MigrationWorld

    init() throws {
        world = try MigrationWorld()
    }

    private func run(_ statements: String) throws {
        try SQLiteConnection(path: world.path, isReadOnly: false, busyTimeout: 0).execute(statements)
    }

    private func expectChange(_ body: () async throws -> Void) async {
        let error = await #expect(throws: SQLiteError.self) { try await body() }
        #expect(error?.code == SQLiteError.Code.schemaChanged)
        #expect(error?.message.hasSuffix("open the store again") == true)
    }

    /// The older program would delete them as absent.
    @Test func objectsOfANewerProgramAreNotDeleted() async throws {
        let older = try await world.open(.people())
        try await world.sync(#"[{"id":1},{"id":2}]"#, into: older)
        let newer = try await world.open(.people(with: [SyncEntity("Employee", parent: "Person") {}]))
        try await world.sync(#"[{"id":10}]"#, entity: "Employee", into: newer)
        await expectChange { try await world.sync(#"[{"id":1}]"#, into: older) }
        await expectChange { _ = try await older.store.count(StoreQuery("Person")) }
        #expect(try await world.rows(newer) == [1, 2, 10])
    }

    @Test func valuesAreNotWrittenIntoColumnsThatAnotherProgramSwapped() async throws {
        func model(swapped: Bool) throws -> DataModel {
            try DataModel {
                SyncEntity("Person", identity: "id") {
                    SyncAttribute("id", .int64)
                    SyncAttribute("name", .string, formerName: swapped ? "title" : nil)
                    SyncAttribute("title", .string, formerName: swapped ? "name" : nil)
                }
            }
        }
        let json = #"[{"id":1,"name":"n","title":"t"}]"#
        let older = try await world.open(model(swapped: false))
        try await world.sync(json, into: older)
        let newer = try await world.open(model(swapped: true), version: 1)
        let error = SQLSchemaError.newer(found: 1, known: 0)
        await #expect(throws: error) { try await world.sync(json, into: older) }
        await #expect(throws: error) { try await older.store.records(StoreQuery("Person")) }
        let record = try await newer.store.records(StoreQuery("Person")).first?.record
        #expect(record?["name"] == "t" && record?["title"] == "n")
    }

    @Test(arguments: ["AS SELECT * FROM Person", "(_id INTEGER UNIQUE NOT NULL, id INTEGER, name TEXT)"])
    func aTableThatLostItsPrimaryKeyIsNamed(copy: String) async throws {
        let store = try await world.open(.people())
        try await world.sync(#"[{"id":1},{"id":2}]"#, into: store)
        try run("CREATE TABLE copy \(copy); DROP TABLE Person; ALTER TABLE copy RENAME TO Person")
        let error = await #expect(throws: SQLSchemaError.self) { try await world.open(.people()) }
        #expect(
            error?.description.contains("_id, which numbers its rows, is no longer its INTEGER PRIMARY KEY") == true,
            "\(String(describing: error))")
    }

    /// A sync would take two objects whose identities differ only in case for the same.
    @Test(arguments: ["id", "_entity"])
    func anIdentityThatComparesInAnotherWayIsNamed(column: String) async throws {
        let model = try DataModel {
            SyncEntity("Person", identity: "id") { SyncAttribute("id", .string) }
            SyncEntity("Employee", parent: "Person") {}
        }
        let store = try await world.open(model)
        try await world.sync(#"[{"id":"a1"}]"#, into: store)
        func collation(_ name: String) -> String { name == column ? " COLLATE NOCASE" : "" }
        try run(
            """
            CREATE TABLE copy (_id INTEGER PRIMARY KEY, _entity TEXT NOT NULL\(collation("_entity")),
                id TEXT\(collation("id")));
            INSERT INTO copy SELECT _id, _entity, id FROM Person; DROP TABLE Person;
            ALTER TABLE copy RENAME TO Person
            """)
        let reason =
            "\(column) identifies objects, and compares with NOCASE instead of BINARY; change it back, or create all "
            + "tables again with SQLiteStore.rebuild"
        await #expect(throws: SQLSchemaError.unsuitableTable(table: "Person", reason: reason)) {
            try await world.open(model)
        }
    }

    @Test func whatIsOnlyAddedIsNoObstacle() async throws {
        let older = try await world.open(.people())
        try await world.sync(#"[{"id":1,"name":"a"}]"#, into: older)
        let newer = try await world.open(.people(attributes: [SyncAttribute("age", .int64)]))
        try await world.sync(#"[{"id":1,"name":"a","age":3}]"#, into: newer)
        try run(
            "CREATE INDEX names ON Person (name); CREATE TABLE notes (person INTEGER REFERENCES Person (_id)); VACUUM")
        try await world.sync(#"[{"id":1,"name":"b"},{"id":2}]"#, into: older)
        #expect(try await world.rows(older) == [1, 2])
        #expect(try await newer.store.records(StoreQuery("Person", limit: 1)).first?.record["age"] == 3)
    }

    // MARK: Tables of others

    /// As the migrations of Django and Alembic make a table anew.
    private static func remade(_ columns: String, _ rows: String = "SELECT * FROM people") -> String {
        """
        CREATE TABLE new (\(columns)); INSERT INTO new \(rows); DROP TABLE people; ALTER TABLE new RENAME TO people
        """
    }

    private func openPeople(_ model: DataModel) async throws -> JSONStore {
        var options = SQLiteStore.Options()
        options.naming = SQLNaming(tables: ["Person": "people"])
        return try await world.open(model, options)
    }

    @Test func anExistingTableThatIsMadeAnewGetsItsIndexBack() async throws {
        try run("CREATE TABLE people (_id INTEGER PRIMARY KEY, id INTEGER, name TEXT)")
        let store = try await openPeople(.people())
        try await world.sync(#"[{"id":1},{"id":2}]"#, into: store)
        try run(Self.remade("_id INTEGER PRIMARY KEY, id INTEGER, name TEXT NULL"))
        await expectChange { try await world.sync(#"[{"id":1}]"#, into: store) }
        _ = try await openPeople(.people())
        #expect(throws: SQLiteError.self) { try run("INSERT INTO people (id) VALUES (1)") }
        #expect(try SQLiteConnection.count("people", at: world.path) == 2)
    }

    @Test func rowsOfOneIdentityInATableThatIsMadeAnewAreRefused() async throws {
        try run("CREATE TABLE people (_id INTEGER PRIMARY KEY, id INTEGER, name TEXT)")
        _ = try await openPeople(.people())
        try run(
            Self.remade("_id INTEGER PRIMARY KEY, id INTEGER, name TEXT") + "; INSERT INTO people (id) VALUES (1), (1)")
        let error = await #expect(throws: SQLSchemaError.self) { try await openPeople(.people()) }
        #expect(error?.description.contains("the same identity") == true)
    }

    @Test func aColumnThatIsGoneFromATableThatIsMadeAnewIsNamed() async throws {
        try run("CREATE TABLE people (_id INTEGER PRIMARY KEY, id INTEGER, name TEXT)")
        _ = try await openPeople(.people())
        let model = try DataModel.people(attributes: [SyncAttribute("age", .int64)])
        _ = try await openPeople(model)
        try run(
            Self.remade("_id INTEGER PRIMARY KEY, id INTEGER, name TEXT", "SELECT _id, id, name FROM people"))
        await #expect(throws: SQLSchemaError.missingColumn(table: "people", column: "age")) {
            try await openPeople(model)
        }
    }
}
