import Foundation
import JSONMapper
import OneWayTestLimits
import OneWayTestSupport
import StoreSync
import SyncModel
import SyncStore
import SyncStoreSQL
import Testing

@testable import SyncStoreSQLite

/// Names that collide with those of indices and helper tables, and as many attributes as there can
/// be.
@Suite(.endsInTime) struct NameTests {
    /// A quotation mark and an accent are one character to Swift, and two to SQL.
    @Test(arguments: ["\"", "'", "]", "`", "--", "/*"])
    func aMarkWithAnAccentIsDataInNamesAndTexts(mark: String) async throws {
        let hostile = "x\(mark)\u{301}; DROP TABLE User; --"
        let model = try DataModel {
            SyncEntity("User", identity: "id") { SyncAttribute("id", .int64) }
            SyncEntity(hostile, identity: hostile) {
                SyncAttribute(hostile, .string, default: .string(hostile))
                SyncAttribute("text", .string, default: .string(hostile))
                SyncRelationship("user", toOne: "User")
            }
            SyncEntity("\(hostile) 2", parent: hostile) { SyncAttribute("more", .string) }
        }
        let folder = try TemporaryDirectory()
        for _ in 0..<2 {
            let store = try await SQLiteStore(
                exactly: model, at: .file(folder.url.appending(path: "store.sqlite").path))
            var record = Record(of: try model.layout(of: "\(hostile) 2"))
            record[hostile] = .string(hostile)
            let request = record
            _ = try await store.transaction { try await $0.insert(request) }
            let query = StoreQuery(hostile, where: PropertyPath(components: [hostile]) == hostile)
            let found = try await store.records(query)
            #expect(found.map { $0.record["text"] } == [.string(hostile)])
            #expect(try await store.count(StoreQuery("User")) == 0)
            try await store.transaction { transaction in
                _ = try await transaction.remove(StoreQuery(hostile, objects: .only(found.map(\.object))))
            }
        }
    }

    @Test func identitiesAreUniqueWhateverEntitiesAndRelationshipsAreCalled() async throws {
        let names = [
            "User", "User_profile", "User_identity", "A", "A_B", "a_b_table", "_sync_doomed", "_sync_batch_3",
            "_sync_batch_2",
            "_sync_schema", "_sync_passes", "_sync_new_0", "_sync_old_0", "json_each", "pragma_table_xinfo",
            "sqlite_master", "sqlite_x", "Index", "user_",
        ]
        let model = try DataModel(
            names.map { name in
                SyncEntity(name, identity: "id") {
                    SyncAttribute("id", .int64)
                    SyncAttribute("position", .int64)
                    SyncRelationship("identity", toOne: "User")
                    SyncRelationship("profile", toOne: "User_profile")
                    SyncRelationship("B_identity", toOne: "A")
                    SyncRelationship("many", toOrdered: "A")
                }
            })
        let folder = try TemporaryDirectory()
        let path = folder.url.appending(path: "store.sqlite").path
        for _ in 0..<2 {
            let mapper = try RecordMapper(model)
            var options = SQLiteStore.Options()
            options.note = "a note, kept beside the description"
            let store = try JSONStore(
                try await SQLiteStore(exactly: mapper.model, at: .file(path), options: options), mapper: mapper)
            for name in names {
                let json =
                    #"[{"id":1,"position":4,"identity_id":1,"profile_id":2,"B_identity_id":1,"many_ids":[2,1]},{"id":2},{"id":2}]"#
                try await store.sync(.bytes(Array(json.utf8)), into: name)
                #expect(try await store.store.count(StoreQuery(name)) == 2, "\(name)")
                try await store.store.transaction { transaction in
                    let found = try await transaction.records(StoreQuery(name)).map(\.object)
                    var record = Record(of: try model.layout(of: name))
                    record["id"] = 1
                    let request = record
                    _ = try await transaction.remove(StoreQuery(name, objects: .only([found[1]])))
                    try await transaction.insert(request)
                }
                #expect(try await store.store.count(StoreQuery(name)) == 1, "\(name)")
            }
        }
        guard SQLiteShell.command != nil else { return }
        #expect(try await SQLiteShell.run("PRAGMA integrity_check; PRAGMA foreign_key_check", at: path) == ["ok"])
        let unique = try await SQLiteShell.run(
            "SELECT count(*) FROM sqlite_master WHERE type = 'index' AND sql LIKE 'CREATE UNIQUE%'", at: path)
        // The mapper adds two entities of its own, for pending links and for bookmarks.
        #expect(unique == ["\(names.count + 2)"])
    }

