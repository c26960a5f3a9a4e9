#if Postgres
import OneWayPostgresClient
import SyncStoreSQL

extension PostgresMigration {
    /// How long an attempt to lock tables waits, in milliseconds. Whoever wants to read them waits
    /// behind it.
    private static let attempt = 200
    /// The pause between two attempts, in which others can read, in seconds.
    private static let pause = 0.5

    /// Locks tables until the transaction ends, without keeping others from reading them for longer
    /// than an attempt.
    ///
    /// A lock that waits for a reader keeps all later readers waiting. Therefore each attempt is
    /// short, and gives up all locks that it got. Source:
    /// https://www.postgresql.org/docs/current/explicit-locking.html
    ///
    /// - Throws: `PostgresError` with the code `55P03` after the limit of the settings.
    func lock(_ locks: SQLMigration.Locks) throws {
        // In an order, so that two migrations cannot wait for each other.
        let exclusive = locks.exclusive.sorted()
        let shared = locks.shared.sorted()
        guard !exclusive.isEmpty || !shared.isEmpty else { return }
        func lock(_ tables: [String], _ mode: String) -> String {
            tables.isEmpty ? "" : "LOCK TABLE \(tables.map(schema.relation).joined(separator: ", ")) IN \(mode) MODE; "
        }
        let statement =
            "SAVEPOINT _sync_locks; SET LOCAL lock_timeout TO \(Self.attempt); \(lock(exclusive, "ACCESS EXCLUSIVE"))"
            + "\(lock(shared, "SHARE ROW EXCLUSIVE"))\(settings.lockLimit); RELEASE SAVEPOINT _sync_locks"
        let end = ContinuousClock.now + settings.options.migrationTimeout
        while true {
            do {
                try connection.execute(statement)
                return
            } catch let error as PostgresError where error.code == .lockNotAvailable {
                try connection.execute("ROLLBACK TO SAVEPOINT _sync_locks")
                guard ContinuousClock.now < end else {
                    throw PostgresError(
                        code: .lockNotAvailable,
                        message: "the migration could not lock \((exclusive + shared).joined(separator: ", ")) within "
                            + "\(settings.options.migrationTimeout), because other sessions use them all the time; see pg_locks"
                    )
                }
                try connection.execute("SELECT pg_catalog.pg_sleep(\(Self.pause))")
            }
        }
    }
}
#endif
