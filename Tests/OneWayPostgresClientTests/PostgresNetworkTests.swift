#if Postgres
import Foundation
import OneWayPostgresClient
import OneWayPostgresTestSupport
import OneWayTestLimits
import SyncBase
import Testing

/// Networks that lose everything, several hosts, poolers, full servers.
@Suite(
    .enabled(if: PostgresServer.isInstalled, "\(SharedPostgres.absence)"), .serialized, .endsInTime)
struct PostgresNetworkTests {
    private func ask(_ text: String, at url: String, _ options: PostgresSessionOptions) async throws -> String? {
        try await PostgresSession(url, options: options).use { try $0.execute(text).text(0, 0) }
    }

    // MARK: Silence

    @Test(arguments: [PostgresSessionOptions.Pooling.none, .session])
    func aSilentNetworkEndsAStatement(pooling: PostgresSessionOptions.Pooling) async throws {
        try await TestProxy.with { _, proxy in
            if pooling == .session { proxy.poseAsPooler() }
            var options = PostgresSessionOptions(silenceLimit: .seconds(1))
            options.pooling = pooling
            let session = try await PostgresSession(proxy.url(), options: options)
            proxy.isSilent = true
            let count = proxy.acceptedCount
            let hasEnded = Locked(false)
            let task = Task {
                defer { hasEnded.withLock { $0 = true } }
                try await session.use { _ = try $0.execute("SELECT 1") }
            }
            // One question that nobody answers is enough.
            while proxy.acceptedCount < count + 2, !hasEnded.withLock(\.self) { await Task.yield() }
            task.cancel()
            let error = await #expect(throws: PostgresError.self) { try await task.value }
            #expect(error?.code == .connectionLost && error?.isRetryable == true)
            try await session.use { #expect($0.isClosed) }
        }
    }

    @Test func aTransactionWithoutChangesEndsInASilentNetwork() async throws {
        try await TestProxy.with { _, proxy in
            let session = try await PostgresSession(proxy.url(), silenceLimit: .seconds(1))
            try await session.use { _ = try $0.execute("BEGIN") }
            proxy.isSilent = true
            try await session.use { connection in
                connection.endWithoutChanges()
                #expect(!connection.isClosed)
            }
            let error = await #expect(throws: PostgresError.self) {
                try await session.use { _ = try $0.execute("SELECT 1") }
            }
            #expect(error?.code == .connectionLost)
        }
    }

    @Test func aStatementMayTakeLongWhileTheServerWorksOnIt() async throws {
        try await TestProxy.with { server, proxy in
            let session = try await PostgresSession(proxy.url(), silenceLimit: .seconds(1))
            try await expectAnswer(of: session, server, proxy, questionCount: 2)
        }
    }

    /// What keeps a server from being asked about a session.
    static let obstacles = [
        (before: "ALTER ROLE one CONNECTION LIMIT 1", after: "SELECT 1", questionCount: 6),
        (before: "SELECT 1", after: "ALTER ROLE one NOLOGIN", questionCount: 2),
        (before: "ALTER ROLE one SET track_activities TO off", after: "SELECT 1", questionCount: 3),
        (before: "REVOKE SELECT ON pg_stat_activity FROM PUBLIC", after: "SELECT 1", questionCount: 2),
    ]

    @Test(arguments: obstacles)
    func aStatementMayTakeLongWhereItsServerCannotBeAsked(
        before: String, after: String, questionCount: Int
    ) async throws {
        try await TestProxy.with { server, proxy in
            try await PostgresSession.run(server.url(), "CREATE ROLE one LOGIN; \(before)")
            let session = try await PostgresSession(proxy.url(user: "one"), silenceLimit: .seconds(1))
            try await PostgresSession.run(server.url(), after)
            try await expectAnswer(of: session, server, proxy, questionCount: questionCount)
        }
    }

    @Test func anotherServerKnowsNothingOfAStatement() async throws {
        try await TestProxy.with { server, proxy in
            let other = try await PostgresServer()
            let session = try await PostgresSession(proxy.url(), silenceLimit: .seconds(1))
            proxy.turn(to: other)
            try await expectAnswer(of: session, server, proxy, questionCount: 2)
            await other.close()
        }
    }

    /// A pooler without a free session keeps the question to itself.
    @Test func aFullPoolerDoesNotEndAStatement() async throws {
        try await TestProxy.with { server, proxy in
            proxy.poseAsPooler()
            var options = PostgresSessionOptions(silenceLimit: .seconds(1))
            options.pooling = .session
            let session = try await PostgresSession(proxy.url(), options: options)
            proxy.silence(at: "pg_stat_activity", isPassedOn: false)
            try await expectAnswer(of: session, server, proxy, questionCount: 2)
        }
    }

