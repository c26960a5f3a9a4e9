#if Postgres
import Foundation
import OneWayPostgresClient
import OneWayPostgresTestSupport
import OneWaySynchronizer
import OneWayTestLimits
import OneWayTestSupport
import SyncModel
import SyncStore
import SyncStorePostgres
import Testing

/// Silent networks, frozen processes, timeouts of administrators, poolers and failovers, as a store
/// and a lease see them.
@Suite(
    .enabled(if: PostgresServer.isInstalled, "\(SharedPostgres.absence)"), .serialized, .endsInTime)
struct PostgresOutageTests {
    /// The silence that a test waits for. The server also ends a transaction that is idle for so
    /// long, and on a busy machine the tests themselves may pause for a second.
    static let shortLimit = Duration.seconds(4)

    func store(_ url: String, silenceLimit: Duration = .seconds(60)) async throws -> PostgresStore {
        try await PostgresWorld.store(at: url) { $0.silenceLimit = silenceLimit }
    }

    // MARK: Commits that are not answered

    @Test func aCommitWhoseAnswerIsLostIsKnownToBeCommitted() async throws {
        try await TestProxy.with { _, proxy in
            let store = try await store(proxy.url(), silenceLimit: Self.shortLimit)
            proxy.silence(at: "COMMIT\0", isPassedOn: true)
            try await store.put([1])
            #expect(try await store.names() == [#""a""#])
        }
    }

    @Test func aCommitThatIsLostIsKnownNotToBeCommitted() async throws {
        try await TestProxy.with { server, proxy in
            let store = try await store(proxy.url(), silenceLimit: Self.shortLimit)
            proxy.silence(at: "COMMIT\0", isPassedOn: false)
            let error = await #expect(throws: PostgresError.self) { try await store.put([1]) }
            #expect(error?.code == .connectionLost && error?.isRetryable == true)
            // Its session has been ended, so the next one does not wait for it.
            try await store.put([2])
            #expect(try await store.count(StoreQuery("User")) == 1)
        }
    }

