/// A value that is set once, and the tasks that wait for it.
package final class Promise<Value: Sendable>: Sendable {
    private struct State: Sendable {
        var result: Result<Value, any Error>?
        var waiters = Waiters<Value>()
    }

    private let state = Locked(State())

    /// Creates a promise without a value.
    package init() {}

    /// The value or failure; nil until it is set.
    package var result: Result<Value, any Error>? { state.withLock { $0.result } }

    /// Sets the value or failure, and resumes all waiters. Later calls do nothing.
    package func settle(_ result: Result<Value, any Error>) {
        let waiters = state.withLock { state in
            guard state.result == nil else { return [Waiters<Value>.Waiter]() }
            state.result = result
            return state.waiters.removeAll()
        }
        for waiter in waiters { waiter.resume(with: result) }
    }

    /// Waits for the value.
    ///
    /// - Parameters:
    ///   - deadline: When the wait ends without a value; nil (default) for no limit.
    ///   - isCancellable: Whether cancelling the task ends the wait. `true` by default.
    /// - Throws: The failure of the promise; `CancellationError`; ``DeadlineExceeded``.
    package func value(until deadline: Deadline? = nil, isCancellable: Bool = true) async throws -> Value {
        try await state.wait(in: \.waiters, until: deadline, isCancellable: isCancellable) { $0.result }
    }
}

extension Promise<Void> {
    /// Settles a promise without a value, and resumes all waiters.
    package func settle() {
        settle(.success(()))
    }
}
