#if Postgres
import OneWayPostgresTestSupport
import OneWayTestLimits
import SyncModel
import SyncStore
@testable import SyncStorePostgres
import SyncStoreSQL
import Testing

/// How the server finds the rows of a batch.
@Suite(.enabled(if: SharedPostgres.isAvailable, "\(SharedPostgres.absence)"), .endsInTime)
struct PostgresPlanTests {
    /// With the server's default costs, the whole table would be read for each batch.
    @Test func linksOfABatchAreLookedUpInALargeTable() async throws {
        try await SharedPostgres.withSchemas { schemas in
            let options = schemas.emptyStore()
            let model = try DataModel {
                SyncEntity("Person", identity: "id") {
                    SyncAttribute("id", .int64)
                    SyncRelationship("spouse", toOne: "Person")
                }
            }
            let store = try await PostgresStore(exactly: model, at: schemas.url, options: options)
            try await schemas.run(
                #"INSERT INTO "Person" (_id, id) OVERRIDING SYSTEM VALUE SELECT n, n FROM generate_series(1, 100000) n; "#
                    + #"UPDATE "Person" SET spouse = _id; ANALYZE "Person""#,
                in: options)
            let links = try #require(try model.layout(of: "Person").relationship("spouse"))
            let rows = "'{\((50_000..<54_000).map(String.init).joined(separator: ","))}'::bigint[]"
            let text = SQLQueries(SQLSchema(model, dialect: .postgres(schema: options.schema))).links(links, of: rows)
            try await store.writer.beginWriting()
            let plan = try await store.writer.connected { connection in
                let found = try connection.execute("EXPLAIN (FORMAT JSON) \(text)")
                connection.rollback()
                return found.text(0, 0) ?? ""
            }
            await store.writer.rollback()
            #expect(plan.contains("Index") && !plan.contains("Seq Scan"), "\(plan)")
        }
    }
}
#endif
