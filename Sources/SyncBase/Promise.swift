/// A value that comes later, and whoever waits for it.
package final class Promise<Value: Sendable>: Sendable {
    private struct State {
        var outcome: Result<Value, any Error>?
        var waiters: [Int: CheckedContinuation<Value, any Error>] = [:]
        var lastWaiter = 0
    }

    private let state = Locked(State())

    /// Creates a promise without an outcome.
    package init() {}

    /// The outcome; nil before it is known.
    package var outcome: Result<Value, any Error>? { state.withLock(\.outcome) }

    /// Sets the outcome; the first one counts.
    package func settle(_ outcome: Result<Value, any Error>) {
        let waiters = state.withLock { state in
            guard state.outcome == nil else { return [CheckedContinuation<Value, any Error>]() }
            state.outcome = outcome
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.resume(with: outcome) }
    }

    /// Waits for the outcome.
    ///
    /// - Throws: The failure; `CancellationError` when the task is cancelled before.
    package func value() async throws -> Value {
        let id = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { waiter in
                let outcome = state.withLock { state -> Result<Value, any Error>? in
                    if let outcome = state.outcome { return outcome }
                    // Read under the lock: a cancellation from now on finds the waiter.
                    if Task.isCancelled { return .failure(CancellationError()) }
                    state.waiters[id] = waiter
                    return nil
                }
                if let outcome { waiter.resume(with: outcome) }
            }
        } onCancel: {
            let waiter = state.withLock { $0.waiters.removeValue(forKey: id) }
            waiter?.resume(throwing: CancellationError())
        }
    }
}
