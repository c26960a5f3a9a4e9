import OneWayStoreKinds
import JSONMapper
import OneWayTestLimits
import StoreSync
import SyncModel
import SyncStore
import SyncStoreSQLite
import Testing
#if Postgres
import OneWayPostgresTestSupport
import SyncStorePostgres
#endif

/// Attributes that hold JSON values.
@Suite(.endsInTime) struct JSONAttributeTests {
    private static func model() throws -> DataModel {
        try DataModel {
            SyncEntity("Document", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("meta", .json)
            }
        }
    }

    @Test(arguments: StoreKind.all)
    func aValueBeyondTheLimitsIsReportedAndKeepsTheStoredOne(kind: StoreKind) async throws {
        let mapper = try RecordMapper(try Self.model(), JSONMapping(contract: .keeping))
        try await kind.use { makeStore in
            let world = try RealJSONWorld(try await makeStore(mapper.model), mapper: mapper)
            try await world.sync(#"[{"id":1,"meta":[1e300]}]"#, into: "Document")
            let result = try await world.sync(#"[{"id":1,"meta":[1e3000]}]"#, into: "Document")
            let entry = try #require(result.drift.entries.first)
            #expect(entry.keyPath == "meta" && entry.kind == .unfitValue && entry.count == 1)
            #expect(try await world.count("Document", where: PropertyPath("meta") == "[1e300]") == 1)
        }
    }

    @Test func sqliteStoresJSONText() async throws {
        let store = try await SQLiteStore(exactly: try Self.model(), at: .memory)
        let json = try JSONStore(store, mapper: try RecordMapper(store.model))
        _ = try await json.sync(
            JSONSource.bytes(Array(#"[{"id":1,"meta":{"tags": ["b", "a"], "Name": "\u0041"}}]"#.utf8)), into: "Document"
        )
        let rows = try await store.sql { reader in
            try await reader.rows(
                #"SELECT meta, typeof(meta) AS type, meta ->> '$.Name' AS name FROM "Document""#)
        }
        #expect(rows == [["meta": #"{"Name":"A","tags":["b","a"]}"#, "type": "text", "name": "A"]])
        let tags = try await store.sql { reader in
            try await reader.rows(#"SELECT j.value AS tag FROM "Document", json_each(meta, '$.tags') j"#)
        }
        #expect(tags == [["tag": "b"], ["tag": "a"]])
    }

    #if Postgres
    @Test(.enabled(if: SharedPostgres.isAvailable, "\(SharedPostgres.absence)"))
    func postgresStoresJSONB() async throws {
        try await SharedPostgres.withDatabase { database in
            let mapper = try RecordMapper(try Self.model())
            let json = try JSONStore(try await PostgresStore(exactly: mapper.model, at: database.url), mapper: mapper)
            _ = try await json.sync(
                JSONSource.bytes(Array(#"[{"id":1,"meta":{"tags": ["b", "a"], "Name": "\u0041"}}]"#.utf8)),
                into: "Document")
            let rows = try await database.run(
                #"SELECT pg_typeof(meta), meta ->> 'Name', meta @> '{"tags": ["a"]}' FROM "Document""#)
            #expect(rows == [["jsonb", "A", "t"]])
        }
    }
    #endif
}
