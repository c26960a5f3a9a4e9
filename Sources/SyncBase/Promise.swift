/// A value that becomes known once, and the tasks that wait for it.
package final class Promise<Value: Sendable>: Sendable {
    private struct State: Sendable {
        var result: Result<Value, any Error>?
        var waiters = Waiters<Value>()
    }

    private let state = Locked(State())

    /// Creates a promise that is not kept yet.
    package init() {}

    /// The value or failure; nil before it is known.
    package var result: Result<Value, any Error>? { state.withLock(\.result) }

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
    ///   - deadline: When the wait ends without a value; nil (default) for never.
    ///   - isCancellable: Whether cancelling the task ends the wait. `true` by default.
    /// - Throws: The failure; `CancellationError`; ``DeadlineExceeded``.
    package func value(until deadline: Deadline? = nil, isCancellable: Bool = true) async throws -> Value {
        try await state.wait(in: \.waiters, until: deadline, isCancellable: isCancellable) { $0.result }
    }
}

extension Promise<Void> {
    /// Sets the value, which says only that something has happened.
    package func settle() {
        settle(.success(()))
    }
}
