#if Postgres
import Foundation
import OneWaySynchronizer
import OneWayPostgresTestSupport
import SyncWorkQueuePostgres
import OneWayTestSupport
import Testing

/// Workers that die, and holders that are taken over.
extension PostgresWorkQueueTests {
    // MARK: Poison

    @Test func anItemThatKillsItsWorkersIsSetAsideWithoutItsNeighbours() async throws {
        try await SharedPostgres.withDatabase { database in
            let queue = WorkQueueWorld.queue(database) { options in
                options.schema = "public"
                options.maximumAttempts = 2
                options.visibilityTimeout = .seconds(3)
            }
            let keys = (0..<7).map { "\($0)" } + ["poison x"]
            let holder = ScriptedProcessor(source: keys.map { TestItem($0) })
            let options = SyncOptions(concurrency: 20, stopOnError: false)
            let sync = Task { try await Synchronizer(processor: queue.sharing(holder), options: options).sync() }
            let ends = EventLog<Int>()
            // A worker that dies is replaced, as a supervisor does.
            let supervisor = Task {
                for number in 0..<10 where !Task.isCancelled {
                    let worker = try ChildProcess(
                        ChildProcess.product("TestChild"),
                        ["work", database.url, queue.name, "8", "3000", "1", "w\(number)"], errors: ChildOutput())
                    try await withTaskCancellationHandler {
                        _ = try await worker.end()
                    } onCancel: {
                        worker.signal(SIGKILL)
                    }
                    ends.append(number)
                }
            }
            let failure = await #expect(throws: SyncFailure.self) { try await sync.value }
            supervisor.cancel()
            #expect(failure?.report.inserted == 7 && failure?.report.failed == 1)
            #expect(failure?.errors.map { "\($0.underlying)".hasPrefix("set aside after 2 workers") } == [true])
            #expect(try await queue.itemsSetAside().map(\.key) == ["poison x"])
            // Somebody has fixed the processor: the item is tried again by hand, and is no longer
            // listed.
            try await queue.releaseItemsSetAside(try await queue.itemsSetAside())
            let again = ScriptedProcessor(source: [TestItem("poison x")])
            try await WorkQueueWorld.withWorkers([ScriptedProcessor()], queue) {
                _ = try await Synchronizer(processor: queue.sharing(again), options: options).sync()
            }
            #expect(try await queue.itemsSetAside() == [])
        }
    }

    @Test func aWorkerWhoseProcessorsBlockEveryThreadIsNotDead() async throws {
        try await SharedPostgres.withDatabase { database in
            let queue = WorkQueueWorld.queue(database) { options in
                options.schema = "public"
                options.visibilityTimeout = .seconds(3)
            }
            let keys = (0..<16).map { "\($0) b" }
            let holder = ScriptedProcessor(source: keys.map { TestItem($0) })
            let sync = Task {
                try await Synchronizer(processor: queue.sharing(holder), options: SyncOptions(concurrency: 20)).sync()
            }
            let worker = try ChildProcess(
                ChildProcess.product("TestChild"), ["work", database.url, queue.name, "16", "3000", "1", "w"])
            // Far beyond the time at which its items would be given to others.
            try await database.waitForRow(
                "SELECT 1 FROM _sync_work WHERE state = 'running' AND visible_at > clock_timestamp() LIMIT 1")
            let first = try await database.run(
                "SELECT extract(epoch FROM min(visible_at)) FROM _sync_work WHERE state = 'running'")
            try await database.waitForRow(
                """
                SELECT 1 FROM _sync_work WHERE state = 'running'
                    AND visible_at > to_timestamp(\(first[0][0] ?? "0")) + interval '4 s' LIMIT 1
                """)
            let attempts = try await database.run("SELECT DISTINCT attempts FROM _sync_work WHERE state = 'running'")
            #expect(attempts == [["1"]])
            await worker.close()
            try await WorkQueueWorld.withWorkers([ScriptedProcessor()], queue) { _ = try await sync.value }
        }
    }

    // MARK: Conflicts

