import Foundation
import StoreSync
import SyncModel
import SyncStore
import SyncStoreSQL
import Testing

// What a table of others cannot hold, and what it keeps out.
extension ExistingTableTests {
    @Test func aTableWithoutRowNumbersIsNamedSo() async throws {
        try await SQLiteShell.run("CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT) WITHOUT ROWID", at: path)
        let error = await #expect(throws: SQLSchemaError.self) { try await open(.people(), rowColumn: "rowid") }
        #expect(error?.description.contains("it is a WITHOUT ROWID table; name an integer column") == true)
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

    @Test(arguments: [
        (
            "id INTEGER PRIMARY KEY, name TEXT, b INT NOT NULL, a INT NOT NULL",
            "its column a is NOT NULL without a default, and new objects have no value for it; "
                + "supply one by Options.suppliedValues, allow NULL or give it a default"
        ),
        ("id INTEGER PRIMARY KEY, name INTEGER", "name has a type that changes or refuses values of name (string)"),
        ("id INTEGER PRIMARY KEY, name TEXT AS ('x' || id)", "name is a generated column"),
        ("id TEXT PRIMARY KEY, name TEXT", "id has a type that changes or refuses values of id (int64)"),
    ])
    func aRefusalNamesTheColumn(columns: String, reason: String) async throws {
        try await SQLiteShell.run("CREATE TABLE people (\(columns))", at: path)
        await #expect(throws: SQLSchemaError.unsuitableTable(table: "people", reason: reason)) {
            try await open(.people(), rowColumn: "rowid")
        }
    }

