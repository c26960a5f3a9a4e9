#if Postgres
import OneWayPostgresClient
import OneWayPostgresTestSupport
import OneWaySynchronizer
import OneWayTestLimits
import OneWayTestSupport
import SyncWorkQueuePostgres
import Testing

/// What a worker takes, begins and ends. The test is the holder.
@Suite(.enabled(if: SharedPostgres.isAvailable, "\(SharedPostgres.absence)"), .endsInTime)
struct WorkerLoopTests {
    /// A queue whose workers claim items ahead after the first one, and report none too late.
    private func aheadQueue(_ database: TestDatabase) -> PostgresWorkQueue {
        WorkQueueWorld.queue(database) { options in
            options.aheadDuration = .seconds(600)
            options.aheadWaitLimit = .seconds(600)
            options.visibilityTimeout = .seconds(600)
        }
    }

    /// A worker that has done item 1, runs item 2 until the gate opens, and has claimed the others.
    private struct BusyWorker {
        let queue: PostgresWorkQueue
        let processor: ScriptedProcessor
        let worker: PostgresWorkQueue.Worker<ScriptedProcessor>
        let run: Task<Void, any Error>
        let mayEnd: Gate
    }

    private func busyWorker(with count: Int, _ database: TestDatabase) async throws -> BusyWorker {
        let queue = aheadQueue(database)
        try await WorkQueueWorld.offer(1...count, to: queue, database)
        let mayEnd = Gate()
        let processor = ScriptedProcessor { call in
            if call == .content("item 2") { try await mayEnd.pass() }
        }
        let worker = queue.worker(with: processor, concurrency: 1)
        let run = Task { try await worker.run() }
        try await mayEnd.waitForArrivals(orEndOf: run)
        try await database.waitForRow(
            "SELECT 1 FROM \(WorkQueueWorld.table) WHERE state = 'running' HAVING count(*) = \(count - 1)")
        return BusyWorker(queue: queue, processor: processor, worker: worker, run: run, mayEnd: mayEnd)
    }

    // MARK: Taking items

    @Test func aWorkerTakesWhatIsThereWhenItBegins() async throws {
        try await SharedPostgres.withDatabase { database in
            let queue = WorkQueueWorld.queue(database)
            try await WorkQueueWorld.offer(1...2, to: queue, database)
            let processor = ScriptedProcessor()
            let worker = queue.worker(with: processor, concurrency: 2)
            let run = Task { try await worker.run() }
            defer { run.cancel() }
            // Its first statements. It stops when it has done what they begin.
            try await database.waitForRow(
                "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'WITH %'")
            worker.stop()
            try await run.value
            #expect(Set(processor.calls) == [.content("item 1"), .content("item 2")])
        }
    }

    @Test func aSuspectIsDownloadedAloneAndTheOthersAfterIt() async throws {
        try await SharedPostgres.withDatabase { database in
            let queue = WorkQueueWorld.queue(database)
            try await WorkQueueWorld.offer(1...3, to: queue, database)
            try await database.run("UPDATE \(WorkQueueWorld.table) SET is_suspect = true WHERE number = 1")
            let mayEnd = Gate()
            let processor = ScriptedProcessor { call in
                if call == .content("item 1") { try await mayEnd.pass() }
            }
            let worker = queue.worker(with: processor, concurrency: 2)
            let run = Task { try await worker.run() }
            defer { run.cancel() }
            try await mayEnd.waitForArrivals(orEndOf: run)
            try await WorkQueueWorld.waitForLook(into: queue, database)
            let states = try await database.run("SELECT state FROM \(WorkQueueWorld.table) ORDER BY number")
            #expect(states == [["running"], ["waiting"], ["waiting"]])
            mayEnd.open()
            try await database.waitForRow("SELECT 1 FROM \(WorkQueueWorld.table) WHERE number = 1 AND state = 'done'")
            // Having reported it, the worker takes the others before it stops.
            worker.stop()
            try await run.value
            #expect(Set(processor.calls).count == 3 && processor.calls.count == 3)
        }
    }

    /// An item is given to another worker when its time is over, here to the same one.
    @Test func anItemThatIsLostAndClaimedAgainIsNotDownloadedTwiceAtATime() async throws {
        try await SharedPostgres.withDatabase { database in
            let queue = WorkQueueWorld.queue(database)
            try await WorkQueueWorld.offer(1...1, to: queue, database)
            let mayEnd = Gate()
            let processor = ScriptedProcessor { _ in await mayEnd.passUncancelled() }
            let worker = queue.worker(with: processor, concurrency: 2)
            let run = Task { try await worker.run() }
            defer { run.cancel() }
            try await mayEnd.waitForArrivals(orEndOf: run)
            try await database.run(
                """
                UPDATE \(WorkQueueWorld.table) SET state = 'waiting', worker = NULL;
                \(WorkQueueWorld.withdrawalNotice(queue))
                """)
            try await database.waitForRow(
                "SELECT 1 FROM \(WorkQueueWorld.table) WHERE state = 'running' AND attempts = 2")
            try await WorkQueueWorld.waitForLook(into: queue, database)
            mayEnd.open()
            try await database.waitForRow("SELECT 1 FROM \(WorkQueueWorld.table) WHERE state = 'done'")
            worker.stop()
            try await run.value
            #expect(processor.calls.count == 2 && processor.current.maximumInFlight == 1)
        }
    }

    // MARK: Withdrawn items

