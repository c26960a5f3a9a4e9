/// A value that is set once, and the tasks that wait for it.
// Inlinable for the same reasons as `Locked`.
@usableFromInline package final class Promise<Value: Sendable>: Sendable {
    @usableFromInline struct State: Sendable {
        @usableFromInline var result: Result<Value, any Error>?
        @usableFromInline var waiters = Waiters<Value>()

        @inlinable init() {}
    }

    @usableFromInline let state = Locked(State())

    /// Creates a promise without a value.
    @inlinable package init() {}

    /// The value or failure; nil until it is set.
    @inlinable package var result: Result<Value, any Error>? { state.withLock { $0.result } }

    /// Sets the value or failure, and resumes all waiters. Later calls do nothing.
    @inlinable package func settle(_ result: Result<Value, any Error>) {
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
    @inlinable package func value(until deadline: Deadline? = nil, isCancellable: Bool = true) async throws -> Value {
        try await state.wait(in: \.waiters, until: deadline, isCancellable: isCancellable) { $0.result }
    }
}

extension Promise<Void> {
    /// Settles a promise without a value, and resumes all waiters.
    @inlinable package func settle() {
        settle(.success(()))
    }
}
