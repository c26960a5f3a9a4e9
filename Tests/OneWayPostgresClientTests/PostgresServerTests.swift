#if Postgres
import Foundation
import OneWayPostgresClient
import OneWayPostgresTestSupport
import OneWayTestLimits
import Testing

/// The server that the other tests rely on, and what a connection sees of its faults.
@Suite(.endsInTime) struct PostgresServerTests {
    @Test func underCIThereIsAServer() {
        guard ProcessInfo.processInfo.environment["CI"] == "true" else { return }
        #expect(SharedPostgres.isAvailable, "\(SharedPostgres.absence)")
    }

    @Test(.enabled(if: PostgresServer.isInstalled, "\(SharedPostgres.absence)"))
    func theServerRestartsAfterAStopAndAKill() async throws {
        let server = try await PostgresServer()
        try await PostgresSession.run(server.url(), "CREATE TABLE t (a int); INSERT INTO t VALUES (1); CHECKPOINT")
        for isKilled in [false, true] {
            let session = try await PostgresSession(server.url())
            try await isKilled ? server.kill() : server.stop()
            let lost = await #expect(throws: PostgresError.self) {
                try await session.use { _ = try $0.execute("SELECT 1") }
            }
            #expect(lost?.isConnectionFailure == true)
            let refused = await #expect(throws: PostgresError.self) { try await PostgresSession(server.url()) }
            #expect(refused?.code == "08001")
            try await server.start()
            let rows = try await PostgresSession.run(server.url(), "SELECT a FROM t")
            #expect(rows == [["1"]])
        }
        let folder = server.folder
        await server.close()
        #expect(!FileManager.default.fileExists(atPath: folder))
    }

    @Test(.enabled(if: PostgresServer.isInstalled, "\(SharedPostgres.absence)"))
    func aWrongPasswordIsAClearErrorWithoutIt() async throws {
        let server = try await PostgresServer()
        let role = PostgresServer.roleWithPassword
        try await PostgresSession.run(server.url(), "CREATE ROLE \(role) LOGIN PASSWORD 'right'")
        _ = try await PostgresSession(server.url(user: "\(role):right"))
        let error = await #expect(throws: PostgresError.self) {
            try await PostgresSession(server.url(user: "\(role):wrong"))
        }
        #expect(error?.code == "28P01")
        #expect(error.debugDescription.contains("wrong") == false)
        await server.close()
    }
}
#endif