    @Test(arguments: ["TEXT COLLATE NOCASE", "INTEGER", "TEXT AS ('Person')"])
    func aColumnThatCannotNameEntitiesIsRefused(type: String) async throws {
        try await SQLiteShell.run("CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, type \(type))", at: path)
        let model = try DataModel.people(with: [SyncEntity("Employee", parent: "Person") {}])
        await #expect(throws: SQLSchemaError.self) {
            try await open(model, rowColumn: "rowid", entityColumn: "type")
        }
    }

    @Test func whatATriggerKeepsOutIsAnError() async throws {
        try await SQLiteShell.run(
            """
            CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT);
            CREATE TRIGGER guard BEFORE INSERT ON people WHEN new.id = 2 BEGIN SELECT RAISE(IGNORE); END
            """, at: path)
        let store = try await open(.people(), rowColumn: "rowid")
        let reason = "the trigger guard kept 1 of 2 rows from being written"
        await #expect(throws: SQLSchemaError.unsuitableTable(table: "people", reason: reason)) {
            try await sync(#"[{"id":1},{"id":2}]"#, store)
        }
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
        let reason = "the trigger guard kept rows from being deleted"
        await #expect(throws: SQLSchemaError.unsuitableTable(table: "people", reason: reason)) {
            try await sync("[]", store)
        }
        #expect(try await dump("people") == ["1|keep", "2|b"])
        #expect(try await sync(#"[{"id":1,"name":"keep"}]"#, store).counts.deleted == 1)
    }

    /// The number of the row shows that it is the same one.
    @Test func aRowWithoutAKeyThatATriggerInsertsAgainIsAnError() async throws {
        try await SQLiteShell.run(
            """
            CREATE TABLE notes (text TEXT); INSERT INTO notes VALUES ('keep'), ('b');
            CREATE TRIGGER guard AFTER DELETE ON notes WHEN old.text = 'keep' BEGIN
                INSERT INTO notes (rowid, text) VALUES (old.rowid, old.text);
            END
            """, at: path)
        let note = SyncEntity("Note", attributes: [SyncAttribute("text", .string)], relationships: [])
        let store = try await open(DataModel([note]), tables: ["Note": "notes"], rowColumn: "rowid").store
        let reason = "the trigger guard kept rows from being deleted"
        await #expect(throws: SQLSchemaError.unsuitableTable(table: "notes", reason: reason)) {
            try await store.transaction { _ = try await $0.remove(StoreQuery("Note")) }
        }
        #expect(try await SQLiteShell.run("SELECT text FROM notes ORDER BY rowid", at: path) == ["keep", "b"])
        try await store.transaction { _ = try await $0.remove(StoreQuery("Note", where: PropertyPath("text") == "b")) }
        #expect(try await SQLiteShell.run("SELECT text FROM notes", at: path) == ["keep"])
    }

    /// Each first row keeps its entity, and so do all others.
    @Test(
        arguments: [
            (
                "CREATE TRIGGER guard BEFORE UPDATE OF type ON people WHEN old.id = 1 BEGIN SELECT RAISE(IGNORE); END",
                nil
            ),
            (
                "CREATE TRIGGER guard BEFORE UPDATE OF type ON people BEGIN SELECT RAISE(ABORT, 'no'); END",
                "a trigger raised an error"
            ),
            ("CREATE UNIQUE INDEX guard ON people (type)", "people.type"),
        ] as [(String, String?)])
    func whatKeepsAnEntityIsAnError(guarding: String, constraint: String?) async throws {
        try await SQLiteShell.run(
            """
            CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, type TEXT);
            INSERT INTO people VALUES (1, 'a', 'Person'), (2, 'b', 'Guest');
            """, at: path)
        let model = try DataModel.people(with: ["Employee", "Guest"].map { SyncEntity($0, parent: "Person") {} })
        let store = try await open(model, rowColumn: "rowid", entityColumn: "type").store
        try await SQLiteShell.run(guarding, at: path)
        let before = try await SQLiteShell.run("SELECT * FROM people", at: path)
        let error = await #expect(throws: (any Error).self) {
            try await store.transaction { transaction in
                try await transaction.changeEntity(of: [2], from: "Guest", to: "Employee")
                try await transaction.changeEntity(of: [1], from: "Person", to: "Employee")
            }
        }
        if constraint == nil {
            let reason = "the trigger guard kept 1 of 1 rows from changing their entity"
            #expect(error as? SQLSchemaError == .unsuitableTable(table: "people", reason: reason))
        } else if case .refused(let refusal)? = error as? StoreError {
            #expect(
                refusal.entity == "Employee" && refusal.key != nil, "\(refusal)")
            #expect(refusal.constraint?.contains(constraint ?? "") == true, "\(refusal)")
        } else {
            Issue.record("\(String(describing: error))")
        }
        #expect(try await SQLiteShell.run("SELECT * FROM people", at: path) == before)
    }

    /// A trigger keeps the object from being taken off a foreign key that would delete it.
    @Test func aTriggerThatKeepsAReferenceDeletesNoObjects() async throws {
        try await SQLiteShell.run(
            """
            CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, parent INTEGER REFERENCES people ON DELETE CASCADE);
            INSERT INTO people VALUES (1, 'a', NULL), (2, 'b', 1);
            CREATE TRIGGER guard BEFORE UPDATE OF parent ON people BEGIN SELECT RAISE(IGNORE); END
            """, at: path)
        let store = try await open(.people(), rowColumn: "rowid")
        let reason = "the trigger guard kept references to deleted objects"
        await #expect(throws: SQLSchemaError.unsuitableTable(table: "people", reason: reason)) {
            try await sync(#"[{"id":2,"name":"b"}]"#, store)
        }
        #expect(try await dump("people") == ["1|a", "2|b"])
    }

    @Test func constraintsOfOthersHold() async throws {
        try await SQLiteShell.run(
            """
            CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT NOT NULL DEFAULT 'anon' CHECK (length(name) < 6))
            """, at: path)
        let store = try await open(.people(), rowColumn: "rowid")
        try await sync(#"[{"id":1},{"id":2,"name":"b"}]"#, store)
        #expect(try await dump("people") == ["1|anon", "2|b"])
        let error = await #expect(throws: StoreError.self) {
            try await sync(#"[{"id":1,"name":"too long"}]"#, store)
        }
        #expect(
            "\(try #require(error))"
                == "Person 1, element 0: a constraint or trigger of the table refuses name (length(name) < 6)")
        #expect(try await dump("people") == ["1|anon", "2|b"])
    }

    /// A check stops a statement at the row that it refuses; a trigger may undo all of it.
    @Test(
        arguments: [
            ("CHECK", false), ("ABORT", false), ("FAIL", false), ("CHECK", true), ("ABORT", true), ("FAIL", true),
        ], [[1], [3], [5], [2, 4], [1, 2, 3, 4, 5]] as [[Int64]])
    func onlyTheRefusedRowsAreSetAside(kind: (name: String, isUpdate: Bool), refused: [Int64]) async throws {
        let isCheck = kind.name == "CHECK"
        let event = kind.isUpdate ? "UPDATE" : "INSERT"
        let trigger = """
            CREATE TRIGGER guard BEFORE \(event) ON people WHEN NEW.name = 'no'
                BEGIN SELECT RAISE(\(kind.name), 'refused'); END
            """
        try await SQLiteShell.run(
            """
            CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT \(isCheck ? "CHECK (name <> 'no')" : ""));
            \(isCheck ? "" : trigger)
            """, at: path)
        let store = try await open(.people(), rowColumn: "rowid").store
        let layout = try store.model.layout(of: "Person")
        func merge(_ names: [String]) async throws -> MergeRequest.Result {
            var batch = RecordBatch(of: layout)
            for (index, name) in names.enumerated() {
                batch.beginRecord()
                batch.setInt(Int64(index + 1), at: 0)
                batch.setValue(.string(name), at: 1)
                batch.endRecord()
            }
            var request = MergeRequest(batch)
            request.setsRefusedAside = true
            return try await store.transaction { [request] in try await $0.merge(request) }
        }
        if kind.isUpdate { #expect(try await merge((1...5).map { "x\($0)" }).refused.isEmpty) }
        let result = try await merge((1...5).map { refused.contains($0) ? "no" : "a\($0)" })
        #expect(result.refused.compactMap(\.index).sorted() == refused.map { Int($0) - 1 })
        #expect(Set(result.refused.map(\.key)) == Set(refused.map { .identity([.int($0)]) }))
        let kept = (1...5).filter { kind.isUpdate || !refused.contains($0) }
        #expect(try await dump("people") == kept.map { "\($0)|\(refused.contains($0) ? "x" : "a")\($0)" })
    }

    /// Only a repeated identity is reported as one; the database names what others require.
    @Test(arguments: [
        "CREATE UNIQUE INDEX other ON people (name)", "CREATE UNIQUE INDEX other ON people (lower(name))",
    ])
    func aUniqueIndexOfOthersIsNotTakenForTheIdentitys(index: String) async throws {
        try await SQLiteShell.run("CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT); \(index)", at: path)
        let store = try await open(.people(), rowColumn: "rowid")
        try await sync(#"[{"id":1,"name":"a"},{"id":2,"name":"b"}]"#, store)
        let error = await #expect(throws: StoreError.self) {
            try await sync(#"[{"id":1,"name":"b"},{"id":2}]"#, store)
        }
        #expect(
            "\(try #require(error))"
                == (index.contains("lower")
                    ? "Person 1, element 0: another Person already has these values (index 'other')"
                    : "Person 1, element 0: Person 2 already has these values of name"))
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
}
