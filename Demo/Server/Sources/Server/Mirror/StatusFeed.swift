import Foundation
import Synchronization

/// The latest status, for any number of observers.
///
/// An observer that is slow sees the latest status next, not every one.
final class StatusFeed: Sendable {
    private struct State {
        var status: ServerStatus
        var observers: [Int: AsyncStream<ServerStatus>.Continuation] = [:]
        var nextObserver = 0
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
            for observer in state.observers.values { observer.yield(state.status) }
        }
    }

    /// The status, now and after each change.
    func statuses() -> AsyncStream<ServerStatus> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: ServerStatus.self, bufferingPolicy: .bufferingNewest(1))
        state.withLock { state in
            continuation.yield(state.status)
            let number = state.nextObserver
            state.nextObserver += 1
            state.observers[number] = continuation
            continuation.onTermination = { [weak self] _ in
                self?.state.withLock { _ = $0.observers.removeValue(forKey: number) }
            }
        }
        return stream
    }
}
