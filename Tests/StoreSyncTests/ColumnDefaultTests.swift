import JSONMapper
import OneWayTestLimits
import StoreSync
import SyncModel
import SyncStore
import Testing

/// Attributes in columns of existing tables that are `NOT NULL` with a default.
@Suite(.endsInTime) struct ColumnDefaultTests {
    private static func open(_ database: UniqueDatabase, name: String) async throws -> JSONStore {
        try await database.make("User", "id bigint NOT NULL, name \(name), rank bigint NOT NULL DEFAULT 7")
        let model = try DataModel {
            SyncEntity("User", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("name", .string)
                SyncAttribute("rank", .int64)
            }
        }
        let store = try await database.open(model)
        return try JSONStore(store, mapper: RecordMapper(store.model))
    }

    private static func sync(
        _ json: String, _ store: JSONStore, _ options: StoreSyncOptions = StoreSyncOptions()
    ) async throws -> StoreSyncResult {
        try await store.sync(.bytes(Array(json.utf8)), into: "User", options: options)
    }

    private static let users = #"SELECT id, name, rank FROM "User" ORDER BY id"#

    @Test(arguments: UniqueDatabase.sql, ["text NOT NULL DEFAULT 'zz'", "varchar(9) NOT NULL DEFAULT (lower('ZZ'))"])
    func newObjectsWithoutAValueGetTheDefault(kind: UniqueDatabase.Kind, name: String) async throws {
        try await kind.use { database in
            let store = try await Self.open(database, name: name)
            let json = #"[{"id":1},{"id":2,"name":"b"},{"id":3,"rank":1}]"#
            _ = try await Self.sync(json, store)
            let expected: [[String?]] = [["1", "zz", "7"], ["2", "b", "7"], ["3", "zz", "1"]]
            #expect(try await database.rows(Self.users) == expected)
            #expect(try await Self.sync(json, store).isUnchanged)
            #expect(try await Self.sync(#"[{"id":1},{"id":2},{"id":3}]"#, store).isUnchanged)
            #expect(try await database.rows(Self.users) == expected)
            // No row has a value.
            _ = try await Self.sync(#"[{"id":4},{"id":5}]"#, store)
            #expect(try await database.rows(Self.users) == [["4", "zz", "7"], ["5", "zz", "7"]])
        }
    }

    /// Neither the default nor the former value takes its place in silence.
    @Test(arguments: UniqueDatabase.sql, ["text NOT NULL DEFAULT 'zz'", "text NOT NULL DEFAULT (random())"])
    func aNullIsRefused(kind: UniqueDatabase.Kind, name: String) async throws {
        try await kind.use { database in
            let store = try await Self.open(database, name: name)
            _ = try await Self.sync(#"[{"id":1,"name":"zz"},{"id":2,"name":"b"}]"#, store)
            for (id, json) in [
                (1, #"[{"id":1,"name":null},{"id":2}]"#), (2, #"[{"id":1},{"id":2,"name":null}]"#),
                (3, #"[{"id":1},{"id":2},{"id":3,"name":null}]"#),
            ] {
                let error = await #expect(throws: StoreError.self) { try await Self.sync(json, store) }
                #expect(
                    "\(try #require(error))"
                        == "User \(id), element \(id - 1): name has no value, and its column does not accept null")
            }
            var options = StoreSyncOptions()
            options.setsRefusedAside = true
            let json = #"[{"id":1,"name":null},{"id":2,"name":"c"},{"id":3,"name":null},{"id":4,"name":"d"}]"#
            let result = try await Self.sync(json, store, options)
            #expect(result.rejectedCount == 2 && result.rejected.map(\.attribute) == ["name", "name"])
            #expect(
                try await database.rows(Self.users) == [["1", "zz", "7"], ["2", "c", "7"], ["4", "d", "7"]])
        }
    }
}
