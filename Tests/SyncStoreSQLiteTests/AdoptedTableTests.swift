import Foundation
import JSONMapper
import OneWayTestSupport
import StoreSync
import SyncModel
import SyncStore
import SyncStoreSQL
import SyncStoreSQLite
import Testing

/// Tables that `sqlite3` made, synced into by a store.
@Suite(.enabled(if: SQLiteShell.command != nil, "there is no sqlite3"))
struct AdoptedTableTests {
    private let folder: TemporaryDirectory
    private let path: String

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

    @Test func relationshipsOfBothKindsLeadToAdoptedRows() async throws {
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

    @Test func aColumnAddedToTheStoresTableDeletesNoObjects() async throws {
        let model = try DataModel.people(with: [Self.tag])
        let store = try await open(model)
        try await sync(#"[{"id":1},{"id":2}]"#, store)
        try await sync(#"[{"id":1},{"id":2}]"#, entity: "Tag", store)
        try await SQLiteShell.run(
            """
            ALTER TABLE people ADD COLUMN owner INTEGER REFERENCES Tag (_id) ON DELETE CASCADE;
            UPDATE people SET owner = _id
            """, at: path)
        let again = try await open(model)
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
        ("Person INT, Tag INT", nil, "unique index"), ("Person INT, Tag INT, UNIQUE (Person)", nil, "unique index"),
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
        "UNIQUE (Person, Tag)) STRICT",
    ])
    func aJoinTableOfOthersHoldsEachPairOnce(end: String) async throws {
        try await SQLiteShell.run("CREATE TABLE pairs (Person INTEGER, Tag INTEGER, \(end)", at: path)
        let model = try DataModel.people(with: [Self.tag]) { SyncRelationship("tags", toMany: "Tag") }
        let store = try await open(model, columns: ["Person.tags": "pairs"])
        let json = #"[{"id":1,"tags":[{"id":5},{"id":6}]}]"#
        try await sync(json, store)
        #expect(try await sync(json, store).isUnchanged)
        #expect(try await SQLiteShell.run("SELECT Person, Tag FROM pairs ORDER BY 2", at: path) == ["1|1", "1|2"])
        try await sync(#"[{"id":1,"tags":[]}]"#, store)
        #expect(try await SQLiteShell.run("SELECT * FROM pairs", at: path) == [])
    }

    // MARK: What is refused

    /// The refusal names the option that would help.
    @Test(arguments: [(DateStorage.iso8601, "1.5"), (.secondsSince1970, "'2014-02-14T10:00:00.000000Z'")])
    func datesOfAnotherFormAreRefusedWithAnAdvice(dates: DateStorage, value: String) async throws {
        try await SQLiteShell.run(
            "CREATE TABLE people (id INTEGER PRIMARY KEY, born); INSERT INTO people VALUES (1, \(value))", at: path)
        let model = try DataModel {
            SyncEntity("Person", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("born", .date)
            }
        }
        func open(_ dates: DateStorage) async throws {
            var options = SQLiteStore.Options()
            options.naming = SQLNaming(tables: ["Person": "people"], rowColumn: "rowid")
            options.dates = dates
            _ = try await SQLiteStore(model, at: .file(path), options: options)
        }
        let error = await #expect(throws: SQLSchemaError.self) { try await open(dates) }
        let other: DateStorage = dates == .iso8601 ? .secondsSince1970 : .iso8601
        #expect(error?.description.contains("Options.dates = .\(other.rawValue)") == true)
        try await open(other)
    }

    /// The objects would not be found.
    @Test(arguments: [
        "'2024-05-06 10:00:00.000'", "'2024-05-06T10:00:00Z'", "'2024-05-06'", "'2024-05-06T12:00:00+02:00'",
    ])
    func datesAreConvertedAsTheRefusalSays(value: String) async throws {
        try await SQLiteShell.run(
            "CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, at DATETIME); INSERT INTO people VALUES (1, '', \(value))",
            at: path)
        let model = try DataModel {
            SyncEntity("Person", identity: "at") {
                SyncAttribute("at", .date)
                SyncAttribute("name", .string)
            }
        }
        let error = await #expect(throws: SQLSchemaError.self) { try await open(model, rowColumn: "rowid") }
        let advice = try #require(error?.description.firstRange(of: "UPDATE ")).lowerBound
        try await SQLiteShell.run(String(try #require(error?.description[advice...])), at: path)
        let store = try await open(model, rowColumn: "rowid")
        let midnight = Timestamp(microseconds: 1_714_953_600_000_000)
        let isToday = RecordPredicate.comparison(PropertyPath("at"), .greaterOrEqual, .date(midnight))
        #expect(try await store.store.count(StoreQuery("Person", where: isToday)) == 1)
    }

    /// As other programs write them.
    @Test(arguments: ["'2024-05-06 10:00:00.000'", "'2024-05-06T10:00:00Z'", "'2024-05-06T12:00:00+02:00'"])
    func datesThatIdentifyNothingAreReadInAnyForm(value: String) async throws {
        try await SQLiteShell.run(
            """
            CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, at DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP);
            INSERT INTO people VALUES (1, '', \(value))
            """, at: path)
        let store = try await open(.people(attributes: [SyncAttribute("at", .date)]), rowColumn: "rowid")
        let json = #"[{"id":1,"name":"","at":"2024-05-06T10:00:00Z"},{"id":2,"name":"new"}]"#
        #expect(try await sync(json, store).counts.updated == 0)
        let again = try await sync(json, store)
        #expect(again.isUnchanged)
    }

    @Test(arguments: [
        ("TEXT", DateStorage.iso8601), ("DATETIME", .iso8601), ("", .iso8601), ("REAL", .secondsSince1970),
    ])
    func datesOfEveryYearAreReadBack(type: String, dates: DateStorage) async throws {
        try await SQLiteShell.run("CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, at \(type))", at: path)
        let model = try DataModel.people(attributes: [SyncAttribute("at", .date)])
        let moments = [Int64.min, -70_000_000_000_000_000, 0, 300_000_000_000_000_000, .max]
            .map(Timestamp.init(microseconds:))
        let writing = try await open(model, rowColumn: "rowid", dates: dates).store
        try await writing.transaction { transaction in
            for (place, moment) in moments.enumerated() {
                var record = Record(of: try #require(transaction.model["Person"]))
                record["id"] = .int(Int64(place))
                record["at"] = .date(moment)
                try await transaction.insert(record)
            }
        }
        let reading = try await open(model, rowColumn: "rowid", dates: dates).store
        #expect(try await reading.records(StoreQuery("Person")).map { $0.record["at"] } == moments.map { .date($0) })
        for moment in moments {
            let isSame = RecordPredicate.comparison(PropertyPath("at"), .equal, .date(moment))
            #expect(try await reading.count(StoreQuery("Person", where: isSame)) == 1)
        }
    }

    @Test func whatIsNoIntegerOrBooleanIsNull() async throws {
        try await SQLiteShell.run(
            """
            CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, age INT, old BOOLEAN);
            INSERT INTO people VALUES (1, 'a', 'abc', 2), (2, 'b', 1.5, 'yes'), (3, 'c', '7', 1)
            """, at: path)
        let attributes = [SyncAttribute("age", .int64), SyncAttribute("old", .bool)]
        let store = try await open(.people(attributes: attributes), rowColumn: "rowid")
        let records = try await store.store.records(StoreQuery("Person")).map(\.record)
        #expect(records.map { $0["age"] } == [.null, .null, 7])
        #expect(records.map { $0["old"] } == [.null, .null, true])
        let json = #"[{"id":1,"age":0,"old":true},{"id":2,"age":1},{"id":3,"age":7,"old":true}]"#
        #expect(try await sync(json, store).counts.updated == 2)
        #expect(try await SQLiteShell.run("SELECT age, old FROM people", at: path) == ["0|1", "1|yes", "7|1"])
        #expect(try await sync(json, store).isUnchanged)
    }

    @Test(arguments: [
        "CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT) WITHOUT ROWID",
        "CREATE VIEW people AS SELECT 1 AS id, 'a' AS name",
        "CREATE VIRTUAL TABLE people USING fts4 (id, name)",
        "CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT AS ('x' || id))",
        "CREATE TABLE people (id INTEGER PRIMARY KEY, name INTEGER)",
        "CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, age INTEGER NOT NULL)",
        "CREATE TABLE people (id INT, name BLOB) STRICT",
        "CREATE TABLE people (id TEXT PRIMARY KEY, name TEXT)",
        "CREATE TABLE people (id INTEGER, name TEXT); INSERT INTO people VALUES (1, 'a'), (1, 'b')",
        "CREATE TABLE people (id INTEGER PRIMARY KEY)",
        """
        CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT);
        CREATE TRIGGER other AFTER UPDATE OF name ON people BEGIN SELECT unknown_function(new.name); END
        """,
        """
        CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT);
        CREATE TRIGGER other AFTER DELETE ON people BEGIN DELETE FROM unknown_table WHERE id = old.id; END
        """,
        "PRAGMA encoding = 'UTF-16'; CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT)",
    ])
    func aTableThatCannotHoldTheObjectsIsRefused(creation: String) async throws {
        try await SQLiteShell.run(creation, at: path)
        let before = try await SQLiteShell.run(".dump", at: path)
        await #expect(throws: SQLSchemaError.self) { try await open(.people(), rowColumn: "rowid") }
        #expect(try await SQLiteShell.run(".dump", at: path) == before)
    }

    @Test(arguments: ["TEXT COLLATE NOCASE", "INTEGER", "TEXT AS ('Person')"])
    func aColumnThatCannotNameEntitiesIsRefused(type: String) async throws {
        try await SQLiteShell.run("CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, type \(type))", at: path)
        let model = try DataModel.people(with: [SyncEntity("Employee", parent: "Person") {}])
        await #expect(throws: SQLSchemaError.self) {
            try await open(model, rowColumn: "rowid", entityColumn: "type")
        }
    }

    @Test(arguments: [
        ("TEXT COLLATE NOCASE", AttributeType.string, "'A'"), ("TEXT COLLATE RTRIM", .string, "'a '"),
        ("TEXT", .uuid, "'6f9619ff-8b86-d011-b42d-00c04fc964ff'"),
        ("BLOB", .uuid, "x'00112233445566778899AABBCCDDEEFF'"),
        ("INTEGER", .date, "1700000000"), ("DATETIME", .date, "'2024-05-06 10:00:00.000'"), ("", .int64, "'1'"),
        ("INT", .int64, "1.5"), ("INT", .int64, "'x'"),
        ("", .string, "1"), ("BLOB", .string, "x'41'"), ("TEXT", .decimal, "'1.50'"), ("REAL", .double, "'x'"),
        ("", .binary, "'a'"), ("", .bool, "'true'"),
    ])
    func anIdentityThatComparesInAnotherWayIsRefused(type: String, as attribute: AttributeType, value: String)
        async throws
    {
        try await SQLiteShell.run(
            "CREATE TABLE things (key \(type) PRIMARY KEY); INSERT INTO things VALUES (\(value))", at: path)
        let model = try DataModel {
            SyncEntity("Thing", identity: "key") { SyncAttribute("key", attribute) }
        }
        await #expect(throws: SQLSchemaError.self) {
            try await open(model, tables: ["Thing": "things"], rowColumn: "rowid")
        }
        #expect(try await SQLiteShell.run("SELECT count(*) FROM things", at: path) == ["1"])
    }

    @Test(arguments: [
        ("", AttributeType.int64, "1, NULL", "1"), ("", .string, "'1', 'a'", #""1""#),
        ("TEXT", .decimal, "'1.5', '-2'", "1.5"), ("REAL", .double, "1.5, 2", "1.5"),
        ("TEXT", .uuid, "'6F9619FF-8B86-D011-B42D-00C04FC964FF', NULL", #""6f9619ff-8b86-d011-b42d-00c04fc964ff""#),
    ])
    func anIdentityOfTheStoresFormIsFound(type: String, as attribute: AttributeType, values: String, json: String)
        async throws
    {
        let rows = values.split(separator: ", ").map { "(\($0), 'mine')" }.joined(separator: ", ")
        try await SQLiteShell.run(
            "CREATE TABLE things (key \(type), note TEXT); INSERT INTO things VALUES \(rows)", at: path)
        let model = try DataModel {
            SyncEntity("Thing", identity: "key") { SyncAttribute("key", attribute) }
        }
        let store = try await open(model, tables: ["Thing": "things"], rowColumn: "rowid")
        let result = try await sync(#"[{"key":\#(json)}]"#, entity: "Thing", store)
        #expect(result.counts.inserted == 0 && result.counts.deleted == 1)
        #expect(try await SQLiteShell.run("SELECT note FROM things", at: path) == ["mine"])
    }

    @Test func whatATriggerKeepsOutIsAnError() async throws {
        try await SQLiteShell.run(
            """
            CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT);
            CREATE TRIGGER guard BEFORE INSERT ON people WHEN new.id = 2 BEGIN SELECT RAISE(IGNORE); END
            """, at: path)
        let store = try await open(.people(), rowColumn: "rowid")
        await #expect(throws: SQLSchemaError.self) { try await sync(#"[{"id":1},{"id":2}]"#, store) }
        #expect(try await dump("people") == [])
        try await sync(#"[{"id":1,"name":"a"}]"#, store)
        #expect(try await dump("people") == ["1|a"])
    }

    @Test func whatATriggerKeepsFromBeingDeletedIsAnError() async throws {
        try await SQLiteShell.run(
            """
            CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO people VALUES (1, 'keep'), (2, 'b');
            CREATE TRIGGER guard BEFORE DELETE ON people WHEN old.name = 'keep' BEGIN SELECT RAISE(IGNORE); END
            """, at: path)
        let store = try await open(.people(), rowColumn: "rowid")
        await #expect(throws: SQLSchemaError.self) { try await sync("[]", store) }
        #expect(try await dump("people") == ["1|keep", "2|b"])
        #expect(try await sync(#"[{"id":1,"name":"keep"}]"#, store).counts.deleted == 1)
    }

    @Test func constraintsOfOthersHold() async throws {
        try await SQLiteShell.run(
            """
            CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT NOT NULL DEFAULT 'anon' CHECK (length(name) < 6))
            """, at: path)
        let store = try await open(.people(), rowColumn: "rowid")
        try await sync(#"[{"id":1},{"id":2,"name":"b"}]"#, store)
        #expect(try await dump("people") == ["1|anon", "2|b"])
        await #expect(throws: SQLiteError.self) { try await sync(#"[{"id":1,"name":"too long"}]"#, store) }
        #expect(try await dump("people") == ["1|anon", "2|b"])
    }

    @Test(arguments: ["'anon'", "(lower('ANON'))"])
    func aNullInAMandatoryColumnIsItsDefault(value: String) async throws {
        try await SQLiteShell.run(
            "CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT NOT NULL DEFAULT \(value))", at: path)
        let store = try await open(.people(), rowColumn: "rowid")
        let json = #"[{"id":1,"name":null},{"id":2,"name":"b"},{"id":3,"name":"anon"}]"#
        try await sync(json, store)
        #expect(try await dump("people") == ["1|anon", "2|b", "3|anon"])
        #expect(try await sync(json, store).isUnchanged)
        let result = try await sync(#"[{"id":1,"name":"a"},{"id":2,"name":"c"},{"id":3,"name":"anon"}]"#, store)
        #expect(result.counts.updated == 2)
        #expect(try await dump("people") == ["1|a", "2|c", "3|anon"])
        guard value.hasPrefix("'") else { return }
        // The default takes the place of a value, in whole columns and in some of their rows.
        let other = #"[{"id":1,"name":null},{"id":2},{"id":3,"name":null}]"#
        #expect(try await sync(other, store).counts.updated == 1)
        #expect(try await dump("people") == ["1|anon", "2|c", "3|anon"])
        #expect(try await sync(other, store).isUnchanged)
    }

    /// In a default, a name is a text, and a value is converted as the column converts it.
    @Test(arguments: [
        ("TEXT", AttributeType.string, "active", "active"), ("TEXT", .string, "object", "object"),
        ("TEXT", .string, #""place""#, "place"), ("TEXT", .string, "[c0]", "c0"), ("TEXT", .string, "größe", "größe"),
        ("TEXT", .string, #""it's a ""b""""#, #"it's a "b""#), ("TEXT", .string, "-5", "-5"),
        ("TEXT", .string, "TRUE", "1"), ("TEXT", .string, "'n/a (none)'", "n/a (none)"),
        ("INTEGER", .int64, "'0'", "0"), ("REAL", .double, "'1.5'", "1.5"), ("INTEGER", .bool, "false", "0"),
        ("BLOB", .binary, "x'41'", "A"), ("TEXT", .string, "(1 + 2)", "3"),
    ])
    func everyDefaultOfAMandatoryColumnIsItself(
        type: String, attribute: AttributeType, value: String, stored: String
    ) async throws {
        try await SQLiteShell.run(
            "CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, x \(type) NOT NULL DEFAULT \(value))", at: path)
        let store = try await open(.people(attributes: [SyncAttribute("x", attribute)]), rowColumn: "rowid")
        let json = #"[{"id":1,"x":null},{"id":2}]"#
        try await sync(json, store)
        try await SQLiteShell.run("INSERT INTO people (id) VALUES (3)", at: path)
        #expect(try await SQLiteShell.run("SELECT x FROM people", at: path) == [stored, stored, stored])
        #expect(try await sync(json, store).counts.updated == 0)
        #expect(try await sync(#"[{"id":1,"x":null},{"id":2,"x":null}]"#, store).isUnchanged)
    }

    @Test func aNullForAMandatoryColumnHasNoDefault() async throws {
        try await SQLiteShell.run(
            "CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, x INTEGER NOT NULL DEFAULT NULL)", at: path)
        await #expect(throws: SQLSchemaError.self) { try await open(.people(), rowColumn: "rowid") }
    }

    /// Texts compare by their bytes, whatever the column says.
    @Test func aColumnWithoutCaseIsComparedByBytes() async throws {
        try await SQLiteShell.run("CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT COLLATE NOCASE)", at: path)
        let store = try await open(.people(), rowColumn: "rowid")
        try await sync(#"[{"id":1,"name":"a"},{"id":2,"name":"B"},{"id":3,"name":"A"},{"id":4,"name":"b"}]"#, store)
        func found(_ predicate: RecordPredicate) async throws -> [AttributeValue] {
            let query = StoreQuery("Person", where: predicate, orderedBy: [Ordering("name")])
            return try await store.store.records(query).map { $0.record["id"] }
        }
        let name = PropertyPath("name")
        #expect(try await found(.constant(true)) == [3, 2, 1, 4])
        #expect(try await found(name == "a") == [1])
        #expect(try await found(name != "A") == [2, 1, 4])
        #expect(try await found(name < "a") == [3, 2])
        #expect(try await found(name.isIn(["A", "b"])) == [3, 4])
        let result = try await sync(#"[{"id":1,"name":"A"},{"id":2},{"id":3},{"id":4}]"#, store)
        #expect(result.counts.updated == 1)
        #expect(try await dump("people") == ["1|A", "2|B", "3|A", "4|b"])
    }

    /// Only a repeated identity is reported as one; the database names what others require.
    @Test(arguments: [
        "CREATE UNIQUE INDEX other ON people (name)", "CREATE UNIQUE INDEX other ON people (lower(name))",
    ])
    func aUniqueIndexOfOthersIsNotTakenForTheIdentitys(index: String) async throws {
        try await SQLiteShell.run("CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT); \(index)", at: path)
        let store = try await open(.people(), rowColumn: "rowid")
        try await sync(#"[{"id":1,"name":"a"},{"id":2,"name":"b"}]"#, store)
        let error = await #expect(throws: SQLiteError.self) {
            try await sync(#"[{"id":1,"name":"b"},{"id":2}]"#, store)
        }
        #expect(error?.message.contains(index.contains("lower") ? "index 'other'" : "people.name") == true)
        #expect(try await dump("people") == ["1|a", "2|b"])
    }

    @Test func anAttributeThatIsNamedLikeTheRowsNumberIsExplained() async throws {
        try await SQLiteShell.run("CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT)", at: path)
        let error = await #expect(throws: SQLSchemaError.self) { try await open(.people(), rowColumn: "id") }
        #expect(error?.description.contains("such as rowid") == true)
    }

    /// Only `SQLNaming.rowColumn` means the row's number without a column.
    @Test(arguments: ["oid", "rowid", "_rowid_"])
    func anAttributeNeedsAColumnOfItsOwn(name: String) async throws {
        try await SQLiteShell.run("CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT)", at: path)
        let model = try DataModel.people(attributes: [SyncAttribute(name, .int64)])
        await #expect(throws: SQLSchemaError.missingColumn(table: "people", column: name)) {
            try await open(model, rowColumn: name == "rowid" ? "oid" : "rowid")
        }
    }

    @Test(arguments: [
        ("_id INT PRIMARY KEY", "NULL", "NOT NULL"), ("_id INT PRIMARY KEY", "1", "NOT NULL"),
        ("_id INT NOT NULL UNIQUE", "'x'", "not integers"), ("_id INT NOT NULL UNIQUE", "2.5", "not integers"),
        ("_id INTEGER NOT NULL", "1", "unique index"),
    ])
    func rowsWithoutNumbersAreRefused(column: String, value: String, reason: String) async throws {
        try await SQLiteShell.run(
            "CREATE TABLE people (\(column), id INT, name TEXT); INSERT INTO people VALUES (\(value), 1, 'a')", at: path
        )
        let error = await #expect(throws: SQLSchemaError.self) { try await open(.people()) }
        #expect(error?.description.contains(reason) == true)
    }

    @Test(arguments: [
        ("INT NOT NULL UNIQUE", ""), ("INT NOT NULL PRIMARY KEY", ""), ("INTEGER PRIMARY KEY", "WITHOUT ROWID"),
    ])
    func aUniqueColumnNumbersTheRows(type: String, end: String) async throws {
        try await SQLiteShell.run(
            "CREATE TABLE people (_id \(type), id INT, name TEXT) \(end); INSERT INTO people VALUES (4, 7, 'a')",
            at: path)
        let store = try await open(.people())
        #expect(try await sync(#"[{"id":7,"name":"a"},{"id":8}]"#, store).counts.unchanged == 1)
        #expect(try await SQLiteShell.run("SELECT _id, id FROM people", at: path) == ["4|7", "5|8"])
    }

    @Test func strictTablesAreSyncedInto() async throws {
        try await SQLiteShell.run("CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT) STRICT", at: path)
        let store = try await open(.people(), rowColumn: "rowid")
        try await sync(#"[{"id":3,"name":"a"}]"#, store)
        #expect(try await dump("people") == ["3|a"])
    }

    @Test(arguments: [DateStorage.iso8601, .secondsSince1970])
    func strictTablesGetColumnsOfTheirTypes(dates: DateStorage) async throws {
        try await SQLiteShell.run(
            "CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT) STRICT; INSERT INTO people VALUES (3, 'a')",
            at: path)
        _ = try await open(.people(), rowColumn: "rowid", dates: dates)
        let types = AttributeType.allCases.filter { $0 != .transformable }
        let wider = try DataModel.people(attributes: types.map { SyncAttribute("a_\($0.rawValue)", $0) }) {
            SyncRelationship("boss", toOne: "Person")
        }
        let store = try await open(wider, rowColumn: "rowid", dates: dates)
        let json = #"[{"id":3,"name":"a","a_bool":true,"a_date":"2014-02-14T10:00:00Z","a_int64":7,"boss_id":3}]"#
        #expect(try await sync(json, store).counts.updated == 1)
        #expect(try await sync(json, store).isUnchanged)
        let record = try #require(try await store.store.records(StoreQuery("Person")).first?.record)
        #expect(record["a_bool"] == true && record["a_int64"] == 7)
        #expect(record["a_date"] == .date(Timestamp(microseconds: 1_392_372_000_000_000)))
    }

    @Test(.enabled(if: SQLiteShell.python != nil, "there is no python3"))
    func aTableOfPythonsIsSyncedInto() async throws {
        try await SQLiteShell.python(
            """
            import sqlite3, sys
            with sqlite3.connect(sys.argv[1]) as db:
                db.execute("create table people (id integer primary key autoincrement, name varchar(40) not null default '', extra blob)")
                db.executemany("insert into people (name, extra) values (?, ?)", [("a", b"1"), ("b", b"2")])
            """, at: path)
        let store = try await open(.people(), rowColumn: "rowid")
        try await sync(#"[{"id":2,"name":"B"},{"id":9,"name":"n"}]"#, store)
        let found = try await SQLiteShell.python(
            "import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute('select * from people').fetchall())",
            at: path)
        #expect(found == ["[(2, 'B', b'2'), (9, 'n', None)]"])
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

    @Test func aTableThatALaterModelNamesIsAdoptedThen() async throws {
        try await SQLiteShell.run(
            "CREATE TABLE tags (id INTEGER PRIMARY KEY, word TEXT); INSERT INTO tags VALUES (3, 'x')", at: path)
        _ = try await open(.people())
        let tag = SyncEntity("Tag", identity: "id") {
            SyncAttribute("id", .int64)
            SyncAttribute("word", .string)
        }
        let model = try DataModel([SyncEntity("Person", identity: "id") { SyncAttribute("id", .int64) }, tag])
        await #expect(throws: SQLSchemaError.missingColumn(table: "tags", column: "_id")) {
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
    private func open(
        _ model: DataModel, tables: [String: String] = ["Person": "people"], columns: [String: String] = [:],
        rowColumn: String = "_id", entityColumn: String = "_entity", dates: DateStorage = .iso8601
    ) async throws -> JSONStore {
        var options = SQLiteStore.Options()
        options.dates = dates
        options.naming = SQLNaming(tables: tables, columns: columns, rowColumn: rowColumn, entityColumn: entityColumn)
        let mapper = try RecordMapper(model)
        return try JSONStore(try await SQLiteStore(mapper.model, at: .file(path), options: options), mapper: mapper)
    }

    @discardableResult
    private func sync(_ json: String, entity: String = "Person", _ store: JSONStore) async throws -> StoreSyncResult {
        try await store.sync(.bytes(Array(json.utf8)), into: entity)
    }

    private func dump(_ table: String) async throws -> [String] {
        try await SQLiteShell.run("SELECT id, name FROM \(table) ORDER BY id", at: path)
    }
}
