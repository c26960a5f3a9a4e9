import OneWayTestLimits
import StoreSync
import SyncModel
import SyncStore
import SyncStoreSQL
import Testing

@testable import SyncStoreSQLite

/// Repairs of tables after another program has dropped some of them, or parts of them.
@Suite(.endsInTime) struct RepairTests {
    private let world: MigrationWorld

    init() throws {
        world = try MigrationWorld()
    }

    private static func model() throws -> DataModel {
        try DataModel([
            SyncEntity("Person", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("name", .string)
                SyncRelationship("boss", toOne: "Person")
                SyncRelationship("friends", toOrdered: "Person")
            },
            SyncEntity("Guest", parent: "Person") {},
            SyncEntity("Note", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("author", toOne: "Person")
            },
            .bookmark,
        ])
    }

    private static let people = #"[{"id":1,"name":"a"},{"id":2,"name":"b","boss":{"id":1},"friends":[{"id":1}]}]"#

    private func fill() async throws {
        let store = try await world.open(Self.model())
        try await world.sync(Self.people, into: store)
        try await world.sync(#"[{"id":9,"author":{"id":1}}]"#, entity: "Note", into: store)
        try run("INSERT INTO _sync_bookmarks (name) VALUES ('b')")
    }

    private func run(_ statements: String) throws {
        try SQLiteConnection(path: world.path, isReadOnly: false, busyTimeout: 0)
            .execute("PRAGMA foreign_keys = OFF; \(statements)")
    }

    @Test(arguments: [
        ("DROP TABLE Note", "the table Note"), ("DROP TABLE Person_friends", "the table Person_friends"),
        ("DROP TABLE _sync_bookmarks", "the table _sync_bookmarks"),
        ("ALTER TABLE Person DROP COLUMN name", "the column Person.name"),
        ("ALTER TABLE Person RENAME COLUMN name TO title", "the column Person.name"),
        ("DROP TABLE Person", "the table Person"),
    ])
    func whatHeldDataIsRepaired(drop: String, subject: String) async throws {
        try await fill()
        #expect(try await SQLiteStore.verify(at: world.path) == [])
        try run(drop)
        let missing = try await SQLiteStore.verify(at: world.path)
        #expect(missing.map(\.description) == [subject])
        await #expect(throws: SQLSchemaError.damaged(missing)) { try await world.open(Self.model()) }
        #expect(try await SQLiteStore.repair(at: world.path) == missing)
        #expect(try await SQLiteStore.verify(at: world.path) == [])
        #expect(try SQLiteConnection.texts("PRAGMA foreign_key_check", at: world.path) == [])
        #expect(try SQLiteConnection.texts("PRAGMA integrity_check", at: world.path) == ["ok"])
        let store = try await world.open(Self.model())
        // The next sync reads everything.
        #expect(try SQLiteConnection.count("_sync_bookmarks", at: world.path) == 0)
        try await world.sync(Self.people, into: store)
        try await world.sync(#"[{"id":9,"author":{"id":1}}]"#, entity: "Note", into: store)
        #expect(try await world.rows(store, where: "friends.@count = 1 and boss.id = 1 and name = 'b'") == [2])
        #expect(try await store.store.count(StoreQuery("Note", where: PropertyPath("author.id") == 1)) == 1)
    }

    /// As after a fault of the disk.
    @Test func anIndexThatLacksARowIsFoundAndCreatedAgain() async throws {
        let store = try await world.open(Self.model())
        try await world.sync(#"[{"id":1}]"#, entity: "Note", into: store)
        let creation = try SQLiteConnection.texts(
            "SELECT sql FROM sqlite_master WHERE name = 'Note_identity'", at: world.path)[0]
        func replacement(_ text: String) -> String {
            """
            PRAGMA writable_schema = ON;
            UPDATE sqlite_master SET sql = '\(text)' WHERE name = 'Note_identity'; PRAGMA writable_schema = RESET
            """
        }
        try await SQLiteShell.run(
            """
            \(replacement("\(creation) WHERE id <> 2"));
            INSERT INTO Note (_id, id) VALUES (2, 2);
            \(replacement(creation))
            """, at: world.path)
        let defects = [SQLSchemaError.Defect(table: "Note", part: .index("Note_identity"))]
        #expect(try await SQLiteStore.verify(at: world.path) == defects)
        #expect(try await SQLiteStore.repair(at: world.path) == defects)
        #expect(try await SQLiteStore.verify(at: world.path) == [])
        let result = try await world.sync(#"[{"id":1},{"id":2}]"#, entity: "Note", into: store)
        #expect(result.counts.unchanged == 2)
        #expect(try SQLiteConnection.texts("PRAGMA integrity_check", at: world.path) == ["ok"])
    }

    @Test func anIndexIsCreatedAgain() async throws {
        try await fill()
        try run("DROP INDEX Note_identity")
        let missing = [SQLSchemaError.Defect(table: "Note", part: .index("Note_identity"))]
        #expect(try await SQLiteStore.verify(at: world.path) == missing)
        #expect(try await SQLiteStore.repair(at: world.path) == missing)
        #expect(try await SQLiteStore.verify(at: world.path) == [])
        try run("DROP INDEX Note_identity; INSERT INTO Note (id) VALUES (9)")
        let error = await #expect(throws: SQLSchemaError.self) { try await SQLiteStore.repair(at: world.path) }
        guard case .equalValues(table: "Note", _)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func aColumnOfObjectNumbersIsNotRepaired() async throws {
        try await fill()
        try run("ALTER TABLE Note RENAME COLUMN _id TO number")
        let error = SQLSchemaError.damaged([SQLSchemaError.Defect(table: "Note", part: .column("_id"))])
        await #expect(throws: error) { try await SQLiteStore.repair(at: world.path) }
    }

    /// Without it, nothing says which tables are the store's, so that it uses them.
    @Test func withoutTheRecordTheExistingTablesAreUsed() async throws {
        try await fill()
        try run("DROP TABLE _sync_schema")
        await #expect(throws: SQLSchemaError.noStore) { try await SQLiteStore.verify(at: world.path) }
        await #expect(throws: SQLSchemaError.noStore) { try await SQLiteStore.repair(at: world.path) }
        let store = try await world.open(Self.model())
        #expect(try await world.rows(store) == [1, 2])
        #expect(try await SQLiteStore.verify(at: world.path) == [])
    }
}
