#if Postgres
import SyncBase
import SyncStore
package import SyncStorePostgres

/// A connection and the actor that it needs, for tests that speak to a server directly.
package actor PostgresSession {
    private let executor = BlockingExecutor(label: "PostgresSession")
    private let connection: PostgresConnection

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    /// Connects.
    package init(_ url: String) async throws {
        connection = try await PostgresConnection.open(url, applicationName: "test")
    }

    /// Uses the connection; what it does ends when the task is cancelled.
    package func use<Result: Sendable>(_ body: @Sendable (PostgresConnection) throws -> Result) async throws -> Result {
        try await connection.interruptible {
            // Blocking on the pool that all tasks share would stop them all.
            preconditionIsolated()
            return try body(connection)
        }
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
