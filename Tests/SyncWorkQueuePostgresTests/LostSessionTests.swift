#if Postgres
import OneWayPostgresClient
import OneWayPostgresTestSupport
import OneWaySynchronizer
import OneWayTestLimits
import OneWayTestSupport
import SyncWorkQueuePostgres
import Testing

/// Holders whose sessions end while they have a pass, and workers whose sessions end.
@Suite(
    .enabled(if: PostgresServer.isInstalled, "\(SharedPostgres.absence)"), .serialized, .endsInTime)
struct LostSessionTests {
    private func withServer(_ body: (PostgresServer) async throws -> Void) async throws {
        let server = try await PostgresServer()
        do { try await body(server) } catch {
            await server.close()
            throw error
        }
        await server.close()
    }

    /// Runs a body while another session holds the lock of the items.
    private func withLockedItems(
        _ body: (PostgresServer, TestProxy, PostgresWorkQueue) async throws -> Void
    ) async throws {
        try await withServer { server in
            let proxy = try TestProxy(to: server)
            defer { proxy.close() }
            let queue = queue(server.url())
            _ = try await queue.itemsSetAside()
            let other = try await PostgresSession(server.url())
            defer { withExtendedLifetime(other) {} }
            try await other.use { _ = try $0.execute("BEGIN; LOCK TABLE _sync_work") }
            try await body(server, proxy, queue)
        }
    }

    private func queue(_ url: String, visibilityTimeout: Duration = .seconds(30)) -> PostgresWorkQueue {
        PostgresWorkQueue("queue", at: url, options: PostgresWorkQueue.Options(visibilityTimeout: visibilityTimeout))
    }

    private func sync(_ queue: PostgresWorkQueue, _ holder: ScriptedProcessor) -> Task<SyncReport, any Error> {
        Task {
            try await Synchronizer(processor: queue.sharing(holder), options: SyncOptions(concurrency: 3)).sync()
        }
    }

    private func rowCount(_ server: PostgresServer) async throws -> String? {
        try await PostgresSession.run(server.url(), "SELECT count(*) FROM _sync_work")[0][0]
    }

    private func waitForRow(_ server: PostgresServer, _ text: String) async throws {
        while try await PostgresSession.run(server.url(), text).isEmpty { await Task.yield() }
    }

    /// Waits until so many connections were made through a proxy, or a task has ended.
    private func waitForConnections<Success>(
        _ count: Int, _ proxy: TestProxy, orEndOf task: Task<Success, any Error>
    ) async {
        let hasEnded = Gate()
        let end = Task {
            _ = await task.result
            hasEnded.open()
        }
        defer { end.cancel() }
        while proxy.acceptedCount < count, !hasEnded.isOpen { await Task.yield() }
    }

    // MARK: Holders

    /// The session ends before or after the server has received a statement, each in turn.
    @Test(arguments: [false, true]) func aPassGoesOnWhereverItsSessionEnds(isPassedOn: Bool) async throws {
        try await withServer { server in
            let worker = ScriptedProcessor()
            let run = Task { [queue = queue(server.url())] in try await queue.worker(with: worker).run() }
            defer { run.cancel() }
            var cutCount = 0
            while true {
                let proxy = try TestProxy(to: server)
                defer { proxy.close() }
                let before = worker.calls.count
                let holder = ScriptedProcessor(source: WorkQueueWorld.items(6))
                proxy.cut(atMessage: cutCount + 1, isPassedOn: isPassedOn)
                let result = await sync(queue(proxy.url()), holder).result
                switch result {
                case .success(let report):
                    #expect(report.inserted == 6, "cut at message \(cutCount + 1)")
                    // Nothing is downloaded twice.
                    #expect(worker.calls.count == before + 6, "cut at message \(cutCount + 1)")
                case .failure(let error):
                    // The first connection is not tried again: the pass does not begin.
                    #expect(
                        proxy.acceptedCount == 1 && !holder.calls.contains(.list),
                        "cut at message \(cutCount + 1): \(error)")
                }
                if (try? result.get()) != nil { #expect(try await rowCount(server) == "0") }
                if proxy.isCutPending { break }
                cutCount += 1
            }
            // The connection, its set-up, the beginning, and several exchanges.
            #expect(cutCount > 15)
        }
    }

    /// An administrator cancels the statement, and ends the session, while it waits for a lock.
    @Test func aPassGoesOnAfterACancelledStatementAndAnEndedSession() async throws {
        try await withServer { server in
            let queue = queue(server.url())
            _ = try await queue.itemsSetAside()
            let other = try await PostgresSession(server.url())
            let holder = ScriptedProcessor(source: WorkQueueWorld.items(6)) { call in
                // The offers will wait.
                if case .list = call { try await other.use { _ = try $0.execute("BEGIN; LOCK TABLE _sync_work") } }
            }
            try await other.use { _ = try $0.execute("BEGIN; LOCK TABLE _sync_work") }
            let pass = sync(queue, holder)
            let waiting = "FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%_sync_work%'"
            func strike() async throws {
                for function in ["pg_cancel_backend", "pg_terminate_backend"] {
                    try await waitForRow(server, "SELECT \(function)(pid) \(waiting)")
                }
                try await waitForRow(server, "SELECT 1 \(waiting)")
                try await other.use { _ = try $0.execute("COMMIT") }
            }
            // While it begins, and while it offers items.
            try await strike()
            try await holder.log.wait(for: .list)
            try await strike()
            let worker = ScriptedProcessor()
            let report = try await WorkQueueWorld.withWorkers([worker], queue) { try await pass.value }
            #expect(report.inserted == 6 && worker.calls.count == 6)
            let generation = try await PostgresSession.run(server.url(), "SELECT generation FROM _sync_work_passes")
            #expect(generation == [["1"]])
            #expect(try await rowCount(server) == "0")
        }
    }

