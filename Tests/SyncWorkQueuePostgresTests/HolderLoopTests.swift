#if Postgres
import OneWayPostgresClient
import OneWayPostgresTestSupport
import OneWayTestLimits
import SyncBase
import Testing

@testable import SyncWorkQueuePostgres

extension WorkQueueLink {
    fileprivate func run(_ text: String) async throws {
        _ = try await query(text)
    }
}

/// What a holder tells the server and its calls. The test is the worker.
@Suite(.enabled(if: SharedPostgres.isAvailable, "\(SharedPostgres.absence)"), .endsInTime)
struct HolderLoopTests {
    /// Begins a call of a pass, which ends with its error; nil if it succeeds.
    private func call(_ offers: WorkOffers, _ key: String) -> Task<(any Error)?, Never> {
        Task.atOnce {
            do { try await offers.download("{}", key: key, .content) } catch { return error }
            return nil
        }
    }

    /// Waits until an item is offered, and ends it as a worker does.
    private func finish(_ key: String, of queue: PostgresWorkQueue, _ database: TestDatabase) async throws {
        try await database.waitForRow(
            """
            WITH ended AS (UPDATE \(WorkQueueWorld.table) SET state = 'done' WHERE key = '\(key)' RETURNING 1)
            SELECT pg_notify('\(WorkQueueStatements(queue).holderChannel)', '') FROM ended
            """)
    }

    // MARK: Exchanges

    @Test func whatComesDuringAnExchangeDoesNotWaitForTheSearchForDeadWorkers() async throws {
        try await SharedPostgres.withDatabase { database in
            // The search is in 20 seconds.
            let queue = WorkQueueWorld.queue(database) { $0.visibilityTimeout = .seconds(60) }
            let offers = try await WorkOffers(queue)
            _ = call(offers, "dead")
            try await database.waitForRow(
                """
                UPDATE \(WorkQueueWorld.table) SET state = 'running', worker = 'x', visible_at = clock_timestamp()
                WHERE key = 'dead' RETURNING 1
                """)
            let session = try await PostgresSession(database.url)
            try await session.use { _ = try $0.execute("BEGIN; LOCK TABLE \(WorkQueueWorld.table)") }
            _ = call(offers, "first")
            try await database.waitForWaiter()
            let second = call(offers, "second")
            try await session.use { _ = try $0.execute("COMMIT") }
            // It is offered, and its end is heard of.
            try await finish("second", of: queue, database)
            let error = await second.value
            #expect(error == nil)
            let dead = try await database.run("SELECT is_suspect FROM \(WorkQueueWorld.table) WHERE key = 'dead'")
            #expect(dead == [["f"]])
            await offers.close()
        }
    }

    @Test func aCancelledCallThatWasNotOfferedEndsAtOnce() async throws {
        try await SharedPostgres.withDatabase { database in
            let queue = WorkQueueWorld.queue(database)
            let offers = try await WorkOffers(queue)
            let session = try await PostgresSession(database.url)
            try await session.use { _ = try $0.execute("BEGIN; LOCK TABLE \(WorkQueueWorld.table)") }
            let offered = call(offers, "offered")
            try await database.waitForWaiter()
            let other = call(offers, "other")
            other.cancel()
            // The calls that wait for the server get its error.
            try await session.use { _ = try $0.execute("DROP TABLE \(WorkQueueWorld.table); COMMIT") }
            let (error, otherError) = (await offered.value, await other.value)
            #expect(error is PostgresError)
            #expect(otherError is CancellationError)
            await offers.close()
        }
    }

    @Test func callsThatHaveNotReturnedEndWithTheirPass() async throws {
        try await SharedPostgres.withDatabase { database in
            let queue = WorkQueueWorld.queue(database)
            let offers = try await WorkOffers(queue)
            let first = call(offers, "first")
            try await finish("first", of: queue, database)
            _ = await first.value
            let second = call(offers, "second")
            try await database.waitForRow("SELECT 1 FROM \(WorkQueueWorld.table) WHERE key = 'second'")
            let close = Task.atOnce { await offers.close() }
            // It would end a pass that goes on.
            _ = try await WorkQueueLink(queue, role: .holder).begin()
            await close.value
            let error = await second.value
            #expect(error as? PostgresWorkQueue.Failure == .noPass)
            let left = try await database.run("SELECT count(*) FROM \(WorkQueueWorld.table)")
            #expect(left == [["0"]])
        }
    }

    // MARK: Statements

    @Test func aPassThatBeginsWaitsForTheWorkersOfAnEarlierOne() async throws {
        try await SharedPostgres.withDatabase { database in
            let queue = WorkQueueWorld.queue(database)
            let link = try await WorkQueueLink(queue, role: .holder)
            let generation = try await link.begin()
            try await database.run(
                """
                INSERT INTO \(WorkQueueWorld.table) (queue, holder, number, stage, item, state, worker, visible_at)
                VALUES ('it''s a queue', 'earlier', 1, 'content', '', 'running', 'x',
                    clock_timestamp() + interval '1 day')
                """)
            let wait = Task { try await link.waitForWorkers(generation: generation) }
            try await database.waitForRow("SELECT 1 FROM \(WorkQueueWorld.table) WHERE is_withdrawn")
            // It waits until it is told that another one has begun.
            try await database.run(
                """
                UPDATE \(WorkQueueWorld.table)_passes SET generation = generation + 1;
                SELECT pg_notify('\(WorkQueueStatements(queue).holderChannel)', '')
                """)
            await #expect(throws: PostgresWorkQueue.Failure.takenOver) { try await wait.value }
        }
    }

    @Test func theSearchForDeadWorkersWakesTheOthers() async throws {
        try await SharedPostgres.withDatabase { database in
            let queue = WorkQueueWorld.queue(database)
            let worker = try await WorkQueueLink(queue, role: .worker)
            let holder = try await WorkQueueLink(queue, role: .holder)
            try await holder.sweep()
            try await holder.notify(WorkQueueStatements(queue).workerChannel, "the last one")
            var payloads: [String] = []
            while payloads.last != "the last one" { payloads += try await worker.wait(until: nil) }
            #expect(payloads == ["", "the last one"])
        }
    }

    @Test func onlyAStatementThatConflictsIsTriedAgain() async throws {
        try await SharedPostgres.withDatabase { database in
            try await database.run(
                """
                CREATE SEQUENCE public.tries;
                CREATE FUNCTION public.conflict() RETURNS bigint LANGUAGE plpgsql AS
                    'BEGIN PERFORM nextval(''public.tries''); RAISE EXCEPTION ''no'' USING ERRCODE = ''40001''; END'
                """)
            let link = try await WorkQueueLink(WorkQueueWorld.queue(database), role: .visitor)
            func requireTries(_ count: Int, after statement: String) async throws {
                await #expect(throws: PostgresError.self) { try await link.run(statement) }
                let tries = try await database.run("SELECT last_value FROM public.tries")
                try #require(tries == [["\(count)"]])
            }
            try await requireTries(1, after: "SELECT 1 / (nextval('public.tries') * 0)")
            // Twenty times, and no more.
            try await requireTries(21, after: "SELECT public.conflict()")
        }
    }
}
#endif
