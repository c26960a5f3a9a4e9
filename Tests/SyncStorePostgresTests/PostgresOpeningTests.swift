#if Postgres
import OneWayPostgresTestSupport
import OneWayTestLimits
import OneWayTestSupport
import SyncModel
import SyncStore
import SyncStorePostgres
import Testing

/// The messages for which opening a store and beginning a transaction wait.
@Suite(.enabled(if: PostgresServer.isInstalled, "\(SharedPostgres.absence)"), .endsInTime)
struct PostgresOpeningTests {
    /// Runs a function with a server of its own, and a store that has a user and a connection.
    private func withStore(_ body: (PostgresServer, TestProxy, PostgresStore) async throws -> Void) async throws {
        let server = try await PostgresServer()
        let proxy = try TestProxy(to: server)
        defer { proxy.close() }
        let store = try await PostgresWorld.store(at: proxy.url()) { $0.silenceLimit = .seconds(3600) }
        try await store.put([1])
        try await body(server, proxy, store)
        await server.close()
    }

    @Test func itTakesNoMessageOfItsOwn() async throws {
        try await withStore { _, proxy, store in
            let before = proxy.answerCount
            try await store.put([2], isAtHand: true)
            // The merge, the number of the transaction, and the commit.
            #expect(proxy.answerCount - before == 3)
            try await store.transaction(isAtHand: true) { _ in }
            #expect(proxy.answerCount - before == 3)
            #expect(try await store.count(StoreQuery("User")) == 2)
        }
    }

    @Test(arguments: [nil, "a note"]) func aStoreThatIsThereOpensWithTwoMessages(note: String?) async throws {
        try await withStore { _, proxy, _ in
            func open() async throws -> Int {
                let before = proxy.answerCount
                _ = try await PostgresWorld.store(at: proxy.url()) { $0.note = note }
                return proxy.answerCount - before
            }
            // The first one stores the note.
            _ = try await open()
            let answerCount = try await open()
            // The end of connecting, the session, and the tables.
            #expect(answerCount == 3)
        }
    }

    @Test(arguments: [(Duration.zero, 32_000), (.seconds(600), 16_000)])
    func aFarServerGetsLargeBatches(farRoundTrip: Duration, rowCount: Int) async throws {
        try await withStore { _, proxy, _ in
            let store = try await PostgresWorld.store(at: proxy.url()) { $0.farRoundTrip = farRoundTrip }
            let found = try await store.transaction { $0.batchRowCount }
            #expect(found == rowCount)
        }
    }

    @Test func aReadWaitsForOneAnswer() async throws {
        try await withStore { _, proxy, store in
            _ = try await store.names()
            let before = proxy.answerCount
            for _ in 0..<5 {
                let names = try await store.names()
                #expect(names == [#""a""#])
            }
            // The answer to the commit comes before the next read, which nobody waits for.
            #expect(proxy.answerCount - before <= 5 + 5 + 1)
        }
    }

    @Test func itWaitsForOthersAndSeesWhatTheyWrote() async throws {
        try await withStore { server, _, store in
            let other = try await PostgresWorld.store(at: server.url())
            try await other.put([1])
            let waiting = Gate()
            let writing = Task {
                try await store.transaction { transaction in
                    _ = try await transaction.merge(MergeRequest(PostgresWorld.batch([2], name: "b")))
                    try await waiting.pass()
                }
            }
            try await waiting.waitForArrivals(orEndOf: writing)
            let second = Task { try await other.put([2], name: "b", isAtHand: true) }
            let lock = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
            while try await PostgresSession.run(server.url(), lock).isEmpty { await Task.yield() }
            waiting.open()
            try await writing.value
            let merged = try await second.value
            #expect(merged.rows.map { $0?.change } == [.unchanged])
        }
    }

    @Test func aConnectionThatTheServerHasClosedIsReplaced() async throws {
        try await withStore { server, _, store in
            try await PostgresSession.run(
                server.url(),
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname <> ''"
            )
            try await store.put([2], isAtHand: true)
            #expect(try await store.count(StoreQuery("User")) == 2)
        }
    }

    @Test func aRefusedObjectIsNamed() async throws {
        try await withStore { server, _, store in
            try await PostgresSession.run(server.url(), #"ALTER TABLE "User" ADD CHECK (id < 3)"#)
            await #expect {
                try await store.put([1, 2, 3], isAtHand: true)
            } throws: { error in
                guard case StoreError.refused(let refusal) = error else { return false }
                return refusal.key == .identity(3)
            }
            #expect(try await store.count(StoreQuery("User")) == 1)
            try await store.put([2], isAtHand: true)
            #expect(try await store.count(StoreQuery("User")) == 2)
        }
    }

    /// What follows a merge that fails before it is sent is still in a transaction.
    @Test func aBodyThatGoesOnAfterAnErrorIsOneTransaction() async throws {
        try await withStore { _, _, store in
            await #expect(throws: StoreError.self) {
                try await store.transaction(isAtHand: true) { transaction in
                    _ = try? await transaction.merge(MergeRequest(PostgresWorld.batch([7, 7], name: "b")))
                    _ = try await transaction.merge(MergeRequest(PostgresWorld.batch([8], name: "b")))
                }
            }
            let count = try await store.count(StoreQuery("User"))
            #expect(count == 1)
        }
    }
}
#endif
