#if Postgres
import OneWaySynchronizer
import StoreSync
import SyncStorePostgres

/// The documentation of the store and the lease, compiled.
private func syncUnderALease(_ database: String, _ users: String) async throws {
    let lease = PostgresLease("users", at: database)
    let store = try await PostgresStore(User.self, at: database)
    try await lease.withLease(waiting: .forever) {
        try await store.sync(User.self, .file(users))
    }
}
#endif
