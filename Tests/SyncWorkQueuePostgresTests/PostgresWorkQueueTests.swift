#if Postgres
import Foundation
import OneWaySynchronizer
import OneWayPostgresTestSupport
import OneWayTestLimits
import SyncWorkQueuePostgres
import SyncStoreSQL
import OneWayTestSupport
import Testing

/// Passes whose items are downloaded by workers, all in this process.
@Suite(.enabled(if: SharedPostgres.isAvailable, "\(SharedPostgres.absence)"), .endsInTime)
struct PostgresWorkQueueTests {
    @Test func everyItemIsDownloadedOnceByOneOfTheWorkers() async throws {
        try await SharedPostgres.withDatabase { database in
            let queue = WorkQueueWorld.queue(database)
            let holder = ScriptedProcessor(
                source: WorkQueueWorld.items(500), local: ["gone": 1, "item 3": 1, "item 4": 0])
            let workers = (0..<3).map { _ in ScriptedProcessor() }
            let report = try await WorkQueueWorld.withWorkers(workers, queue) {
                let options = SyncOptions(concurrency: 100, downloadPreview: true)
                return try await Synchronizer(processor: queue.sharing(holder), options: options).sync()
            }
            #expect(report.inserted == 498 && report.updated == 1 && report.deleted == 1 && report.unchanged == 1)
            let calls = workers.flatMap(\.calls)
            #expect(calls.count == 998)
            #expect(Set(calls).count == 998)
            // Neither lists, nor does the holder download.
            #expect(!calls.contains(.list) && !calls.contains(.begin))
            #expect(holder.calls.filter { "\($0)".hasPrefix("content") || "\($0)".hasPrefix("preview") }.isEmpty)
            let left = try await database.run("SELECT count(*) FROM \(WorkQueueWorld.table)")
            #expect(left == [["0"]])
        }
    }

    /// A publication of all tables refuses updates and deletions in a table without a key.
    @Test func everyTableHasAPrimaryKey() async throws {
        try await SharedPostgres.withDatabase { database in
            _ = try await WorkQueueWorld.queue(database).itemsSetAside()
            let tables = try await database.run(
                "SELECT relname, EXISTS (SELECT 1 FROM pg_index WHERE indrelid = c.oid AND indisprimary) "
                    + "FROM pg_class c WHERE relkind = 'r' AND relname LIKE '\\_sync%'")
            #expect(tables.count == 3)
            #expect(tables.allSatisfy { $0[1] == "t" }, "\(tables)")
        }
    }

    // MARK: Versions of the items

    /// A processor of another version, whose items have a value that those of the holder lack.
    private struct OtherProcessor: SyncProcessor {
        struct Item: SyncItem, Codable {
            var owsPrimaryKey: String
            var color: String
        }

        func owsFetchSourceList() async throws -> SourceList<Item> { throw TestError("no list") }
        func owsGetLocalKeys() async throws -> Set<String> { [] }
        func owsRemoveLocalItems(for keys: Set<String>) async throws {}
        func owsDownloadItem(for item: Item) async throws {}
    }

    /// A rolling deployment without another version number.
    @Test func itemsThatAWorkerCannotReadGoToOthers() async throws {
        try await SharedPostgres.withDatabase { database in
            let queue = WorkQueueWorld.queue(database)
            let holder = ScriptedProcessor(source: WorkQueueWorld.items(100))
            let other = queue.worker(with: OtherProcessor(), concurrency: 4)
            let pass = Task { try await Synchronizer(processor: queue.sharing(holder)).sync() }
            // Only the worker that cannot read them takes items, until it ends.
            let error = await #expect(throws: PostgresWorkQueue.Failure.self) { try await other.run() }
            guard case .unreadableItems(let reason)? = error else { throw TestError("ended by another error") }
            #expect(reason.contains("color is missing"))
            let downloading = ScriptedProcessor()
            let report = try await WorkQueueWorld.withWorkers([downloading], queue) { try await pass.value }
            #expect(report.inserted == 100 && report.errorCount == 0)
            #expect(Set(downloading.calls).count == 100)
        }
    }

