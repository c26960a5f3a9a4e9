#if Postgres
import Foundation
import OneWayPostgresClient
public import OneWaySynchronizer
import SyncBase

/// A lease in a PostgreSQL database, held by one process at a time on any number of hosts.
///
///     let lease = PostgresLease("users", at: "postgres://db.example.com/app")
///     try await lease.withLease(waiting: .forever) { try await synchronizer.sync() }
///
/// The lease is a row of the table `_sync_leases` with an expiry time and a generation. Only the
/// server's clock counts. The table is created if missing.
///
/// - If a holder ends or is killed, the next process that asks gets the lease, because the holder's
///   session has ended. Waiting processes ask every third of ``duration``.
/// - If a holder is frozen, or its host or network is dead, a successor gets the lease ``duration``
///   after the last renewal. The successor ends the transactions that a `PostgresStore` began under
///   the lease, so that the former holder cannot commit them when it resumes.
/// - If a holder loses its connection or its row, it has lost the lease. The next renewal cancels
///   its body.
///
/// Each grant has a higher generation than the previous one. A standby server never grants a lease.
/// The lease needs no session state, so it works through every kind of pooler. Behind a pooler, a
/// killed holder is succeeded only after ``duration``, because the server cannot see its session.
public struct PostgresLease: SyncLease {
    /// The name of the lease. Processes that use the same name, database and schema compete for the
    /// same lease.
    public let name: String

    /// The time for which a holder that cannot renew the lease keeps it; 10 seconds by default.
    public let duration: Duration

    /// The schema of the table `_sync_leases`; `public` by default.
    public let schema: String

    private let address: PostgresAddress

    /// The time to wait for a server without a free connection, in each request.
    package var connectionWait = Duration.seconds(30)

    /// Creates a lease. Does not connect.
    ///
    /// - Parameters:
    ///   - name: The name of the lease; any text.
    ///   - connectionString: The server, in libpq's format
    ///     (https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING).
    ///   - duration: The time for which a holder that cannot renew the lease keeps it; 10 seconds
    ///     by default. A holder renews the lease three times within this time, and waiting
    ///     processes ask as often.
    ///   - schema: The schema of the table, created if missing; `public` by default.
    public init(
        _ name: String, at connectionString: String, duration: Duration = .seconds(10), schema: String = "public"
    ) {
        self.name = name
        self.duration = duration
        self.schema = schema
        address = PostgresAddress(connectionString)
    }

    /// Requests the lease; see `SyncLease`.
    ///
    /// A server that has no free connection for 30 seconds is unavailable: a process that waits for
    /// the lease goes on waiting.
    ///
    /// - Throws: `PostgresError` if the server cannot be reached or reports an error;
    ///   `CancellationError`.
    public func tryAcquire(for holder: SyncLeaseHolder) async throws -> SyncLeaseAnswer {
        let session: PostgresLeaseSession
        do {
            session = try await PostgresLeaseSession(
                address, statements: PostgresLeaseStatements(schema: schema), name: name, duration: duration,
                connectionWait: connectionWait)
        } catch let error as PostgresError where error.code == .tooManyConnections {
            return .unavailable(error)
        }
        return try await session.take(for: holder)
    }
}

/// The connection of a grant, and its thread. The lease ends when the last reference is released.
actor PostgresLeaseSession: SyncLeaseGrant {
    private let executor = BlockingExecutor(label: "PostgresLease")
    private let connection: PostgresConnection
    private let statements: PostgresLeaseStatements
    private let name: String
    private let duration: Duration
    /// The identifier of this grant in the lease's row.
    private let token = UUID().uuidString
    /// A random number that is very unlikely to be the number of another grant.
    ///
    /// Transactions that begin under the lease hold an advisory lock with this number, so that a
    /// successor can end them.
    nonisolated let number = Int32.random(in: .min ... .max)

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    /// Connects.
    init(
        _ address: PostgresAddress, statements: PostgresLeaseStatements, name: String, duration: Duration,
        connectionWait: Duration
    ) async throws {
        self.statements = statements
        self.name = name
        self.duration = duration
        var options = PostgresSessionOptions(silenceLimit: duration)
        options.pooling = .transaction
        options.connectionWait = connectionWait
        // A grant is idle between renewals.
        options.settings = [("idle_session_timeout", "0")]
        connection = try await PostgresConnection.open(address, options: options)
        connection.answerLimit = duration
    }

    /// Takes the lease if it is free.
    func take(for holder: SyncLeaseHolder) async throws -> SyncLeaseAnswer {
        let parameters: [PostgresParameter] = [
            .text(name), .text(token), .seconds(duration), .integer(Int64(number)), .text(holder.host),
            .text(holder.program), .integer(Int64(holder.processID)), .seconds(since: holder.since),
            connection.isPooled ? .null : .integer(Int64(connection.serverProcess)),
        ]
        let result: PostgresResult
        do { result = try await query(statements.take, parameters) } catch let error as PostgresError
            where error.code == .undefinedTable || error.code == .noSchema
        {
            try await connection.interruptible { _ = try connection.execute(statements.creation) }
            result = try await query(statements.take, parameters)
        }
        guard !result.isNull(0, 0) else { return .held(by: SyncLeaseHolder(result)) }
        if let former = result.integer(0, 1) { try await endTransactions(under: former) }
        return .granted(self)
    }

    /// Ends the transactions that were begun under a lost grant with the given number.
    private func endTransactions(under number: Int64) async throws {
        do { _ = try await query(PostgresLeaseStatements.endOfTransactions, [.integer(number)]) } catch let error
            as PostgresError
            where error.code == .insufficientPrivilege
        {
            // The sessions belong to another role. The server ends them when they are idle for too
            // long.
        }
    }

    /// Extends the lease by its duration.
    func renew() async throws {
        let result = try await query(statements.renew, [.text(name), .text(token), .seconds(duration)])
        guard result.rowCount > 0 else {
            throw PostgresError(
                code: .wrongState, message: "the lease has expired, or another process has taken it over")
        }
    }

    /// Releases the lease.
    func release() async {
        // If this fails, the lease expires.
        _ = try? await query(statements.release, [.text(name), .text(token)])
    }

    private func query(_ text: String, _ parameters: [PostgresParameter]) async throws -> PostgresResult {
        try await connection.interruptible { try connection.query(text, parameters) }
    }
}

extension PostgresParameter {
    /// A moment in seconds since 1970.
    fileprivate static func seconds(since moment: Date) -> Self {
        .text("\(moment.timeIntervalSince1970)")
    }
}

extension SyncLeaseHolder {
    /// Reads the holder from a result of `PostgresLeaseStatements.take`; nil if the row no longer
    /// exists.
    fileprivate init?(_ result: PostgresResult) {
        guard let host = result.text(0, 2), let program = result.text(0, 3), let process = result.integer(0, 4),
            let seconds = result.text(0, 5).flatMap(Double.init)
        else { return nil }
        self.init(
            host: host, program: program, processID: Int32(clamping: process),
            since: Date(timeIntervalSince1970: seconds))
    }
}
#endif
