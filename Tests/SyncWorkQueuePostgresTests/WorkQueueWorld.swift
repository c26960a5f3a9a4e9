#if Postgres
import OneWayPostgresTestSupport
import OneWaySynchronizer
import OneWayTestSupport
import SyncStoreSQL
import SyncWorkQueuePostgres

/// A queue of a test, and workers in this process.
enum WorkQueueWorld {
    typealias Downloader = @Sendable (ScriptedProcessor.Call) async throws -> Void

    static let schema = "a \"schema\""
    static let table = "\(SQLText.name(schema))._sync_work"

    static func items(_ count: Int) -> [TestItem] {
        (0..<count).map { TestItem("item \($0)") }
    }

    static func queue(_ database: TestDatabase, _ change: (inout PostgresWorkQueue.Options) -> Void = { _ in })
        -> PostgresWorkQueue
    {
        var options = PostgresWorkQueue.Options(schema: Self.schema, visibilityTimeout: .seconds(30))
        change(&options)
        return PostgresWorkQueue("it's a queue", at: database.url, options: options)
    }

    /// Runs workers while a function runs.
    static func withWorkers<Result: Sendable>(
        _ processors: [ScriptedProcessor], _ queue: PostgresWorkQueue, concurrency: Int = 4,
        _ body: () async throws -> Result
    ) async throws -> Result {
        let workers = processors.map { queue.worker(with: $0, concurrency: concurrency) }
        let runs = workers.map { worker in Task { try await worker.run() } }
        defer { for run in runs { run.cancel() } }
        let result = try await body()
        for worker in workers { worker.stop() }
        for run in runs { try await run.value }
        return result
    }
}
#endif
