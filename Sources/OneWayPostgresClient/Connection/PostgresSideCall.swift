#if Postgres
import Foundation
import SyncBase

/// A statement on a connection of its own, run on a thread of its own, about a session that does
/// not answer.
///
/// Unlike `PQcancel`, it never blocks the caller and always ends within its limit.
final class PostgresSideCall: Sendable {
    /// How a side call ended.
    enum Answer: Sendable {
        /// The first value of the first row; nil without a row.
        case value(String?)
        case failed(PostgresError)
    }

    private let state = Locked<Answer?>(nil)

    /// The answer; nil while the call runs.
    var answer: Answer? { state.withLock(\.self) }

    /// Starts a call.
    ///
    /// - Parameters:
    ///   - text: The statement.
    ///   - target: The server of the session in question.
    ///   - limit: How long each step may take.
    ///   - waker: Woken when the call has ended.
    init(_ text: String, to target: PostgresTarget, limit: Duration, waking waker: PostgresWaker) {
        var options = PostgresSessionOptions(applicationName: PostgresProcess.name, silenceLimit: limit)
        options.servers = .any
        options.pooling = .transaction
        options.parameters = ["target_session_attrs": "any"]
        let session = options
        Thread.detachNewThread { [state] in
            let answer: Answer
            do {
                let own = try PostgresWaker()
                let connection = try PostgresConnection.openOnce(
                    target.address, PostgresAddress.Hosts(list: [target.host], timeout: limit), options: session,
                    waker: own)
                connection.answerLimit = limit
                let result = try connection.execute(text)
                answer = .value(result.rowCount > 0 ? result.text(0, 0) : nil)
            } catch {
                answer = .failed(
                    error as? PostgresError ?? PostgresError(code: .connectionLost, message: "\(error)"))
            }
            state.withLock { $0 = answer }
            waker.wake()
        }
    }
}
#endif
