#if Postgres
import Foundation
import OneWaySynchronizer
import OneWayPostgresTestSupport
import OneWayTestLimits
import SyncWorkQueuePostgres
import OneWayTestSupport
import Testing

/// Limits, keys and errors at the ends of their ranges.
@Suite(.enabled(if: SharedPostgres.isAvailable, "\(SharedPostgres.absence)"), .endsInTime)
struct WorkQueueLimitTests {
    @Test(arguments: [
        (Int.max, Duration.seconds(Int64.max), Duration.seconds(9)), (Int.min, .seconds(Int64.min), .seconds(9)),
        (0, .zero, .seconds(Int64.max)), (3, .seconds(3600), .seconds(30)),
    ])
    func anyLimitIsAllowed(maximumAttempts: Int, asideDuration: Duration, visibilityTimeout: Duration) async throws {
        try await SharedPostgres.withDatabase { database in
            let queue = WorkQueueWorld.queue(database) { options in
                options.maximumAttempts = maximumAttempts
                options.asideDuration = asideDuration
                options.visibilityTimeout = visibilityTimeout
            }
            // An item that was set aside before is compared with the limits.
            _ = try await queue.itemsSetAside()
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            let item = String(decoding: try encoder.encode(TestItem("item 0")), as: UTF8.self)
            try await database.run(
                """
                INSERT INTO \(WorkQueueWorld.table)_aside (queue, stage, key, item, attempts, worker)
                VALUES ('it''s a queue', 'content', 'item 0', '\(item)', 3, 'x')
                """)
            let isAside = asideDuration > .zero
            let holder = ScriptedProcessor(source: WorkQueueWorld.items(20))
            let options = SyncOptions(concurrency: 10, stopOnError: false)
            let sync = Task { try await Synchronizer(processor: queue.sharing(holder), options: options).sync() }
            if visibilityTimeout == .seconds(9) {
                // A worker that dies, so that the limit of attempts counts.
                try await database.waitForRow(
                    """
                    UPDATE \(WorkQueueWorld.table) SET state = 'running', worker = 'x', attempts = 1, visible_at = clock_timestamp()
                    WHERE number = 2 AND state = 'waiting' RETURNING 1
                    """)
                try await database.waitForRow(
                    maximumAttempts > 1
                        ? "SELECT 1 FROM \(WorkQueueWorld.table) WHERE number = 2 AND state = 'waiting' AND is_suspect"
                        : "SELECT 1 FROM \(WorkQueueWorld.table)_aside WHERE attempts = 1")
            }
            let result = try await WorkQueueWorld.withWorkers([ScriptedProcessor()], queue) { await sync.result }
            let isOtherAside = visibilityTimeout == .seconds(9) && maximumAttempts < 2
            switch result {
            case .success(let report): #expect(report.inserted == 20 && !isAside && !isOtherAside)
            case .failure(let error):
                #expect((error as? SyncFailure)?.report.inserted == 19 && isAside != isOtherAside, "\(error)")
            }
        }
    }

    /// A pass with the shortest timeout would not get its answers in time on a busy machine.
    @Test(arguments: [Duration.zero, .seconds(-5), .seconds(Int64.min)])
    func aTimeoutIsAtLeastOneSecond(visibilityTimeout: Duration) {
        let options = PostgresWorkQueue.Options(visibilityTimeout: visibilityTimeout)
        #expect(PostgresWorkQueue("queue", at: "", options: options).options.visibilityTimeout == .seconds(1))
    }

    @Test func itemsOfOneKeyAreSetAsideTogether() async throws {
        try await SharedPostgres.withDatabase { database in
            let queue = WorkQueueWorld.queue(database) { options in
                options.maximumAttempts = 1
                options.visibilityTimeout = .seconds(9)
            }
            let options = SyncOptions(concurrency: 10, stopOnError: false)
            let holder = ScriptedProcessor(source: WorkQueueWorld.items(3))
            let sync = Task { try await Synchronizer(processor: queue.sharing(holder), options: options).sync() }
            // Keys of different values can have the same text.
            try await database.waitForRow("SELECT 1 FROM \(WorkQueueWorld.table) HAVING count(*) = 3")
            try await database.run(
                """
                UPDATE \(WorkQueueWorld.table) SET state = 'running', worker = 'x', worker_name = 'dead', attempts = 1, key = 'same',
                    visible_at = clock_timestamp() WHERE number < 3
                """)
            let failure = try await WorkQueueWorld.withWorkers([ScriptedProcessor()], queue) {
                await #expect(throws: SyncFailure.self) { try await sync.value }
            }
            #expect(failure?.report.inserted == 1 && failure?.report.failed == 2)
            #expect(try await queue.itemsSetAside().map(\.key) == ["same"])
        }
    }

    /// PostgreSQL has no texts with NUL.
    @Test func aKeyOrAnErrorWithNULIsLikeAnyOther() async throws {
        try await SharedPostgres.withDatabase { database in
            let queue = WorkQueueWorld.queue(database)
            let keys = ["a", "b\0c", "d\0"]
            let holder = ScriptedProcessor(source: keys.map { TestItem($0) })
            let worker = ScriptedProcessor { call in
                if case .content("d\0") = call { throw TestError("no\0 \u{1}") }
            }
            let failure = try await WorkQueueWorld.withWorkers([worker], queue) {
                await #expect(throws: SyncFailure.self) {
                    try await Synchronizer(
                        processor: queue.sharing(holder), options: SyncOptions(stopOnError: false)
                    ).sync()
                }
            }
            #expect(failure?.report.inserted == 2)
            #expect(failure?.errors.map { "\($0.underlying)" } == ["no\0 \u{1}"])
        }
    }
}
#endif
