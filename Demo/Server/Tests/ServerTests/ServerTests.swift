import Foundation
import ServerTestLimits
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The server's own API.
@Suite(.endsInTime)
struct ServerTests {
    /// Runs a body with a server on a database of its own, and stops the server.
    private func withServer(
        _ arguments: String..., environment: [String: String] = [:],
        body: (ServerProcess, _ database: String) async throws -> Void
    ) async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "Server-\(UUID().uuidString).sqlite")
        defer {
            for suffix in ["", "-wal", "-shm", "-lease"] {
                try? FileManager.default.removeItem(atPath: file.path + suffix)
            }
        }
        let server = try await ServerProcess(
            ["--database", file.path, "--interval", "1"] + arguments, environment: environment)
        try await body(server, file.path)
        // 0: a stop is graceful, also while a browser listens.
        #expect(await server.stop() == 0)
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

    /// The port of the played API would ask for no token.
    @Test func thePlayedAPIChangesOnlyThroughTheServer() async throws {
        try await withServer { server, _ in
            let source = try await server.status { _ in true }.source
            let users = try #require(URL(string: source))
            for path in ["change?count=1", "fault?kind=none"] {
                let url = try #require(URL(string: path, relativeTo: users))
                let (status, _) = try await server.request(url.absoluteString, method: "POST")
                #expect(status == 404, "\(path)")
            }
        }
    }

    // MARK: Access

    private static let data = ["status", "health", "users", "users/1", "export", "metrics", "no/such/path"]

    @Test func onOtherAddressesEverythingNeedsTheToken() async throws {
        try await withServer("--host", "0.0.0.0") { server, _ in
            for path in Self.data + ["status/events", "sync"] {
                let (status, _) = try await server.request(path)
                #expect(status == 401, "\(path)")
            }
            for path in ["/", "status.css", "status.js"] {
                let (status, _) = try await server.request(path)
                #expect(status == 200, "\(path)")
            }
            for path in ["status", "health", "users", "export", "metrics"] {
                let (status, _) = try await server.request(path, isAuthorized: true)
                #expect(status == 200, "\(path)")
            }
        }
    }

    /// A page of another site can give this computer a name of its own.
    @Test func aNameOfAnotherSiteNeedsTheToken() async throws {
        try await withServer { server, _ in
            let port = try #require(server.page.port)
            for (host, status) in [
                ("evil.test", 401), ("localhost.evil.test", 401), ("evil.test:\(port)", 401), ("localhost", 200),
                ("LOCALHOST:\(port)", 200), ("127.0.0.1:\(port)", 200), ("[::1]:\(port)", 200),
            ] {
                let connection = try RawConnection(port: port)
                connection.send("GET /users?limit=1 HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n")
                #expect(await connection.untilEnd().hasPrefix("HTTP/1.1 \(status) "), "\(host)")
            }
        }
    }

    @Test func everyResponseLimitsWhatBrowsersDo() async throws {
        try await withServer { server, _ in
            for path in ["/", "status.css", "status.js"] + Self.data {
                let (response, _) = try await server.response(to: path)
                let policy = response.value(forHTTPHeaderField: "Content-Security-Policy") ?? ""
                #expect(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "\(path)")
                #expect(response.value(forHTTPHeaderField: "X-Content-Type-Options") == "nosniff", "\(path)")
                #expect(response.value(forHTTPHeaderField: "Referrer-Policy") == "no-referrer", "\(path)")
            }
        }
    }

    // MARK: Webhooks

    /// The example in GitHub's documentation.
    @Test func aSignedWebhookSyncs() async throws {
        let signature = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
        let body = Data("Hello, World!".utf8)
        try await withServer(environment: ["WEBHOOK_SECRET": "It's a Secret to Everybody"]) { server, _ in
            // A copy is answered alike, but not handled again.
            for (signature, status) in [
                (nil, 401), (signature.replacing("7", with: "8"), 401), (signature, 202), (signature, 202),
            ] {
                let (response, _) = try await server.response(
                    to: "webhook", method: "POST", fields: signature.map { ["X-Hub-Signature-256": $0] } ?? [:],
                    body: body)
                #expect(response.statusCode == status)
            }
        }
        try await withServer { server, _ in
            let (status, _) = try await server.request("webhook", method: "POST")
            #expect(status == 401)
        }
    }

    /// The codes of "webhook 0", "webhook 1", … by the secret "secret".
    private static let codes = [
        "649b5676e99d26acf7432d991029d4f58240484c99668a143fcebf1b7bcd4ff3",
        "c28efbd632c392b6a2a3ed64dd7533c018ac47c7eaf81b671de780a2a521e908",
        "bac57ef6ffe514f58f5f79d09afd5f31758910056e9a32547327270650769a07",
        "a03bb5b851864eaebdd23f72316608a3ce808b611796c176542dd142eb1dc970",
    ]

    /// Copies, forgeries and connections that send nothing come beside each webhook. Nothing else
    /// asks for a sync.
    @Test func noWebhookIsLostUnderLoad() async throws {
        try await withServer("--interval", "3600", environment: ["WEBHOOK_SECRET": "secret"]) { server, _ in
            var before = try await server.status {
                $0.counts["users", default: 0] > 4000 && $0.health.activity?.kind == "waiting"
            }
            let port = try #require(server.page.port)
            let idle = try (0..<50).map { _ in try RawConnection(port: port) }
            for connection in idle { connection.send("POST /webhook HTTP/1.1\r\nHost: localhost\r\n") }
            for (index, code) in Self.codes.enumerated() {
                #expect(try await server.request("upstream/change", method: "POST", isAuthorized: true).0 == 204)
                try await withThrowingTaskGroup(of: (isSigned: Bool, status: Int).self) { group in
                    for copy in 0..<100 {
                        group.addTask {
                            let isSigned = copy % 2 == 0
                            let (response, _) = try await server.response(
                                to: "webhook", method: "POST",
                                fields: ["X-Hub-Signature-256": "sha256=\(isSigned ? code : String(code.reversed()))"],
                                body: Data("webhook \(index)".utf8))
                            return (isSigned, response.statusCode)
                        }
                    }
                    for try await (isSigned, status) in group {
                        // A copy of one that is being handled may come again.
                        #expect(isSigned ? [202, 503].contains(status) : status == 401)
                    }
                }
                let known = before.latest
                before = try await server.status { $0.latest != known }
            }
            #expect(try await server.request("health").0 == 200)
        }
    }

    // MARK: Limits

    /// What a client sends, and what it goes on with while the server waits.
    @Test(
        arguments: [
            ("", nil), ("GET /users HTTP/1.1\r\nHost: loc", nil), ("GET /users HTTP/1.1\r\nA: ", "a"),
            ("POST /webhook HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n", nil),
            ("POST /webhook HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n", "a"),
            ("GET /users?limit=1 HTTP/1.1\r\nHost: localhost\r\n\r\n", nil),
        ] as [(String, String?)])
    func anIdleConnectionOrAHalfSentRequestIsClosed(request: String, trickle: String?) async throws {
        try await withServer("--idle-limit", "1", environment: ["WEBHOOK_SECRET": "secret"]) { server, _ in
            let connection = try RawConnection(port: try #require(server.page.port))
            connection.send(request)
            let answer = await connection.untilEnd(sending: trickle)
            #expect(answer.hasPrefix("HTTP/1.1 200") == request.contains("limit=1"))
        }
    }

    /// More than the buffers of a connection hold.
    private static let exports = String(repeating: "GET /export HTTP/1.1\r\nHost: localhost\r\n\r\n", count: 20)

    /// The system closes its side only when the client has read what it holds for it, so that the
    /// client notices from what it sends.
    @Test(arguments: [0, 1])
    func aClientThatHardlyReadsIsClosed(byteCount: Int) async throws {
        try await withServer("--idle-limit", "1") { server, _ in
            try await server.status { $0.counts["users", default: 0] > 4000 }
            let connection = try RawConnection(port: try #require(server.page.port), window: 4_096)
            connection.send(Self.exports)
            await connection.untilRefused(reading: byteCount)
        }
    }

    @Test func aClientThatReadsSlowlyReceivesEverything() async throws {
        try await withServer("--idle-limit", "1") { server, _ in
            try await server.status { $0.counts["users", default: 0] > 4000 }
            let connection = try RawConnection(port: try #require(server.page.port), window: 65_536)
            connection.send(Self.exports + "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            let answers = await connection.untilEnd(pause: 10)
            #expect(answers.split(separator: "HTTP/1.1 200 OK").count == 21)
            #expect(answers.hasSuffix("</html>\n"))
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
            for (gauge, value) in [("sync_is_holder", "1.0"), ("sync_consecutive_failures", "0.0")] {
                #expect(text.contains("# TYPE \(gauge) gauge\n\(gauge) \(value)\n"), "\(text)")
            }
            #expect(text.contains("# TYPE sync_last_success_timestamp_seconds gauge"))
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
            #expect(await second.stop() == 0)
        }
    }

    @Test func aStopWhileTheAPIHangsEnds() async throws {
        try await withServer("--fault", "stuck") { server, _ in
            try await server.status { $0.health.activity?.kind == "syncing" }
        }
    }
}
