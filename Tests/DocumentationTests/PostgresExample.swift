#if Postgres
import JSONMapper
import OneWaySynchronizer
import StoreSync
import SyncStorePostgres

/// The documentation of the store and the lease, compiled.
private func syncUnderALease(_ mapper: RecordMapper, _ database: String, _ users: String) async throws {
    let lease = PostgresLease("users", at: database)
    let store = try await PostgresStore(mapper.model, at: database)
    try await lease.withLease(waiting: .forever) {
        try await JSONStore(store, mapper: mapper).sync(.file(users), into: "User")
    }
}
#endif
