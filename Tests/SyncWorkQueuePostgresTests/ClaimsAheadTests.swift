#if Postgres
import OneWayPostgresTestSupport
import OneWaySynchronizer
import OneWayTestLimits
import OneWayTestSupport
import SyncBase
import SyncWorkQueuePostgres
import Testing

/// Workers claim short items ahead: here, one worker whose first items are short has further ones
/// behind an item that takes as long as the test wants.
@Suite(.enabled(if: SharedPostgres.isAvailable, "\(SharedPostgres.absence)"), .endsInTime)
struct ClaimsAheadTests {
    private static let count = 60
    /// Which of the worker's items is the long one.
    private static let longItemNumber = 20

    private struct Situation {
        let database: TestDatabase
        let queue: PostgresWorkQueue
        /// The worker that downloads the long item, and what it runs in.
        let busy: PostgresWorkQueue.Worker<ScriptedProcessor>
        let run: Task<Void, any Error>
        let busyProcessor: ScriptedProcessor
        let longItem: Gate
        let pass: Task<SyncReport, any Error>

        /// Waits until all items but the long one have been downloaded by the two processors.
        func waitForOthers(_ other: ScriptedProcessor) async throws {
            try await other.log.wait { $0.count == ClaimsAheadTests.count - busyProcessor.calls.count }
        }
    }

    /// - Parameter waitLimit: When the worker returns what waits behind the long item.
    private func withLongItem(
        waitLimit: Duration = .seconds(600), _ body: (Situation) async throws -> Void
    ) async throws {
        try await SharedPostgres.withDatabase { database in
            // The first items are short on any machine, and none is taken from its worker.
            let queue = WorkQueueWorld.queue(database) { options in
                options.aheadDuration = .seconds(600)
                options.aheadWaitLimit = waitLimit
                options.visibilityTimeout = .seconds(600)
            }
            let longItem = Gate()
            let downloadCount = Locked(0)
            let processor = ScriptedProcessor { call in
                guard case .content = call else { return }
                let number = downloadCount.withLock { count in
                    count += 1
                    return count
                }
                if number == Self.longItemNumber { try await longItem.pass() }
            }
            let pass = Task {
                let holder = ScriptedProcessor(source: WorkQueueWorld.items(Self.count))
                return try await Synchronizer(
                    processor: queue.sharing(holder), options: SyncOptions(concurrency: Self.count)
                ).sync()
            }
            // The items are offered in any order, and the worker can claim only what is there.
            try await database.waitForRow(
                "SELECT 1 FROM \(WorkQueueWorld.table) HAVING count(*) = \(Self.count)")
            let busy = queue.worker(with: processor, concurrency: 1)
            let run = Task { try await busy.run() }
            defer { run.cancel() }
            try await longItem.waitForArrivals(orEndOf: run)
            if waitLimit > .seconds(1) {
                try await database.waitForRow(
                    "SELECT 1 FROM \(WorkQueueWorld.table) WHERE state = 'running' GROUP BY worker HAVING count(*) > 2")
            }
            try await body(
                Situation(
                    database: database, queue: queue, busy: busy, run: run, busyProcessor: processor,
                    longItem: longItem, pass: pass))
        }
    }

    @Test func itemsBehindALongOneGoToOtherWorkers() async throws {
        try await withLongItem(waitLimit: .seconds(1)) { situation in
            let other = ScriptedProcessor()
            try await WorkQueueWorld.withWorkers([other], situation.queue) {
                try await situation.waitForOthers(other)
                situation.longItem.open()
                let report = try await situation.pass.value
                #expect(report.inserted == Self.count && report.errorCount == 0)
            }
            let calls = situation.busyProcessor.calls + other.calls
            #expect(Set(calls).count == Self.count && calls.count == Self.count)
        }
    }

    @Test func aWorkerThatStopsReturnsWhatItHasNotBegun() async throws {
        try await withLongItem { situation in
            situation.busy.stop()
            let other = ScriptedProcessor()
            try await WorkQueueWorld.withWorkers([other], situation.queue) {
                try await situation.waitForOthers(other)
                situation.longItem.open()
                #expect(try await situation.pass.value.inserted == Self.count)
            }
            try await situation.run.value
            #expect(situation.busyProcessor.calls.count == Self.longItemNumber)
        }
    }

    @Test func aWorkerThatIsCancelledReturnsWhatItHasClaimed() async throws {
        try await withLongItem { situation in
            situation.run.cancel()
            await #expect(throws: CancellationError.self) { try await situation.run.value }
            let states = try await situation.database.run("SELECT DISTINCT state FROM \(WorkQueueWorld.table)")
            try #require(!states.contains(["running"]))
            #expect(situation.busyProcessor.calls.count == Self.longItemNumber)
            let other = ScriptedProcessor()
            let report = try await WorkQueueWorld.withWorkers([other], situation.queue) {
                try await situation.pass.value
            }
            let long = try #require(situation.busyProcessor.calls.last)
            #expect(report.inserted == Self.count && other.calls.contains(long))
        }
    }

    /// The pass waits for all items that a worker has claimed.
    @Test func aCancelledPassEndsWhatAWorkerHasNotBegun() async throws {
        try await withLongItem { situation in
            situation.pass.cancel()
            await #expect(throws: (any Error).self) { try await situation.pass.value }
        }
    }
}
#endif
