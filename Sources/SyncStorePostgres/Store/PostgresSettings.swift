#if Postgres
import SyncStoreSQL

/// How connections of a store are opened.
struct PostgresSettings: Sendable {
    let connectionString: String
    /// The schema that has the store's tables.
    let schemaName: String
    let isReadOnly: Bool
    let lockTimeout: Duration?
    let modelVersion: Int

    /// Opens a connection.
    func open(isolation: isolated (any Actor)? = #isolation) async throws -> PostgresConnection {
        let connection = try await PostgresConnection.open(
            connectionString, applicationName: "OneWaySynchronizer", isolation: isolation)
        // Names are found in the store's schema alone, never in a temporary one. Plans that are made once for each batch must not be compiled.
        let text = """
            SET search_path TO \(SQLText.name(schemaName)), pg_temp; SET client_min_messages TO warning; \
            SET timezone TO 'UTC'; SET datestyle TO 'ISO'; SET standard_conforming_strings TO on; SET jit TO off; \
            SELECT current_setting('server_encoding')
            """
        let encoding = try await connection.interruptible { try connection.execute(text).text(0, 0) }
        guard encoding == "UTF8" else {
            // What the server says where a text does not fit its encoding.
            throw PostgresError(
                code: PostgresError.characterNotInRepertoire,
                message: "the database is encoded as \(encoding ?? "?"), not as UTF8")
        }
        return connection
    }

    /// Begins a transaction that writes, as soon as no other store of the schema does.
    ///
    /// The lock is one for transactions, on a number made of the schema's name
    /// (https://www.postgresql.org/docs/current/explicit-locking.html#ADVISORY-LOCKS). Since it is the first thing that a transaction asks for,
    /// stores wait for one another in a row and never in a circle, and each sees all that the one before it has committed.
    var beginning: String {
        let limit = lockTimeout.map { "SET LOCAL lock_timeout TO \($0.milliseconds); " } ?? ""
        let name = SQLText.literal("OneWaySynchronizer \(schemaName)")
        return "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; \(limit)"
            + "SELECT pg_advisory_xact_lock(hashtextextended(\(name), 0))"
    }

    /// Begins a transaction that reads what is committed now, and nothing that is committed later.
    static let readingBeginning = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SELECT 1"
}

extension Duration {
    /// Whole milliseconds, as PostgreSQL takes them for a limit: at least one, since none would mean no limit.
    fileprivate var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        return min(max(seconds * 1000 + attoseconds / 1_000_000_000_000_000, 1), Int64(Int32.max))
    }
}
#endif
