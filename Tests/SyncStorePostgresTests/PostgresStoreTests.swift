#if Postgres
import PostgresTestSupport
import SyncModel
import SyncStore
import SyncStorePostgres
import SyncStoreTesting
import Testing

@Suite(.enabled(if: SharedPostgres.isAvailable, Comment(rawValue: SharedPostgres.absence)))
struct PostgresStoreTests {
    @Test func isAStore() async throws {
        try await SharedPostgres.withSchemas { schemas in
            try await StoreConformance.check {
                try await PostgresStore($0, at: schemas.url, options: schemas.emptyStore())
            }
        }
    }
}
#endif
