import Foundation
import Hummingbird
import Logging
import ServiceLifecycle
import Upstream

/// The API that is mirrored, played by this program, with users that change every few seconds.
struct PlayedUpstream: Service {
    let api: UpstreamAPI
    /// The address of the users.
    let users: URL
    private let server: Task<Void, any Error>

    /// Starts the API.
    ///
    /// - Parameters:
    ///   - userCount: The number of users at first.
    ///   - fault: How it misbehaves at first.
    ///   - port: The port on this computer; 0 for any that is free.
    ///   - hasControls: Whether `POST` requests to the port, without a token, can change users and
    ///     the fault.
    static func start(
        userCount: Int = 5000, fault: UpstreamAPI.Fault, port: Int = 0, hasControls: Bool, logger: Logger
    ) async throws -> PlayedUpstream {
        let api = UpstreamAPI(userCount: userCount)
        await api.setFault(fault)
        let (ports, found) = AsyncStream.makeStream(of: Int.self)
        let app = Application(
            router: api.router(hasControls: hasControls),
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: port)),
            onServerRunning: { channel in
                found.yield(channel.localAddress?.port ?? 0)
                found.finish()
            }, logger: logger)
        let server = Task {
            defer { found.finish() }
            try await app.run()
        }
        guard let port = await ports.first(where: { _ in true }),
            let users = URL(string: "http://127.0.0.1:\(port)/users")
        else {
            try await server.value
            throw CancellationError()
        }
        return PlayedUpstream(api: api, users: users, server: server)
    }

    func run() async throws {
        try? await cancelWhenGracefulShutdown {
            while true {
                try await Task.sleep(for: .seconds(4))
                await api.change(count: 3)
            }
        }
        // Requests that are stuck are answered, so that the server can end.
        await api.setFault(.none)
        server.cancel()
        _ = await server.result
    }
}