    /// What others have under the name before the store is opened, or before the model gains Pet.
    @Test(arguments: [
        ("Person_identity", "CREATE TABLE Person_identity (x)"), ("_sync_schema", "CREATE TABLE _sync_schema (x)"),
        ("_sync_batch_2", "CREATE TABLE _sync_batch_2 (x)"),
        ("JSON_each", "CREATE VIEW JSON_each AS SELECT 1 AS x"),
        ("pragma_table_info", "CREATE TABLE pragma_table_info (x)"),
        ("Pet_identity", "CREATE INDEX Pet_identity ON Person (name)"),
        ("Pet_identity", "CREATE VIEW Pet_identity AS SELECT 1 AS x"),
    ])
    func aNameOfOthersThatTheStoreNeedsIsARefusal(name: String, creation: String) async throws {
        let world = try MigrationWorld()
        var model = try DataModel.people()
        if name.hasPrefix("Pet") {
            try await world.fill(model, #"[{"id":1,"name":"a"}]"#)
            model = try .people(with: [SyncEntity("Pet", identity: "id") { SyncAttribute("id", .int64) }])
        }
        _ = try SQLiteConnection.texts(creation, at: world.path)
        var options = SQLiteStore.Options()
        options.note = "a note"
        for _ in 0..<2 {
            do {
                _ = try await SQLiteStore(exactly: model, at: .file(world.path), options: options)
                Issue.record("the name was taken")
            } catch SQLSchemaError.unfitDependentObject(let found, let reason) {
                #expect(found == name)
                #expect(reason.contains("rename it"))
            }
        }
        #expect(
            try SQLiteConnection.texts("SELECT sql FROM sqlite_master WHERE name = '\(name)'", at: world.path) == [
                creation
            ])
    }

    /// SQLite folds the letters of ASCII only.
    @Test func aColumnThatDiffersInAnAccentedCapitalIsAnother() async throws {
        let world = try MigrationWorld()
        _ = try SQLiteConnection.texts(
            "CREATE TABLE Person (_id INTEGER PRIMARY KEY, ID INTEGER, NÄME TEXT)", at: world.path)
        await #expect(throws: SQLSchemaError.missingColumn(table: "Person", column: "näme")) {
            try await SQLiteStore(
                exactly:
                    DataModel {
                        SyncEntity("Person", identity: "id") {
                            SyncAttribute("id", .int64)
                            SyncAttribute("näme", .string)
                        }
                    }, at: .file(world.path))
        }
    }

    @Test(arguments: [996, 997, 2000])
    func asManyAttributesAsSQLiteHasColumnsForOrAnError(count: Int) async throws {
        let model = try DataModel([
            SyncEntity(
                "Wide", identity: ["a0"], attributes: (0..<count).map { SyncAttribute("a\($0)", .int64) },
                relationships: [])
        ])
        guard count <= 996 else {
            await #expect(throws: SQLSchemaError.tooManyColumns(table: "Wide", count: count, limit: 996)) {
                try await SQLiteStore(exactly: model, at: .memory)
            }
            return
        }
        let store = try await SQLiteStore(exactly: model, at: .memory)
        var record = Record(of: try model.layout(of: "Wide"))
        for index in 0..<count { record["a\(index)"] = .int(Int64(index)) }
        let wide = record
        _ = try await store.transaction { try await $0.insert(wide) }
        #expect(try await store.records(StoreQuery("Wide")).first?.record == wide)
    }
}
