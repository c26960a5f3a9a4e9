import OneWaySynchronizer
import SyncBase

/// Limits the number of requests at once and per second.
package final class RequestPacer: Sendable {
    private struct State {
        var freeConnectionCount: Int
        var waiters: [(id: Int, continuation: CheckedContinuation<Void, any Error>)] = []
        var lastWaiter = 0
        /// When the next request may be sent, by the clock.
        var nextTurn = Duration.zero
    }

    private let interval: Duration
    private let clock: SyncClock
    private let state: Locked<State>

    /// - Parameters:
    ///   - connectionCount: The maximum number of requests at once.
    ///   - requestsPerSecond: The maximum number of requests that begin per second; nil for any
    ///     number.
    init(connectionCount: Int, requestsPerSecond: Double?, clock: SyncClock) {
        interval = requestsPerSecond.map { $0 > 0 ? .seconds(1 / $0) : .zero } ?? .zero
        self.clock = clock
        state = Locked(State(freeConnectionCount: max(connectionCount, 1)))
    }

    /// Waits for a free connection, then for the next turn.
    ///
    /// - Throws: `CancellationError`, after which ``leave()`` must not be called.
    func enter() async throws {
        try await takeConnection()
        do {
            let wait = state.withLock { state in
                let now = clock.now()
                let turn = max(now, state.nextTurn)
                state.nextTurn = turn + interval
                return turn - now
            }
            if wait > .zero { try await clock.sleep(wait) }
        } catch {
            leave()
            throw error
        }
    }

    /// Returns the connection.
    func leave() {
        let next = state.withLock { state -> CheckedContinuation<Void, any Error>? in
            guard state.waiters.isEmpty else { return state.waiters.removeFirst().continuation }
            state.freeConnectionCount += 1
            return nil
        }
        next?.resume()
    }

    /// Delays all requests that have not begun, as a busy server asks for.
    package func pause(_ duration: Duration) {
        state.withLock { $0.nextTurn = max($0.nextTurn, clock.now() + duration) }
    }

    private func takeConnection() async throws {
        let id = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let outcome = state.withLock { state -> Result<Void, any Error>? in
                    if Task.isCancelled { return .failure(CancellationError()) }
                    guard state.freeConnectionCount > 0 else {
                        state.waiters.append((id, continuation))
                        return nil
                    }
                    state.freeConnectionCount -= 1
                    return .success(())
                }
                if let outcome { continuation.resume(with: outcome) }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                state.waiters.firstIndex { $0.id == id }.map { state.waiters.remove(at: $0).continuation }
            }
            waiter?.resume(throwing: CancellationError())
        }
    }
}
