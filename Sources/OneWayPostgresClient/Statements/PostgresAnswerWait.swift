#if Postgres
import COneWayLibpq
import Foundation

/// Waits for the server during one statement: for its answer, or until it takes more data.
///
/// A silent server is asked about the session through another connection, so that a statement may
/// take long and a silent network is noticed all the same. Where the server refuses the question,
/// or does not show what the session does, the statement goes on: TCP notices a dead host. A
/// cancellation is sent through another connection too.
struct PostgresAnswerWait {
    /// How often another connection may fail without a word from a server.
    private static let failureLimit = 5

    private enum Phase {
        /// Listens until the deadline; nil: for ever.
        case listening
        /// Asks whether the server works on the statement.
        case checking(PostgresSideCall)
        /// Asks the server to cancel the statement.
        case cancelling(PostgresSideCall)
    }

    private let connection: PostgresConnection
    private let text: String
    private var phase = Phase.listening
    private var deadline: ContinuousClock.Instant
    /// How often the server was found to have nothing to do although no answer had come.
    private var idleCount = 0
    /// How often no server could be reached.
    private var failureCount = 0

    init(_ connection: PostgresConnection, _ text: String) {
        self.connection = connection
        self.text = text
        deadline = .now + (connection.answerLimit ?? connection.options.silenceLimit)
    }

    /// Whether the statement was cancelled because its task was.
    var hasCancelled: Bool {
        if case .cancelling = phase { true } else { false }
    }

    /// Waits until the socket is ready; reads what has come.
    ///
    /// - Parameter writing: Whether to wait until the socket takes more data, too.
    /// - Throws: ``PostgresError`` if the connection is lost or silent; `CancellationError` if the
    ///   server does not confirm a cancellation in time. The connection cannot be used after
    ///   either.
    mutating func wait(writing: Bool) throws {
        while true {
            if connection.isCancelled, !hasCancelled { try cancel() }
            let event = connection.waker.wait(for: PQsocket(connection.handle), writing: writing, until: deadline)
            switch event {
            case .ready:
                guard PQconsumeInput(connection.handle) == 1 else {
                    guard !writing else { throw connection.lost(text) }
                    // The server may have said why it closed the connection.
                    connection.isBroken = true
                    return
                }
                if case .listening = phase, connection.answerLimit == nil {
                    deadline = .now + connection.options.silenceLimit
                }
                return
            case .woken: try takeAnswer()
            case .timedOut: try giveUpOrCheck()
            }
        }
    }

    /// Waits until a cancellation can no longer reach a later statement.
    mutating func finish() throws {
        guard case .cancelling(let call) = phase else { return }
        while call.answer == nil {
            guard connection.waker.wait(for: nil, until: deadline) != .timedOut else {
                connection.isBroken = true
                return
            }
        }
    }

    private mutating func cancel() throws {
        let limit = connection.options.silenceLimit
        guard connection.serverProcess != 0, connection.options.pooling != .transaction else {
            connection.isBroken = true
            throw CancellationError()
        }
        let text =
            "SELECT pg_catalog.pg_cancel_backend(\(connection.serverProcess)) "
            + "WHERE \(PostgresSideCall.serverStart) OPERATOR(pg_catalog.=) '\(connection.serverStart)'"
        phase = .cancelling(PostgresSideCall(text, about: connection, limit: limit))
        deadline = .now + limit
    }

    private mutating func takeAnswer() throws {
        guard case .checking(let call) = phase, let answer = call.answer else { return }
        switch answer {
        case .value("active"), .value("fastpath function call"): (idleCount, failureCount) = (0, 0)
        case .value("idle"), .value("idle in transaction"), .value("idle in transaction (aborted)"):
            // The answer may be on its way.
            idleCount += 1
            guard idleCount < 2 else { throw connection.silent(text) }
            return listen(for: .seconds(1))
        case .value("gone"): throw connection.silent(text)
        case .value: break
        case .failed(let error):
            guard error.isOfNoServer, !isPooler(call) else { break }
            failureCount += 1
            guard failureCount < Self.failureLimit else { throw connection.silent(text) }
        }
        listen(for: connection.options.silenceLimit)
    }

    /// Whether a call has reached a pooler, which lets it wait until a session is free.
    private func isPooler(_ call: PostgresSideCall) -> Bool {
        connection.isPooled && call.isConnected
    }

    private mutating func listen(for time: Duration) {
        phase = .listening
        deadline = .now + time
    }

    private mutating func giveUpOrCheck() throws {
        switch phase {
        case .cancelling:
            connection.isBroken = true
            throw CancellationError()
        case .checking(let call):
            guard isPooler(call) else { throw connection.silent(text) }
            listen(for: connection.options.silenceLimit)
        case .listening:
            guard connection.answerLimit == nil else { throw connection.silent(text) }
            let limit = connection.options.silenceLimit
            // What is not answered by the deadline decides, so the call itself may take longer.
            phase = .checking(PostgresSideCall(question, about: connection, limit: limit * 2))
            deadline = .now + limit
        }
    }

    /// Selects what the session does; `elsewhere` on another server, and `gone` without a session.
    private var question: String {
        """
        SELECT CASE WHEN \(PostgresSideCall.serverStart) OPERATOR(pg_catalog.<>) '\(connection.serverStart)' \
        THEN 'elsewhere' ELSE coalesce((SELECT coalesce(state, 'hidden') FROM pg_catalog.pg_stat_activity \
        WHERE pid OPERATOR(pg_catalog.=) \(connection.serverProcess)), 'gone') END
        """
    }
}

extension PostgresError {
    /// Whether no server has reported the error.
    fileprivate var isOfNoServer: Bool {
        code == .cannotConnect || code == .connectionLost
    }
}
#endif
