import Foundation
import JSONMapper
import OneWayTestLimits
import StoreSync
import SyncModel
import SyncStore
import SyncStoreSQL
import OneWayTestSupport
import Testing

@testable import SyncStoreSQLite

/// A file of one model, opened with another.
@Suite(.endsInTime) struct MigrationTests {
    private let world: MigrationWorld

    init() throws {
        world = try MigrationWorld()
    }

    // MARK: The note

    @Test func aNoteIsKeptWithTheTables() async throws {
        let missing = try await SQLiteStore.note(at: world.path)
        #expect(!missing.isStore)
        #expect(missing.text == nil)
        #expect(!FileManager.default.fileExists(atPath: world.path))
        _ = try await world.open(.people())
        let none = try await SQLiteStore.note(at: world.path)
        #expect(none.isStore)
        #expect(none.text == nil)
        var options = SQLiteStore.Options()
        for note in ["one", "two"] {
            options.note = note
            _ = try await SQLiteStore(exactly: DataModel.people(), at: .file(world.path), options: options)
            let kept = try await SQLiteStore.note(at: world.path)
            #expect(kept.text == note)
        }
        // Without a note, and for reading, the earlier one stays.
        _ = try await world.open(DataModel.people { SyncAttribute("age", .int64) })
        let kept = try await SQLiteStore.note(at: world.path)
        #expect(kept.text == "two")
    }

    @Test func aFileThatIsNoStoreIsLookedAtOnly() async throws {
        try SQLiteConnection(path: world.path, isReadOnly: false, busyTimeout: 0).execute("CREATE TABLE mine (a)")
        let bytes = try Data(contentsOf: URL(filePath: world.path))
        let note = try await SQLiteStore.note(at: world.path)
        #expect(!note.isStore)
        #expect(note.text == nil)
        #expect(try Data(contentsOf: URL(filePath: world.path)) == bytes)
        #expect(try FileManager.default.contentsOfDirectory(atPath: world.folder.url.path) == ["store.sqlite"])
    }

    @Test func aModelThatDoesNotFitLeavesTheNote() async throws {
        var options = SQLiteStore.Options()
        options.note = "one"
        let store = try await SQLiteStore(
            exactly: DataModel.people { SyncAttribute("age", .int64) }, at: .file(world.path), options: options)
        try await store.transaction { transaction in
            var record = Record(of: try transaction.model.layout(of: "Person"))
            record["age"] = 36
            _ = try await transaction.insert(record)
        }
        options.note = "two"
        let other = try DataModel.people { SyncAttribute("age", .bool) }
        do {
            _ = try await SQLiteStore(exactly: other, at: .file(world.path), options: options)
            Issue.record("a narrower type was taken")
        } catch is SQLSchemaError {
            // The tables and the note stay as they were.
        }
        let kept = try await SQLiteStore.note(at: world.path)
        #expect(kept.text == "one")
    }

    // MARK: What others have added