    /// Expects the answer to a statement that was asked about some times.
    private func expectAnswer(
        of session: PostgresSession, _ server: PostgresServer, _ proxy: TestProxy, questionCount: Int
    ) async throws {
        let holder = try await PostgresSession(server.url())
        try await holder.use { _ = try $0.execute("SELECT pg_advisory_lock(1)") }
        let count = proxy.acceptedCount
        let hasEnded = Locked(false)
        let result = Task {
            defer { hasEnded.withLock { $0 = true } }
            return try await session.use { try $0.execute("SELECT pg_advisory_lock(1), 7").integer(0, 1) }
        }
        while proxy.acceptedCount < count + questionCount, !hasEnded.withLock(\.self) { await Task.yield() }
        try await holder.use { _ = try $0.execute("SELECT pg_advisory_unlock(1)") }
        #expect(try await result.value == 7)
    }

    @Test func aLostAnswerIsNoticed() async throws {
        try await TestProxy.with { _, proxy in
            let session = try await PostgresSession(proxy.url(), silenceLimit: .seconds(1))
            proxy.silence(at: "SELECT 42", isPassedOn: true)
            let error = await #expect(throws: PostgresError.self) {
                try await session.use { _ = try $0.execute("SELECT 42") }
            }
            #expect(error?.code == .connectionLost)
        }
    }

    @Test func aCancellationEndsInSilenceToo() async throws {
        try await TestProxy.with { server, proxy in
            let holder = try await PostgresSession(server.url())
            try await holder.use { _ = try $0.execute("SELECT pg_advisory_lock(1)") }
            let session = try await PostgresSession(proxy.url(), silenceLimit: .seconds(1))
            let task = Task { try await session.use { _ = try $0.execute("SELECT pg_advisory_lock(1)") } }
            try await server.waitForWaiter()
            proxy.isSilent = true
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            try await session.use { #expect($0.isClosed) }
        }
    }

    /// Its request could still be on its way, and hit a later statement.
    @Test func aCancellationThatIsNotConfirmedEndsTheConnection() async throws {
        try await TestProxy.with { server, proxy in
            let holder = try await PostgresSession(server.url())
            try await holder.use { _ = try $0.execute("SELECT pg_advisory_lock(1)") }
            // Each connection takes a second, so that the one with the request gives up later.
            let url = proxy.url() + "&connect_timeout=60&options=-c%20post_auth_delay%3D1"
            let session = try await PostgresSession(url, silenceLimit: .seconds(2))
            let task = Task { try await session.use { _ = try $0.execute("SELECT pg_advisory_lock(1)") } }
            try await server.waitForWaiter()
            proxy.silence(at: "pg_cancel_backend", isPassedOn: true)
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            try await session.use { #expect($0.isClosed) }
        }
    }

    @Test func theServerEndsAStatementWhoseClientIsGone() async throws {
        try await TestProxy.with { server, proxy in
            let holder = try await PostgresSession(server.url())
            try await holder.use { _ = try $0.execute("SELECT pg_advisory_lock(1)") }
            let session = try await PostgresSession(proxy.url(), silenceLimit: .seconds(1))
            let task = Task { try await session.use { _ = try $0.execute("SELECT pg_advisory_lock(1)") } }
            try await server.waitForWaiter()
            proxy.cut()
            await #expect(throws: PostgresError.self) { try await task.value }
            let waiters = "SELECT count(*) FROM pg_locks WHERE NOT granted"
            while try await holder.use({ try $0.execute(waiters).integer(0, 0) }) != 0 { await Task.yield() }
        }
    }

    @Test func aCopyThatTheServerDoesNotReadCanBeCancelled() async throws {
        try await TestProxy.with { server, _ in
            let holder = try await PostgresSession(server.url())
            try await holder.use { connection in
                _ = try connection.execute(
                    """
                    SELECT pg_advisory_lock(42);
                    CREATE TABLE t (a text);
                    CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS
                        'BEGIN PERFORM pg_advisory_xact_lock(42); RETURN NEW; END';
                    CREATE TRIGGER wait BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION wait()
                    """)
            }
            let session = try await PostgresSession(server.url())
            // A cancellation that is not noticed becomes another error.
            try await session.use { _ = try $0.execute("SET lock_timeout TO '20s'") }
            let line = "\(String(repeating: "x", count: 60_000))\n"
            // The server waits after the first piece, and no buffer takes the second.
            let pieces = [1, 50].map { Array(String(repeating: line, count: $0).utf8) }
            let task = Task {
                try await session.use { connection in
                    _ = try connection.copyIn("COPY t FROM STDIN") { writer in
                        for piece in pieces { try piece.withUnsafeBytes(writer.write) }
                    }
                }
            }
            try await server.waitForWaiter()
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(try await session.use { try $0.execute("SELECT count(*) FROM t").integer(0, 0) } == 0)
        }
    }

    // MARK: Several hosts

    @Test func aSilentHostIsPassedOver() async throws {
        try await TestProxy.with { server, proxy in
            let silent = try TestProxy(to: server)
            silent.isSilent = true
            let url = "postgres://postgres@127.0.0.1:\(silent.port),127.0.0.1:\(proxy.port)/postgres?connect_timeout=2"
            let session = try await PostgresSession(url)
            #expect(try await session.use { try $0.execute("SELECT 1").integer(0, 0) } == 1)
            #expect(silent.acceptedCount == 1 && proxy.acceptedCount == 1)
            silent.close()
        }
    }

    @Test func aPrimaryIsFoundBehindAStandby() async throws {
        try await TestProxy.with { server, proxy in
            let standby = try await PostgresServer()
            try await standby.becomeStandby()
            let standbyProxy = try TestProxy(to: standby)
            let hosts = "127.0.0.1:\(standbyProxy.port),127.0.0.1:\(proxy.port)"
            let options = PostgresSessionOptions()
            let isStandby = try await ask(
                "SELECT pg_is_in_recovery()", at: "postgres://postgres@\(hosts)/postgres", options)
            #expect(isStandby == "f")
            let alone = await #expect(throws: PostgresError.self) {
                try await ask("SELECT 1", at: standbyProxy.url(), options)
            }
            #expect(alone?.code == .readOnlyTransaction && alone?.isRetryable == true)
            var reading = options
            reading.servers = .any
            let preferred = try await ask(
                "SELECT pg_is_in_recovery()",
                at: "postgres://postgres@127.0.0.1:\(proxy.port),127.0.0.1:\(standbyProxy.port)/postgres"
                    + "?target_session_attrs=prefer-standby", reading)
            #expect(preferred == "t")
            standbyProxy.close()
            await standby.close()
        }
    }

    // MARK: Poolers

    @Test func aPoolerIsRefusedUnlessItIsDeclared() async throws {
        try await TestProxy.with { _, proxy in
            proxy.poseAsPooler()
            var options = PostgresSessionOptions()
            let refused = await #expect(throws: PostgresError.self) {
                try await ask("SELECT 1", at: proxy.url(), options)
            }
            #expect(refused?.code == .featureNotSupported && refused?.isRetryable == false)
            #expect(refused.map { "\($0)".contains("isBehindSessionPooler") } == true)
            options.pooling = .session
            let answer = try await ask("SELECT 1", at: proxy.url(), options)
            #expect(answer == "1")
        }
    }

    @Test func aPoolerThatSharesSessionsIsNoticed() async throws {
        try await TestProxy.with { _, proxy in
            proxy.poseAsPooler()
            var options = PostgresSessionOptions()
            options.pooling = .session
            let session = try await PostgresSession(proxy.url(), options: options)
            let text = "SELECT 7, \(PostgresConnection.sessionMark)"
            let answer = try await session.use { try $0.executeInSession(text).integer(0, 0) }
            #expect(answer == 7)
            try proxy.replaceSessions()
            let error = await #expect(throws: PostgresError.self) {
                try await session.use { _ = try $0.executeInSession(text) }
            }
            #expect(error?.code == .featureNotSupported && error?.message.contains("pool_mode") == true)
        }
    }

    // MARK: Full servers

    @Test func aFullServerIsWaitedFor() async throws {
        try await TestProxy.with { server, proxy in
            try await PostgresSession.run(server.url(), "CREATE ROLE one LOGIN CONNECTION LIMIT 1")
            var first: PostgresSession? = try await PostgresSession(server.url(user: "one"))
            let second = Task { try await PostgresSession(proxy.url(user: "one")) }
            // It was refused at least once.
            while proxy.acceptedCount < 2 { await Task.yield() }
            #expect(first != nil)
            first = nil
            let session = try await second.value
            #expect(try await session.use { try $0.execute("SELECT 1").integer(0, 0) } == 1)
        }
    }

    // MARK: Passwords

    @Test(arguments: [
        "postgres://u:sec@ret@127.0.0.1:1/x", "postgres://u:sec/ret@127.0.0.1:1/x", "postgresql://u:a@b/sec?ret@h/x",
        "postgres://u:sec?ret/@127.0.0.1:1/x", "postgres://u:sec#ret@127.0.0.1:1/x", "postgres://secret:1@/x?port=y",
        "host=127.0.0.1 port=1 password='sec ret", "host=127.0.0.1 port=secret user=u password=secret",
    ])
    func aPasswordNeverShows(url: String) async throws {
        let error = await #expect(throws: PostgresError.self) { try await PostgresSession(url) }
        for text in ["\(String(describing: error))", error.debugDescription, error?.localizedDescription ?? ""] {
            #expect(!text.contains("sec") && !text.contains("ret@"), "\(text)")
        }
        var dumped = ""
        dump(PostgresAddress(url), to: &dumped)
        #expect(!dumped.contains("sec") && !"\(PostgresAddress(url))".contains("sec"))
    }
}
#endif
