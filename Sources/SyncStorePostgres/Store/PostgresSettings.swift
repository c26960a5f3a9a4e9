#if Postgres
import OneWayPostgresClient
import OneWaySynchronizer
import SyncBase
import SyncStoreSQL

/// The settings with which a store opens connections and begins transactions.
struct PostgresSettings: Sendable {
    let address: PostgresAddress
    let options: PostgresStore.Options

    init(_ connectionString: String, _ options: PostgresStore.Options) {
        address = PostgresAddress(connectionString)
        var options = options
        options.silenceLimit = max(options.silenceLimit, .seconds(1))
        self.options = options
    }

    /// Opens a connection.
    ///
    /// - Parameter servers: The kinds of server to accept.
    func open(
        _ servers: PostgresSessionOptions.Servers, isolation: isolated (any Actor)? = #isolation
    ) async throws -> PostgresConnection {
        var session = PostgresSessionOptions(silenceLimit: options.silenceLimit)
        session.servers = servers
        session.farRoundTrip = options.farRoundTrip
        session.connectionWait = options.connectionWait
        session.pooling = options.isBehindSessionPooler ? .session : .none
        // A plan for one batch is not worth JIT compilation. The server ends a transaction whose
        // process sends nothing for too long; a running process sends signs of life
        // (`PostgresWorker.sendSignOfLife`).
        session.settings = [
            ("search_path", PostgresDialect.searchPath), ("client_min_messages", "warning"), ("timezone", "UTC"),
            ("datestyle", "ISO"), ("standard_conforming_strings", "on"), ("jit", "off"),
            ("idle_in_transaction_session_timeout", "\(options.silenceLimit.milliseconds)"),
        ]
        let connection = try await PostgresConnection.open(address, options: session, isolation: isolation)
        guard connection.serverEncoding == "UTF8" else {
            // The SQLSTATE for a text that does not fit its database's encoding.
            throw PostgresError(
                code: .characterNotInRepertoire,
                message: "the encoding of the database is \(connection.serverEncoding), not UTF8")
        }
        return connection
    }

    /// Begins a writing transaction when no other store of the schema writes.
    ///
    /// A transaction first takes an advisory lock on a hash of the schema's name. Stores therefore
    /// wait in a queue and cannot deadlock, and each sees all commits of the stores before it.
    /// Shared locks with the numbers of the current task's leases let a successor find the
    /// transaction; see `PostgresLease`. Source:
    /// https://www.postgresql.org/docs/current/explicit-locking.html#ADVISORY-LOCKS
    func beginning() -> Beginning {
        let grants = SyncLeaseScope.grants.compactMap { $0 as? PostgresLeaseSession }
        let locks =
            grants.map {
                "pg_catalog.pg_advisory_xact_lock_shared(\(PostgresLeaseStatements.lockSpace), \($0.number))"
            } + ["pg_catalog.pg_advisory_xact_lock(\(lockNumber))"]
        return Beginning(
            statements: ["BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE", lockLimit, Self.plansBatches],
            lock: "SELECT \(locks.joined(separator: ", "))")
    }

    /// Makes the planner look up the rows of a batch. The default cost, which is meant for disks,
    /// would make it read a whole table of some 100,000 rows for a batch of a few thousand. Source:
    /// https://www.postgresql.org/docs/current/runtime-config-query.html#GUC-RANDOM-PAGE-COST
    private static let plansBatches = "SET LOCAL random_page_cost TO 1.1"

    /// Sets the limit of waits for locks in a transaction. Overrides a limit of the role or the
    /// database.
    var lockLimit: String {
        "SET LOCAL lock_timeout TO \(options.lockTimeout?.milliseconds ?? 0)"
    }

    /// The channel for notifications of commits in the schema.
    var commitChannel: String {
        var fingerprint = Fingerprint()
        fingerprint.combine(options.schema)
        return "one_way_commits_\(fingerprint.text)"
    }

    /// The number of the schema's advisory lock.
    var lockNumber: String {
        "pg_catalog.hashtextextended(\(SQLText.literal("OneWaySynchronizer \(options.schema)"))::pg_catalog.text, 0::pg_catalog.int8)"
    }

    /// Begins a reading transaction, whose snapshot is the last commit.
    static let readingBeginning = Beginning(statements: ["BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"])

    /// The statements that begin a transaction.
    struct Beginning {
        /// Statements that return nothing.
        var statements: [String]
        /// Selects the locks of the transaction; nil for none.
        var lock: String?

        var text: String { (statements + [lock].compactMap(\.self)).joined(separator: "; ") }
    }

    /// Selects the current model version of the tables, an expression, and the mark of the session.
    func tableVersion(and expression: String) -> String {
        let table = PostgresDialect(schemaName: options.schema).relation(SQLSchemaRecord.table)
        return "SELECT (SELECT model_version FROM \(table)), \(expression), \(PostgresConnection.sessionMark)"
    }
}

extension Duration {
    /// The duration in whole milliseconds for a PostgreSQL limit; at least one, because zero means
    /// no limit.
    fileprivate var milliseconds: Int64 {
        min(max(wholeMilliseconds, 1), Int64(Int32.max))
    }
}
#endif
