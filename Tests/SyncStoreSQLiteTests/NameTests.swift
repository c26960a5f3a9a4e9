import Foundation
import JSONMapper
import OneWayTestSupport
import StoreSync
import SyncModel
import SyncStore
import SyncStoreSQL
import SyncStoreSQLite
import Testing

/// Names that collide with those of indices and helper tables, and as many attributes as there can
/// be.
@Suite struct NameTests {
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
            let store = try await SQLiteStore(model, at: .file(folder.url.appending(path: "store.sqlite").path))
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
            "User", "User_profile", "User_identity", "A", "A_B", "a_b_table", "sync_doomed", "sync_batch_3",
            "sync_batch_2",
            "_sync_schema", "_sync_note", "_sync_new_0", "sqlite_master", "sqlite_x", "Index", "user_",
        ]
        let model = try DataModel(
            names.map { name in
                SyncEntity(name, identity: "id") {
                    SyncAttribute("id", .int64)
                    SyncAttribute("position", .int64)
                    SyncRelationship("identity", toOne: "User")
                    SyncRelationship("profile", toOne: "User_profile")
                    SyncRelationship("B_identity", toOne: "A")
                    SyncRelationship("many", toMany: "A", ordered: true)
                }
            })
        let folder = try TemporaryDirectory()
        let path = folder.url.appending(path: "store.sqlite").path
        for _ in 0..<2 {
            let mapper = try RecordMapper(model)
            var options = SQLiteStore.Options()
            options.note = "a note, kept in a table beside"
            let store = try JSONStore(
                try await SQLiteStore(mapper.model, at: .file(path), options: options), mapper: mapper)
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
        // The mapper adds an entity of its own, for pending links.
        #expect(unique == ["\(names.count + 1)"])
    }

    @Test(arguments: [997, 998, 2000])
    func asManyAttributesAsSQLiteHasColumnsForOrAnError(count: Int) async throws {
        let model = try DataModel([
            SyncEntity(
                "Wide", identity: ["a0"], attributes: (0..<count).map { SyncAttribute("a\($0)", .int64) },
                relationships: [])
        ])
        guard count <= 997 else {
            await #expect(throws: SQLSchemaError.tooManyColumns(table: "Wide", count: count, limit: 997)) {
                try await SQLiteStore(model, at: .memory)
            }
            return
        }
        let store = try await SQLiteStore(model, at: .memory)
        var record = Record(of: try model.layout(of: "Wide"))
        for index in 0..<count { record["a\(index)"] = .int(Int64(index)) }
        let wide = record
        _ = try await store.transaction { try await $0.insert(wide) }
        #expect(try await store.records(StoreQuery("Wide")).first?.record == wide)
    }
}
