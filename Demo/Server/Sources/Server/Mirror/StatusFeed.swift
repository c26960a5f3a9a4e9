import Foundation
import Synchronization

/// The latest status, for any number of observers.
///
/// An observer that is slow sees the latest status next, not every one.
final class StatusFeed: Sendable {
    private struct State {
        var status: ServerStatus
        /// The observers, including those that have left since the last change.
        var observers: [AsyncStream<ServerStatus>.Continuation] = []
    }

    private let state: Mutex<State>

    /// Creates a feed.
    ///
    /// - Parameter source: The address of the source, which is shown without its query.
    init(source: URL) {
        let process = ProcessInfo.processInfo
        var shown = URLComponents(url: source, resolvingAgainstBaseURL: false)
        shown?.query = nil
        shown?.user = nil
        shown?.password = nil
        state = Mutex(
            State(
                status: ServerStatus(
                    server: "\(process.hostName) (process \(process.processIdentifier))",
                    source: shown?.string ?? "")))
    }

    /// The status at this moment.
    var status: ServerStatus { state.withLock(\.status) }

    /// Changes the status and informs the observers.
    func update(_ change: (inout ServerStatus) -> Void) {
        state.withLock { state in
            change(&state.status)
            let status = state.status
            // An observer that leaves must not take the lock itself: its cancelled task would wait
            // for this change, and the change for the task that it resumes.
            state.observers.removeAll { observer in
                if case .terminated = observer.yield(status) { true } else { false }
            }
        }
    }

    /// The status, now and after each change.
    func statuses() -> AsyncStream<ServerStatus> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: ServerStatus.self, bufferingPolicy: .bufferingNewest(1))
        state.withLock { state in
            continuation.yield(state.status)
            state.observers.append(continuation)
        }
        return stream
    }
}