    @Test func workersLeaveItemsOfANewerVersionToOthers() async throws {
        try await SharedPostgres.withDatabase { database in
            let old = WorkQueueWorld.queue(database)
            let new = WorkQueueWorld.queue(database) { $0.itemVersion = 2 }
            let (oldProcessor, newProcessor) = (ScriptedProcessor(), ScriptedProcessor())
            try await WorkQueueWorld.withWorkers([oldProcessor], old) {
                try await WorkQueueWorld.withWorkers([newProcessor], new) {
                    let holder = ScriptedProcessor(source: WorkQueueWorld.items(50))
                    let report = try await Synchronizer(processor: new.sharing(holder)).sync()
                    #expect(report.inserted == 50)
                }
                #expect(oldProcessor.calls.isEmpty && newProcessor.calls.count == 50)
            }
            // Workers of a newer version read the items of an older one.
            try await WorkQueueWorld.withWorkers([newProcessor], new) {
                let holder = ScriptedProcessor(source: WorkQueueWorld.items(20))
                _ = try await Synchronizer(processor: old.sharing(holder)).sync()
            }
            #expect(newProcessor.calls.count == 70)
        }
    }

    @Test func functionsOfOthersAreNotCalled() async throws {
        try await SharedPostgres.withDatabase { database in
            let schema = SQLText.name(WorkQueueWorld.schema)
            try await database.run(
                "CREATE SCHEMA \(schema); \(FunctionTraps.creation(in: schema)); \(FunctionTraps.creation(in: "public"))"
            )
            let queue = WorkQueueWorld.queue(database)
            let holder = ScriptedProcessor(source: WorkQueueWorld.items(50))
            let report = try await WorkQueueWorld.withWorkers([ScriptedProcessor()], queue) {
                try await Synchronizer(processor: queue.sharing(holder)).sync()
            }
            #expect(report.inserted == 50 && report.errorCount == 0)
        }
    }

