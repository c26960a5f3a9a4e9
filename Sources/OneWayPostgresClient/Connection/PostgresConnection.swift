#if Postgres
import COneWayLibpq
import Foundation
import SyncBase

/// A connection to a PostgreSQL server; the only owner of its handle.
///
/// One thread at a time uses a connection, and that thread may block. The connection never leaves
/// the actor that opened it, whose executor is a `BlockingExecutor`. libpq itself never blocks
/// (https://www.postgresql.org/docs/current/libpq-async.html): the thread only waits in `poll`, and
/// every such wait ends when the task is cancelled or a limit passes.
package final class PostgresConnection {
    let handle: OpaquePointer
    package let waker: PostgresWaker
    let options: PostgresSessionOptions
    let target: PostgresTarget

    /// The names of prepared statements by their texts.
    var statements: [String: String] = [:]
    var lastStatement = 0
    /// Whether running calls end when their task is cancelled.
    var isInterruptible = false
    /// Whether the connection can no longer be used.
    var isBroken = false

    /// How long the server may take to answer; nil, the default, for as long as it still works on
    /// the statement.
    ///
    /// Without a limit, another connection asks the server each time this one was silent for the
    /// silence limit.
    package var answerLimit: Duration?

    /// The number of the server process at the other end, as in `pg_stat_activity`; 0 before it is
    /// known.
    package internal(set) var serverProcess: Int32 = 0
    /// Whether a pooler stands between this program and the server.
    package internal(set) var isPooled = false
    /// The database cluster and its timeline, which a failover changes; empty if unknown.
    package internal(set) var cluster = ""

    /// When the server was started, in seconds since 1970; no other server of an address has the
    /// same. Empty before it is known.
    var serverStart = ""
    /// Whether the server is a standby.
    var isStandby = false
    /// Whether the server is a standby in place of a primary that was not found.
    package internal(set) var isSubstitute = false

    /// Begins to connect.
    init(_ target: PostgresTarget, options: PostgresSessionOptions, waker: PostgresWaker) throws(PostgresError) {
        self.target = target
        self.options = options
        self.waker = waker
        // libpq expands the string in place of `dbname`; what precedes it gives way to the string.
        var settings = options.clientSettings
        settings.append(("dbname", target.address.connectionString))
        settings.append(("fallback_application_name", options.applicationName))
        settings += target.host.settings.sortedByKey
        settings += options.parameters.sortedByKey
        if let attributes = target.attributes { settings.append(("target_session_attrs", attributes)) }
        settings.append(("client_encoding", "UTF8"))
        let keywords = CStringArray(settings.map(\.0))
        let values = CStringArray(settings.map(\.1))
        let started = withExtendedLifetime((keywords, values)) {
            PQconnectStartParams(keywords.pointers, values.pointers, 1)
        }
        guard let handle = started else { throw PostgresError(code: .cannotConnect, message: "out of memory") }
        self.handle = handle
        // Errors while connecting have their SQLSTATE in their text only.
        PQsetErrorVerbosity(handle, PQERRORS_VERBOSE)
        // The default receiver prints notices to the standard error.
        PQsetNoticeReceiver(handle, { _, _ in }, nil)
    }

    deinit {
        PQfinish(handle)
    }

    // MARK: State

    /// Whether the connection is known to be gone; a dead network shows at the next statement only.
    package var isClosed: Bool {
        isBroken || PQstatus(handle) != CONNECTION_OK
    }

    /// Whether a transaction is open, including one that failed.
    package var isInTransaction: Bool {
        [PQTRANS_INTRANS, PQTRANS_INERROR, PQTRANS_ACTIVE].contains(PQtransactionStatus(handle))
    }

    /// The number of the host at the other end, as other connections can be led to it; nil for a
    /// socket of this machine.
    var hostAddress: String? {
        PQhostaddr(handle).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// What a connection was opened with; nil for a keyword without a value.
    func option(_ keyword: String) -> String? {
        guard let options = PQconninfo(handle) else { return nil }
        defer { PQconninfoFree(options) }
        var option = options
        while let name = option.pointee.keyword {
            if String(cString: name) == keyword { return option.pointee.val.map { String(cString: $0) } }
            option += 1
        }
        return nil
    }

    var lastMessage: String {
        var message = String(cString: PQerrorMessage(handle)).trimmingCharacters(in: .whitespacesAndNewlines)
        // libpq has no reason to quote it; a hidden password must not depend on that.
        if let password = target.address.password, password.count > 3 {
            message = message.replacing(password, with: "***")
        }
        return message
    }

    // MARK: Cancelling

    /// Runs calls that end when the task is cancelled: the server is asked to cancel the running
    /// statement.
    ///
    /// Calls outside of it are not cancelled, such as the `ROLLBACK` after a cancellation. The
    /// connection can be used afterwards unless the server did not confirm the cancellation in
    /// time.
    ///
    /// - Throws: `CancellationError` if the task was cancelled; what the body throws.
    package func interruptible<Result>(
        isolation: isolated (any Actor)? = #isolation, _ body: () throws -> Result
    ) async throws -> Result {
        let outer = isInterruptible
        isInterruptible = true
        defer { isInterruptible = outer }
        return try await withTaskCancellationHandler {
            // A closure that does not use the actor would run on the shared pool.
            _ = isolation
            try Task.checkCancellation()
            return try body()
        } onCancel: { [waker] in
            // The thread checks its own task, so that a late wake ends nobody else's statement.
            waker.wake()
        }
    }

    /// Whether the running call has to end.
    var isCancelled: Bool {
        isInterruptible && Task.isCancelled
    }

    // MARK: Errors

    /// The error of a lost connection.
    func lost(_ text: String?) -> PostgresError {
        isBroken = true
        let message = lastMessage
        return PostgresError(
            code: .connectionLost, message: message.isEmpty ? "the connection is lost" : message, statement: text)
    }

    /// The error of a server or network that does not answer.
    func silent(_ text: String?) -> PostgresError {
        isBroken = true
        return PostgresError(code: .connectionLost, message: "the server did not answer in time", statement: text)
    }
}

/// One host of an address, and which servers are acceptable there.
struct PostgresTarget: Sendable {
    var address: PostgresAddress
    var host: PostgresAddress.Host
    /// The value of `target_session_attrs`; nil for what the connection string has.
    var attributes: String?
}
#endif
