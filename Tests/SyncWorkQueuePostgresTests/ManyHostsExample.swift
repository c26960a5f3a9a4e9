#if Postgres
import OneWaySynchronizer
import SyncStorePostgres
import SyncWorkQueuePostgres
import OneWayTestSupport

/// The examples of many hosts in the documentation, compiled.
struct ManyHostsExample {
    private func hold(_ pages: ScriptedProcessor, _ database: String) async throws {
        let lease = PostgresLease("pages", at: database)
        let queue = PostgresWorkQueue("pages", at: database)
        let synchronizer = Synchronizer(processor: queue.sharing(pages), options: SyncOptions(concurrency: 256))
        try await lease.withLease(waiting: .forever) { try await synchronizer.sync() }
    }

    private func work(_ pages: ScriptedProcessor, _ queue: PostgresWorkQueue) async throws {
        try await queue.worker(with: pages, concurrency: 8).run()
    }
}
#endif
