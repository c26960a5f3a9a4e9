import Foundation
import JSONMapper
import OneWayTestLimits
import OneWayTestSupport
import StoreSync
import SyncModel
import SyncStore
import SyncStoreSQL
import SyncStoreSQLite
import Testing

/// Tables that `sqlite3` made, synced into by a store.
@Suite(.enabled(if: SQLiteShell.command != nil, "there is no sqlite3"), .endsInTime)
struct ExistingTableTests {
    let folder: TemporaryDirectory
    let path: String

    init() throws {
        folder = try TemporaryDirectory()
        path = folder.url.appending(path: "others.sqlite").path
    }

    // MARK: Numbers

    @Test func theKeyOfARowIsItsNumber() async throws {
        try await SQLiteShell.run(
            "CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO people VALUES (7, 'Ada')", at: path)
        let store = try await open(.people(), rowColumn: "rowid")
        let first = try await sync(#"[{"id":7,"name":"Ada"},{"id":100,"name":"Bob"},{"id":50,"name":"Eve"}]"#, store)
        #expect(first.counts.inserted == 2 && first.counts.deleted == 0 && first.counts.unchanged == 1)
        #expect(try await dump("people") == ["7|Ada", "50|Eve", "100|Bob"])
        let second = try await sync(#"[{"id":100,"name":"Bo"},{"id":-3,"name":"Low"}]"#, store)
        #expect(second.counts.inserted == 1 && second.counts.updated == 1 && second.counts.deleted == 2)
        #expect(try await dump("people") == ["-3|Low", "100|Bo"])
        #expect(try await sync(#"[{"id":100,"name":"Bo"},{"id":-3,"name":"Low"}]"#, store).isUnchanged)
    }

    @Test func relationshipsOfBothKindsLeadToExistingRows() async throws {
        try await SQLiteShell.run(
            """
            CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, boss_id INTEGER REFERENCES people (id));
            INSERT INTO people VALUES (10, 'a', NULL), (20, 'b', 10)
            """, at: path)
        let model = try DataModel.people {
            SyncRelationship("boss", toOne: "Person", inverse: "staff")
            SyncRelationship("staff", toMany: "Person", inverse: "boss")
            SyncRelationship("friends", toMany: "Person", inverse: "friends")
        }
        let store = try await open(model, columns: ["Person.boss": "boss_id"], rowColumn: "rowid")
        let json = #"[{"id":20,"boss_id":30,"friends_ids":[30,40]},{"id":30,"boss_id":40},{"id":40}]"#
        try await sync(json, store)
        #expect(try await SQLiteShell.run("SELECT id, boss_id FROM people", at: path) == ["20|30", "30|40", "40|"])
        #expect(
            try await SQLiteShell.run("SELECT * FROM Person_friends ORDER BY 1, 2", at: path)
                == ["20|30", "20|40", "30|20", "40|20"])
        #expect(try await SQLiteShell.run("PRAGMA foreign_key_check", at: path) == [])
        #expect(try await sync(json, store).isUnchanged)
    }

    @Test func anObjectWithoutANumberOrWithAnotherOneIsRefused() async throws {
        try await SQLiteShell.run("CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT)", at: path)
        let store = try await open(.people(), rowColumn: "rowid")
        try await sync(#"[{"id":5,"name":"a"}]"#, store)
        await #expect(throws: SQLSchemaError.self) {
            try await store.update(.identity(5), in: "Person", with: JSONValue(parsing: Array(#"{"id":6}"#.utf8)))
        }
        await #expect(throws: SQLSchemaError.self) {
            try await store.importObjects(.bytes(Array(#"[{"name":"nobody"}]"#.utf8)), into: "Person")
        }
        #expect(try await dump("people") == ["5|a"])
    }

    /// Others may remember the numbers of rows that are gone, as Django's log does.
    @Test func aKeyThatIsNeverUsedAgainStaysSo() async throws {
        try await SQLiteShell.run(
            """
            CREATE TABLE people (_id INTEGER PRIMARY KEY AUTOINCREMENT, id INTEGER, name TEXT);
            CREATE TABLE "it's" (_id INTEGER PRIMARY KEY AUTOINCREMENT, id INTEGER);
            INSERT INTO people (_id, id, name) VALUES (7, 1, 'a'); DELETE FROM people
            """, at: path)
        let store = try await open(.people(with: [Self.tag]), tables: ["Person": "people", "Tag": "it's"])
        try await sync(#"[{"id":1},{"id":2}]"#, store)
        try await sync(#"[{"id":1}]"#, store)
        try await sync(#"[{"id":1},{"id":3}]"#, store)
        #expect(try await SQLiteShell.run("SELECT _id, id FROM people", at: path) == ["8|1", "10|3"])
        try await sync(#"[{"id":1}]"#, entity: "Tag", store)
        #expect(try await SQLiteShell.run("SELECT _id, id FROM \"it's\"", at: path) == ["1|1"])
    }

    @Test func compositeKeysAreKept() async throws {
        try await SQLiteShell.run(
            """
            CREATE TABLE seats (hall TEXT, number INTEGER, guest TEXT, PRIMARY KEY (hall, number));
            INSERT INTO seats VALUES ('x', 1, 'a'), ('x', 2, 'b'), ('y', 1, 'c')
            """, at: path)
        let model = try DataModel {
            SyncEntity("Seat", identity: "hall", "number") {
                SyncAttribute("hall", .string)
                SyncAttribute("number", .int64)
                SyncAttribute("guest", .string)
            }
        }
        let store = try await open(model, tables: ["Seat": "seats"], rowColumn: "rowid")
        let json = #"[{"hall":"x","number":2,"guest":"B"},{"hall":"z","number":9,"guest":"d"}]"#
        let result = try await sync(json, entity: "Seat", store)
        #expect(result.counts.updated == 1 && result.counts.inserted == 1 && result.counts.deleted == 2)
        #expect(try await SQLiteShell.run("SELECT * FROM seats ORDER BY 1", at: path) == ["x|2|B", "z|9|d"])
    }

    @Test func rowsOfUnknownEntitiesAreLeftAlone() async throws {
        try await SQLiteShell.run(
            """
            CREATE TABLE people (id INTEGER PRIMARY KEY, type TEXT, name TEXT);
            INSERT INTO people VALUES (1, 'Person', 'a'), (2, 'Guest', 'b'), (3, NULL, 'c'), (4, 'Employee', 'd'),
                (5, 'employee', 'e')
            """, at: path)
        let model = try DataModel.people(with: [SyncEntity("Employee", parent: "Person") {}])
        let store = try await open(model, rowColumn: "rowid", entityColumn: "type")
        #expect(try await store.store.count(StoreQuery("Person")) == 2)
        #expect(try await store.store.records(StoreQuery("Person", limit: 4)).map(\.object) == [1, 4])
        let result = try await sync(#"[{"id":1,"name":"a"}]"#, store)
        #expect(result.counts.unchanged == 1 && result.counts.deleted == 1)
        #expect(try await dump("people") == ["1|a", "2|b", "3|c", "5|e"])
    }

    // MARK: Foreign keys

    @Test func rowsStayThatAForeignKeyOfNoRelationshipWouldDelete() async throws {
        try await SQLiteShell.run(
            """
            CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT,
                parent INTEGER REFERENCES people ON DELETE CASCADE, tag INTEGER REFERENCES tags (id) ON DELETE CASCADE);
            CREATE TABLE tags (id INTEGER PRIMARY KEY);
            CREATE TABLE notes (person INTEGER REFERENCES people (id) ON DELETE CASCADE);
            INSERT INTO tags VALUES (1), (2);
            INSERT INTO people VALUES (1, 'a', NULL, 1), (2, 'b', 1, 2); INSERT INTO notes VALUES (1), (2)
            """, at: path)
        let store = try await open(.people(with: [Self.tag]), tables: Self.tables, rowColumn: "rowid")
        #expect(try await sync(#"[{"id":2,"name":"b"}]"#, store).counts.deleted == 1)
        #expect(try await sync(#"[{"id":1}]"#, entity: "Tag", store).counts.deleted == 1)
        #expect(try await SQLiteShell.run("SELECT * FROM people", at: path) == ["2|b||"])
        // What others keep goes as they want it.
        #expect(try await SQLiteShell.run("SELECT * FROM notes", at: path) == ["2"])
        #expect(try await sync(#"[{"id":2,"name":"b"}]"#, store).isUnchanged)
    }

    @Test(arguments: [true, false])
    func aColumnAddedToTheStoresTableDeletesNoObjects(isOpenedAgain: Bool) async throws {
        let model = try DataModel.people(with: [Self.tag])
        let store = try await open(model)
        try await sync(#"[{"id":1},{"id":2}]"#, store)
        try await sync(#"[{"id":1},{"id":2}]"#, entity: "Tag", store)
        try await SQLiteShell.run(
            """
            ALTER TABLE people ADD COLUMN owner INTEGER REFERENCES Tag (_id) ON DELETE CASCADE;
            UPDATE people SET owner = _id
            """, at: path)
        let again = isOpenedAgain ? try await open(model) : store
        #expect(try await sync(#"[{"id":2}]"#, entity: "Tag", again).counts.deleted == 1)
        #expect(try await SQLiteShell.run("SELECT id, owner FROM people", at: path) == ["1|", "2|2"])
    }

    @Test(arguments: [
        (
            "people (id INTEGER PRIMARY KEY, name TEXT, parent INTEGER NOT NULL DEFAULT 1 REFERENCES people ON DELETE CASCADE)",
            "ON DELETE CASCADE"
        ),
        (
            "people (id INTEGER PRIMARY KEY, name TEXT UNIQUE, parent TEXT REFERENCES people (name) ON DELETE CASCADE)",
            "ON DELETE CASCADE"
        ),
        (
            """
            people (id INTEGER PRIMARY KEY, name TEXT, a INT, b INT, UNIQUE (a, b),
                FOREIGN KEY (a, b) REFERENCES people (a, b) ON DELETE CASCADE)
            """, "ON DELETE CASCADE"
        ),
        (
            """
            people (id INTEGER PRIMARY KEY, name TEXT, note INTEGER REFERENCES notes ON DELETE CASCADE);
            CREATE TABLE notes (id INTEGER PRIMARY KEY, person INTEGER REFERENCES people ON DELETE CASCADE)
            """, "with those of notes (ON DELETE CASCADE)"
        ),
        (
            "people (id INTEGER PRIMARY KEY, name TEXT, tag_id INTEGER REFERENCES tags (number))",
            "tag_id refers to tags.number; a relationship has to refer to tags.id"
        ),
        (
            "people (id INTEGER PRIMARY KEY, name TEXT, tag_id INTEGER REFERENCES people)",
            "tag_id refers to people.id; a relationship has to refer to tags.id"
        ),
        (
            """
            people (id INTEGER PRIMARY KEY, name TEXT);
            CREATE TABLE pairs (Person INT, Tag INT REFERENCES tags (number), PRIMARY KEY (Person, Tag))
            """, "Tag refers to tags.number"
        ),
        // An insertion cannot fill the column.
        ("people (id INTEGER PRIMARY KEY, name TEXT, tag_id INTEGER NOT NULL REFERENCES tags)", "NOT NULL"),
    ])
    func aForeignKeyThatDoesNotFitIsRefused(tables: String, reason: String) async throws {
        try await SQLiteShell.run(
            "CREATE TABLE tags (id INTEGER PRIMARY KEY, number INTEGER UNIQUE); CREATE TABLE \(tables)", at: path)
        let model = try DataModel.people(with: [Self.tag]) {
            if tables.contains("tag_id") { SyncRelationship("tag", toOne: "Tag") }
            if tables.contains("pairs") { SyncRelationship("tags", toMany: "Tag") }
        }
        let error = await #expect(throws: SQLSchemaError.self) {
            try await open(
                model, tables: Self.tables, columns: ["Person.tag": "tag_id", "Person.tags": "pairs"],
                rowColumn: "rowid")
        }
        #expect(error?.description.contains(reason) == true)
    }

    // MARK: Join tables

    @Test(arguments: [
        ("Person TEXT, Tag TEXT, PRIMARY KEY (Person, Tag)", nil, "Person cannot hold"),
        ("Person INT, Tag INT", "1, 2), (1, 3), (1, 2", "Person and Tag repeat"),
        ("Person INT, Tag INT, UNIQUE (Person, Tag)", "1, NULL", "not integers"),
        ("Person INT, Tag INT, UNIQUE (Person, Tag)", "'x', 1", "not integers"),
        ("Person INT, Tag INT, x INT NOT NULL, UNIQUE (Person, Tag)", nil, "x is NOT NULL"),
        ("Person INT, Tag INT AS (Person + 1), UNIQUE (Person, Tag)", nil, "Tag cannot hold"),
    ])
    func aJoinTableThatCannotHoldThePairsIsRefused(definition: String, row: String?, reason: String) async throws {
        try await SQLiteShell.run("CREATE TABLE pairs (\(definition))", at: path)
        if let row { try await SQLiteShell.run("INSERT INTO pairs VALUES (\(row))", at: path) }
        let model = try DataModel.people(with: [Self.tag]) { SyncRelationship("tags", toMany: "Tag") }
        let error = await #expect(throws: SQLSchemaError.self) {
            try await open(model, columns: ["Person.tags": "pairs"])
        }
        #expect(error?.description.contains(reason) == true)
    }

    @Test(arguments: [
        "PRIMARY KEY (Tag, Person)) WITHOUT ROWID", "x TEXT NOT NULL DEFAULT 'k', UNIQUE (Person, Tag))",
        "UNIQUE (Person, Tag)) STRICT", "x TEXT)",
    ])
    func aJoinTableOfOthersHoldsEachPairOnce(end: String) async throws {
        try await SQLiteShell.run("CREATE TABLE pairs (Person INTEGER, Tag INTEGER, \(end)", at: path)
        let model = try DataModel.people(with: [Self.tag]) { SyncRelationship("tags", toMany: "Tag") }
        let store = try await open(model, columns: ["Person.tags": "pairs"])
        let json = #"[{"id":1,"tags":[{"id":5},{"id":6}]}]"#
        try await sync(json, store)
        #expect(try await sync(json, store).isUnchanged)
        #expect(try await SQLiteShell.run("SELECT Person, Tag FROM pairs ORDER BY 2", at: path) == ["1|1", "1|2"])
        try await sync(#"[{"id":1,"tags":[{"id":6},{"id":5},{"id":5}]},{"id":2,"tags":[{"id":5}]}]"#, store)
        #expect(try await SQLiteShell.run("SELECT count(*) FROM pairs", at: path) == ["3"])
        try await sync(#"[{"id":1,"tags":[]}]"#, store)
        #expect(try await SQLiteShell.run("SELECT * FROM pairs", at: path) == [])
    }

    @Test func anOrderedRelationshipNeedsAUniqueIndexOfItsPairs() async throws {
        try await SQLiteShell.run("CREATE TABLE pairs (Person INTEGER, Tag INTEGER, position INTEGER)", at: path)
        let model = try DataModel.people(with: [Self.tag]) { SyncRelationship("tags", toOrdered: "Tag") }
        let error = await #expect(throws: SQLSchemaError.self) {
            try await open(model, columns: ["Person.tags": "pairs"])
        }
        #expect(error?.description.contains("an ordered relationship needs a unique index") == true)
    }

    // MARK: Changes of the model

    @Test func aChangedModelAddsColumnsAndKeepsEverythingElse() async throws {
        try await SQLiteShell.run(
            """
            CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT COLLATE NOCASE DEFAULT 'x' CHECK (name <> ''), extra BLOB);
            CREATE TABLE orders (person INTEGER REFERENCES people (id) ON DELETE CASCADE);
            INSERT INTO people VALUES (4, 'a', x'01'); INSERT INTO orders VALUES (4)
            """, at: path)
        let creation = try await SQLiteShell.run("SELECT sql FROM sqlite_master WHERE name = 'orders'", at: path)
        let before = try await open(.people(), rowColumn: "rowid")
        try await sync(#"[{"id":4,"name":"a"}]"#, before)
        let store = try await open(
            .people(attributes: [SyncAttribute("age", .int32, default: 30)]) {
                SyncRelationship("boss", toOne: "Person")
            },
            rowColumn: "rowid")
        #expect(
            try await SQLiteShell.run("SELECT id, name, hex(extra), age, boss FROM people", at: path) == ["4|a|01|30|"])
        try await sync(#"[{"id":4,"age":31,"boss_id":5},{"id":5}]"#, store)
        #expect(try await SQLiteShell.run("SELECT id, age, boss FROM people", at: path) == ["4|31|5", "5|30|"])
        let table = try await SQLiteShell.run("SELECT sql FROM sqlite_master WHERE name = 'people'", at: path)
        #expect(table.first?.contains("COLLATE NOCASE DEFAULT 'x' CHECK (name <> '')") == true)
        #expect(try await SQLiteShell.run("SELECT sql FROM sqlite_master WHERE name = 'orders'", at: path) == creation)
        #expect(try await SQLiteShell.run("SELECT * FROM orders", at: path) == ["4"])
        // A dropped attribute's column stays, and so does the table of a dropped entity.
        _ = try await open(.people(), rowColumn: "rowid")
        #expect(try await SQLiteShell.run("SELECT id, age FROM people", at: path) == ["4|31", "5|30"])
        _ = try await open(
            DataModel { SyncEntity("Other", identity: "id") { SyncAttribute("id", .int64) } }, rowColumn: "rowid")
        #expect(try await SQLiteShell.run("SELECT id, age FROM people", at: path) == ["4|31", "5|30"])
    }

    @Test func anyOtherChangeSaysWhatToDo() async throws {
        try await SQLiteShell.run(
            "CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO people VALUES (1, 'a')", at: path)
        _ = try await open(.people(), rowColumn: "rowid")
        let renamed = try DataModel {
            SyncEntity("Person", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("title", .string, formerName: "name")
            }
        }
        let error = await #expect(throws: SQLSchemaError.self) { try await open(renamed, rowColumn: "rowid") }
        #expect(error?.description.contains("ALTER TABLE") == true)
        #expect(try await dump("people") == ["1|a"])
        // Done by hand, or mapped, it opens.
        _ = try await open(renamed, columns: ["Person.title": "name"], rowColumn: "rowid")
        #expect(try await dump("people") == ["1|a"])
    }

    @Test func aTableThatALaterModelNamesIsUsedThen() async throws {
        try await SQLiteShell.run(
            "CREATE TABLE tags (id INTEGER PRIMARY KEY, word TEXT); INSERT INTO tags VALUES (3, 'x')", at: path)
        _ = try await open(.people())
        let tag = SyncEntity("Tag", identity: "id") {
            SyncAttribute("id", .int64)
            SyncAttribute("word", .string)
        }
        let model = try DataModel([SyncEntity("Person", identity: "id") { SyncAttribute("id", .int64) }, tag])
        let reason =
            "it has no column _id for object numbers; its rows are numbered by id, so set SQLNaming.rowColumn to "
            + #""rowid""#
        await #expect(throws: SQLSchemaError.unsuitableTable(table: "tags", reason: reason)) {
            try await open(model, tables: ["Tag": "tags"])
        }
        #expect(try await SQLiteShell.run("SELECT * FROM tags", at: path) == ["3|x"])
    }

    @Test func columnsThatOthersAddToAStoresTableOutliveAChange() async throws {
        let store = try await open(.people())
        try await sync(#"[{"id":1,"name":"a"}]"#, store)
        try await SQLiteShell.run(
            "ALTER TABLE people ADD COLUMN note TEXT DEFAULT 'none'; UPDATE people SET note = 'mine'", at: path)
        let wider = try await open(.people(attributes: [SyncAttribute("age", .int64)]))
        try await sync(#"[{"id":1,"name":"a","age":3},{"id":2}]"#, wider)
        #expect(try await SQLiteShell.run("SELECT id, age, note FROM people", at: path) == ["1|3|mine", "2||none"])
    }

    // MARK: Terms

    private static let tag = SyncEntity("Tag", identity: "id") { SyncAttribute("id", .int64) }
    private static let tables = ["Person": "people", "Tag": "tags"]

    @discardableResult
    func open(
        _ model: DataModel, tables: [String: String] = ["Person": "people"], columns: [String: String] = [:],
        rowColumn: String = "_id", entityColumn: String = "_entity", dates: SQLNaming.DateStorage = .iso8601
    ) async throws -> JSONStore {
        var options = SQLiteStore.Options()
        options.dates = dates
        options.naming = SQLNaming(tables: tables, columns: columns, rowColumn: rowColumn, entityColumn: entityColumn)
        let mapper = try RecordMapper(model)
        return try JSONStore(
            try await SQLiteStore(exactly: mapper.model, at: .file(path), options: options), mapper: mapper)
    }

    @discardableResult
    func sync(_ json: String, entity: String = "Person", _ store: JSONStore) async throws -> StoreSyncResult {
        try await store.sync(.bytes(Array(json.utf8)), into: entity)
    }

    func dump(_ table: String) async throws -> [String] {
        try await SQLiteShell.run("SELECT id, name FROM \(table) ORDER BY id", at: path)
    }
}
