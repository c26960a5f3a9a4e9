import Foundation
import OneWayTestLimits
import StoreSync
import SyncModel
import SyncStore
import SyncStoreSQL
import Testing

@testable import SyncStoreSQLite

/// Changes of a model that what is stored does not allow.
@Suite(.endsInTime) struct MigrationRefusalTests {
    private let world: MigrationWorld

    init() throws {
        world = try MigrationWorld()
    }

    private func run(_ statements: String) throws {
        try SQLiteConnection(path: world.path, isReadOnly: false, busyTimeout: 0).execute(statements)
    }

    @Test func objectsOfAnEntityThatPartsFromItsFamilyAreKept() async throws {
        let guest = SyncEntity("Guest", parent: "Person") {}
        try await world.fill(.people(with: [guest]), #"[{"id":1,"name":"a"}]"#)
        let all = StoreSyncOptions.Operations.all.subtracting(.delete)
        try await world.fill(.people(with: [guest]), #"[{"id":2}]"#, entity: "Guest", operations: all)
        try await world.expectRefusal(.removedEntity(entity: "Guest", table: "Person")) { try .people() }
        #expect(try SQLiteConnection.texts("SELECT _entity FROM Person", at: world.path) == ["Person", "Guest"])
        // Without objects nothing is lost.
        try run("DELETE FROM Person WHERE _entity = 'Guest'")
        let store = try await world.open(.people())
        #expect(try await world.rows(store) == [1])
        #expect(try world.columns("Person") == ["_id", "id", "name"])
    }

    @Test func equalValuesKeepAUniqueIndexFromBeingMade() async throws {
        try await world.fill(.people(), #"[{"id":1,"name":"a"},{"id":2,"name":"a"}]"#)
        func unique() throws -> DataModel {
            var person = try DataModel.people().layouts[0].entity
            person.indexes = [SyncEntity.Index(["name"], unique: true)]
            return try DataModel([person])
        }
        try await world.expectRefusal(.equalValues(table: "Person", index: #"Person_by_name ("name")"#), unique)
        try run("UPDATE Person SET name = 'b' WHERE id = 2")
        let store = try await world.open(unique())
        await #expect(throws: (any Error).self) {
            try await world.sync(#"[{"id":1,"name":"b"},{"id":2,"name":"b"}]"#, into: store)
        }
        #expect(try SQLiteConnection.texts("SELECT name FROM Person", at: world.path) == ["a", "b"])
    }

    @Test func aTableThatCannotBeRenamedIsARefusal() async throws {
        func model(_ name: String) throws -> DataModel {
            try DataModel {
                SyncEntity(name, identity: "id", formerName: "User") { SyncAttribute("id", .int64) }
            }
        }
        try await world.fill(model("User"), #"[{"id":1}]"#, entity: "User")
        try run("CREATE TABLE log (id); CREATE TRIGGER lost AFTER INSERT ON log BEGIN DELETE FROM gone; END")
        let error = await #expect(throws: SQLSchemaError.self) { try await world.open(model("Member")) }
        guard case .unfitDependentObject(let name, let reason) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(name == "Member")
        #expect(reason.hasPrefix("renaming tables failed: error in trigger lost"))
        #expect(try world.tables() == ["User", "log"])
        try run("DROP TRIGGER lost")
        #expect(try await world.open(model("Member")).store.count(StoreQuery("Member")) == 1)
    }

    @Test func defaultsOfEveryKindFillNewColumns() async throws {
        try await world.fill(.people(), #"[{"id":1}]"#)
        let attributes: [(String, AttributeType, AttributeValue)] = [
            ("high", .double, .double(.infinity)), ("low", .double, .double(-.infinity)),
            ("some", .double, .double(0.1)),
            ("text", .string, "it's"), ("flag", .bool, true), ("price", .decimal, .decimal(1.5)),
        ]
        let store = try await world.open(
            .people(attributes: attributes.map { SyncAttribute($0.0, $0.1, default: $0.2) }))
        let record = try #require(try await store.store.records(StoreQuery("Person")).first?.record)
        for (name, _, value) in attributes { #expect(record[name] == value) }
    }

    @Test func jsonStaysAsItIsWhenItsTableIsMadeAnew() async throws {
        func model(_ type: AttributeType, of value: AttributeType) throws -> DataModel {
            try .people(attributes: [SyncAttribute("age", type), SyncAttribute("value", value)])
        }
        try await world.fill(
            model(.int16, of: .json),
            #"[{"id":1,"value":{"a":[1,"x"]}},{"id":2,"value":"null"},{"id":3,"value":true},{"id":4}]"#)
        let before = try SQLiteConnection.texts("SELECT ifnull(value, 'none') FROM Person ORDER BY id", at: world.path)
        #expect(before == [#"{"a":[1,"x"]}"#, #""null""#, "true", "none"])
        _ = try await world.open(model(.double, of: .json))
        #expect(
            try SQLiteConnection.texts("SELECT ifnull(value, 'none') FROM Person ORDER BY id", at: world.path) == before
        )
    }

    @Test(arguments: [
        (AttributeType.bool, "[true,false,null]", ["true", "false", "none"]),
        (.string, #"["null","a",null]"#, [#""null""#, #""a""#, "none"]), (.int32, "[1,0,null]", ["1", "0", "none"]),
        (.decimal, "[1.5,0,null]", ["1.5", "0", "none"]), (.double, "[0.5,2,null]", ["0.5", "2.0", "none"]),
    ])
    func valuesBecomeJSON(type: AttributeType, json: String, expected: [String]) async throws {
        let values = json.dropFirst().dropLast().split(separator: ",")
        let objects = values.enumerated().map { #"{"id":\#($0.offset),"value":\#($0.element)}"# }
        try await world.fill(
            .people(attributes: [SyncAttribute("value", type)]), "[\(objects.joined(separator: ","))]")
        _ = try await world.open(.people(attributes: [SyncAttribute("value", .json)]))
        #expect(
            try SQLiteConnection.texts("SELECT ifnull(value, 'none') FROM Person ORDER BY id", at: world.path)
                == expected)
    }
}
