#if Postgres
import Foundation
import OneWaySynchronizer
import OneWayPostgresClient
import OneWayPostgresTestSupport
import OneWayTestLimits
import SyncStorePostgres
import OneWayTestSupport
import Testing

/// One holder at a time of a name's lease.
@Suite(.enabled(if: SharedPostgres.isAvailable, "\(SharedPostgres.absence)"), .endsInTime)
struct PostgresLeaseTests {
    private func isFree(_ lease: PostgresLease) async throws -> Bool { try await lease.isFree(ratherThanOf: .web) }

    @Test func aServerWithoutAFreeConnectionIsWaitedFor() async throws {
        let server = try await PostgresServer()
        try await PostgresSession.run(
            server.url(),
            "CREATE ROLE one LOGIN CONNECTION LIMIT 1; GRANT CREATE ON SCHEMA public TO one")
        var session: PostgresSession? = try await PostgresSession(server.url(user: "one"))
        var lease = PostgresLease("name", at: server.url(user: "one"), duration: .seconds(3))
        lease.connectionWait = .milliseconds(100)
        let impatient = Task { [lease] in try await lease.withLease(waiting: .never) { 42 } }
        let error = await #expect(throws: PostgresError.self) { try await impatient.value }
        #expect(error?.code == .tooManyConnections)
        #expect(error?.message.hasSuffix("no connection has become free for 0.1 seconds") == true)
        let isWaiting = Gate()
        let waiting = Task { [lease] in
            try await lease.withLease(waiting: .forever, onWait: { _ in isWaiting.open() }) { 42 }
        }
        try await isWaiting.pass(orEndOf: waiting)
        withExtendedLifetime(session) {}
        session = nil
        #expect(try await waiting.value == 42)
        await server.close()
    }

    @Test func itIsGrantedToOneAtATimeAndOthersLearnToWhom() async throws {
        try await SharedPostgres.withDatabase { database in
            let lease = PostgresLease("it's a \"name\"", at: database.url)
            let grant = try await lease.grant(to: .web)
            #expect(try await !isFree(lease))
            try await grant.renew()
            #expect(try await !isFree(PostgresLease(lease.name, at: database.url)))
            #expect(try await isFree(PostgresLease("another", at: database.url)))
            await grant.release()
            #expect(try await isFree(lease))
        }
    }

    @Test func aGrantThatIsDroppedIsReleased() async throws {
        try await SharedPostgres.withDatabase { database in
            let lease = PostgresLease("name", at: database.url)
            var grant: (any SyncLeaseGrant)? = try await lease.grant(to: .web)
            try await grant?.renew()
            grant = nil
            while try await !isFree(lease) { await Task.yield() }
        }
    }

    @Test func aLostConnectionIsALostLeaseAndCancelsTheBody() async throws {
        try await SharedPostgres.withDatabase { database in
            let lease = PostgresLease("name", at: database.url)
            let clock = ManualClock()
            let isRunning = Gate()
            let run = Task {
                try await lease.withLease(clock: clock) {
                    isRunning.open()
                    // Ends by being cancelled only.
                    try await Gate().pass()
                }
            }
            try await isRunning.pass(orEndOf: run)
            try await database.run(
                """
                SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                WHERE datname = current_database() AND application_name LIKE '%[%]@%'
                """)
            // The renewal and the expiry.
            try await clock.waitForPendingDelays([lease.duration / 3, lease.duration])
            clock.advance(by: lease.duration / 3)
            await #expect {
                try await run.value
            } throws: { error in
                guard case SyncLeaseError.lost(name: "name", underlying: let underlying) = error else { return false }
                return (underlying as? PostgresError)?.isConnectionFailure == true
            }
            #expect(try await isFree(lease))
        }
    }

    @Test func aLockThatIsGoneIsNoticedByTheRenewal() async throws {
        try await SharedPostgres.withDatabase { database in
            let lease = PostgresLease("name", at: database.url)
            let grant = try await lease.grant(to: .web)
            // As a pooler that hands the server connection to somebody else.
            await grant.release()
            await #expect(throws: PostgresError.self) { try await grant.renew() }
        }
    }

    @Test func namesAreCutToWhatTheServerKeeps() async throws {
        try await SharedPostgres.withDatabase { database in
            let lease = PostgresLease("name", at: database.url)
            let long = SyncLeaseHolder(
                host: String(repeating: "host", count: 20), program: String(repeating: "program", count: 20),
                processID: .max, since: Date(timeIntervalSince1970: 9_999_999_999))
            guard case .granted(let grant) = try await lease.tryAcquire(for: long),
                case .held(let found) = try await lease.tryAcquire(for: .web)
            else { throw TestError("not granted, or twice") }
            #expect(found?.since == long.since)
            #expect(found.map { long.host.hasPrefix($0.host) && long.program.hasPrefix($0.program) } == true)
            await grant.release()
        }
    }

    @Test func noServerIsAnError() async throws {
        let error = await #expect(throws: PostgresError.self) {
            try await PostgresLease("name", at: "host=/nonexistent").withLease {}
        }
        #expect(error?.isConnectionFailure == true)
    }
}
#endif
