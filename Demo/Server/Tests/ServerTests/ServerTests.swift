import Foundation
import Testing

/// The server's own API.
@Suite(.timeLimit(.minutes(30)))
struct ServerTests {
    /// Runs a body with a server on a database of its own, and stops the server.
    private func withServer(
        _ arguments: String..., body: (ServerProcess, _ database: String) async throws -> Void
    ) async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "Server-\(UUID().uuidString).sqlite")
        defer {
            for suffix in ["", "-wal", "-shm", "-lease"] {
                try? FileManager.default.removeItem(atPath: file.path + suffix)
            }
        }
        let server = try await ServerProcess(["--database", file.path, "--interval", "1"] + arguments)
        try await body(server, file.path)
        // 0: a stop is graceful, also while a browser listens.
        #expect(server.stop() == 0)
    }

    private struct Listed: Decodable {
        struct Company: Decodable {
            var id: Int
            var name: String
        }

        var id: Int
        var name: String
        var company: Company?
    }

    @Test func dataIsServedInPages() async throws {
        try await withServer { server, _ in
            try await server.status { $0.counts["users", default: 0] > 4000 }
            let (status, data) = try await server.request("users?after=10&limit=7")
            let users = try JSONDecoder().decode([Listed].self, from: data)
            #expect(status == 200)
            #expect(users.count == 7)
            #expect(users.map(\.id) == users.map(\.id).sorted())
            #expect(users.first.map { $0.id > 10 } == true)
            #expect(users.contains { $0.company != nil })
            #expect(try await server.request("users/999999").0 == 404)
            #expect(try await server.request("users/x").0 == 404)
        }
    }

    @Test func anExportHoldsAllUsers() async throws {
        try await withServer { server, _ in
            let count = try await server.status { $0.counts["users", default: 0] > 4000 }.counts["users"] ?? 0
            let (status, data) = try await server.request("export")
            let users = try JSONDecoder().decode([Listed].self, from: data)
            #expect(status == 200)
            // The played API goes on changing users meanwhile.
            #expect(abs(users.count - count) < 100)
            #expect(Set(users.map(\.id)).count == users.count)
        }
    }

    @Test func postsNeedTheToken() async throws {
        try await withServer { server, _ in
            for path in ["sync", "upstream/change", "upstream/fault/slow"] {
                let (status, _) = try await server.request(path, method: "POST")
                #expect(status == 401)
            }
            let (status, _) = try await server.request("sync", method: "POST", isAuthorized: true)
            #expect(status == 202)
        }
    }

    @Test func healthAndMetricsReportSyncs() async throws {
        try await withServer { server, _ in
            try await server.status { $0.health.activity?.kind == "waiting" }
            let (status, health) = try await server.request("health")
            #expect(status == 200)
            #expect(String(decoding: health, as: UTF8.self).contains("lastSuccess"))
            let (_, metrics) = try await server.request("metrics")
            let text = String(decoding: metrics, as: UTF8.self)
            #expect(text.contains("# TYPE sync_passes_total counter"))
            #expect(text.contains("sync_passes_total{result=\"succeeded\"}"))
        }
    }

    @Test func healthFailsWhenSyncsKeepFailing() async throws {
        try await withServer("--fault", "truncated") { server, _ in
            let failed = try await server.status { $0.health.consecutiveFailures >= 3 }
            #expect(failed.passes.contains { $0.status == "failed" })
            #expect(try await server.request("health").0 == 503)
        }
    }

    @Test func aServerThatStandsByShowsTheChangesOfTheOther() async throws {
        try await withServer { first, database in
            try await first.status { $0.counts["users", default: 0] > 4000 }
            let second = try await ServerProcess(["--database", database, "--interval", "1"])
            let before = try await second.status { $0.health.activity?.kind == "standingBy" && !$0.latest.isEmpty }
            #expect(try await first.request("upstream/change", method: "POST", isAuthorized: true).0 == 204)
            let after = try await second.status { status in
                zip(status.latest, before.latest).contains { $0.updatedAt != $1.updatedAt }
            }
            #expect(after.health.activity?.kind == "standingBy")
            #expect(second.stop() == 0)
        }
    }

    @Test func aStopWhileTheAPIHangsEnds() async throws {
        try await withServer("--fault", "stuck") { server, _ in
            try await server.status { $0.health.activity?.kind == "syncing" }
        }
    }
}
