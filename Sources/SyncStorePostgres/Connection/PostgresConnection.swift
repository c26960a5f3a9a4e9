#if Postgres
import SyncBase
import COneWayLibpq
import Foundation
import SyncStore

/// A connection to a PostgreSQL server; the one owner of its handle.
///
/// It is used by one thread at a time, which may block: it never leaves the actor that made it, whose executor is off the pool that other
/// tasks share (`BlockingExecutor`). Underneath, libpq never blocks (https://www.postgresql.org/docs/current/libpq-async.html): the thread
/// waits in `poll` alone, and that wait can be ended by a cancellation.
package final class PostgresConnection {
    let handle: OpaquePointer
    let waker: PostgresWaker
    /// Names of statements that are prepared, by their texts.
    private var statements: [String: String] = [:]
    private var lastStatement = 0
    /// Whether the running calls end when their task is cancelled.
    private var isInterruptible = false
    /// Set once the connection can no longer be used.
    private var isBroken = false

    /// How long the server may take to answer before the connection counts as lost; nil, the default: for ever.
    package var answerLimit: Duration?
    /// How many statements are kept prepared.
    private static let statementLimit = 200
    /// How long a cancelled statement may take to end before the connection is given up.
    private static let cancellationLimit = Duration.seconds(10)

    // MARK: Opening

    /// Connects.
    ///
    /// - Parameters:
    ///   - connectionString: Keywords and values or a URI (https://www.postgresql.org/docs/current/libpq-connect.html); what it leaves out is
    ///     taken from the environment (`PGHOST` …), the password file and libpq's defaults. Its `connect_timeout` is kept.
    ///   - applicationName: What `pg_stat_activity` shows where the string names no application.
    ///   - parameters: Keywords that outrank the string.
    ///   - isolation: The actor that uses the connection.
    ///   - setUp: Called when it is connected, on a thread that may block, as calls from an initializer are not.
    /// - Throws: ``PostgresError`` of a class `08` or what the server said, such as `28P01` for a wrong password;
    ///   `CancellationError`.
    package static func open(
        _ connectionString: String, applicationName: String, parameters: [String: String] = [:],
        isolation: isolated (any Actor)? = #isolation,
        setUp: @escaping @Sendable (PostgresConnection) throws -> Void = { _ in }
    ) async throws -> PostgresConnection {
        let opened = try await PostgresConnector().open {
            try PostgresConnection(connectionString, applicationName: applicationName, parameters: parameters)
        } setUp: { connection in
            try connection.finishOpening()
            try setUp(connection)
        }
        return opened.connection
    }

    /// Begins to connect.
    private init(_ connectionString: String, applicationName: String, parameters: [String: String])
        throws(PostgresError)
    {
        // What libpq says of a string that it cannot read may quote a password.
        guard let options = PQconninfoParse(connectionString, nil) else {
            throw PostgresError(
                code: PostgresError.cannotConnect,
                message: "the connection string is neither a postgres:// URI nor a list of libpq's keywords and values")
        }
        PQconninfoFree(options)
        waker = try PostgresWaker()
        // The string stands for `dbname`, and is expanded there.
        var settings = [("dbname", connectionString), ("fallback_application_name", applicationName)]
        settings += parameters.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        settings.append(("client_encoding", "UTF8"))
        let keywords = CStringArray(settings.map(\.0))
        let values = CStringArray(settings.map(\.1))
        let started = withExtendedLifetime((keywords, values)) {
            PQconnectStartParams(keywords.pointers, values.pointers, 1)
        }
        guard let handle = started else {
            throw PostgresError(code: PostgresError.cannotConnect, message: "out of memory")
        }
        self.handle = handle
        // So that the SQLSTATE is in the text of an error that has no other place for it.
        PQsetErrorVerbosity(handle, PQERRORS_VERBOSE)
        // Without one, notices go to the standard error.
        PQsetNoticeReceiver(handle, { _, _ in }, nil)
    }

    deinit {
        PQfinish(handle)
    }

    fileprivate func finishOpening() throws {
        let deadline = connectTimeout.map { ContinuousClock.now + $0 }
        var state = PGRES_POLLING_WRITING
        while state != PGRES_POLLING_OK {
            guard PQstatus(handle) != CONNECTION_BAD, state != PGRES_POLLING_FAILED else { throw connectError() }
            let outcome = waker.wait(
                for: PQsocket(handle), reading: state == PGRES_POLLING_READING,
                writing: state == PGRES_POLLING_WRITING, until: deadline)
            switch outcome {
            case .ready: state = PQconnectPoll(handle)
            case .woken: if isCancelled { throw CancellationError() }
            case .timedOut:
                throw PostgresError(code: PostgresError.cannotConnect, message: "the server did not answer in time")
            }
        }
        guard PQsetnonblocking(handle, 1) == 0 else { throw connectError() }
    }

    /// `connect_timeout`, which libpq leaves to whoever connects without blocking; nil for none.
    private var connectTimeout: Duration? {
        guard let seconds = option("connect_timeout").flatMap(Int64.init), seconds > 0 else { return nil }
        // libpq takes less than two seconds for two.
        return .seconds(max(seconds, 2))
    }

    /// What the connection was opened with; nil for a keyword that was not given.
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

    private func connectError() -> PostgresError {
        let message = lastMessage
        // Such as `FATAL:  28P01: password authentication failed for user "a"`.
        guard let match = message.firstMatch(of: /:  ([0-9A-Z]{5}): ([^\n]*)/) else {
            return PostgresError(code: PostgresError.cannotConnect, message: message)
        }
        return PostgresError(code: String(match.1), message: String(match.2))
    }

    private var lastMessage: String {
        String(cString: PQerrorMessage(handle)).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    // MARK: State

    /// Whether the connection is known to be gone; a dead network shows at the next statement only.
    package var isClosed: Bool {
        isBroken || PQstatus(handle) != CONNECTION_OK
    }

    /// Whether a transaction is open, be it one that failed.
    package var isInTransaction: Bool {
        [PQTRANS_INTRANS, PQTRANS_INERROR, PQTRANS_ACTIVE].contains(PQtransactionStatus(handle))
    }

    /// The number of the server process at the other end, as in `pg_stat_activity`.
    package var serverProcess: Int32 {
        PQbackendPID(handle)
    }

    // MARK: Cancelling

    /// Runs calls that end when the task is cancelled: the running statement is cancelled on the server, and `CancellationError` is thrown.
    ///
    /// Calls outside of it run to their end, such as the `ROLLBACK` after a cancellation. The connection can be used afterwards.
    package func interruptible<Result>(
        isolation: isolated (any Actor)? = #isolation, _ body: () throws -> Result
    ) async throws -> Result {
        let outer = isInterruptible
        isInterruptible = true
        defer { isInterruptible = outer }
        return try await withTaskCancellationHandler {
            // A closure that does not use it runs on the shared pool, not on the actor.
            _ = isolation
            try Task.checkCancellation()
            return try body()
        } onCancel: { [waker] in
            // The thread looks for itself whether its task is cancelled, so a wake that comes late ends nobody else's statement.
            waker.wake()
        }
    }

    /// Whether the running call has to end.
    var isCancelled: Bool {
        isInterruptible && Task.isCancelled
    }

    /// Asks the server to cancel what it does for this connection, and returns once it has been told: what is sent next is not concerned.
    private func cancelStatement() {
        guard let cancel = PQgetCancel(handle) else { return }
        defer { PQfreeCancel(cancel) }
        var message = [CChar](repeating: 0, count: 256)
        // Where the server cannot be told, the wait for it ends after `cancellationLimit`.
        PQcancel(cancel, &message, Int32(message.count))
    }

    // MARK: Statements

    /// Runs statements without parameters, one after the other, as one transaction where none is open and they begin none.
    ///
    /// - Returns: What the last one with rows returned; where there is none, what the last one did.
    @discardableResult
    package func execute(_ text: String) throws -> PostgresResult {
        try start(text) { PQsendQuery(handle, text) }
        return try finish(text)
    }

    /// Runs a statement.
    ///
    /// - Parameters:
    ///   - text: The statement, with `$1`, `$2` … for values.
    ///   - parameters: The values.
    ///   - isPrepared: Whether it is kept prepared for the next time.
    ///   - binaryResult: Whether values come in the binary form of their types.
    @discardableResult
    package func query(
        _ text: String, _ parameters: [PostgresParameter] = [], isPrepared: Bool = false, binaryResult: Bool = false
    ) throws -> PostgresResult {
        if parameters.contains(where: \.hasNUL) {
            throw PostgresError(
                code: PostgresError.characterNotInRepertoire, message: "PostgreSQL keeps no NUL in a text",
                statement: text)
        }
        let format: Int32 = binaryResult ? 1 : 0
        let name = isPrepared ? try prepare(text, types: parameters.map(\.type)) : nil
        try start(text) {
            withPointers(to: parameters) { count, types, values, lengths, formats in
                if let name {
                    PQsendQueryPrepared(handle, name, count, values, lengths, formats, format)
                } else {
                    PQsendQueryParams(handle, text, count, types, values, lengths, formats, format)
                }
            }
        }
        return try finish(text)
    }

    /// The name under which a statement is prepared.
    private func prepare(_ text: String, types: [Oid]) throws -> String {
        if let known = statements[text] { return known }
        if statements.count >= Self.statementLimit {
            try execute("DEALLOCATE ALL")
            statements.removeAll()
        }
        lastStatement += 1
        let name = "s\(lastStatement)"
        try start(text) { PQsendPrepare(handle, name, text, Int32(types.count), types) }
        try finish(text)
        statements[text] = name
        return name
    }

    // MARK: Sending and waiting

    /// Sends something for which the server answers.
    func start(_ text: String, _ send: () -> Int32) throws {
        guard !isClosed else { throw lost(text) }
        if isCancelled { throw CancellationError() }
        guard send() == 1 else { throw lost(text) }
        try flush(text)
    }

    /// Sends what libpq has buffered; reads too, so that a server that waits to be read goes on.
    func flush(_ text: String) throws {
        let deadline = answerDeadline
        while true {
            switch PQflush(handle) {
            case 0: return
            case 1: break
            default: throw lost(text)
            }
            switch waker.wait(for: PQsocket(handle), writing: true, until: deadline) {
            case .ready: guard PQconsumeInput(handle) == 1 else { throw lost(text) }
            case .woken: break
            case .timedOut: throw silent(text)
            }
        }
    }

    /// Waits for the answer to its end.
    ///
    /// - Returns: The last result with rows, or else the last one; for a COPY, as soon as it can be written to.
    @discardableResult
    func finish(_ text: String) throws -> PostgresResult {
        var last: PostgresResult?
        var failure: PostgresError?
        var hasCancelled = false
        var deadline = answerDeadline
        // A connection that is lost may have the same result for ever.
        while PQstatus(handle) == CONNECTION_OK || failure == nil,
            let result = try nextResult(text, &hasCancelled, until: &deadline)
        {
            switch result.status {
            case PGRES_FATAL_ERROR, PGRES_BAD_RESPONSE: failure = failure ?? result.error(statement: text)
            case PGRES_COPY_IN: return result
            case PGRES_TUPLES_OK: last = result
            default: if last?.status != PGRES_TUPLES_OK { last = result }
            }
        }
        if PQstatus(handle) == CONNECTION_BAD { isBroken = true }
        if let failure {
            if hasCancelled, failure.code == PostgresError.queryCanceled { throw CancellationError() }
            throw failure
        }
        guard let last else { throw lost(text) }
        return last
    }

    /// The next result of the answer; nil after the last one.
    private func nextResult(
        _ text: String, _ hasCancelled: inout Bool, until deadline: inout ContinuousClock.Instant?
    ) throws -> PostgresResult? {
        while PQisBusy(handle) == 1 {
            if isCancelled, !hasCancelled {
                hasCancelled = true
                deadline = ContinuousClock.now + Self.cancellationLimit
                cancelStatement()
            }
            switch waker.wait(for: PQsocket(handle), until: deadline) {
            case .ready: guard PQconsumeInput(handle) == 1 else { return try brokenResult(text) }
            case .woken: break
            case .timedOut where hasCancelled:
                isBroken = true
                throw CancellationError()
            case .timedOut: throw silent(text)
            }
        }
        return PQgetResult(handle).map(PostgresResult.init)
    }

    /// What the server said before it closed the connection, where it said something.
    private func brokenResult(_ text: String) throws -> PostgresResult {
        isBroken = true
        guard let result = PQgetResult(handle) else { throw lost(text) }
        return PostgresResult(result)
    }

    private var answerDeadline: ContinuousClock.Instant? {
        answerLimit.map { ContinuousClock.now + $0 }
    }

    /// The error for a connection that is gone.
    func lost(_ text: String?) -> PostgresError {
        isBroken = true
        let message = lastMessage
        return PostgresError(
            code: PostgresError.connectionLost, message: message.isEmpty ? "the connection is lost" : message,
            statement: text)
    }

    /// The error for a server that does not answer.
    private func silent(_ text: String) -> PostgresError {
        isBroken = true
        return PostgresError(
            code: PostgresError.connectionLost, message: "the server did not answer in time", statement: text)
    }
}

/// Connects on a thread of its own.
private actor PostgresConnector {
    /// What is handed to whoever asked for it.
    ///
    /// Unchecked, because a connection is used by one actor at a time: the connector lets go of it when it hands it over.
    struct Opened: @unchecked Sendable {
        let connection: PostgresConnection
    }

    private let executor = BlockingExecutor(label: "PostgresConnector")

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    func open(
        _ begin: @Sendable () throws -> PostgresConnection, setUp: @Sendable (PostgresConnection) throws -> Void
    ) async throws -> Opened {
        let connection = try begin()
        try await connection.interruptible { try setUp(connection) }
        return Opened(connection: connection)
    }
}
#endif