    @Test func failuresAreReportedAsByASingleHost() async throws {
        try await SharedPostgres.withDatabase { database in
            let queue = WorkQueueWorld.queue(database)
            let failing: WorkQueueWorld.Downloader = { call in
                if case .content(let key) = call, key.hasSuffix("7") { throw TestError("no \(key)") }
            }
            let holder = ScriptedProcessor(source: WorkQueueWorld.items(50))
            let single = ScriptedProcessor(source: WorkQueueWorld.items(50), onCall: failing)
            let options = SyncOptions(concurrency: 10, stopOnError: false)
            let expected = await #expect(throws: SyncFailure.self) {
                try await Synchronizer(processor: single, options: options).sync()
            }
            let failure = try await WorkQueueWorld.withWorkers([ScriptedProcessor(onCall: failing)], queue) {
                await #expect(throws: SyncFailure.self) {
                    try await Synchronizer(processor: queue.sharing(holder), options: options).sync()
                }
            }
            #expect(failure?.errors.map(\.description).sorted() == expected?.errors.map(\.description).sorted())
            #expect(failure?.report.description == expected?.report.description)
            #expect(failure?.errors.first?.underlying is PostgresWorkQueue.Failure)
        }
    }

    @Test func whatAWorkerSaysOfTryingAgainHoldsForThePass() async throws {
        try await SharedPostgres.withDatabase { database in
            let queue = WorkQueueWorld.queue(database)
            let hasFailed = Watched(false)
            let worker = ScriptedProcessor { call in
                guard case .content("item 1") = call else { return }
                let isFirst = hasFailed.update { hasFailed in
                    defer { hasFailed = true }
                    return !hasFailed
                }
                if isFirst { throw RetryableTestError(retryAfter: .milliseconds(1)) }
            }
            let options = SyncOptions(concurrency: 10, retry: RetryPolicy())
            let report = try await WorkQueueWorld.withWorkers([worker], queue) {
                try await Synchronizer(
                    processor: queue.sharing(ScriptedProcessor(source: WorkQueueWorld.items(5))), options: options
                ).sync()
            }
            #expect(report.retries == 1 && report.inserted == 5)
        }
    }

    @Test func theFirstErrorWithdrawsWhatIsNotBegunAndCancelsWhatIs() async throws {
        try await SharedPostgres.withDatabase { database in
            let queue = WorkQueueWorld.queue(database)
            let isOtherRunning = Gate()
            let count = Watched(0)
            let worker = ScriptedProcessor { _ in
                let number = count.update { count in
                    count += 1
                    return count
                }
                if number == 1 {
                    try await isOtherRunning.pass()
                    throw TestError("the first")
                }
                isOtherRunning.open()
                // Ends by being cancelled only.
                try await Gate().pass()
            }
            let holder = ScriptedProcessor(source: WorkQueueWorld.items(30))
            let failure = try await WorkQueueWorld.withWorkers([worker], queue, concurrency: 2) {
                await #expect(throws: SyncFailure.self) {
                    try await Synchronizer(processor: queue.sharing(holder), options: SyncOptions(concurrency: 20))
                        .sync()
                }
            }
            #expect(failure?.errors.map { "\($0.underlying)" } == ["the first"])
            // Workers go on until the pass has heard of the error.
            #expect(worker.calls.count < 20)
        }
    }

    @Test func aCancelledPassAwaitsWhatWorkersDo() async throws {
        try await SharedPostgres.withDatabase { database in
            let queue = WorkQueueWorld.queue(database)
            let isRunning = Gate()
            let isCancelled = Gate()
            let mayEnd = Gate()
            let worker = ScriptedProcessor { _ in
                isRunning.open()
                try? await Gate().pass()
                isCancelled.open()
                await mayEnd.passUncancelled()
            }
            let holder = ScriptedProcessor(source: WorkQueueWorld.items(1))
            try await WorkQueueWorld.withWorkers([worker], queue) {
                let sync = Task { try await Synchronizer(processor: queue.sharing(holder)).sync() }
                try await isRunning.pass(orEndOf: sync)
                sync.cancel()
                try await isCancelled.pass(orEndOf: sync)
                // The pass waits for the item to end: its end has not been called.
                #expect(!holder.calls.contains(.end))
                mayEnd.open()
                _ = await sync.result
                try await holder.log.wait(for: .end)
            }
        }
    }

    @Test func anItemWhoseWorkersDieIsSetAsideWithItsError() async throws {
        try await SharedPostgres.withDatabase { database in
            let queue = WorkQueueWorld.queue(database) { options in
                options.maximumAttempts = 2
                options.visibilityTimeout = .seconds(6)
            }
            let holder = ScriptedProcessor(source: WorkQueueWorld.items(2))
            let shared = queue.sharing(holder)
            @Sendable func sync() async -> SyncFailure? {
                await #expect(throws: SyncFailure.self) {
                    try await Synchronizer(
                        processor: shared, options: SyncOptions(concurrency: 10, stopOnError: false)
                    ).sync()
                }
            }
            let pass = Task { await sync() }
            // Two that take the first item and are never heard of again.
            for _ in 0..<2 {
                try await database.waitForRow(
                    """
                    UPDATE \(WorkQueueWorld.table) SET state = 'running', worker = 'x', worker_name = 'dead', attempts = attempts + 1,
                        visible_at = clock_timestamp()
                    WHERE number = 1 AND state = 'waiting' RETURNING 1
                    """)
            }
            try await WorkQueueWorld.withWorkers([ScriptedProcessor()], queue) {
                let description = "set aside after 2 workers died while downloading it, the last one dead"
                for failure in [await pass.value, await sync()] {
                    #expect(failure?.errors.map { "\($0.underlying)" } == [description])
                    #expect(failure?.report.inserted ?? 0 == 1)
                }
                #expect(try await queue.itemsSetAside().map(\.attempts) == [2])
                try await queue.releaseItemsSetAside()
                #expect(try await queue.itemsSetAside().map(\.isReleased) == [true])
                try await Synchronizer(processor: shared, options: SyncOptions(concurrency: 10)).sync()
                // Listed until it succeeds.
                #expect(try await queue.itemsSetAside() == [])
            }
        }
    }

    @Test func aPassThatBeginsTakesTheQueueOver() async throws {
        try await SharedPostgres.withDatabase { database in
            let queue = WorkQueueWorld.queue(database) { $0.visibilityTimeout = .seconds(6) }
            let first = Task {
                try await Synchronizer(processor: queue.sharing(ScriptedProcessor(source: WorkQueueWorld.items(3))))
                    .sync()
            }
            try await database.waitForRow("SELECT 1 FROM \(WorkQueueWorld.table)")
            let second = Task {
                try await Synchronizer(processor: queue.sharing(ScriptedProcessor(source: WorkQueueWorld.items(5))))
                    .sync()
            }
            // Before there are workers who could still do what the first one has offered.
            let failure = await #expect(throws: SyncFailure.self) { try await first.value }
            #expect(failure?.errors.first?.underlying as? PostgresWorkQueue.Failure == .takenOver)
            let report = try await WorkQueueWorld.withWorkers([ScriptedProcessor()], queue) { try await second.value }
            #expect(report.inserted == 5)
        }
    }

    /// The second pass takes the queue over, and the end of the first one is not that of the
    /// second.
    @Test func twoPassesOfOneProcessorEnd() async throws {
        try await SharedPostgres.withDatabase { database in
            let gate = Gate()
            let listCount = Watched(0)
            let holder = ScriptedProcessor(source: WorkQueueWorld.items(3)) { call in
                guard call == .list else { return }
                let number = listCount.update { count in
                    count += 1
                    return count
                }
                guard number == 1 else { return }
                try await gate.pass()
                throw TestError("no list")
            }
            let queue = WorkQueueWorld.queue(database)
            let shared = queue.sharing(holder)
            let first = Task { try await Synchronizer(processor: shared).sync() }
            try await holder.log.wait(for: .list)
            let second = Task { try await Synchronizer(processor: shared).sync() }
            try await database.waitForRow("SELECT 1 FROM \(WorkQueueWorld.table)")
            gate.open()
            await #expect(throws: SyncFailure.self) { try await first.value }
            let report = try await WorkQueueWorld.withWorkers([ScriptedProcessor()], queue) { try await second.value }
            #expect(report.inserted == 3)
            #expect(holder.log.events.count { $0 == .begin } == 2 && holder.log.events.count { $0 == .end } == 2)
        }
    }

    /// Without the queue, the pass of the processor behind it neither begins nor ends.
    @Test func aProcessorBehindAQueueThatCannotBeTakenHasNoPass() async throws {
        let processor = ScriptedProcessor(source: WorkQueueWorld.items(1))
        let shared = PostgresWorkQueue("queue", at: "host=127.0.0.1 port=1").sharing(processor)
        await #expect(throws: SyncFailure.self) { try await Synchronizer(processor: shared).sync() }
        let cancelled = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await Synchronizer(processor: shared).sync()
        }
        await #expect(throws: SyncFailure.self) { try await cancelled.value }
        #expect(processor.log.events.isEmpty)
    }

    @Test func aWorkerThatIsCancelledGivesItsItemsBack() async throws {
        try await SharedPostgres.withDatabase { database in
            let queue = WorkQueueWorld.queue(database)
            let isRunning = Gate()
            let stuck = ScriptedProcessor { _ in
                isRunning.open()
                try await Gate().pass()
            }
            let sync = Task {
                try await Synchronizer(processor: queue.sharing(ScriptedProcessor(source: WorkQueueWorld.items(3))))
                    .sync()
            }
            let run = Task { try await queue.worker(with: stuck, concurrency: 1).run() }
            try await isRunning.pass(orEndOf: run)
            run.cancel()
            await #expect(throws: CancellationError.self) { try await run.value }
            // Long before the first worker's time is over.
            let report = try await WorkQueueWorld.withWorkers([ScriptedProcessor()], queue) { try await sync.value }
            #expect(report.inserted == 3)
        }
    }

    @Test(arguments: [false, true]) func aWorkerThatHasEndedHasNoSession(isCancelled: Bool) async throws {
        try await SharedPostgres.withDatabase { database in
            let queue = WorkQueueWorld.queue(database)
            let worker = queue.worker(with: ScriptedProcessor())
            let run = Task { try await worker.run() }
            defer { run.cancel() }
            let holder = ScriptedProcessor(source: WorkQueueWorld.items(1))
            _ = try await Synchronizer(processor: queue.sharing(holder)).sync()
            if isCancelled { run.cancel() } else { worker.stop() }
            _ = await run.result
            try await database.waitForRow(
                """
                SELECT 1 WHERE NOT EXISTS (
                    SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
                        AND backend_type = 'client backend')
                """)
            withExtendedLifetime(worker) {}
        }
    }
}

#endif
