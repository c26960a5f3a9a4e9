public import ArgumentParser
import Foundation
import Hummingbird
import Logging
import Metrics
import ServiceLifecycle
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

        @Option(help: "The address to listen on.")
        var host = "127.0.0.1"

        @Option(help: "The port to listen on; 0 for any that is free.")
        var port = 8080

        @Option(help: "Seconds from one sync to the next.")
        var interval = 10.0

        @Option(help: "The token for POST requests; by default SYNC_TOKEN of the environment, else a random one.")
        var token: String?

        @Option(help: "How the played API misbehaves at first: none, slow, errors, truncated or stuck.")
        var fault = UpstreamAPI.Fault.none

        func validate() throws {
            guard interval > 0, interval < 1e9 else {
                throw ValidationError("--interval is a number of seconds above 0")
            }
            guard (0...65535).contains(port) else { throw ValidationError("--port is from 0 to 65535") }
        }

        func run() async throws {
            let logger = Logger(label: "server")
            let metrics = PrometheusRegistry()
            MetricsSystem.bootstrap(metrics)
            let token =
                token ?? ProcessInfo.processInfo.environment["SYNC_TOKEN"]
                ?? UUID().uuidString.replacing("-", with: "").lowercased()

            var played: PlayedUpstream?
            let source: URL
            if let upstream {
                guard let url = URL(string: upstream), url.host() != nil else {
                    throw ValidationError("--upstream is an address such as https://api.example.com/users")
                }
                source = url
            } else {
                let upstream = try await PlayedUpstream.start(fault: fault, logger: logger)
                source = upstream.users
                played = upstream
            }

            let mirror = try await Mirror(of: source, in: database, every: .seconds(interval), logger: logger)
            let routes = ServerRoutes(mirror: mirror, metrics: metrics, token: token, upstream: played?.api)
            // A shutdown ends the last service first: the server, then the mirror, then the played API.
            var services: [any Service] = []
            if let played { services.append(played) }
            services.append(mirror)
            let app = Application(
                router: routes.router,
                configuration: ApplicationConfiguration(address: .hostname(host, port: port), serverName: "Server"),
                services: services,
                onServerRunning: { [host] channel in
                    let port = channel.localAddress?.port ?? 0
                    // Not `print`, which keeps lines back when the output is no terminal.
                    let line = "Status page: http://\(host):\(port)/#token=\(token)\n"
                    FileHandle.standardOutput.write(Data(line.utf8))
                }, logger: logger)
            try await app.runService()
        }
    }

    /// Plays the API alone.
    struct PlayUpstream: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "upstream", abstract: "Plays the API that is mirrored: 5,000 users that change.")

        @Option(help: "The port to listen on.")
        var port = 8081

        @Option(help: "The number of users at first.")
        var users = 5000

        func run() async throws {
            let app = Application(
                router: UpstreamAPI(userCount: users).router,
                configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: port)),
                logger: Logger(label: "upstream"))
            print("Users: http://127.0.0.1:\(port)/users")
            try await app.runService()
        }
    }
}

extension UpstreamAPI.Fault: ExpressibleByArgument {}
