import JSONMapper
import OneWayTestLimits
import StoreSync
import SyncModel
import SyncStore
import SyncStoreSQL
import Testing

@testable import SyncStoreSQLite

/// What others added to a file, when the model changes.
@Suite(.endsInTime) struct DependentObjectTests {
    private let world: MigrationWorld

    init() throws {
        world = try MigrationWorld()
    }

    private func run(_ statements: String) throws {
        try SQLiteConnection(path: world.path, isReadOnly: false, busyTimeout: 0).execute(statements)
    }

    private func texts(_ statement: String) throws -> [String] {
        try SQLiteConnection.texts(statement, at: world.path)
    }

    private func fill(_ model: DataModel? = nil) async throws {
        try await world.fill(try model ?? .people(), #"[{"id":1,"name":"a"},{"id":2,"name":"b"}]"#)
    }

    private func human(
        _ properties: [SyncEntity.Property] = [.attribute(SyncAttribute("name", .string))],
        with others: [SyncEntity] = []
    ) throws -> DataModel {
        try DataModel(
            [
                SyncEntity("Human", identity: "id", formerName: "Person") {
                    SyncAttribute("id", .int64)
                    for property in properties { property }
                }
            ] + others)
    }

    // MARK: Foreign keys

    @Test(arguments: ["(_id)", "(_id) ON DELETE RESTRICT", ""], [true, false])
    func theTableThatKeepsAnObjectIsNamed(reference: String, isDeferred: Bool) async throws {
        try await fill()
        let deferral = isDeferred ? "DEFERRABLE INITIALLY DEFERRED" : ""
        try run(
            """
            CREATE TABLE invoices (person INTEGER REFERENCES Person \(reference) \(deferral));
            INSERT INTO invoices SELECT _id FROM Person WHERE id = 1
            """)
        let store = try await world.open(.people())
        // RESTRICT does not wait for the commit.
        let isLate = isDeferred && !reference.contains("RESTRICT")
        do {
            try await world.sync(#"[{"id":2}]"#, into: store)
            Issue.record("the object was deleted")
        } catch StoreError.refused(let refusal) {
            #expect(refusal.entity == "Person" && refusal.key == (isLate ? nil : .identity(1)))
            #expect(refusal.reason == (isLate ? .missingReference(from: "invoices") : .referred(by: "invoices")))
        }
        #expect(try await world.rows(store) == [1, 2])
    }

    // MARK: Triggers

    /// Rows that a trigger deletes along are objects that nobody would be told of.
    @Test(arguments: ["BEFORE", "AFTER"], ["Person", "notes"])
    func aTriggerThatDeletesFurtherObjectsIsAnError(time: String, table: String) async throws {
        let json = try await world.open(.people(), version: 1)
        let store = json.store
        try await world.sync(
            #"[{"id":1,"name":"a"},{"id":2,"name":"b"},{"id":3,"name":"c"}]"#, entity: "Person", into: json)
        try run(
            """
            CREATE TABLE notes (id); INSERT INTO notes VALUES (2);
            CREATE TRIGGER along \(time) DELETE ON Person BEGIN DELETE FROM \(table) WHERE id = old.id + 1; END
            """)
        let removal = Task {
            try await store.transaction { try await $0.remove(StoreQuery("Person", where: PropertyPath("id") == 1)) }
        }
        guard table == "Person" else {
            // What others do to their own tables is none of the store's business.
            #expect(try await removal.value.counts == ["Person": 1])
            #expect(try texts("SELECT id FROM notes").isEmpty)
            return
        }
        let error = await #expect(throws: SQLSchemaError.self) { try await removal.value }
        #expect(error?.description.hasSuffix("model's tables: 1") == true, "\(String(describing: error))")
        #expect(try await store.count(StoreQuery("Person")) == 3)
    }

    /// A sync would report objects that are gone again.
    @Test(arguments: [
        "INSERT ON Person BEGIN DELETE FROM Person WHERE id < new.id - 1",
        "INSERT ON Person WHEN new.id = 3 BEGIN DELETE FROM Person WHERE id = 3",
        "UPDATE OF name ON Person BEGIN DELETE FROM Person WHERE id = new.id",
        "UPDATE OF boss ON Person BEGIN REPLACE INTO Person SELECT * FROM Person WHERE id = 9; DELETE FROM Person",
    ])
    func aTriggerThatDeletesObjectsWhileOthersAreWrittenIsAnError(trigger: String) async throws {
        let store = try await world.open(.people { SyncRelationship("boss", toOne: "Person") })
        try await world.sync(#"[{"id":1,"name":"a"},{"id":2,"name":"b"}]"#, into: store)
        try run("CREATE TRIGGER along AFTER \(trigger); END")
        let json = #"[{"id":1,"name":"a","boss_id":2},{"id":2,"name":"x"},{"id":3}]"#
        let error = await #expect(throws: SQLSchemaError.self) { try await world.sync(json, into: store) }
        #expect(error?.description.contains("deleted further rows") == true)
        #expect(try texts("SELECT name FROM Person ORDER BY id") == ["a", "b"])
        try run(
            """
            DROP TRIGGER along;
            CREATE TRIGGER along AFTER INSERT ON Person BEGIN DELETE FROM Person WHERE id = 0; END
            """)
        #expect(try await world.sync(json, into: store).counts.inserted == 1)
    }

    // MARK: Tables with another name

    /// Renamed alone, renamed and rebuilt, and with a new table of the former name.
    @Test(arguments: ["alone", "rebuilt", "replaced"])
    func whatRefersToARenamedTableGoesWithIt(kind: String) async throws {
        try await fill()
        try run(
            """
            CREATE INDEX mine ON Person (name);
            CREATE TABLE log (name);
            CREATE TRIGGER noted AFTER INSERT ON Person BEGIN INSERT INTO log VALUES (new.name); END;
            CREATE VIEW names AS SELECT name FROM Person;
            CREATE VIEW broken AS SELECT x FROM missing;
            CREATE TABLE notes (person INTEGER REFERENCES Person (_id) ON DELETE CASCADE, text TEXT);
            INSERT INTO notes VALUES (1, 'about a'), (2, 'about b')
            """)
        var properties: [SyncEntity.Property] = [.attribute(SyncAttribute("name", .string))]
        if kind == "rebuilt" { properties.append(.relationship(SyncRelationship("boss", toOne: "Human"))) }
        let person = SyncEntity("Person", identity: "id") { SyncAttribute("id", .int64) }
        let store = try await world.open(human(properties, with: kind == "replaced" ? [person] : []), version: 1)
        try await world.sync(#"[{"id":1,"name":"a"},{"id":3,"name":"c"}]"#, entity: "Human", into: store)
        #expect(try texts("SELECT name FROM log") == ["c"])
        #expect(try texts("SELECT name FROM names") == ["a", "b", "c"])
        try run("PRAGMA foreign_keys = ON; DELETE FROM Human WHERE id = 2; INSERT INTO notes VALUES (3, 'about c')")
        #expect(try texts("SELECT text FROM notes ORDER BY text") == ["about a", "about c"])
        #expect(
            try texts("SELECT name FROM sqlite_master WHERE name IN ('mine', 'noted', 'names', 'broken') ORDER BY name")
                == ["broken", "mine", "names", "noted"])
        #expect(try texts("PRAGMA integrity_check") == ["ok"])
    }

    @Test func namesThatAreSwappedTakeTheirTriggersAlong() async throws {
        func model(_ swapped: Bool) throws -> DataModel {
            try DataModel {
                SyncEntity("A", identity: "id", formerName: swapped ? "B" : nil) { SyncAttribute("id", .int64) }
                SyncEntity("B", identity: "id", formerName: swapped ? "A" : nil) { SyncAttribute("id", .int64) }
            }
        }
        try await world.fill(model(false), #"[{"id":1}]"#, entity: "A")
        try run(
            """
            CREATE TABLE log (id);
            CREATE TRIGGER noted AFTER INSERT ON A BEGIN INSERT INTO log VALUES (new.id); END
            """)
        let store = try await world.open(model(true))
        try await world.sync(#"[{"id":5}]"#, entity: "A", into: store)
        try await world.sync(#"[{"id":6}]"#, entity: "B", into: store)
        #expect(try texts("SELECT CAST(id AS TEXT) FROM log") == ["6"])
        #expect(try texts("SELECT CAST(id AS TEXT) FROM B ORDER BY id") == ["1", "6"])
    }

    @Test func triggersFollowARenameThatOnlyChangesCase() async throws {
        func model(_ name: String, formerly former: String?) throws -> DataModel {
            try DataModel {
                SyncEntity(name, identity: "id", formerName: former) {
                    SyncAttribute("id", .int64)
                    SyncRelationship("boss", toOne: name)
                    SyncRelationship("mates", toMany: name)
                }
            }
        }
        try await world.fill(
            model("user", formerly: nil), #"[{"id":1,"boss_id":1,"mates_ids":[1]}]"#, entity: "user")
        try run(
            """
            CREATE TABLE log (id);
            CREATE TRIGGER noted AFTER INSERT ON user BEGIN INSERT INTO log VALUES (new.id); END
            """)
        let store = try await world.open(model("User", formerly: "user"))
        try await world.sync(#"[{"id":2,"boss_id":1,"mates_ids":[1,2]}]"#, entity: "User", into: store)
        #expect(try texts("SELECT CAST(id AS TEXT) FROM log") == ["2"])
        let linked = try RecordPredicate(parsing: "boss.id = 1 and mates.@count > 0")
        #expect(try await store.store.count(StoreQuery("User", where: linked)) == 2)
    }

    @Test func whatOthersCallATableFollowsItsName() throws {
        try run("CREATE TABLE A (id); CREATE TABLE B (id); CREATE VIEW firsts AS SELECT id FROM A")
        let connection = try SQLiteConnection(path: world.path, isReadOnly: false, busyTimeout: 0)
        // As programs can set it, views keep the former names.
        try connection.execute("PRAGMA legacy_alter_table = ON")
        let settings = SQLiteSettings(path: world.path, isReadOnly: false, SQLiteStore.Options())
        let schema = SQLSchema(try .people(), dialect: .sqlite)
        try SQLiteMigration(connection, schema: schema, settings: settings)
            .rename([(from: "A", to: "B"), (from: "B", to: "_sync_old_1")])
        #expect(
            try texts("SELECT sql FROM sqlite_master ORDER BY name") == [
                #"CREATE TABLE "B" (id)"#, #"CREATE TABLE "_sync_old_1" (id)"#,
                #"CREATE VIEW firsts AS SELECT id FROM "B""#,
            ])
    }

    @Test func aDroppedTableWithForeignKeysOfOthersIsARefusal() async throws {
        let tag = SyncEntity("Tag", identity: "id") { SyncAttribute("id", .int64) }
        try await fill(.people(with: [tag]))
        try run("CREATE TABLE notes (tag INTEGER REFERENCES Tag (_id))")
        try await world.expectRefusal(
            .unfitDependentObject(
                name: "notes", reason: "its foreign key refers to Tag, which the model no longer has; drop it before"),
            version: 1
        ) { try .people() }
    }

    // MARK: Columns

    private static let additions = """
        ALTER TABLE Person ADD COLUMN tag TEXT COLLATE NOCASE; ALTER TABLE Person ADD COLUMN "a ""b"", c" TEXT DEFAULT active;
        ALTER TABLE Person ADD COLUMN color TEXT DEFAULT NULL REFERENCES color (c) ON DELETE SET NULL;
        ALTER TABLE Person ADD COLUMN score INTEGER NOT NULL DEFAULT 5 CHECK (score < 10 /* ), */ AND 'x,' <> '');
        UPDATE Person SET tag = 'X', color = 'red'
        """

    /// Columns are added in place; another type has the table rebuilt.
    @Test(arguments: [AttributeType.int16, .int64])
    func columnsOfOthersKeepTheirConstraints(type: AttributeType) async throws {
        func model(_ type: AttributeType, _ more: SyncAttribute...) throws -> DataModel {
            try .people(attributes: [SyncAttribute("age", type)] + more)
        }
        try await fill(model(.int16))
        try run("CREATE TABLE color (c TEXT PRIMARY KEY); INSERT INTO color VALUES ('red'); \(Self.additions)")
        let store = try await world.open(
            model(type == .int16 ? type : .decimal, SyncAttribute("extra", .string, default: "e")))
        #expect(try await store.store.records(StoreQuery("Person")).map { $0.record["extra"] } == ["e", "e"])
        #expect(
            try texts("SELECT \"a \"\"b\"\", c\" FROM Person WHERE tag = 'x' AND score = 5") == ["active", "active"])
        try run("PRAGMA foreign_keys = ON; DELETE FROM color")
        #expect(try SQLiteConnection.count("Person WHERE color IS NULL", at: world.path) == 2)
        #expect(throws: SQLiteError.self) { try run("UPDATE Person SET score = 10") }
    }

    /// For SQLite, names that differ in the case of ASCII letters are equal.
    @Test func aColumnOfOthersThatDiffersInCaseIsARefusal() async throws {
        try await fill(.people())
        try run("ALTER TABLE Person ADD COLUMN nick TEXT")
        let error = await #expect(throws: SQLSchemaError.self) {
            try await world.open(.people(attributes: [SyncAttribute("Nick", .string)]))
        }
        #expect(error?.description.contains("Person.nick") == true, "\(String(describing: error))")
    }

    /// For SQLite, these names differ from `ärger`, by the case of a letter beyond ASCII or by its
    /// bytes.
    @Test(arguments: ["Ärger", "a\u{308}rger"])
    func aColumnOfOthersThatDiffersInAnAccentIsKept(name: String) async throws {
        func model(_ type: AttributeType) throws -> DataModel {
            try .people(attributes: [SyncAttribute("age", type), SyncAttribute("ärger", .string)])
        }
        try await fill(model(.int16))
        try run("ALTER TABLE Person ADD COLUMN \"\(name)\" TEXT DEFAULT 'mine' COLLATE NOCASE")
        _ = try await world.open(model(.decimal))
        #expect(try texts("SELECT quote(ärger) FROM Person WHERE \"\(name)\" = 'MINE'") == ["NULL", "NULL"])
    }

    /// SQLite reads an unknown name in double quotes as a text, also after a migration.
    @Test func aTriggerWithATextInDoubleQuotesWorksOn() async throws {
        try await fill()
        try run(
            """
            CREATE TABLE notes (text TEXT);
            CREATE TRIGGER noting AFTER INSERT ON Person BEGIN INSERT INTO notes VALUES ("added"); END
            """)
        let store = try await world.open(.people(attributes: [SyncAttribute("age", .int64)]))
        try await world.sync(#"[{"id":1,"name":"a"},{"id":2,"name":"b"},{"id":3,"name":"c"}]"#, into: store)
        #expect(try texts("SELECT text FROM notes") == ["added"])
    }

    @Test func aColumnOfOthersThatCannotBeMovedIsARefusal() async throws {
        try await fill()
        try run("ALTER TABLE Person ADD COLUMN upper TEXT AS (upper(name))")
        _ = try await world.open(.people(attributes: [SyncAttribute("age", .int64)]))
        #expect(try texts("SELECT upper FROM Person") == ["A", "B"])
        let model = try DataModel {
            SyncEntity("Person", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("title", .string, formerName: "name")
            }
        }
        try await world.expectRefusal(
            .unfitDependentObject(name: "Person.upper", reason: "a generated column cannot be moved")
        ) { model }
        try run("ALTER TABLE Person DROP COLUMN upper; ALTER TABLE Person ADD COLUMN x TEXT CHECK (x <> name)")
        let error = await #expect(throws: SQLSchemaError.self) { try await world.open(model) }
        #expect(error?.description.hasPrefix("Person.x, which somebody added") == true)
        #expect(error?.description.contains("no such column: name") == true)
    }

    // MARK: Views and triggers

    @Test(arguments: [
        "CREATE TRIGGER other AFTER INSERT ON Person BEGIN INSERT INTO log VALUES (new.name); END",
        "CREATE TRIGGER other AFTER UPDATE OF id ON Person BEGIN INSERT INTO log VALUES (new.name); END",
        "CREATE TRIGGER other BEFORE DELETE ON Person BEGIN INSERT INTO log VALUES (old.name); END",
        "CREATE TRIGGER other AFTER INSERT ON log BEGIN DELETE FROM Person WHERE name = new.name; END",
        "CREATE VIEW other AS SELECT name FROM Person",
        // Without the column, SQLite would take the name for a text.
        "CREATE VIEW other AS SELECT \"name\" FROM Person", "CREATE INDEX other ON Person (id, \"name\")",
    ])
    func anObjectOfOthersThatNeedsAFormerColumnIsARefusal(creation: String) async throws {
        try await fill()
        try run("CREATE TABLE log (name); \(creation)")
        do {
            _ = try await world.open(
                DataModel {
                    SyncEntity("Person", identity: "id") {
                        SyncAttribute("id", .int64)
                        SyncAttribute("title", .string, formerName: "name")
                    }
                })
            Issue.record("the model was taken")
        } catch SQLSchemaError.unfitDependentObject(let name, let reason) {
            #expect(name == "other")
            #expect(reason.contains("name"))
        }
        #expect(try texts("SELECT sql FROM sqlite_master WHERE name = 'other'") == [creation])
        #expect(try texts("SELECT name FROM Person") == ["a", "b"])
    }

    // MARK: Virtual tables

    private static let fullText = """
        CREATE VIRTUAL TABLE found USING fts5(name, content = 'Person', content_rowid = '_id');
        CREATE TRIGGER added AFTER INSERT ON Person BEGIN INSERT INTO found (rowid, name) VALUES (new._id, new.name); END;
        CREATE TRIGGER gone AFTER DELETE ON Person BEGIN
            INSERT INTO found (found, rowid, name) VALUES ('delete', old._id, old.name); END;
        INSERT INTO found (found) VALUES ('rebuild')
        """

    @Test func aFullTextIndexFollowsATableThatIsMadeAnew() async throws {
        try await fill(.people(attributes: [SyncAttribute("age", .int16)]))
        try run(Self.fullText)
        // Some versions of SQLite do not regard FTS5 as harmless.
        var options = SQLiteStore.Options()
        options.trustsSchema = true
        let store = try await world.open(.people(attributes: [SyncAttribute("age", .decimal)]), options)
        try await world.sync(#"[{"id":1,"name":"a"},{"id":3,"name":"c"}]"#, into: store)
        #expect(try texts("SELECT name FROM found WHERE found MATCH 'a OR b OR c' ORDER BY 1") == ["a", "c"])
        try run("INSERT INTO found (found, rank) VALUES ('integrity-check', 1)")
    }

    /// SQLite renames nothing in the arguments of a virtual table.
    @Test(arguments: ["Human", "title"])
    func aFullTextIndexOfAFormerNameIsARefusal(name: String) async throws {
        try await fill()
        try run("CREATE VIRTUAL TABLE other USING fts5(x); \(Self.fullText)")
        if name == "title" { try run("DROP TRIGGER added; DROP TRIGGER gone") }
        let reason = name == "title" ? "no such column: T.name" : "no such table: main.Person"
        try await world.expectRefusal(.unfitDependentObject(name: "found", reason: reason)) {
            guard name == "title" else { return try human() }
            return try DataModel {
                SyncEntity("Person", identity: "id") {
                    SyncAttribute("id", .int64)
                    SyncAttribute("title", .string, formerName: "name")
                }
            }
        }
        #expect(try texts("SELECT name FROM found WHERE found MATCH 'b'") == ["b"])
    }

    @Test func aFullTextIndexOfATableThatARebuildTakesAwayIsARefusal() async throws {
        try await fill()
        try run("CREATE VIRTUAL TABLE found USING fts5(name, content = 'Person', content_rowid = '_id')")
        let model = try RecordMapper(DataModel { SyncEntity("Human", identity: "id") { SyncAttribute("id", .int64) } })
        await #expect(
            throws: SQLSchemaError.unfitDependentObject(name: "found", reason: "no such table: main.Person")
        ) {
            try await SQLiteStore.rebuild(exactly: model.model, at: world.path) { _ in }
        }
        #expect(try texts("SELECT name FROM Person") == ["a", "b"])
    }
}
