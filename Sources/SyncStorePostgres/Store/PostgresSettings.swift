#if Postgres
import OneWayPostgresClient
import OneWaySynchronizer
import SyncBase
import SyncStoreSQL

/// How a store opens its connections and begins its transactions.
struct PostgresSettings: Sendable {
    let address: PostgresAddress
    /// The schema of the store's tables.
    let schemaName: String
    let isReadOnly: Bool
    let lockTimeout: Duration?
    let modelVersion: Int
    /// A text to keep with the tables; nil to leave an earlier one.
    let note: String?
    let silenceLimit: Duration
    let isBehindSessionPooler: Bool
    /// See `PostgresFilling`.
    let fillMinimum: Int

    /// Opens a connection.
    ///
    /// - Parameter servers: Which servers are accepted.
    func open(
        _ servers: PostgresSessionOptions.Servers, isolation: isolated (any Actor)? = #isolation
    ) async throws -> PostgresConnection {
        var options = PostgresSessionOptions(silenceLimit: silenceLimit)
        options.servers = servers
        options.pooling = isBehindSessionPooler ? .session : .none
        let connection = try await PostgresConnection.open(address, options: options, isolation: isolation)
        // Tables are looked up in the store's schema before temporary ones. Plans for one batch are
        // not worth compiling. The server ends a transaction whose process no longer sends
        // anything; a live one does, see `isAlive`.
        let text = """
            SET search_path TO \(SQLText.name(schemaName)), pg_temp; SET client_min_messages TO warning; \
            SET timezone TO 'UTC'; SET datestyle TO 'ISO'; SET standard_conforming_strings TO on; SET jit TO off; \
            SET idle_in_transaction_session_timeout TO \(silenceLimit.milliseconds); \
            SELECT pg_catalog.current_setting('server_encoding')
            """
        let encoding = try await connection.interruptible { try connection.execute(text).text(0, 0) }
        guard encoding == "UTF8" else {
            // The code of a text that does not fit the encoding of its database.
            throw PostgresError(
                code: .characterNotInRepertoire,
                message: "the encoding of the database is \(encoding ?? "unknown"), not UTF8")
        }
        return connection
    }

    /// Begins a transaction that writes, once no other store of the schema does.
    ///
    /// An advisory lock on a hash of the schema's name is the first thing that a transaction asks
    /// for. So stores wait in a row and never in a circle, and each sees all that the one before it
    /// has committed. Shared locks with the numbers of the leases that the current task runs under
    /// let a successor find the transaction; see `PostgresLease`. Source:
    /// https://www.postgresql.org/docs/current/explicit-locking.html#ADVISORY-LOCKS
    func beginning() -> String {
        // No limit of the role or the database either.
        let limit = "SET LOCAL lock_timeout TO \(lockTimeout?.milliseconds ?? 0); "
        let grants = SyncLeaseScope.grants.compactMap { $0 as? PostgresLeaseSession }
        let locks =
            grants.map {
                "pg_catalog.pg_advisory_xact_lock_shared(\(PostgresLeaseStatements.lockSpace), \($0.number))"
            } + ["pg_catalog.pg_advisory_xact_lock(\(lockNumber))"]
        return "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; \(limit)SELECT \(locks.joined(separator: ", "))"
    }

    /// The channel on which commits in the schema are reported.
    var commitChannel: String {
        var fingerprint = Fingerprint()
        fingerprint.combine(schemaName)
        return "one_way_commits_\(fingerprint.text)"
    }

    /// The number of the schema's lock.
    var lockNumber: String {
        "pg_catalog.hashtextextended(\(SQLText.literal("OneWaySynchronizer \(schemaName)"))::pg_catalog.text, 0::pg_catalog.int8)"
    }

    /// Begins a transaction that reads what is committed now, and nothing that is committed later.
    static let readingBeginning = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
    /// Selects the version of the model that the tables have now.
    static let tableVersion = "SELECT model_version FROM \(SQLSchemaRecord.table)"
}

extension Duration {
    /// Whole milliseconds for a limit of PostgreSQL: at least one, because zero means no limit.
    fileprivate var milliseconds: Int64 {
        min(max(wholeMilliseconds, 1), Int64(Int32.max))
    }
}
#endif
