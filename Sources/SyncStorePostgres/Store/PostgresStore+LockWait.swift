#if Postgres
import OneWayPostgresClient
import SyncBase

extension PostgresStore {
    /// A transaction's wait for the lock of a schema that another store holds.
    public struct LockWait: Sendable, Hashable, CustomStringConvertible {
        /// The application name of the session that holds the lock, such as `Demo[4711]@web-1`.
        public let holder: String
        /// The process identifier of the holder's server process, for `pg_terminate_backend`.
        public let holderBackend: Int32
        /// The time that the transaction has waited, by the server's clock.
        public let duration: Duration

        /// A sentence such as `waiting for the lock of Demo[4711]@web-1 for 12 s`.
        public var description: String {
            "waiting for the lock of \(holder) for \(duration.components.seconds) s"
        }
    }

    /// Returns what a writing transaction of this store is currently waiting for; nil if it does
    /// not wait.
    ///
    /// Queries the server through a separate connection.
    ///
    /// - Throws: `PostgresError`; `CancellationError`.
    public func lockWait() async throws -> LockWait? {
        let process = writer.process.withLock(\.self)
        guard process != 0 else { return nil }
        return try await PostgresWorker(settings, schema: writer.schema, label: "PostgresStore lock wait")
            .lockWait(of: process)
    }
}

extension PostgresWorker {
    fileprivate func lockWait(of process: Int32) async throws -> PostgresStore.LockWait? {
        let text = """
            SELECT h.pid, h.application_name, \
            (EXTRACT(epoch FROM pg_catalog.clock_timestamp() OPERATOR(pg_catalog.-) l.waitstart) \
            OPERATOR(pg_catalog.*) 1000::pg_catalog.numeric)::pg_catalog.int8 \
            FROM pg_catalog.pg_locks l, pg_catalog.unnest(pg_catalog.pg_blocking_pids(l.pid)) b (pid), \
            pg_catalog.pg_stat_activity h \
            WHERE l.pid OPERATOR(pg_catalog.=) \(process) AND NOT l.granted AND l.waitstart IS NOT NULL \
            AND h.pid OPERATOR(pg_catalog.=) b.pid LIMIT 1
            """
        return try await connected { connection in
            let result = try connection.execute(text)
            guard result.rowCount > 0, let backend = result.integer(0, 0) else { return nil }
            return PostgresStore.LockWait(
                holder: result.text(0, 1) ?? "unknown", holderBackend: Int32(clamping: backend),
                duration: .milliseconds(result.integer(0, 2) ?? 0))
        }
    }
}
#endif
