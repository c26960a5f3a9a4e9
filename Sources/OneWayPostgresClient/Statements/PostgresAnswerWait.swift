#if Postgres
import COneWayLibpq
import Foundation

/// Waits for the server during one statement: for its answer, or until it takes more data.
///
/// A silent server is asked about the session through another connection, so that a statement may
/// take long and a silent network is noticed all the same. A cancellation is sent through another
/// connection too.
struct PostgresAnswerWait {
    /// How often another connection may fail to find out whether the server still works on the
    /// statement.
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
    /// How often the server could not be asked.
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
        let text = "SELECT pg_catalog.pg_cancel_backend(\(connection.serverProcess))"
        phase = .cancelling(PostgresSideCall(text, to: connection.target, limit: limit, waking: connection.waker))
        deadline = .now + limit
    }

    private mutating func takeAnswer() throws {
        guard case .checking(let call) = phase, let answer = call.answer else { return }
        switch answer {
        case .value("active"):
            (idleCount, failureCount) = (0, 0)
            listen(for: connection.options.silenceLimit)
        case .value(.some):
            // The answer may be on its way.
            idleCount += 1
            guard idleCount < 2 else { throw connection.silent(text) }
            listen(for: .seconds(1))
        case .value(nil): throw connection.silent(text)
        case .failed(let error):
            failureCount += 1
            guard error.code == .tooManyConnections, failureCount < Self.failureLimit else {
                throw connection.silent(text)
            }
            listen(for: connection.options.silenceLimit)
        }
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
        case .checking: throw connection.silent(text)
        case .listening:
            guard connection.answerLimit == nil else { throw connection.silent(text) }
            let question =
                "SELECT state FROM pg_catalog.pg_stat_activity WHERE pid OPERATOR(pg_catalog.=) \(connection.serverProcess)"
            let limit = connection.options.silenceLimit
            phase = .checking(
                PostgresSideCall(question, to: connection.target, limit: limit, waking: connection.waker))
            deadline = .now + limit
        }
    }
}
#endif
