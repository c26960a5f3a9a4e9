#if Postgres
import Foundation
import OneWayPostgresClient
import OneWayTestSupport

/// A throw-away PostgreSQL server: made by `initdb`, reached by a unix socket alone, and gone with
/// whoever started it.
///
/// A shell holds the server: as another user where this process is root's, with a pipe from this
/// process as its standard input. It takes one command a line, and at the end of the pipe, which
/// comes also when this process is killed, it stops the server and removes its files.
package final class PostgresServer: Sendable {
    /// How a server is made.
    package struct Settings: Sendable {
        /// Whether a commit is on the disk before it is answered; false by default, since nothing
        /// that is tested outlives the machine.
        package var fsync: Bool
        /// Further settings, as in `postgresql.conf`.
        package var configuration: [String: String]
        /// The server of which this one is a copy that follows it; nil for a server with a database
        /// of its own.
        package var primary: PostgresServer?

        package init(
            fsync: Bool = false, configuration: [String: String] = [:], following primary: PostgresServer? = nil
        ) {
            self.fsync = fsync
            self.configuration = configuration
            self.primary = primary
        }
    }

    /// The role that has to give a password, `scram-sha-256`; every other is trusted.
    package static let roleWithPassword = "with_password"

    /// The folder of the server's files and its socket.
    package let folder: String
    private let shell: ChildProcess

    /// Whether this machine can run one.
    package static var isInstalled: Bool { PostgresTools.found != nil }

    /// Makes and starts a server, which takes a second or two.
    package init(_ settings: Settings = Settings()) async throws {
        guard let tools = PostgresTools.found else { throw PostgresServerError("PostgreSQL is not installed") }
        var configuration = settings.configuration
        configuration["fsync"] = settings.fsync ? "on" : "off"
        configuration["listen_addresses"] = configuration["listen_addresses"] ?? "''"
        configuration["max_connections"] = configuration["max_connections"] ?? "200"
        let lines = configuration.sorted { $0.key < $1.key }.map { "\($0.key) = \($0.value)" }.joined(separator: "\n")
        let command = tools.command
        shell = try ChildProcess(
            URL(filePath: command[0]), Array(command.dropFirst()),
            environment: [
                "OWS_POSTGRES": tools.folder, "OWS_SETTINGS": lines, "OWS_ROLE": Self.roleWithPassword,
                "OWS_PRIMARY": settings.primary?.folder ?? "",
            ])
        folder = try await shell.output.next() ?? ""
        if folder.isEmpty { throw PostgresServerError("PostgreSQL did not start; its log is on the standard error") }
    }

    /// Stops the server, and removes its files.
    package func close() async {
        await shell.close()
    }

    /// Where a database is, as a connection string.
    ///
    /// - Parameters:
    ///   - database: Its name.
    ///   - user: Who connects; the superuser by default.
    package func url(database: String = "postgres", user: String = "postgres") -> String {
        let folder = folder.replacing("/", with: "%2F")
        return "postgres://\(user)@/\(database)?host=\(folder)"
    }

    /// Waits until a connection waits for a lock.
    package func waitForWaiter() async throws {
        let session = try await PostgresSession(url())
        let waiters = "SELECT count(*) FROM pg_locks WHERE NOT granted"
        while try await session.use({ try $0.execute(waiters).integer(0, 0) }) == 0 { await Task.yield() }
    }

    // MARK: Faults

    /// Ends the server and its processes at once, as a power failure would.
    package func kill() async throws {
        try await order("kill")
    }

    /// Tells the server to cut all connections and stop, without a checkpoint.
    package func stop() async throws {
        try await order("stop")
    }

    /// Starts the server after it was stopped or killed; returns once it takes connections.
    package func start() async throws {
        try await order("start")
    }

    /// Stops the server and starts it as a standby, which accepts no writes until `pg_promote()` is
    /// called.
    package func becomeStandby() async throws {
        try await order("stop")
        try await order("standby")
        try await order("start")
    }

    private func order(_ command: String) async throws {
        try shell.send(command)
        let answer = try await shell.output.next() ?? "nothing"
        guard answer == "ok" else { throw PostgresServerError("\(command): \(answer)") }
    }
}

/// Why there is no server.
package struct PostgresServerError: Error, CustomStringConvertible {
    package let description: String

    init(_ description: String) {
        self.description = description
    }
}
#endif
