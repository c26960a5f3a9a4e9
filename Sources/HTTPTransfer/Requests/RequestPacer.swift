import OneWaySynchronizer
import SyncBase

/// Limits the number of simultaneous requests, and of requests per second.
final class RequestPacer: Sendable {
    private struct State: Sendable {
        var freeConnectionCount: Int
        var waiters = Waiters<Void>()
        /// When the next request may be sent, by the clock.
        var nextTurn = Duration.zero
    }

    private let interval: Duration
    private let clock: SyncClock
    private let state: Locked<State>

    /// - Parameters:
    ///   - connectionCount: The maximum number of simultaneous requests.
    ///   - requestsPerSecond: The maximum number of requests that begin per second; nil for no
    ///     limit.
    init(connectionCount: Int, requestsPerSecond: Double?, clock: SyncClock) {
        // At most a century, which a duration holds.
        interval = requestsPerSecond.map { $0 > 0 ? .seconds(min(1 / $0, 3_155_760_000)) : .zero } ?? .zero
        self.clock = clock
        state = Locked(State(freeConnectionCount: max(connectionCount, 1)))
    }

    /// Waits for a free connection, then for the next turn.
    ///
    /// - Throws: `CancellationError`, after which ``leave()`` must not be called.
    func enter() async throws {
        try await takeConnection()
        do { try await waitForTurn() } catch {
            leave()
            throw error
        }
    }

    /// Waits for the next turn to begin a request over a connection that is already taken.
    ///
    /// - Throws: `CancellationError`.
    func waitForTurn() async throws {
        let wait = state.withLock { state in
            let now = clock.now()
            let turn = max(now, state.nextTurn)
            state.nextTurn = turn.addingClamped(interval)
            return turn - now
        }
        if wait > .zero { try await clock.sleep(wait) }
    }

    /// Returns the connection.
    func leave() {
        // The longest waiting request takes over the connection.
        let next = state.withLock { state in
            let next = state.waiters.removeFirst()
            if next == nil { state.freeConnectionCount += 1 }
            return next
        }
        next?.resume()
    }

    /// Delays all requests that have not begun, as a busy server requests.
    func pause(_ duration: Duration) {
        state.withLock { $0.nextTurn = max($0.nextTurn, clock.now().addingClamped(duration)) }
    }

    private func takeConnection() async throws {
        try Task.checkCancellation()
        try await state.wait(in: \.waiters) { state in
            guard state.freeConnectionCount > 0 else { return nil }
            state.freeConnectionCount -= 1
            return .success(())
        }
    }
}
