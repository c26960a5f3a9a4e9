#if Postgres
import OneWayPostgresClient
import OneWayPostgresTestSupport
import OneWayTestLimits
import Testing

/// What errors say that libpq reports itself.
@Suite(
    .enabled(if: PostgresServer.isInstalled, "\(SharedPostgres.absence)"), .serialized, .endsInTime)
struct LibpqMessageTests {
    private func error(of session: PostgresSession) async -> PostgresError? {
        await #expect(throws: PostgresError.self) { try await session.use { _ = try $0.execute("SELECT 1") } }
    }

    @Test func aLostConnectionIsOneLine() async throws {
        try await TestProxy.with { server, proxy in
            let cut = try await PostgresSession(proxy.url())
            proxy.cut()
            for error in [await error(of: cut), await error(of: cut)] {
                let message = try #require(error).message
                #expect(error?.isConnectionFailure == true)
                #expect(
                    !message.isEmpty && !message.contains("\n") && !message.contains("invalid socket"), "\(message)")
            }
            let listener = try await PostgresSession(proxy.url())
            proxy.cut()
            let lost = await #expect(throws: PostgresError.self) {
                try await listener.use { _ = try $0.notifications(until: nil) }
            }
            #expect(lost?.message.contains("\n") == false, "\(String(describing: lost))")

            let ended = try await PostgresSession(server.url())
            try await server.kill()
            let killed = await error(of: ended)
            #expect(killed?.message.contains("\n") == false, "\(String(describing: killed))")
            let refused = await #expect(throws: PostgresError.self) { try await PostgresSession(server.url()) }
            #expect(refused?.message.contains("\n") == false, "\(String(describing: refused))")
            let gone = await #expect(throws: PostgresError.self) {
                try await PostgresSession("postgres://postgres@localhost:\(try TestProxy.freePort())/x")
            }
            #expect(gone?.message.contains("\n") == false, "\(String(describing: gone))")
        }
    }

    @Test func aSessionThatAnAdministratorEndedWhileItListensHasTheServersCode() async throws {
        try await TestProxy.with { server, _ in
            let session = try await PostgresSession(server.url())
            let process = try await session.use { $0.serverProcess }
            try await PostgresSession.run(server.url(), "SELECT pg_terminate_backend(\(process))")
            let error = await #expect(throws: PostgresError.self) {
                try await session.use { _ = try $0.notifications(until: nil) }
            }
            #expect(error?.isConnectionFailure == true)
            #expect(error?.message.contains("\n") == false, "\(String(describing: error))")
        }
    }

    @Test(arguments: [
        ("postgres://a@localhost/x?schema=public", "schema"),
        ("postgresql://a@localhost/x?sslmode=disable&currentSchema=b", "currentSchema"),
        ("postgres://a@localhost/x?pool_size=5&sslmode=disable", "pool_size"),
    ])
    func anUnknownParameterOfAURIIsNamed(url: String, name: String) async throws {
        let error = await #expect(throws: PostgresError.self) { try await PostgresSession(url) }
        #expect(error?.message == "libpq knows no parameter \"\(name)\" of a connection URI")
    }

    @Test(arguments: [
        "postgres://a@localhost/x?password=secret&token=1", "postgres://a:b?secret=c@localhost/x?=",
        "postgres://a:b?secret=c@localhost/x",
        "host=localhost secret=1",
    ])
    func whatMayBeAPartOfAPasswordIsNotNamed(text: String) async throws {
        let error = await #expect(throws: PostgresError.self) { try await PostgresSession(text) }
        #expect(error?.code == .cannotConnect)
        #expect(error.debugDescription.contains("token") == false && error.debugDescription.contains("secret") == false)
    }
}
#endif