    @Test func aWithdrawnItemIsCancelledBeforeMoreIsTaken() async throws {
        try await SharedPostgres.withDatabase { database in
            let queue = aheadQueue(database)
            try await WorkQueueWorld.offer(1...1, to: queue, database)
            let (isRunning, isCancelled, hasMore) = (Gate(), Gate(), Gate())
            let wasCancelled = Watched(false)
            let processor = ScriptedProcessor { call in
                guard call == .content("item 1") else {
                    let isFirstCancelled = isCancelled.isOpen
                    wasCancelled.update { $0 = isFirstCancelled }
                    hasMore.open()
                    return
                }
                try await withTaskCancellationHandler {
                    isRunning.open()
                    try await Gate().pass()
                } onCancel: {
                    isCancelled.open()
                }
            }
            let worker = queue.worker(with: processor, concurrency: 2)
            let run = Task { try await worker.run() }
            defer { run.cancel() }
            try await isRunning.pass(orEndOf: run)
            try await database.run(
                """
                UPDATE \(WorkQueueWorld.table) SET is_withdrawn = true;
                \(WorkQueueWorld.offering(2...2));
                \(WorkQueueWorld.withdrawalNotice(queue))
                """)
            try await hasMore.pass(orEndOf: run)
            #expect(wasCancelled.value)
            run.cancel()
            _ = await run.result
        }
    }

    @Test func ofTheItemsThatWaitOnlyTheWithdrawnOnesEnd() async throws {
        try await SharedPostgres.withDatabase { database in
            let busy = try await busyWorker(with: 4, database)
            let (queue, processor, worker, run) = (busy.queue, busy.processor, busy.worker, busy.run)
            defer { run.cancel() }
            try await database.run(
                """
                UPDATE \(WorkQueueWorld.table) SET is_withdrawn = true WHERE number = 4;
                \(WorkQueueWorld.withdrawalNotice(queue))
                """)
            try await database.waitForRow("SELECT 1 FROM \(WorkQueueWorld.table) WHERE state = 'failed'")
            let failed = try await database.run("SELECT number FROM \(WorkQueueWorld.table) WHERE state = 'failed'")
            #expect(failed == [["4"]])
            busy.mayEnd.open()
            worker.stop()
            try await run.value
            #expect(!processor.calls.contains(.content("item 4")))
        }
    }

    // MARK: Ends

    @Test func aWorkerThatStopsBeginsNothingWhileItWaitsForTheServer() async throws {
        try await SharedPostgres.withDatabase { database in
            let busy = try await busyWorker(with: 3, database)
            let (queue, processor, worker, run) = (busy.queue, busy.processor, busy.worker, busy.run)
            defer { run.cancel() }
            let session = try await PostgresSession(database.url)
            try await session.use { _ = try $0.execute("BEGIN; LOCK TABLE \(WorkQueueWorld.table) IN EXCLUSIVE MODE") }
            try await database.run(WorkQueueWorld.withdrawalNotice(queue))
            try await database.waitForWaiter()
            worker.stop()
            busy.mayEnd.open()
            try await processor.wait { $0.inFlight == 0 }
            // Meanwhile another item could begin.
            try await database.run("SELECT 1")
            try await session.use { _ = try $0.execute("COMMIT") }
            try await run.value
            #expect(processor.calls == [.content("item 1"), .content("item 2")])
            let states = try await database.run("SELECT state FROM \(WorkQueueWorld.table) ORDER BY number")
            #expect(states == [["done"], ["done"], ["waiting"]])
        }
    }

    @Test func aWorkerWhoseFirstConnectionFailsEndsWithTheError() async {
        let worker = PostgresWorkQueue("queue", at: "host=127.0.0.1 port=1").worker(with: ScriptedProcessor())
        // If it tried again, it would end without an error.
        worker.stop()
        await #expect(throws: PostgresError.self) { try await worker.run() }
    }

    @Test func aWorkerEndsWithAnErrorThatAnotherSessionWouldGetToo() async throws {
        try await SharedPostgres.withDatabase { database in
            let queue = WorkQueueWorld.queue(database)
            _ = try await queue.itemsSetAside()
            let session = try await PostgresSession(database.url)
            try await session.use {
                _ = try $0.execute("BEGIN; ALTER TABLE \(WorkQueueWorld.table) DROP COLUMN version")
            }
            let worker = queue.worker(with: ScriptedProcessor())
            let run = Task { try await worker.run() }
            defer { run.cancel() }
            try await database.waitForWaiter()
            // If it connected again, it would end without an error.
            worker.stop()
            try await session.use { _ = try $0.execute("COMMIT") }
            await #expect(throws: PostgresError.self) { try await run.value }
        }
    }

    @Test func aWorkerWhoseSessionsEndUnansweredConnectsAgain() async throws {
        try await SharedPostgres.withDatabase { database in
            let queue = WorkQueueWorld.queue(database)
            _ = try await queue.itemsSetAside()
            let session = try await PostgresSession(database.url)
            try await session.use { _ = try $0.execute("BEGIN; LOCK TABLE \(WorkQueueWorld.table)") }
            let worker = queue.worker(with: ScriptedProcessor())
            let run = Task { try await worker.run() }
            defer { run.cancel() }
            let waiting = """
                FROM pg_stat_activity
                WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%_sync_work%'
                """
            for _ in 0..<4 { try await database.waitForRow("SELECT pg_terminate_backend(pid, 60000) \(waiting)") }
            try await database.waitForRow("SELECT 1 \(waiting)")
            worker.stop()
            try await session.use { _ = try $0.execute("COMMIT") }
            try await run.value
        }
    }
}
#endif
