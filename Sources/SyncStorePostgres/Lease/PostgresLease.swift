#if Postgres
import Foundation
import OneWayPostgresClient
public import OneWaySynchronizer
import SyncBase
import SyncStoreSQL

/// A lease in a PostgreSQL database: one process at a time, on any number of hosts, holds it.
///
///     let lease = PostgresLease("users", at: "postgres://db.example.com/app")
///     try await lease.withLease(waiting: .forever) { try await synchronizer.sync() }
///
/// The lease is a row of the table `sync_lease` with a time of expiry and a generation. Only the
/// clock of the server counts. The table is created if missing.
///
/// - A holder that ends, or is killed, is succeeded when the next process asks: its session has
///   ended. Waiting processes ask every third of ``duration``.
/// - A holder that is frozen, or whose host or network is dead, is succeeded ``duration`` after its
///   last renewal. The successor ends the transactions that a `PostgresStore` began under the
///   lease, so that the holder cannot commit them when it wakes.
/// - A holder that lost its connection or its row has lost the lease: the next renewal cancels its
///   body.
///
/// Each grant has a higher generation than the one before it. A standby server never grants a
/// lease. The lease needs no session state, so it works through poolers of every kind. Behind a
/// pooler, a killed holder is succeeded after ``duration``, since the server cannot see its
/// session.
public struct PostgresLease: SyncLease {
    /// What the lease is for. Hosts that use the same name, database and schema ask for the same
    /// lease.
    public let name: String

    /// How long a holder that cannot renew the lease keeps it; 10 seconds by default.
    public let duration: Duration

    /// The schema of the table `sync_lease`; `public` by default.
    public let schema: String

    private let address: PostgresAddress

    /// Creates a lease. Does not connect.
    ///
    /// - Parameters:
    ///   - name: What the lease is for; any text.
    ///   - connectionString: The server, by libpq's rules
    ///     (https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING).
    ///   - duration: How long a holder that cannot renew the lease keeps it. A holder renews it
    ///     three times within this time, and waiting processes ask as often.
    ///   - schema: The schema of the table; created if missing.
    public init(
        _ name: String, at connectionString: String, duration: Duration = .seconds(10), schema: String = "public"
    ) {
        self.name = name
        self.duration = duration
        self.schema = schema
        address = PostgresAddress(connectionString)
    }

    /// Asks for the lease; see `SyncLease`.
    ///
    /// - Throws: `PostgresError` if the server cannot be asked; `CancellationError`.
    public func tryAcquire(for holder: SyncLeaseHolder) async throws -> SyncLeaseAnswer {
        let session = try await PostgresLeaseSession(
            address, statements: PostgresLeaseStatements(schema: schema), name: name, duration: duration)
        switch try await session.take(for: holder) {
        case .granted: return .granted(session)
        case .held(let other): return .held(by: other)
        }
    }
}

/// The connection of a grant, and the thread that it needs. The lease ends with the last reference.
actor PostgresLeaseSession: SyncLeaseGrant {
    private let executor = BlockingExecutor(label: "PostgresLease")
    private let connection: PostgresConnection
    private let statements: PostgresLeaseStatements
    private let name: String
    private let duration: Duration
    /// What this grant is known by.
    private let token = UUID().uuidString
    /// A random number that no other grant is likely to have.
    ///
    /// Transactions that are begun under the lease hold an advisory lock with this number, so that
    /// a successor can end them.
    nonisolated let number = Int32.random(in: .min ... .max)

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    /// Connects.
    init(
        _ address: PostgresAddress, statements: PostgresLeaseStatements, name: String, duration: Duration
    ) async throws {
        self.statements = statements
        self.name = name
        self.duration = duration
        var options = PostgresSessionOptions(silenceLimit: duration)
        options.pooling = .transaction
        options.connectionWait = duration
        connection = try await PostgresConnection.open(address, options: options) { connection in
            connection.answerLimit = duration
            // A grant is idle between renewals. Through a pooler, the setting would stay with
            // somebody else's session.
            if !connection.isPooled { try connection.execute("SET idle_session_timeout = 0") }
        }
    }

    enum Answer {
        case granted
        case held(by: SyncLeaseHolder?)
    }

    /// Takes the lease if it is free.
    func take(for holder: SyncLeaseHolder) async throws -> Answer {
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
        return .granted
    }

    /// Ends the transactions that were begun under a lost grant, given by its number.
    private func endTransactions(under number: Int64) async throws {
        do { _ = try await query(PostgresLeaseStatements.endOfTransactions, [.integer(number)]) } catch let error
            as PostgresError
            where error.code == .insufficientPrivilege
        {
            // Sessions of another role, which the server ends when they are idle for too long.
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

    /// Gives the lease back.
    func release() async {
        // If that fails, the lease expires.
        _ = try? await query(statements.release, [.text(name), .text(token)])
    }

    private func query(_ text: String, _ parameters: [PostgresParameter]) async throws -> PostgresResult {
        try await connection.interruptible { try connection.query(text, parameters) }
    }
}

extension PostgresParameter {
    /// A length of time in seconds.
    fileprivate static func seconds(_ duration: Duration) -> Self {
        .text("\(Double(duration.wholeMilliseconds) / 1000)")
    }

    /// A moment in seconds since 1970.
    fileprivate static func seconds(since moment: Date) -> Self {
        .text("\(moment.timeIntervalSince1970)")
    }
}

extension SyncLeaseHolder {
    /// Reads the holder from a result of `PostgresLeaseStatements.take`; nil if the row is gone by
    /// now.
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
