import Foundation
import Testing

/// The server's own API.
@Suite(.timeLimit(.minutes(2)))
struct ServerTests {
    private func withServer(_ body: (ServerProcess) async throws -> Void) async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "Server-\(UUID().uuidString).sqlite")
        defer {
            for suffix in ["", "-wal", "-shm", "-lease"] {
                try? FileManager.default.removeItem(atPath: file.path + suffix)
            }
        }
        try await body(try await ServerProcess("--database", file.path, "--interval", "1"))
    }

    /// Reads the status events until one satisfies a condition.
    private func wait(for server: ServerProcess, until condition: (Data) throws -> Bool) async throws {
        while true {
            let (_, status) = try await server.request("status")
            if try condition(status) { return }
            await Task.yield()
        }
    }

    private struct Status: Decodable {
        var counts: [String: Int]
    }

    @Test func dataIsServedInPages() async throws {
        try await withServer { server in
            try await wait(for: server) { try JSONDecoder().decode(Status.self, from: $0).counts["users"] ?? 0 > 0 }
            struct Listed: Decodable {
                var id: Int
                var name: String
            }
            let (status, data) = try await server.request("users?after=10&limit=7")
            let users = try JSONDecoder().decode([Listed].self, from: data)
            #expect(status == 200)
            #expect(users.count == 7)
            #expect(users.map(\.id) == users.map(\.id).sorted())
            #expect(users.first.map { $0.id > 10 } == true)
            #expect(try await server.request("users/999999").0 == 404)
        }
    }

    @Test func postsNeedTheToken() async throws {
        try await withServer { server in
            #expect(try await server.request("sync", method: "POST").0 == 401)
            #expect(try await server.request("sync", method: "POST", isAuthorized: true).0 == 202)
        }
    }

    @Test func healthAndMetricsTellOfSyncs() async throws {
        try await withServer { server in
            try await wait(for: server) { try JSONDecoder().decode(Status.self, from: $0).counts["users"] ?? 0 > 0 }
            let (status, health) = try await server.request("health")
            #expect(status == 200)
            #expect(String(decoding: health, as: UTF8.self).contains("lastSuccess"))
            let (_, metrics) = try await server.request("metrics")
            let text = String(decoding: metrics, as: UTF8.self)
            #expect(text.contains("# TYPE sync_passes_total counter"))
            #expect(text.contains("sync_passes_total{result=\"succeeded\"}"))
        }
    }

    @Test func aStopIsGraceful() async throws {
        try await withServer { server in
            #expect(server.stop() == 0)
        }
    }
}
