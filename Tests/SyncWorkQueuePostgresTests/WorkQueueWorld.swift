#if Postgres
import OneWayPostgresTestSupport
import OneWaySynchronizer
import OneWayTestSupport
import SyncStoreSQL

@testable import SyncWorkQueuePostgres

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

    // MARK: Without a holder

    /// Statements that offer the items `item N` with these numbers.
    static func offering(_ numbers: ClosedRange<Int>) -> String {
        """
        INSERT INTO \(table)_passes (queue, generation, holder) VALUES ('it''s a queue', 1, 'holder')
        ON CONFLICT (queue) DO NOTHING;
        INSERT INTO \(table) (queue, holder, generation, number, stage, key, item, state)
        SELECT 'it''s a queue', 'holder', 1, number, 'content', 'item ' || number,
            '{"owsPrimaryKey":"item ' || number || '","owsDownloadOrder":0,"revision":1}', 'waiting'
        FROM generate_series(\(numbers.lowerBound), \(numbers.upperBound)) AS number
        """
    }

    /// Offers items without telling the workers.
    static func offer(_ numbers: ClosedRange<Int>, to queue: PostgresWorkQueue, _ database: TestDatabase) async throws {
        // Creates the tables.
        _ = try await queue.itemsSetAside()
        try await database.run(offering(numbers))
    }

    /// A statement that tells the workers that items were withdrawn.
    static func withdrawalNotice(_ queue: PostgresWorkQueue) -> String {
        "SELECT pg_notify('\(WorkQueueStatements(queue).workerChannel)', '\(WorkQueueStatements.withdrawal)')"
    }

    /// Waits until the worker of an item has looked for others, and has those that it takes.
    static func waitForLook(into queue: PostgresWorkQueue, _ database: TestDatabase) async throws {
        // At the second report that it is alive, what follows the first one has happened.
        for _ in 0..<2 {
            let last = try await database.run("SELECT max(visible_at) FROM \(table)")
            try await database.run(withdrawalNotice(queue))
            try await database.waitForRow("SELECT 1 FROM \(table) WHERE visible_at > '\(last[0][0] ?? "")'")
        }
    }

    // MARK: Workers

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
