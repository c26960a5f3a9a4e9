#if Postgres
import SyncBase
import Foundation
public import OneWaySynchronizer
import SyncStore

/// Lets one process at a time, of those on any number of hosts, do something: one runner per name.
///
///     let lease = PostgresLease("users", at: "postgres://db.example.com/app")
///     try await lease.withLease(waiting: .forever) { try await synchronizer.sync() }
///
/// The lease is a session advisory lock (https://www.postgresql.org/docs/current/explicit-locking.html#ADVISORY-LOCKS) on
/// `hashtextextended(name, 1)` in the database of the connection string, held by a connection of its own that does nothing else. The server
/// takes it back as soon as it sees that connection end:
///
/// - A holder that dies, or is killed, is succeeded as soon as the next one asks, which waiting ones do every third of ``duration``.
/// - A host that vanishes without a word, or whose network is cut, is succeeded ``duration`` after it was last heard from, rounded up to
///   whole seconds and at least four, when the server's TCP gives it up.
/// - A holder whose connection is lost has lost the lease: what runs under it is cancelled, at the latest when the next renewal fails.
///
/// There is no time of expiry that a clock could get wrong. The lock is the session's, so the connection string must not lead to a pooler that shares
/// server connections among clients by transaction; where it does, renewals see that the lock is gone.
public struct PostgresLease: SyncLease {
    /// What the lease is for. Hosts that ask in the same database for the same name ask for the same lease.
    public let name: String

    /// How long a holder that cannot reach the server believes itself to have the lease.
    public let duration: Duration

    private let connectionString: String

    /// Makes the lease for a name. Nothing is asked for yet.
    ///
    /// - Parameters:
    ///   - name: What it is for; any text.
    ///   - connectionString: Where the server is, by libpq's rules (https://www.postgresql.org/docs/current/libpq-connect.html).
    ///   - duration: The lease's time. A holder looks after its lease three times within it, and who waits for one asks that often.
    public init(_ name: String, at connectionString: String, duration: Duration = .seconds(10)) {
        self.name = name
        self.connectionString = connectionString
        self.duration = duration
    }

    /// Asks for the lease; see `SyncLease`.
    ///
    /// - Throws: ``PostgresError`` where the server cannot be asked; `CancellationError`.
    public func tryAcquire(for holder: SyncLeaseHolder) async throws -> SyncLeaseAnswer {
        let session = try await PostgresLeaseSession(connectionString, name: name, duration: duration, holder: holder)
        if try await session.take() { return .granted(session) }
        return .held(by: try await session.currentHolder())
    }
}

/// A connection that holds a lease, and the thread that it needs. The lease goes with the last reference.
private actor PostgresLeaseSession: SyncLeaseGrant {
    private let executor = BlockingExecutor(label: "PostgresLease")
    private let connection: PostgresConnection
    private let name: String

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    /// Connects.
    init(_ connectionString: String, name: String, duration: Duration, holder: SyncLeaseHolder) async throws {
        self.name = name
        // Both ends give up a peer that says nothing: probes after a while, then one every second.
        let limit = max(4, Int(duration.components.seconds) + (duration.components.attoseconds > 0 ? 1 : 0))
        connection = try await PostgresConnection.open(
            connectionString, applicationName: "",
            parameters: [
                "application_name": holder.applicationName, "connect_timeout": "\(limit)", "keepalives": "1",
                "keepalives_idle": "\(limit - 3)", "keepalives_interval": "1", "keepalives_count": "3",
                "tcp_user_timeout": "\(limit * 1000)",
            ]
        ) { connection in
            connection.answerLimit = duration
            // The server's own; its time must not be shorter than the holder's. An idle session is what this is meant to be.
            try connection.execute(
                """
                SET tcp_keepalives_idle = \(limit - 3); SET tcp_keepalives_interval = 1; SET tcp_keepalives_count = 3;
                SET tcp_user_timeout = \(limit * 1000); SET idle_session_timeout = 0
                """)
        }
    }

    /// The lock's number, of a name that is the first parameter.
    private static let key = "hashtextextended($1::text COLLATE \"C\", 1)"
    /// The advisory lock of that number in `pg_locks`.
    private static let lock = """
        locktype = 'advisory' AND granted AND objsubid = 1
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
            AND (classid::bigint << 32 | objid::bigint) = \(key)
        """

    /// Takes the lock, unless somebody else has it.
    func take() async throws -> Bool {
        try await query("SELECT pg_try_advisory_lock(\(Self.key))").boolean(0, 0) == true
    }

    /// Who has the lock; nil where nobody does any more, or something that is no lease.
    func currentHolder() async throws -> SyncLeaseHolder? {
        let result = try await query(
            "SELECT application_name FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE \(Self.lock)")
        return result.rowCount == 0 ? nil : result.text(0, 0).flatMap(SyncLeaseHolder.init(applicationName:))
    }

    /// Makes sure that the lock is still there.
    func renew() async throws {
        let result = try await query("SELECT 1 FROM pg_locks WHERE pid = pg_backend_pid() AND \(Self.lock)")
        guard result.rowCount > 0 else {
            throw PostgresError(
                code: PostgresError.connectionLost, message: "the session no longer has the lock of the lease")
        }
    }

    /// Gives the lock back, before the connection ends.
    func release() async {
        // Where that fails, the connection is lost and the lock with it.
        _ = try? await query("SELECT pg_advisory_unlock(\(Self.key))")
    }

    private func query(_ text: String) async throws -> PostgresResult {
        try await connection.interruptible { try connection.query(text, [.text(name)], isPrepared: true) }
    }
}

extension SyncLeaseHolder {
    /// The holder in the 63 bytes that `pg_stat_activity` has for it, such as `Demo[4711]@web-1 1763730000`: whole seconds, long names cut.
    fileprivate var applicationName: String {
        "\(Self.cut(program, 15))[\(processID)]@\(Self.cut(host, 24)) \(Int64(since.timeIntervalSince1970))"
    }

    /// The beginning of a name, with a `?` for what is no ASCII, which the server would write in four times as many.
    private static func cut(_ name: String, _ length: Int) -> String {
        String(name.unicodeScalars.prefix(length).map { (" "..."~").contains($0) ? Character($0) : "?" })
    }

    /// Reads what `applicationName` wrote; nil for anything else.
    fileprivate init?(applicationName: String) {
        guard let match = applicationName.wholeMatch(of: /(.*)\[([0-9]+)\]@(.*) (-?[0-9]+)/),
            let process = Int32(match.2), let seconds = Int64(match.4)
        else { return nil }
        self.init(
            host: String(match.3), program: String(match.1), processID: process,
            since: Date(timeIntervalSince1970: TimeInterval(seconds)))
    }
}
#endif
