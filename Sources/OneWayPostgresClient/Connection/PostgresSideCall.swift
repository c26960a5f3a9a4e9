#if Postgres
import Foundation
import SyncBase

/// A statement about a session that does not answer, on a separate connection and thread.
///
/// Unlike `PQcancel`, it never blocks the caller and always ends.
final class PostgresSideCall: Sendable {
    /// Selects the start time of the server in seconds since 1970.
    static let serverStart = "EXTRACT(epoch FROM pg_catalog.pg_postmaster_start_time())::pg_catalog.text"

    /// The outcome of a side call.
    enum Answer: Sendable {
        /// The first value of the first row; nil without a row.
        case value(String?)
        case failed(PostgresError)
    }

    private struct State {
        var isConnected = false
        var answer: Answer?
    }

    private let state = Locked(State())

    /// Whether the server, or a pooler, has accepted the connection.
    var isConnected: Bool { state.withLock(\.isConnected) }
    /// The answer; nil while the call runs.
    var answer: Answer? { state.withLock(\.answer) }

    /// Starts a call.
    ///
    /// - Parameters:
    ///   - text: The statement.
    ///   - session: The session in question.
    ///   - limit: The time limit of each step.
    init(_ text: String, about session: PostgresConnection, limit: Duration) {
        var options = PostgresSessionOptions(applicationName: PostgresProcess.name, silenceLimit: limit)
        options.parameters = ["target_session_attrs": "any"]
        // The host name may lead to another server now.
        options.parameters["hostaddr"] = session.hostAddress
        let (target, waker, settings) = (session.target, session.waker, options)
        Thread.detachNewThread { [state] in
            let answer: Answer
            do {
                let connection = try PostgresConnection(target, options: settings, waker: PostgresWaker())
                try connection.connect(until: .now + limit)
                state.withLock { $0.isConnected = true }
                connection.answerLimit = limit
                // With the defaults of a role, it could wait for the transactions of other
                // sessions.
                let result = try connection.execute("BEGIN ISOLATION LEVEL READ COMMITTED; \(text); COMMIT")
                answer = .value(result.rowCount > 0 ? result.text(0, 0) : nil)
            } catch {
                answer = .failed(
                    error as? PostgresError ?? PostgresError(code: .connectionLost, message: "\(error)"))
            }
            state.withLock { $0.answer = answer }
            waker.wake()
        }
    }
}
#endif