    @Test func aCommitInAFailingNetworkIsUnknown() async throws {
        try await TestProxy.with { _, proxy in
            let store = try await store(proxy.url(), silenceLimit: Self.shortLimit)
            let error = await #expect(throws: PostgresError.self) {
                try await store.transaction { transaction in
                    _ = try await transaction.merge(MergeRequest(PostgresWorld.batch([1], name: "a")))
                    proxy.isSilent = true
                }
            }
            #expect(error?.isConnectionFailure == true)
            proxy.isSilent = false
            try await store.put([2])
            #expect(try await store.count(StoreQuery("User")) == 1)
        }
        try await TestProxy.with { _, proxy in
            let store = try await store(proxy.url(), silenceLimit: Self.shortLimit)
            proxy.silence(at: "COMMIT\0", isPassedOn: true)
            let result = Task { try await store.put([1]) }
            // The question whether the server still works on the commit, then the one what became
            // of it.
            let count = proxy.acceptedCount
            while proxy.acceptedCount == count { await Task.yield() }
            proxy.isSilent = true
            let error = await #expect(throws: PostgresError.self) { try await result.value }
            #expect(error?.code == .resolutionUnknown)
            #expect(error.map { "\($0)".contains("pg_xact_status") } == true)
        }
    }

    @Test func aRollbackInSilenceEnds() async throws {
        try await TestProxy.with { _, proxy in
            let store = try await store(proxy.url(), silenceLimit: Self.shortLimit)
            await #expect(throws: TestError.self) {
                try await store.transaction { transaction in
                    _ = try await transaction.merge(MergeRequest(PostgresWorld.batch([1], name: "a")))
                    proxy.isSilent = true
                    throw TestError("stop")
                }
            }
            proxy.isSilent = false
            try await store.put([2])
            #expect(try await store.count(StoreQuery("User")) == 1)
        }
    }

    // MARK: Holders that are gone

    private func child(_ arguments: [String]) throws -> ChildProcess {
        try ChildProcess(ChildProcess.product("TestChild"), arguments)
    }

    @Test func aFrozenWriterLosesItsTransactionAndCannotCommit() async throws {
        try await TestProxy.with { server, _ in
            let store = try await store(server.url())
            let child = try child(["postgres-hold", server.url(), "2000"])
            try await child.output.wait { $0.contains("held") }
            child.signal(SIGSTOP)
            let put = Task { try await store.put([2]) }
            // Whoever waits can see for whom.
            var wait: PostgresStore.LockWait?
            while wait == nil, try await isWaiting(server) { wait = try await store.lockWait() }
            #expect(wait.map { $0.holder.contains("@") && $0.holderBackend != 0 } ?? true)
            _ = try await put.value
            child.signal(SIGCONT)
            try child.send("commit")
            try await child.output.wait { $0.contains { $0.hasPrefix("failed") || $0 == "committed" } }
            #expect(!child.output.lines.contains("committed"))
            #expect(try await store.count(StoreQuery("User")) == 1)
            await child.close()
        }
    }

    /// Whether a session waits for an advisory lock, or soon will.
    private func isWaiting(_ server: PostgresServer) async throws -> Bool {
        let text = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1 AND granted"
        return try await PostgresSession.run(server.url(), text) != [["0"]]
    }

    @Test func aFrozenHolderIsSucceededAndItsTransactionEnded() async throws {
        try await TestProxy.with { server, _ in
            let store = try await store(server.url(), silenceLimit: .seconds(3600))
            // Its transactions would stay open for an hour, and one of them has no lease.
            let child = try child(["postgres-lease-hold", server.url(), "name", "4000", "3600000", "other"])
            try await child.output.wait { $0.contains("held") && $0.contains("other held") }
            child.signal(SIGSTOP)
            let lease = PostgresLease("name", at: server.url(), duration: .seconds(4))
            let holders = EventLog<String>()
            try await lease.withLease(waiting: .forever, onWait: { holders.append("\($0)") }) {
                try await store.put([2])
            }
            #expect(holders.events.count == 1)
            child.signal(SIGCONT)
            try child.send("commit")
            try await child.output.wait { $0.contains { $0.hasPrefix("failed") || $0 == "committed" } }
            #expect(!child.output.lines.contains("committed"))
            // The transaction without the lease is none of the successor's business.
            try await child.output.wait { $0.contains { $0.hasPrefix("other failed") || $0 == "other committed" } }
            #expect(child.output.lines.contains("other committed"))
            #expect(try await store.count(StoreQuery("User")) == 1)
            let generation = try await PostgresSession.run(server.url(), "SELECT generation FROM _sync_leases")
            #expect(generation == [["2"]])
            await child.close()
        }
    }

    // MARK: Administrators

    @Test func timeoutsOfAnAdministratorAreSurvived() async throws {
        let configuration = [
            "idle_session_timeout": "'300ms'", "idle_in_transaction_session_timeout": "'300ms'",
        ]
        try await TestProxy.with(configuration) { server, _ in
            let store = try await store(server.url())
            try await store.put([1])
            // The limits are not those of this test's own sessions.
            let url = server.url() + "&options=-cidle_session_timeout%3D0"
            let sessions = """
                SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM pg_stat_activity WHERE application_name LIKE '%@%')
                """
            while try await PostgresSession.run(url, sessions) == [] { await Task.yield() }
            try await store.put([2])
            // A slow source.
            try await store.transaction { transaction in
                let age = """
                    SELECT 1 FROM pg_stat_activity WHERE application_name LIKE '%@%'
                        AND xact_start < clock_timestamp() - interval '2 s'
                    """
                while try await PostgresSession.run(url, age) == [] { await Task.yield() }
                _ = try await transaction.merge(MergeRequest(PostgresWorld.batch([3], name: "a")))
            }
            #expect(try await store.count(StoreQuery("User")) == 3)
        }
    }

    // MARK: Poolers and failovers

    @Test func aStoreRefusesAPoolerAndALeaseWorksThroughIt() async throws {
        try await TestProxy.with { server, proxy in
            proxy.poseAsPooler()
            let error = await #expect(throws: PostgresError.self) { try await store(proxy.url()) }
            #expect(error?.code == .featureNotSupported)
            let lease = PostgresLease("name", at: proxy.url(), duration: .seconds(2))
            let grant = try await lease.grant()
            // Sessions of a pooler come and go: the end of one says nothing.
            proxy.cut()
            if case .granted = try await lease.tryAcquire(for: SyncLeaseHolder()) { throw TestError("granted twice") }
            await #expect(throws: PostgresError.self) { try await grant.renew() }
            let rows = try await PostgresSession.run(server.url(), "SELECT backend FROM _sync_leases")
            #expect(rows == [[nil]])
            try await lease.withLease(waiting: .forever) {}
        }
    }

    /// As if an administrator set `pool_mode = transaction` while stores are open.
    @Test(arguments: [false, true])
    func aPoolerThatSharesSessionsIsRefusedBeforeAnythingIsWritten(isAtHand: Bool) async throws {
        try await TestProxy.with { server, proxy in
            proxy.poseAsPooler()
            var options = PostgresStore.Options()
            options.isBehindSessionPooler = true
            options.schema = "app"
            let store = try await PostgresStore(exactly: try PostgresWorld.model(), at: proxy.url(), options: options)
            try await store.put([1])
            #expect(try await store.names() == [#""a""#])
            let open = "SELECT 1 FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'"
            // Nobody waits for the end of a read.
            while try await !PostgresSession.run(server.url(), open).isEmpty { await Task.yield() }
            try proxy.replaceSessions()
            let written = await #expect(throws: PostgresError.self) {
                try await store.put([2], isAtHand: isAtHand)
            }
            #expect(written?.code == .featureNotSupported)
            #expect(written?.message.contains("pool_mode") == true)
            let read = await #expect(throws: PostgresError.self) { try await store.names() }
            #expect(read?.code == .featureNotSupported)
            #expect(try await PostgresSession.run(server.url(), #"SELECT id FROM app."User""#) == [["1"]])
            // Nothing is left open in the sessions that other clients use next.
            #expect(try await PostgresSession.run(server.url(), open).isEmpty)
        }
    }

    @Test func aStandbyGrantsNothingAndAFailoverIsARetry() async throws {
        try await TestProxy.with { server, _ in
            let store = try await store(server.url())
            try await store.put([1])
            let lease = PostgresLease("name", at: server.url())
            try await lease.withLease {}
            try await server.becomeStandby()
            let refused = await #expect(throws: PostgresError.self) { try await lease.withLease {} }
            #expect(refused?.code == .readOnlyTransaction)
            let failed = await #expect(throws: PostgresError.self) { try await store.put([2]) }
            #expect(failed?.isRetryable == true)
            #expect(try await store.count(StoreQuery("User")) == 1)
            try await PostgresSession.run(server.url(), "SELECT pg_promote()")
            try await lease.withLease { try await store.put([2]) }
            #expect(try await store.count(StoreQuery("User")) == 2)
        }
    }

    /// A standby can be behind, and reports no commits.
    @Test func readsAndObserversFindThePrimaryBehindAStandby() async throws {
        try await TestProxy.with { primary, proxy in
            let standby = try await PostgresServer()
            try await store(standby.url()).put([1])
            try await standby.becomeStandby()
            let standbyProxy = try TestProxy(to: standby)
            let url = "postgres://postgres@127.0.0.1:\(standbyProxy.port),127.0.0.1:\(proxy.port)/postgres"
            let store = try await store(url)
            try await store.put([1, 2])
            #expect(try await store.count(StoreQuery("User")) == 2)
            let signals = try await store.commits()
            try await store.put([3])
            #expect(await signals.next() != nil)
            var options = PostgresStore.Options()
            options.isReadOnly = true
            let reader = try await PostgresStore(exactly: PostgresWorld.model(), at: url, options: options)
            _ = try await reader.commits()
            // A standby is better than nothing, as long as there is nothing better.
            try await primary.stop()
            #expect(try await store.count(StoreQuery("User")) == 1)
            try await primary.start()
            #expect(try await store.count(StoreQuery("User")) == 3)
            standbyProxy.close()
            await standby.close()
        }
    }
}

#endif