    @Test func workersOutliveCancelledPasses() async throws {
        try await SharedPostgres.withDatabase { database in
            let queue = WorkQueueWorld.queue(database)
            let workers = (0..<2).map { _ in ScriptedProcessor() }
            let runs = workers.map { worker in Task { try await queue.worker(with: worker, concurrency: 8).run() } }
            for _ in 0..<60 {
                let begun = workers.map(\.calls.count).reduce(0, +)
                let holder = ScriptedProcessor(source: WorkQueueWorld.items(200))
                let sync = Task {
                    try await Synchronizer(processor: queue.sharing(holder), options: SyncOptions(concurrency: 100))
                        .sync()
                }
                // In the middle.
                while workers.map(\.calls.count).reduce(0, +) < begun + 20 { await Task.yield() }
                sync.cancel()
                _ = await sync.result
            }
            // Both still work.
            let before = workers.map(\.calls.count)
            let holder = ScriptedProcessor(source: WorkQueueWorld.items(2000))
            let report = try await Synchronizer(
                processor: queue.sharing(holder), options: SyncOptions(concurrency: 200)
            ).sync()
            #expect(report.inserted == 2000)
            for (worker, count) in zip(workers, before) { #expect(worker.calls.count > count) }
            for run in runs { run.cancel() }
        }
    }

    // MARK: Generations

    @Test func aHolderThatWasTakenOverOffersAndFinishesNothing() async throws {
        try await SharedPostgres.withDatabase { database in
            let queue = WorkQueueWorld.queue(database) { $0.visibilityTimeout = .seconds(6) }
            let seen = EventLog<Int64?>()
            let downloads = ScriptedProcessor { call in
                if case .content = call { seen.append(PostgresWorkQueue.generation) }
            }
            let isListing = Gate()
            let mayGoOn = Gate()
            // Frozen after it has begun, before it offers anything.
            let first = ScriptedProcessor(source: WorkQueueWorld.items(3)) { call in
                if case .list = call {
                    isListing.open()
                    await mayGoOn.passUncancelled()
                }
            }
            let frozen = Task { try await Synchronizer(processor: queue.sharing(first)).sync() }
            try await isListing.pass(orEndOf: frozen)
            let report = try await WorkQueueWorld.withWorkers([downloads], queue) {
                let second = ScriptedProcessor(source: WorkQueueWorld.items(5))
                let report = try await Synchronizer(processor: queue.sharing(second)).sync()
                mayGoOn.open()
                let failure = await #expect(throws: SyncFailure.self) { try await frozen.value }
                #expect(failure?.errors.first?.underlying as? PostgresWorkQueue.Failure == .takenOver)
                return report
            }
            #expect(report.inserted == 5)
            #expect(seen.events == Array(repeating: 2, count: 5))
            #expect(PostgresWorkQueue.generation == nil)
        }
    }

    /// A holder that waits for the workers of an earlier pass may be taken over itself.
    @Test func aHolderThatIsTakenOverWhileItWaitsRemovesNothing() async throws {
        try await SharedPostgres.withDatabase { database in
            let queue = WorkQueueWorld.queue(database)
            func sync(_ count: Int) -> Task<SyncReport, any Error> {
                Task { [source = WorkQueueWorld.items(count)] in
                    try await Synchronizer(processor: queue.sharing(ScriptedProcessor(source: source))).sync()
                }
            }
            func waitForGeneration(_ generation: Int) async throws {
                try await database.waitForRow(
                    "SELECT 1 FROM \(WorkQueueWorld.table)_passes WHERE generation = \(generation)")
            }
            let first = sync(1)
            // A worker that never seems to end.
            try await database.waitForRow(
                """
                UPDATE \(WorkQueueWorld.table) SET state = 'running', worker = 'x', visible_at = clock_timestamp() + interval '1 day'
                WHERE state = 'waiting' RETURNING 1
                """)
            let second = sync(2)
            try await waitForGeneration(2)
            let third = sync(3)
            try await waitForGeneration(3)
            // The second one gives up, although the worker still works.
            let failure = await #expect(throws: SyncFailure.self) { try await second.value }
            let text = failure.map { "\($0)" } ?? ""
            #expect(text.contains("another process has begun a pass"), "\(text)")
            try await database.run("DELETE FROM \(WorkQueueWorld.table)")
            let report = try await WorkQueueWorld.withWorkers([ScriptedProcessor()], queue) { try await third.value }
            #expect(report.inserted == 3)
            _ = await first.result
        }
    }

    /// A pass that has lost its connection does not take the queue from one that began after it.
    @Test func aHolderThatConnectsAgainDoesNotBeginAgain() async throws {
        try await SharedPostgres.withDatabase { database in
            let queue = WorkQueueWorld.queue(database)
            func sync(_ count: Int) async throws -> SyncReport {
                let processor = ScriptedProcessor(source: WorkQueueWorld.items(count))
                return try await Synchronizer(processor: queue.sharing(processor)).sync()
            }
            _ = try await sync(0)
            let session = try await PostgresSession(database.url)
            try await session.use { connection in
                try connection.execute("BEGIN")
                try connection.execute("LOCK TABLE \(WorkQueueWorld.table)")
            }
            // Begins, and then has to wait for the lock.
            let second = Task { try await sync(2) }
            try await database.waitForRow("SELECT 1 FROM \(WorkQueueWorld.table)_passes WHERE generation = 2")
            try await database.waitForWaiter()
            // Another one begins while the connection is away.
            try await session.use { connection in
                try connection.execute("UPDATE \(WorkQueueWorld.table)_passes SET generation = 3, holder = 'third'")
                try connection.execute(
                    """
                    SELECT pg_terminate_backend(pid, 60000) FROM pg_locks
                    WHERE NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
                    """)
                try connection.execute("COMMIT")
            }
            try await WorkQueueWorld.withWorkers([ScriptedProcessor()], queue) {
                let failure = await #expect(throws: SyncFailure.self) { try await second.value }
                #expect(failure?.errors.first?.underlying as? PostgresWorkQueue.Failure == .takenOver)
            }
        }
    }
}
#endif
