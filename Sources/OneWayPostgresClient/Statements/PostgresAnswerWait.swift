#if Postgres
import COneWayLibpq
import Foundation

/// Waits during one statement for the server's answer, or until it accepts more data.
///
/// If the server is silent, another connection asks about the session. A statement may therefore
/// take long, while a dead network is noticed. If the server rejects the question, or does not show
/// what the session does, the statement continues, and TCP notices a dead host. A cancellation is
/// sent through another connection too.
struct PostgresAnswerWait {
    /// The number of times that another connection may fail without an answer from a server.
    private static let failureLimit = 5

    private enum Phase {
        /// Waits until the deadline, or without limit if it is nil.
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
    /// The number of times that the server was idle although no answer had come.
    private var idleCount = 0
    /// The number of times that no server could be reached.
    private var failureCount = 0

    init(_ connection: PostgresConnection, _ text: String) {
        self.connection = connection
        self.text = text
        deadline = .now + (connection.answerLimit ?? connection.options.silenceLimit)
    }

    /// Whether the cancellation of the task cancelled the statement.
    var hasCancelled: Bool {
        if case .cancelling = phase { true } else { false }
    }

    /// Waits until the socket is ready, and reads the received data.
    ///
    /// - Parameter writing: Whether to wait until the socket accepts more data, too.
    /// - Throws: ``PostgresError`` if the connection is lost or silent; `CancellationError` if the
    ///   server does not confirm a cancellation in time. The connection is unusable after either.
    mutating func wait(writing: Bool) throws {
        while true {
            if connection.isCancelled, !hasCancelled { try cancel() }
            let event = connection.waker.wait(for: PQsocket(connection.handle), writing: writing, until: deadline)
            switch event {
            case .ready:
                guard PQconsumeInput(connection.handle) == 1 else {
                    guard !writing else { throw connection.lost(text) }
                    // The server may have sent the reason for closing the connection.
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

    /// Waits until the cancellation can no longer affect a later statement.
    mutating func finish() throws {
        guard case .cancelling(let call) = phase else { return }
        while call.answer == nil {
            guard connection.waker.wait(for: nil, until: deadline) != .timedOut else {
                connection.isBroken = true
                return
            }
        }
        // The server may have received the statement, and carry it out later.
        if call.isConnected, case .failed = call.answer { connection.isBroken = true }
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
            // Otherwise, a server has answered.
            guard [.cannotConnect, .connectionLost].contains(error.code), !isPooler(call) else { break }
            failureCount += 1
            guard failureCount < Self.failureLimit else { throw connection.silent(text) }
        }
        listen(for: connection.options.silenceLimit)
    }

    /// Whether a call has reached a pooler that keeps it waiting for a free session.
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
            // The deadline decides when the server counts as silent, so the call itself may take
            // longer.
            phase = .checking(PostgresSideCall(question, about: connection, limit: limit * 2))
            deadline = .now + limit
        }
    }

    /// Selects the state of the session; `elsewhere` on another server, and `gone` if it has ended.
    private var question: String {
        """
        SELECT CASE WHEN \(PostgresSideCall.serverStart) OPERATOR(pg_catalog.<>) '\(connection.serverStart)' \
        THEN 'elsewhere' ELSE coalesce((SELECT coalesce(state, 'hidden') FROM pg_catalog.pg_stat_activity \
        WHERE pid OPERATOR(pg_catalog.=) \(connection.serverProcess)), 'gone') END
        """
    }
}
#endif
