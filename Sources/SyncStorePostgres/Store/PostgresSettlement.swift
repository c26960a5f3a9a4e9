#if Postgres
import OneWayPostgresClient
import SyncStoreSQL

/// Determines whether a transaction was committed when the connection was lost during `COMMIT`.
struct PostgresSettlement {
    private let number: String
    private let process: Int32
    private let cluster: String
    private let settings: PostgresSettings

    /// Creates a settlement.
    ///
    /// - Parameters:
    ///   - number: The transaction's number.
    ///   - connection: The lost connection.
    init(_ number: String, of connection: PostgresConnection, settings: PostgresSettings) {
        self.number = number
        process = connection.serverProcess
        cluster = connection.cluster
        self.settings = settings
    }

    /// Returns if the transaction was committed.
    ///
    /// Waits for a transaction in progress. A session that never received the `COMMIT` is ended
    /// first, so that its transaction does not stay open.
    ///
    /// - Throws: `error` if the transaction was not committed; `PostgresError` with code `08007` if
    ///   that cannot be determined.
    func settle(after error: PostgresError, isolation: isolated (any Actor)? = #isolation) async throws {
        let deadline = ContinuousClock.now + settings.options.silenceLimit * 3
        guard let connection = try? await settings.open(.primary, isolation: isolation) else {
            throw unknown("no server could be asked")
        }
        // Another server, or the same one after a failover, has its own transaction numbers.
        guard connection.cluster == cluster, !cluster.isEmpty else {
            throw unknown("another server has taken over")
        }
        connection.answerLimit = settings.options.silenceLimit
        let isIdle =
            "pid OPERATOR(pg_catalog.=) \(process) AND state OPERATOR(pg_catalog.=) 'idle in transaction'::pg_catalog.text"
        while ContinuousClock.now < deadline {
            let status = try? connection.execute(
                "SELECT pg_catalog.pg_xact_status(\(SQLText.literal(number))::pg_catalog.xid8)"
            ).text(0, 0)
            switch status {
            case "committed": return
            case "aborted": throw error
            case "in progress":
                _ = try? connection.execute(
                    "SELECT pg_catalog.pg_terminate_backend(pid) FROM pg_catalog.pg_stat_activity WHERE \(isIdle)")
                _ = try? connection.execute("SELECT pg_catalog.pg_sleep(0.05)")
            default: throw unknown("the server no longer knows the transaction")
            }
        }
        throw unknown("the server is still busy with it")
    }

    private func unknown(_ reason: String) -> PostgresError {
        PostgresError(
            code: .resolutionUnknown,
            message: "the connection was lost during the commit, and it is unknown whether the server committed: "
                + "\(reason); SELECT pg_xact_status('\(number)') on the server that had the transaction tells, and a "
                + "sync that runs again is correct in either case",
            statement: "COMMIT")
    }
}
#endif
