#if Postgres
import COneWayLibpq
import Foundation
import SyncBase

/// A connection to a PostgreSQL server; the only owner of its handle.
///
/// One thread at a time uses a connection, and this thread may block. The connection never leaves
/// the actor that opened it, whose executor is a `BlockingExecutor`. libpq itself never blocks
/// (https://www.postgresql.org/docs/current/libpq-async.html): the thread only waits in `poll`, and
/// every wait ends when the task is cancelled or a limit passes.
package final class PostgresConnection {
    let handle: OpaquePointer
    package let waker: PostgresWaker
    let options: PostgresSessionOptions
    let target: PostgresTarget

    /// The names of prepared statements, by text.
    var statements: [String: String] = [:]
    var lastStatement = 0
    /// Whether cancelling the task ends running calls.
    var isInterruptible = false
    /// Whether the connection can no longer be used.
    var isBroken = false
    /// Whether the next statement must first read the answer to the end of the last transaction.
    var hasUnreadAnswer = false
    /// Statements to send before the next one, in the same message.
    var later = PostgresLaterStatements()
    /// Whether the statements that begin a transaction wait for its first one, or have failed
    /// together with it. Nothing of the transaction has been run then.
    package internal(set) var isBeginning = false

    /// How long the server may take to answer; nil, the default, for as long as it works on the
    /// statement.
    ///
    /// Without a limit, another connection asks the server about the statement each time this
    /// connection was silent for the silence limit.
    package var answerLimit: Duration?

    /// The process identifier of the server process, as in `pg_stat_activity`; 0 before it is
    /// known.
    package internal(set) var serverProcess: Int32 = 0
    /// Whether there is a pooler between this program and the server.
    package internal(set) var isPooled = false
    /// The mark that the session got with its settings; nil without a pooler.
    var session: String?
    /// The identifier of the database cluster and its timeline, which a failover changes; empty if
    /// unknown.
    package internal(set) var cluster = ""

    /// The start time of the server in seconds since 1970; empty before it is known. It
    /// distinguishes the servers of an address.
    var serverStart = ""
    /// The encoding of the database; empty before it is known.
    package internal(set) var serverEncoding = ""
    private var distance = PostgresDistance()
    /// Whether the server is a standby.
    var isStandby = false
    /// Whether the server is a standby that is used because no primary was found.
    package internal(set) var isSubstitute = false

    /// Starts to connect.
    init(_ target: PostgresTarget, options: PostgresSessionOptions, waker: PostgresWaker) throws(PostgresError) {
        self.target = target
        self.options = options
        self.waker = waker
        // libpq expands the string in place of `dbname`. The string overrides the settings before
        // it.
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
        // While connecting, the SQLSTATE of an error is only in its text.
        PQsetErrorVerbosity(handle, PQERRORS_VERBOSE)
        // The default receiver writes notices to standard error.
        PQsetNoticeReceiver(handle, { _, _ in }, nil)
    }

    deinit {
        PQfinish(handle)
    }

    // MARK: State

    /// Whether the connection is known to be closed. A dead network is noticed only by the next
    /// statement.
    package var isClosed: Bool {
        isBroken || PQstatus(handle) != CONNECTION_OK
    }

    /// Whether a transaction is open, including one that failed.
    package var isInTransaction: Bool {
        !hasUnreadAnswer
            && [PQTRANS_INTRANS, PQTRANS_INERROR, PQTRANS_ACTIVE].contains(PQtransactionStatus(handle))
    }

    /// Whether an answer takes so long that a message costs more than the work of the server on a
    /// few thousand rows.
    package var isFar: Bool {
        distance.isAtLeast(options.farRoundTrip)
    }

    /// An expression for the microseconds since the transaction began, which is when the server got
    /// the message if the transaction began with it.
    package static let workTime = """
        (EXTRACT(epoch FROM pg_catalog.clock_timestamp() OPERATOR(pg_catalog.-) pg_catalog.transaction_timestamp()) \
        OPERATOR(pg_catalog.*) 1000000)::pg_catalog.int8
        """

    /// Notes how long an answer took, to find out whether the server is far.
    ///
    /// - Parameters:
    ///   - beginning: The time before the message.
    ///   - work: The result of selecting ``workTime`` at the end of the message.
    package func noteAnswer(since beginning: ContinuousClock.Instant, work: PostgresResult) {
        guard let work = work.integer(0, 0) else { return }
        distance.note(ContinuousClock.now - beginning, working: .microseconds(work))
    }

    /// The IP address of the host, so that other connections can be directed to it; nil for a local
    /// socket.
    var hostAddress: String? {
        PQhostaddr(handle).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }

    var lastMessage: String {
        var message = String(cString: PQerrorMessage(handle)).trimmingCharacters(in: .whitespacesAndNewlines)
        // libpq does not normally quote the password, but hiding it must not depend on that.
        if let password = target.address.password, password.count > 3 {
            message = message.replacing(password, with: "***")
        }
        return message
    }

    // MARK: Cancelling

    /// Runs calls that are cancelled with the task: the server is asked to cancel the running
    /// statement.
    ///
    /// Calls outside this method are not cancelled, such as the `ROLLBACK` after a cancellation.
    /// The connection stays usable, unless the server does not confirm the cancellation in time.
    ///
    /// - Throws: `CancellationError` if the task was cancelled; the body's error.
    package func interruptible<Result>(
        isolation: isolated (any Actor)? = #isolation, _ body: () throws -> Result
    ) async throws -> Result {
        let outer = isInterruptible
        isInterruptible = true
        defer { isInterruptible = outer }
        return try await withTaskCancellationHandler {
            // Keeps the closure on the actor; otherwise it would run on the shared pool.
            _ = isolation
            try Task.checkCancellation()
            return try body()
        } onCancel: { [waker] in
            // The thread checks its own task, so a late wake does not end the statement of another
            // call.
            waker.wake()
        }
    }

    /// Whether the running call must end.
    var isCancelled: Bool {
        isInterruptible && Task.isCancelled
    }

    // MARK: Errors

    /// The error of a lost connection.
    func lost(_ text: String?) -> PostgresError {
        isBroken = true
        let message = LibpqMessage(lastMessage)
        return PostgresError(
            code: message.code ?? .connectionLost,
            message: message.line.isEmpty ? "the connection is lost" : message.line, statement: text)
    }

    /// The error of a server or network that did not answer.
    func silent(_ text: String?) -> PostgresError {
        isBroken = true
        return PostgresError(code: .connectionLost, message: "the server did not answer in time", statement: text)
    }
}

/// A host of an address, and the kinds of server to accept there.
struct PostgresTarget: Sendable {
    var address: PostgresAddress
    var host: PostgresAddress.Host
    /// The value of `target_session_attrs`; nil to use the connection string's.
    var attributes: String?
}
#endif
