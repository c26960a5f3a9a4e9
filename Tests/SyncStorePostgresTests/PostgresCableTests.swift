#if Postgres
import Foundation
import OneWayPostgresTestSupport
import OneWaySynchronizer
import OneWayTestLimits
import OneWayTestSupport
import SyncStore
import SyncStorePostgres
import Testing

/// A host whose cable is pulled: a network namespace whose end of the link goes down.
@Suite(
    .enabled(if: PostgresServer.isInstalled, "\(SharedPostgres.absence)"),
    .enabled("network namespaces need root and the command ip (iproute2)") { await NetworkNamespace.isPossible },
    .serialized, .endsInTime)
struct PostgresCableTests {
    private func withNamespace(
        _ body: (_ url: String, _ namespace: NetworkNamespace) async throws -> Void
    ) async throws {
        let namespace = try await NetworkNamespace.make()
        let port = try TestProxy.freePort()
        let server = try await PostgresServer(
            PostgresServer.Settings(configuration: [
                "listen_addresses": "'\(namespace.hostAddress)'", "port": "\(port)",
            ]))
        do {
            let rules = "\(server.folder)/data/pg_hba.conf"
            let known = try String(contentsOfFile: rules, encoding: .utf8)
            let added = Data("host all all \(namespace.hostAddress)/30 trust\n".utf8)
            let file = try FileHandle(forWritingTo: URL(filePath: rules))
            try file.seekToEnd()
            try file.write(contentsOf: added)
            try file.close()
            #expect(!known.isEmpty)
            let local = server.url() + "&port=\(port)"
            try await PostgresSession.run(local, "SELECT pg_reload_conf()")
            // The server reads its rules again when it sees the signal.
            let url = "postgres://postgres@\(namespace.hostAddress):\(port)/postgres"
            let reloaded = "SELECT 1 FROM pg_hba_file_rules WHERE address = '\(namespace.hostAddress)'"
            while try await PostgresSession.run(local, reloaded).isEmpty { await Task.yield() }
            try await body(url, namespace)
        } catch {
            await namespace.remove()
            await server.close()
            throw error
        }
        await namespace.remove()
        await server.close()
    }

    @Test func aTransactionBehindAPulledCableEnds() async throws {
        try await withNamespace { url, namespace in
            let store = try await PostgresWorld.store(at: url) { $0.silenceLimit = .seconds(3600) }
            let child = try namespace.start(["postgres-hold", url, "4000"])
            try await child.output.wait { $0.contains("held") }
            try await namespace.pullCable()
            // The server hears nothing any more, and nothing tells it so.
            try await store.put([2])
            #expect(try await store.count(StoreQuery("User")) == 1)
            // It waits for the network.
            await child.kill()
        }
    }

    @Test func aHolderBehindAPulledCableIsSucceeded() async throws {
        try await withNamespace { url, namespace in
            let store = try await PostgresWorld.store(at: url) { $0.silenceLimit = .seconds(3600) }
            let child = try namespace.start(["postgres-lease-hold", url, "name", "4000", "3600000"])
            try await child.output.wait { $0.contains("held") }
            try await namespace.pullCable()
            try await PostgresLease("name", at: url, duration: .seconds(4)).withLease(waiting: .forever) {
                try await store.put([2])
            }
            #expect(try await store.count(StoreQuery("User")) == 1)
            // It waits for the network.
            await child.kill()
        }
    }
}

/// A network of its own, linked to this one by a cable.
private struct NetworkNamespace {
    let hostAddress: String
    private let name: String

    private static let command = ["/usr/sbin/ip", "/sbin/ip", "/usr/bin/ip", "/bin/ip"]
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    static var isPossible: Bool {
        get async {
            guard command != nil, let made = try? await make() else { return false }
            let isUsable = (try? await run(["netns", "exec", made.name, "true"])) != nil
            await made.remove()
            return isUsable
        }
    }

    static func make() async throws -> NetworkNamespace {
        let number = Int.random(in: 0..<16_384)
        // Addresses for tests of networks; see RFC 2544.
        let prefix = "198.\(18 + number / 8192).\(number / 64 % 128 * 2)."
        let namespace = NetworkNamespace(
            hostAddress: "\(prefix)\(number % 64 * 4 + 1)", name: "ows\(number)")
        let other = "\(prefix)\(number % 64 * 4 + 2)"
        do {
            try await run(["netns", "add", namespace.name])
            try await run(["link", "add", namespace.name, "type", "veth", "peer", "name", "cable"])
            try await run(["link", "set", "cable", "netns", namespace.name])
            try await run(["addr", "add", "\(namespace.hostAddress)/30", "dev", namespace.name])
            try await run(["link", "set", namespace.name, "up"])
            try await run(["-n", namespace.name, "addr", "add", "\(other)/30", "dev", "cable"])
            try await run(["-n", namespace.name, "link", "set", "cable", "up"])
        } catch {
            await namespace.remove()
            throw error
        }
        return namespace
    }

    func pullCable() async throws {
        try await Self.run(["-n", name, "link", "set", "cable", "down"])
    }

    func remove() async {
        _ = try? await Self.run(["link", "del", name])
        _ = try? await Self.run(["netns", "del", name])
    }

    /// Starts `TestChild` in the namespace.
    func start(_ arguments: [String]) throws -> ChildProcess {
        let child = ChildProcess.product("TestChild").path
        return try ChildProcess(
            URL(filePath: Self.command ?? "/sbin/ip"), ["netns", "exec", name, child] + arguments)
    }

    private static func run(_ arguments: [String]) async throws {
        let end = try await ChildProcess(
            URL(filePath: command ?? "/sbin/ip"), arguments, input: .nullDevice, errors: ChildOutput()
        ).end()
        guard end.code == 0 else { throw TestError("ip \(arguments): \(end.errors)") }
    }
}
#endif