    @Test func indicesTriggersAndViewsOfOthersAreKept() async throws {
        try await world.fill(DataModel.people(), #"[{"id":1,"name":"a"}]"#)
        let others = [
            "CREATE INDEX mine ON Person (name)",
            "CREATE VIEW names AS SELECT name FROM Person",
            "CREATE TABLE log (id)",
            "CREATE TRIGGER noted AFTER INSERT ON Person BEGIN INSERT INTO log VALUES (new.id); END",
            "CREATE TRIGGER away INSTEAD OF DELETE ON names BEGIN DELETE FROM Person WHERE name = old.name; END",
            "CREATE TRIGGER elsewhere AFTER INSERT ON log BEGIN SELECT name FROM Person; END",
        ]
        for statement in others { _ = try SQLiteConnection.texts(statement, at: world.path) }
        let select = """
            SELECT sql FROM sqlite_master WHERE name IN ('mine', 'names', 'log', 'noted', 'away', 'elsewhere') ORDER BY sql
            """
        let store = try await world.open(DataModel.people { SyncRelationship("boss", toOne: "Person") })
        #expect(try SQLiteConnection.texts(select, at: world.path) == others.sorted())
        try await world.sync(#"[{"id":1,"name":"a"},{"id":2}]"#, into: store)
        #expect(try SQLiteConnection.texts("SELECT CAST(id AS TEXT) FROM log", at: world.path) == ["2"])
    }

    @Test func anIndexOfOthersOnWhatIsDroppedIsARefusal() async throws {
        try await world.fill(DataModel.people(), #"[{"id":1,"name":"a"}]"#)
        _ = try SQLiteConnection.texts("CREATE INDEX mine ON Person (name)", at: world.path)
        try await world.expectRefusal(.unfitDependentObject(name: "mine", reason: "no such column: name"), version: 1) {
            try DataModel { SyncEntity("Person", identity: "id") { SyncAttribute("id", .int64) } }
        }
    }

    // MARK: Entities

    @Test func aFamilyIsMadeAndGivenUp() async throws {
        try await world.fill(DataModel.people(), #"[{"id":1,"name":"a"}]"#)
        let employee = SyncEntity("Employee", parent: "Person") { SyncAttribute("salary", .double, default: 10.0) }
        let store = try await world.open(.people(with: [employee]))
        #expect(try world.columns("Person") == ["_id", "_entity", "id", "name", "salary"])
        try await world.sync(#"[{"id":2,"salary":5},{"id":3}]"#, entity: "Employee", into: store)
        #expect(try await world.rows(store) == [1, 2, 3])
        #expect(try await store.store.count(StoreQuery("Employee", where: PropertyPath("salary") == 10.0)) == 1)
        // Its objects go with it.
        let narrowed = try await world.open(.people(), version: 1)
        #expect(try await world.rows(narrowed) == [1])
        #expect(try world.columns("Person") == ["_id", "id", "name"])
    }

    @Test func anOlderModelLeavesObjectsOfNewerEntitiesAlone() async throws {
        let employee = SyncEntity("Employee", parent: "Person") {}
        let newer = try DataModel.people(with: [employee, SyncEntity("Guest", parent: "Person") {}])
        let all = StoreSyncOptions.Operations.all.subtracting(.delete)
        try await world.fill(newer, #"[{"id":1},{"id":2}]"#)
        try await world.fill(newer, #"[{"id":3,"name":"g"}]"#, entity: "Guest", operations: all)
        let older = try await world.open(.people(with: [employee]))
        #expect(try await older.store.count(StoreQuery("Person")) == 2)
        #expect(try await older.store.records(StoreQuery("Person", limit: 3)).count == 2)
        #expect(try await world.sync(#"[{"id":1},{"id":2}]"#, into: older).isUnchanged)
        #expect(try await world.sync(#"[{"id":4}]"#, into: older).counts.deleted == 2)
        let found = try await world.open(newer).store.records(StoreQuery("Person"))
        #expect(found.map { $0.record["id"] } == [3, 4])
    }

    @Test func anOlderModelDeletesNothingByARelationshipThatItDoesNotKnow() async throws {
        func tag(_ relationships: [SyncRelationship]) -> SyncEntity {
            SyncEntity(
                "Tag", identity: ["id"], attributes: [SyncAttribute("id", .int64)], relationships: relationships)
        }
        let owner = tag([SyncRelationship("people", toMany: "Person", inverse: "tag", deleteRule: .cascade)])
        let newer = try DataModel.people(with: [owner]) { SyncRelationship("tag", toOne: "Tag", inverse: "people") }
        try await world.fill(newer, #"[{"id":1,"tag":{"id":5}}]"#)
        let older = try await world.open(.people(with: [tag([])]))
        #expect(try await older.sync(.bytes(Array("[]".utf8)), into: "Tag").counts.deleted == 1)
        #expect(try await world.rows(older) == [1])
    }

    @Test func anAttributeOfASubEntityComesAndGoes() async throws {
        let plain = SyncEntity("Employee", parent: "Person") {}
        try await world.fill(DataModel.people(with: [plain]), #"[{"id":1}]"#)
        try await world.fill(
            DataModel.people(with: [plain]), #"[{"id":2}]"#, entity: "Employee", operations: [.insert])
        let paid = SyncEntity("Employee", parent: "Person") { SyncAttribute("salary", .int32, default: 7) }
        let store = try await world.open(.people(with: [paid]))
        #expect(try await store.store.count(StoreQuery("Employee", where: PropertyPath("salary") == 7)) == 1)
        #expect(try SQLiteConnection.count("Person WHERE salary IS NULL", at: world.path) == 1)
        _ = try await world.open(.people(with: [plain]), version: 1)
        #expect(try world.columns("Person") == ["_id", "_entity", "id", "name"])
    }

    @Test func whatLedToADroppedEntityLeadsNowhere() async throws {
        let tag = SyncEntity("Tag", identity: "id") { SyncAttribute("id", .int64) }
        let before = try DataModel.people(with: [tag]) {
            SyncRelationship("tag", toOne: "Tag")
            SyncRelationship("tags", toMany: "Tag")
        }
        try await world.fill(before, #"[{"id":1,"tag":{"id":5},"tags":[{"id":6}]}]"#)
        let store = try await world.open(.people(), version: 1)
        #expect(try world.tables() == ["Person"])
        #expect(try await world.rows(store) == [1])
    }

    @Test func anEntityThatMovesToAnotherFamilyIsRefused() async throws {
        let free = SyncEntity("Robot", identity: "id") { SyncAttribute("id", .int64) }
        try await world.fill(DataModel.people(with: [free]), "[]")
        try await world.expectRefusal(.movedEntity(entity: "Robot")) {
            try DataModel.people(with: [SyncEntity("Robot", parent: "Person") {}])
        }
    }

    // MARK: Names

    @Test func namesAreSwappedAndStaySo() async throws {
        func model(_ swapped: Bool) throws -> DataModel {
            try DataModel {
                SyncEntity("A", identity: "id", formerName: swapped ? "B" : nil) {
                    SyncAttribute("id", .int64)
                    SyncAttribute("x", .string, formerName: swapped ? "y" : nil)
                    SyncAttribute("y", .string, formerName: swapped ? "x" : nil)
                }
                SyncEntity("B", identity: "id", formerName: swapped ? "A" : nil) {
                    SyncAttribute("id", .int64)
                    SyncAttribute("x", .string)
                    SyncAttribute("y", .string)
                }
            }
        }
        try await world.fill(model(false), #"[{"id":1,"x":"ax","y":"ay"}]"#, entity: "A")
        try await world.fill(model(false), #"[{"id":2,"x":"bx","y":"by"}]"#, entity: "B")
        for _ in 0..<2 {
            let store = try await world.open(model(true))
            let a = try await store.store.records(StoreQuery("A")).first?.record
            let b = try await store.store.records(StoreQuery("B")).first?.record
            #expect(a?["id"] == 2 && a?["x"] == "by" && a?["y"] == "bx")
            #expect(b?["id"] == 1 && b?["x"] == "ax" && b?["y"] == "ay")
        }
    }

    @Test func aRenamingIsFollowedOverSeveralVersions() async throws {
        func model(_ name: String, with others: [SyncEntity] = []) throws -> DataModel {
            try DataModel(
                [
                    SyncEntity(name, identity: "id", formerName: name == "First" ? nil : "First") {
                        SyncAttribute("id", .int64)
                    }
                ] + others)
        }
        try await world.fill(model("First"), #"[{"id":1}]"#, entity: "First")
        _ = try await world.open(model("Second"))
        // A new entity may take the first name then, and keeps it.
        let first = SyncEntity("First", identity: "id") { SyncAttribute("id", .int64) }
        try await world.fill(model("Third", with: [first]), #"[{"id":7}]"#, entity: "First")
        let store = try await world.open(model("Third", with: [first]))
        #expect(try await store.store.records(StoreQuery("Third")).map(\.key) == [.identity(1)])
        #expect(try await store.store.records(StoreQuery("First")).map(\.key) == [.identity(7)])
    }

    @Test func aNewBearerOfAFormerNameLeavesItsDataToTheRenamed() async throws {
        try await world.fill(DataModel.people(), #"[{"id":1,"name":"Ada"}]"#)
        // The version between, which only renames, was never opened.
        let model = try DataModel {
            SyncEntity("Human", identity: "id", formerName: "Person") {
                SyncAttribute("id", .int64)
                SyncAttribute("title", .string, formerName: "name")
                SyncAttribute("name", .string)
            }
            SyncEntity("Person", identity: "id") { SyncAttribute("id", .int64) }
        }
        for _ in 0..<2 {
            let store = try await world.open(model)
            let record = try #require(try await store.store.records(StoreQuery("Human")).first?.record)
            #expect(record["title"] == "Ada" && record["name"] == .null)
            #expect(try await store.store.count(StoreQuery("Person")) == 0)
        }
    }

    // MARK: Types

    @Test(arguments: [
        (AttributeType.int16, AttributeType.int64, "7", AttributeValue.int(7)), (.int32, .int64, "7", .int(7)),
        (.int16, .double, "7", .double(7)), (.int32, .double, "-7", .double(-7)),
        (.float, .double, "0.5", .double(0.5)),
        (.int64, .decimal, "9007199254740993", .decimal(Decimal(9_007_199_254_740_993))),
        (.uri, .string, #""http://a/b""#, .string("http://a/b")),
        (.uuid, .string, #""6f9619ff-8b86-d011-b42d-00c04fc964ff""#, .string("6F9619FF-8B86-D011-B42D-00C04FC964FF")),
    ])
    func aWiderTypeTakesOver(from: AttributeType, to: AttributeType, json: String, value: AttributeValue) async throws {
        func model(_ type: AttributeType) throws -> DataModel {
            try DataModel.people(attributes: [SyncAttribute("extra", type)])
        }
        try await world.fill(model(from), #"[{"id":1,"extra":\#(json)},{"id":2}]"#)
        let store = try await world.open(model(to))
        #expect(try await store.store.records(StoreQuery("Person")).map { $0.record["extra"] } == [value, .null])
        // The same again is the same.
        let result = try await world.sync(
            #"[{"id":1,"extra":\#(to == .string ? value.quoted : json)},{"id":2}]"#, into: store)
        #expect(result.isUnchanged)
    }

    @Test func aTypeThatAValueDoesNotFitIsRefused() async throws {
        try await world.fill(
            DataModel.people(attributes: [SyncAttribute("extra", .int64)]),
            #"[{"id":1,"extra":7},{"id":2,"extra":70000}]"#)
        let error = SQLSchemaError.unfitValue(
            entity: "Person", object: .identity(2), attribute: "extra", type: .int16, value: .int(70000))
        try await world.expectRefusal(error) { try .people(attributes: [SyncAttribute("extra", .int16)]) }
        #expect("\(error)".contains("extra in Person 2") && !"\(error)".contains("70000"))
        #expect(error.debugDescription.contains("70000"))
    }

    // MARK: Rebuilding

    @Test func aRefusedModelGetsAStoreThatIsFilledAnew() async throws {
        try await world.fill(
            DataModel.people(attributes: [SyncAttribute("age", .string)]), #"[{"id":1,"age":"x"}]"#)
        _ = try SQLiteConnection.texts("CREATE TABLE mine (a); INSERT INTO mine VALUES ('kept')", at: world.path)
        _ = try SQLiteConnection.texts("INSERT INTO mine VALUES ('kept')", at: world.path)
        let mapper = try RecordMapper(
            try DataModel.people(attributes: [SyncAttribute("age", .int64)]) {
                SyncRelationship("friends", toMany: "Person")
            })
        await #expect(
            throws: SQLSchemaError.unfitValue(
                entity: "Person", object: .identity(1), attribute: "age", type: .int64, value: "x")
        ) {
            try await SQLiteStore(exactly: mapper.model, at: .file(world.path))
        }
        struct Broken: Error {}
        await #expect(throws: Broken.self) {
            try await SQLiteStore.rebuild(exactly: mapper.model, at: world.path) { _ in throw Broken() }
        }
        #expect(try SQLiteConnection.texts("SELECT age FROM Person", at: world.path) == ["x"])
        let store = try await SQLiteStore.rebuild(exactly: mapper.model, at: world.path) { store in
            try await JSONStore(store, mapper: mapper).sync(
                .bytes(Array(#"[{"id":2,"age":5,"friends_ids":[2,3]},{"id":3}]"#.utf8)), into: "Person")
        }
        let json = try JSONStore(store, mapper: mapper)
        #expect(try await world.rows(json, where: "age = 5 and friends.@count = 2") == [2])
        try await world.sync(#"[{"id":3},{"id":4}]"#, into: json)
        #expect(try await world.rows(json) == [3, 4])
        #expect(try SQLiteConnection.texts("SELECT a FROM mine", at: world.path) == ["kept"])
        #expect(try SQLiteConnection.texts("PRAGMA integrity_check", at: world.path) == ["ok"])
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: world.folder.url.path).contains {
                $0.contains("rebuild")
            }
                == false)
    }

    // MARK: Tables of others

    @Test func tablesThatExistAlreadyAreSyncedInto() async throws {
        try SQLiteConnection(path: world.path, isReadOnly: false, busyTimeout: 0).execute(
            """
            CREATE TABLE people (id INTEGER PRIMARY KEY, full_name TEXT NOT NULL DEFAULT '', boss_id INTEGER
                REFERENCES people (id) ON DELETE SET NULL, remark TEXT DEFAULT 'none');
            INSERT INTO people VALUES (1, 'Ada', NULL, 'first'), (2, 'Bob', 1, 'second')
            """)
        var options = SQLiteStore.Options()
        options.naming = SQLNaming(
            tables: ["Person": "people"], columns: ["Person.name": "full_name", "Person.boss": "boss_id"],
            rowColumn: "rowid")
        let model = try DataModel.people { SyncRelationship("boss", toOne: "Person") }
        let store = try await world.open(model, options)
        #expect(try await world.rows(store, where: "boss.id = 1") == [2])
        let result = try await world.sync(
            #"[{"id":2,"name":"Bob","boss_id":3},{"id":3,"name":"Eve"}]"#, into: store)
        #expect(result.counts.inserted == 1 && result.counts.deleted == 1 && result.counts.updated == 1)
        #expect(
            try SQLiteConnection.count(
                "people WHERE (id = 2 AND boss_id = 3 AND remark = 'second') OR (id = 3 AND remark = 'none')",
                at: world.path)
                == 2)
        #expect(try await world.sync(#"[{"id":2,"boss_id":3},{"id":3}]"#, into: store).isUnchanged)
    }

    @Test func aTableThatLacksAColumnIsRefused() async throws {
        try SQLiteConnection(path: world.path, isReadOnly: false, busyTimeout: 0)
            .execute("CREATE TABLE Person (_id INTEGER PRIMARY KEY, id INTEGER)")
        try await world.expectRefusal(.missingColumn(table: "Person", column: "name")) { try DataModel.people() }
    }
}

extension AttributeValue {
    /// A text as JSON.
    fileprivate var quoted: String {
        if case .string(let text) = self { "\"\(text)\"" } else { "null" }
    }
}