    @Test func aPassBeginsAfterSeveralAttemptsToReachTheServer() async throws {
        try await withLockedItems { server, proxy, queue in
            let pass = sync(self.queue(proxy.url()), ScriptedProcessor(source: WorkQueueWorld.items(6)))
            // It waits for the workers of earlier passes.
            try await server.waitForWaiter()
            try await server.kill()
            await waitForConnections(3, proxy, orEndOf: pass)
            try await server.start()
            let report = try await WorkQueueWorld.withWorkers([ScriptedProcessor()], queue) { try await pass.value }
            #expect(report.inserted == 6)
        }
    }

    /// The table of items is empty after a crash.
    @Test func aPassGoesOnAfterACrashOfTheServer() async throws {
        try await withServer { server in
            let queue = queue(server.url())
            let pass = sync(queue, ScriptedProcessor(source: WorkQueueWorld.items(6)))
            try await waitForRow(server, "SELECT FROM pg_class WHERE relname = '_sync_work'")
            try await waitForRow(server, "SELECT 1 FROM _sync_work")
            try await server.kill()
            try await server.start()
            let report = try await WorkQueueWorld.withWorkers([ScriptedProcessor()], queue) { try await pass.value }
            #expect(report.inserted == 6)
        }
    }

    @Test func aCancelledCallEndsAlthoughItsOfferWasLost() async throws {
        try await withServer { server in
            let queue = queue(server.url())
            let pass = sync(queue, ScriptedProcessor(source: WorkQueueWorld.items(6)))
            try await waitForRow(server, "SELECT FROM pg_class WHERE relname = '_sync_work'")
            try await waitForRow(server, "SELECT 1 FROM _sync_work")
            try await server.kill()
            pass.cancel()
            try await server.start()
            let worker = ScriptedProcessor()
            try await WorkQueueWorld.withWorkers([worker], queue) {
                _ = await #expect(throws: (any Error).self) { try await pass.value }
            }
            // Nothing is offered once more.
            #expect(worker.calls.isEmpty)
        }
    }

    @Test func theNextPassRemovesWhatAHolderOutOfReachHasLeft() async throws {
        try await withServer { server in
            let proxy = try TestProxy(to: server)
            let pass = sync(
                queue(proxy.url(), visibilityTimeout: .seconds(3)), ScriptedProcessor(source: WorkQueueWorld.items(6)))
            try await waitForRow(server, "SELECT FROM pg_class WHERE relname = '_sync_work'")
            try await waitForRow(server, "SELECT 1 FROM _sync_work HAVING count(*) = 3")
            proxy.close()
            let failure = await #expect(throws: SyncFailure.self) { try await pass.value }
            #expect(failure?.errors.first?.underlying is PostgresError)
            #expect(try await rowCount(server) == "3")
            let next = queue(server.url())
            let report = try await WorkQueueWorld.withWorkers([ScriptedProcessor()], next) {
                try await sync(next, ScriptedProcessor(source: WorkQueueWorld.items(4))).value
            }
            #expect(report.inserted == 4)
            #expect(try await rowCount(server) == "0")
        }
    }

    // MARK: Workers

    @Test func aWorkerThatLosesTheServerConnectsAgain() async throws {
        try await withServer { server in
            let proxy = try TestProxy(to: server)
            defer { proxy.close() }
            let queue = queue(server.url())
            let worker = self.queue(proxy.url()).worker(with: ScriptedProcessor())
            let run = Task { try await worker.run() }
            defer { run.cancel() }
            _ = try await sync(queue, ScriptedProcessor(source: WorkQueueWorld.items(1))).value
            try await server.kill()
            await waitForConnections(4, proxy, orEndOf: run)
            try #require(proxy.acceptedCount >= 4)
            try await server.start()
            let report = try await sync(queue, ScriptedProcessor(source: WorkQueueWorld.items(6))).value
            #expect(report.inserted == 6)
        }
    }

    @Test func aWorkerThatIsToStopDoesNotConnectAgain() async throws {
        try await withLockedItems { server, proxy, _ in
            let worker = queue(proxy.url()).worker(with: ScriptedProcessor())
            let run = Task { try await worker.run() }
            defer { run.cancel() }
            try await server.waitForWaiter()
            worker.stop()
            proxy.cut()
            try await run.value
            #expect(proxy.acceptedCount == 1)
        }
    }
}
#endif
