public import ArgumentParser
import Foundation
import Hummingbird
import HummingbirdCore
import Logging
import Metrics
import NIOCore
import OneWaySyncSQLite
import ServiceLifecycle
import UnixSignals
public import Upstream

/// The command line.
@main
struct ServerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "Server", abstract: "Keeps a database equal to an API and serves it.",
        subcommands: [Run.self, PlayUpstream.self], defaultSubcommand: Run.self)

    /// Serves the data and keeps it fresh.
    struct Run: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "run", abstract: "Syncs, and serves the data, /health, /metrics and a status page.")

        @Option(help: "The address of the users. Without it, this process plays the API as well.")
        var upstream: String?

        @Option(help: "An SQLite file, or a URL such as postgres://user@host/database.")
        var database = "mirror.sqlite"

        @Option(help: "The address to listen on. For any but this computer's own, every request needs the token.")
        var host = "127.0.0.1"

        @Option(help: "The port to listen on; 0 for any that is free.")
        var port = 8080

        @Option(help: "Seconds from one sync to the next.")
        var interval = 10.0

        @Option(
            help: """
                The token of requests that change something, and of all requests from other computers; by default \
                SYNC_TOKEN of the environment, else a random one.
                """)
        var token: String?

        @Option(help: "Seconds that a connection may be idle, take for one request, or for 16 KB of a response.")
        var idleLimit = 30

        @Option(help: "How the played API misbehaves at first: none, slow, errors, truncated, stuck or stalled.")
        var fault = UpstreamAPI.Fault.none

        func validate() throws {
            guard interval > 0, interval < 1e9 else {
                throw ValidationError("--interval is a number of seconds above 0")
            }
            guard (0...65535).contains(port) else { throw ValidationError("--port is from 0 to 65535") }
            guard (1...3600).contains(idleLimit) else { throw ValidationError("--idle-limit is from 1 to 3600") }
            guard token != "" else { throw ValidationError("--token is not empty") }
        }

        func run() async throws {
            let logger = Logger(label: "server")
            let environment = ProcessInfo.processInfo.environment
            let metrics = PrometheusRegistry()
            MetricsSystem.bootstrap(metrics)
            let token =
                token ?? environment["SYNC_TOKEN"].flatMap { $0.isEmpty ? nil : $0 }
                ?? UUID().uuidString.replacing("-", with: "").lowercased()

            var played: PlayedUpstream?
            let source: URL
            if let upstream {
                guard let url = URL(string: upstream), url.host() != nil else {
                    throw ValidationError("--upstream is an address such as https://api.example.com/users")
                }
                source = url
            } else {
                // The server has controls of its own, which need the token.
                let upstream = try await PlayedUpstream.start(fault: fault, hasControls: false, logger: logger)
                source = upstream.users
                played = upstream
            }

            let mirror = try await Mirror(of: source, in: database, every: .seconds(interval), logger: logger)
            let routes = ServerRoutes(
                mirror: mirror, metrics: metrics, access: ServerAccess(token: token, host: host),
                webhooks: environment["WEBHOOK_SECRET"].map { WebhookVerifier(.github, secrets: [$0]) },
                upstream: played?.api)
            let limit = TimeAmount.seconds(Int64(idleLimit))
            let limits = ConnectionLimits(idle: limit, request: limit, response: limit)
            // A shutdown ends the last service first: the server, then the mirror, then the played
            // API.
            var services: [any Service] = []
            if let played { services.append(played) }
            services.append(mirror)
            let app = Application(
                router: routes.router, server: limits.server,
                configuration: ApplicationConfiguration(
                    address: .hostname(host, port: port), serverName: "Server",
                    availableConnectionsDelegate: MaximumAvailableConnections(limits.connectionCount)),
                services: services,
                onServerRunning: { [host] channel in
                    let port = channel.localAddress?.port ?? 0
                    ServerCommand.write("Status page: http://\(host):\(port)/#token=\(token)")
                }, logger: logger)
            try await app.runService()
        }
    }

    /// Plays the API alone.
    struct PlayUpstream: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "upstream", abstract: "Plays the API that is mirrored: 5,000 users that change.")

        @Option(help: "The port to listen on; 0 for any that is free.")
        var port = 8081

        @Option(help: "The number of users at first.")
        var users = 5000

        @Option(help: "How the API misbehaves at first: none, slow, errors, truncated, stuck or stalled.")
        var fault = UpstreamAPI.Fault.none

        func validate() throws {
            guard users >= 0 else { throw ValidationError("--users is a number from 0") }
            guard (0...65535).contains(port) else { throw ValidationError("--port is from 0 to 65535") }
        }

        func run() async throws {
            let logger = Logger(label: "upstream")
            let upstream = try await PlayedUpstream.start(
                userCount: users, fault: fault, port: port, hasControls: true, logger: logger)
            ServerCommand.write("Users: \(upstream.users)")
            try await ServiceGroup(
                services: [upstream], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger
            ).run()
        }
    }

    /// Writes a line at once; `print` keeps lines back when the output is no terminal.
    private static func write(_ line: String) {
        FileHandle.standardOutput.write(Data("\(line)\n".utf8))
    }
}

extension UpstreamAPI.Fault: ExpressibleByArgument {}
