import StoreSync
import SyncModel
import SyncStore
import SyncStoreSQL
import Testing

@testable import SyncStoreSQLite

/// Tables that another program changes while a store is open.
@Suite struct ChangedTablesTests {
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
}
