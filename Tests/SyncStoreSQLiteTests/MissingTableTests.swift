import OneWayTestLimits
import StoreSync
import SyncModel
import SyncStore
import SyncStoreSQL
import Testing

@testable import SyncStoreSQLite

/// The store's own tables, which others have dropped, renamed or changed.
@Suite(.endsInTime) struct MissingTableTests {
    private let world: MigrationWorld

    init() throws {
        world = try MigrationWorld()
    }

    private static func model() throws -> DataModel {
        try DataModel {
            SyncEntity("Person", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("name", .string)
                SyncRelationship("friends", toMany: "Person", inverse: "friends")
            }
        }
    }

    private func run(_ statements: String) throws {
        try SQLiteConnection(path: world.path, isReadOnly: false, busyTimeout: 0).execute(statements)
    }

    @Test(arguments: [
        ("DROP TABLE Person", "the table Person"), ("ALTER TABLE Person RENAME TO People", "the table Person"),
        ("DROP TABLE Person_friends", "the table Person_friends"),
        ("ALTER TABLE Person DROP COLUMN name", "the column Person.name"),
        ("ALTER TABLE Person RENAME COLUMN name TO title", "the column Person.name"),
    ])
    func whatIsMissingIsNamedWithAWayToGoOn(change: String, subject: String) async throws {
        let store = try await world.open(Self.model())
        try await world.sync(#"[{"id":1,"name":"a","friends":[{"id":2}]}]"#, into: store)
        try run(change)
        func expectNamed(_ body: () async throws -> Void) async {
            let error = await #expect(throws: SQLSchemaError.self) { try await body() }
            guard case .damaged(let defects)? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(defects.map(\.description) == [subject] && error?.description.contains("repair(at:") == true)
        }
        await expectNamed { try await world.sync(#"[{"id":1}]"#, into: store) }
        await expectNamed { _ = try await store.store.count(StoreQuery("Person")) }
        await expectNamed { _ = try await world.open(Self.model()) }
        await expectNamed { _ = try await SQLiteStore(exactly: store.store.model, at: .readOnlyFile(world.path)) }
        _ = try await SQLiteStore.rebuild(exactly: store.store.model, at: world.path) { _ in }
        let again = try await world.open(Self.model())
        try await world.sync(#"[{"id":1,"name":"a"}]"#, into: again)
        #expect(try await world.rows(again) == [1])
    }

    @Test func anIndexThatIsMissingIsCreatedAgain() async throws {
        let store = try await world.open(Self.model())
        try await world.sync(#"[{"id":1},{"id":2}]"#, into: store)
        let indices = "SELECT name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL ORDER BY name"
        let before = try SQLiteConnection.texts(indices, at: world.path)
        #expect(!before.isEmpty)
        for name in before { try run("DROP INDEX \(SQLText.name(name))") }
        let error = await #expect(throws: SQLiteError.self) { try await world.sync(#"[{"id":1}]"#, into: store) }
        #expect(error?.code == SQLiteError.Code.schemaChanged)
        #expect(error?.message.hasSuffix("open the store again") == true)
        let again = try await world.open(Self.model())
        #expect(try SQLiteConnection.texts(indices, at: world.path) == before)
        try await world.sync(#"[{"id":1}]"#, into: again)
        #expect(try await world.rows(again) == [1])
    }

    @Test func anIndexThatTheRowsNoLongerAllowIsAnError() async throws {
        _ = try await world.open(Self.model())
        let names = try SQLiteConnection.texts(
            "SELECT name FROM sqlite_master WHERE type = 'index' AND sql LIKE '%UNIQUE%ON \"Person\"%'", at: world.path)
        for name in names { try run("DROP INDEX \(SQLText.name(name))") }
        try run("INSERT INTO Person (id) VALUES (1), (1)")
        let error = await #expect(throws: SQLSchemaError.self) { _ = try await world.open(Self.model()) }
        guard case .equalValues(table: "Person", _)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    /// The identity would stay without an index.
    @Test(arguments: [
        "UNIQUE INDEX Person_identity ON Person (name)", "INDEX Person_identity ON Person (id)",
        "UNIQUE INDEX Person_identity ON Person (id) WHERE id > 1",
    ])
    func anIndexOfAnotherDefinitionIsReplaced(definition: String) async throws {
        let definitions = "SELECT sql FROM sqlite_master WHERE name = 'Person_identity'"
        let missing = [SQLSchemaError.Defect(table: "Person", part: .index("Person_identity"))]
        let store = try await world.open(Self.model())
        try await world.sync(#"[{"id":1},{"id":2}]"#, into: store)
        let before = try SQLiteConnection.texts(definitions, at: world.path)
        for isRepair in [false, true] {
            try run("DROP INDEX Person_identity; CREATE \(definition)")
            #expect(try await SQLiteStore.verify(at: world.path) == missing)
            if isRepair {
                #expect(try await SQLiteStore.repair(at: world.path) == missing)
            } else {
                _ = try await world.open(Self.model())
            }
            #expect(try SQLiteConnection.texts(definitions, at: world.path) == before)
            #expect(try await SQLiteStore.verify(at: world.path) == [])
        }
    }

    @Test func anIndexThatIsOnlyWrittenInAnotherWayStays() async throws {
        _ = try await world.open(Self.model())
        let creation = "CREATE UNIQUE INDEX Person_identity ON Person(id)"
        try run("DROP INDEX Person_identity; \(creation)")
        #expect(try await SQLiteStore.verify(at: world.path) == [])
        _ = try await world.open(Self.model())
        let definitions = "SELECT sql FROM sqlite_master WHERE name = 'Person_identity'"
        #expect(try SQLiteConnection.texts(definitions, at: world.path) == [creation])
    }

    // MARK: Changed columns

    /// Makes the table of people anew, as SQLite advises to change a column.
    private func remake(_ nameType: String) throws {
        try run(
            """
            CREATE TABLE new ("_id" INTEGER PRIMARY KEY, "id" INTEGER, "name" \(nameType));
            INSERT INTO new SELECT * FROM Person; DROP TABLE Person; ALTER TABLE new RENAME TO Person
            """)
    }

    /// A numeric column turns the text `007` into the number 7.
    @Test func aColumnThatWouldChangeValuesIsNamed() async throws {
        let store = try await world.open(Self.model())
        try await world.sync(#"[{"id":1,"name":"007"}]"#, into: store)
        try remake("NUMERIC")
        func expectNamed(_ body: () async throws -> Void) async {
            let error = await #expect(throws: SQLSchemaError.self) { try await body() }
            guard case .unsuitableTable(table: "Person", let reason)? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(reason.hasPrefix("name has the type NUMERIC instead of TEXT") && reason.contains("rebuild"))
        }
        await expectNamed { try await world.sync(#"[{"id":1,"name":"007"}]"#, into: store) }
        await expectNamed { _ = try await world.open(Self.model()) }
        await expectNamed { _ = try await world.open(Self.model(), version: 1) }
        _ = try await SQLiteStore.rebuild(exactly: store.store.model, at: world.path) { _ in }
        let again = try await world.open(Self.model())
        try await world.sync(#"[{"id":1,"name":"007"}]"#, into: again)
        #expect(try await world.rows(again, where: "name = '007'") == [1])
    }

    /// A statement that writes it is refused by SQLite.
    @Test(arguments: ["VIRTUAL", "STORED"])
    func aColumnThatIsGeneratedNowIsNamed(kind: String) async throws {
        let store = try await world.open(Self.model())
        try await world.sync(#"[{"id":1,"name":"a"}]"#, into: store)
        try run(
            """
            CREATE TABLE new ("_id" INTEGER PRIMARY KEY, "id" INTEGER, "name" TEXT AS ('x' || id) \(kind));
            INSERT INTO new (_id, id) SELECT _id, id FROM Person; DROP TABLE Person; ALTER TABLE new RENAME TO Person
            """)
        func expectNamed(_ body: () async throws -> Void) async {
            let error = await #expect(throws: SQLSchemaError.self) { try await body() }
            guard case .unsuitableTable(table: "Person", let reason)? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(reason.hasPrefix("name is a generated column") && reason.contains("rebuild"))
        }
        await expectNamed { try await world.sync(#"[{"id":1,"name":"b"}]"#, into: store) }
        await expectNamed { _ = try await world.open(Self.model()) }
        await expectNamed { _ = try await world.open(Self.model(), version: 1) }
    }

    @Test(arguments: ["VARCHAR(20)", "text COLLATE NOCASE", ""])
    func aColumnThatReturnsEveryValueIsUsed(type: String) async throws {
        let store = try await world.open(Self.model())
        try await world.sync(#"[{"id":1,"name":"007"}]"#, into: store)
        try remake(type)
        let again = try await world.open(Self.model())
        #expect(try await world.sync(#"[{"id":1,"name":"007"}]"#, into: again).counts.updated == 0)
        #expect(try await world.rows(again, where: "name = '007'") == [1])
    }

    /// A newer version of the program has made the table.
    @Test func aTableOfAnEntityThatTheModelDoesNotHaveIsNotMissed() async throws {
        let newer = try DataModel.people(with: [SyncEntity("Note", identity: "id") { SyncAttribute("id", .int64) }])
        _ = try await world.open(newer)
        let older = try await world.open(.people())
        try run("DROP TABLE Note")
        try await world.sync(#"[{"id":1}]"#, into: older)
        #expect(try await world.rows(world.open(.people())) == [1])
    }

    // MARK: Entities of a newer version

    @Test func anOlderVersionDeletesNoObjectsOfAnEntityThatItDoesNotHave() async throws {
        let older = try DataModel {
            SyncEntity("Person", identity: "id") { SyncAttribute("id", .int64) }
        }
        let newer = try DataModel {
            SyncEntity("Person", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("notes", toMany: "Note", inverse: "person", deleteRule: .cascade)
            }
            SyncEntity("Note", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("person", toOne: "Person", inverse: "notes")
            }
        }
        try await world.fill(older, #"[{"id":1},{"id":2}]"#)
        try await world.fill(newer, #"[{"id":1,"notes":[{"id":11}]},{"id":2,"notes":[{"id":21}]}]"#)
        let result = try await world.sync(#"[{"id":2}]"#, into: world.open(older))
        #expect(result.counts.deleted == 1)
        let store = try await world.open(newer).store
        #expect(try await store.count(StoreQuery("Note")) == 2)
        #expect(try await store.count(StoreQuery("Note", where: RecordPredicate(parsing: "person == nil"))) == 1)
    }
}
