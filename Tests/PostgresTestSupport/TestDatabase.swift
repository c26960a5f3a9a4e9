#if Postgres
import Foundation
import OneWayPostgresClient
import SyncStoreSQL

/// The server that all tests of this process share.
package enum SharedPostgres {
    /// `POSTGRES_URL`: a server that is there already. Its role must be allowed to make databases.
    private static let url = ProcessInfo.processInfo.environment["POSTGRES_URL"]
    private static let server = Task { try await PostgresServer() }

    /// Whether tests have a server.
    package static var isAvailable: Bool { url != nil || PostgresTools.found != nil }

    /// Where the server's own database is.
    static func maintenanceURL() async throws -> String {
        if let url { return url }
        return try await server.value.url()
    }

    /// Why tests are skipped where they have none.
    package static let absence = "PostgreSQL is not installed (initdb, pg_ctl), and POSTGRES_URL names no server"

    /// Runs a function with a database of its own, which is dropped afterwards.
    package static func withDatabase<Result>(
        isolation: isolated (any Actor)? = #isolation, _ body: (TestDatabase) async throws -> Result
    ) async throws -> Result {
        let database = try await TestDatabase.make(
            name: "ows_test_\(UInt64.random(in: .min ... .max))",
            maintenance: try await maintenanceURL())
        do {
            let result = try await body(database)
            try await database.drop()
            return result
        } catch {
            try? await database.drop()
            throw error
        }
    }
}

/// A database of a test.
package struct TestDatabase: Sendable {
    /// Where it is, as a connection string.
    package let url: String
    private let name: String
    private let maintenance: String

    /// Makes a database.
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - maintenance: Where another database of the server is.
    package static func make(name: String, maintenance: String) async throws -> TestDatabase {
        try await PostgresSession.run(maintenance, "CREATE DATABASE \(SQLText.name(name))")
        var parts = URLComponents(string: maintenance)
        parts?.path = "/\(name)"
        guard let url = parts?.string else { throw PostgresServerError("POSTGRES_URL is no URL") }
        return TestDatabase(url: url, name: name, maintenance: maintenance)
    }

    /// Runs statements in a connection of their own.
    ///
    /// - Returns: The rows of the last one, as texts; null is nil.
    @discardableResult
    package func run(_ text: String) async throws -> [[String?]] {
        try await PostgresSession.run(url, text)
    }

    /// Waits until a statement returns a row; one that names tables that are not there yet returns
    /// none.
    package func waitForRow(_ text: String) async throws {
        let session = try await PostgresSession(url)
        while true {
            let count = try await session.use { connection in
                do { return try connection.execute(text).rowCount } catch let error as PostgresError {
                    guard [.noSchema, .undefinedTable].contains(error.code) else { throw error }
                    return 0
                }
            }
            guard count == 0 else { return }
            await Task.yield()
        }
    }

    /// Waits until a connection to the database waits for a lock.
    package func waitForWaiter() async throws {
        let waiters = """
            SELECT count(*) FROM pg_locks
            WHERE NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
            """
        let session = try await PostgresSession(url)
        while try await session.use({ try $0.execute(waiters).integer(0, 0) }) == 0 { await Task.yield() }
    }

    fileprivate func drop() async throws {
        try await PostgresSession.run(maintenance, "DROP DATABASE \(SQLText.name(name)) WITH (FORCE)")
    }
}
#endif
