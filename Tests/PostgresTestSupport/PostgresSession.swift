#if Postgres
package import OneWayPostgresClient
import SyncBase

/// A connection and its actor, for tests that talk to a server directly.
package actor PostgresSession {
    private let executor = BlockingExecutor(label: "PostgresSession")
    private let connection: PostgresConnection

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    /// Connects, to a standby server too.
    package init(_ url: String, silenceLimit: Duration = .seconds(10)) async throws {
        var options = PostgresSessionOptions(applicationName: "test", silenceLimit: silenceLimit)
        options.servers = .any
        try await self.init(url, options: options)
    }

    /// Connects as a test wants it.
    package init(_ url: String, options: PostgresSessionOptions) async throws {
        connection = try await PostgresConnection.open(PostgresAddress(url), options: options)
    }

    /// Uses the connection; what it does ends when the task is cancelled.
    package func use<Result: Sendable>(_ body: @Sendable (PostgresConnection) throws -> Result) async throws -> Result {
        try await connection.interruptible {
            // Blocking on the pool that all tasks share would stop them all.
            preconditionIsolated()
            return try body(connection)
        }
    }

    /// Uses the connection; a cancellation of the task ends nothing of it.
    package func useToTheEnd<Result: Sendable>(
        _ body: @Sendable (PostgresConnection) throws -> Result
    ) throws -> Result {
        preconditionIsolated()
        return try body(connection)
    }

    /// Runs statements in a connection of their own.
    ///
    /// - Returns: The rows of the last one, as texts; null is nil.
    @discardableResult
    package static func run(_ url: String, _ text: String) async throws -> [[String?]] {
        try await PostgresSession(url).use { connection in
            let result = try connection.execute(text)
            return (0..<result.rowCount).map { row in (0..<result.columnCount).map { result.text(row, $0) } }
        }
    }
}
#endif
