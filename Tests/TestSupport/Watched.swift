import SyncBase

/// A value that tests can wait on. The other test doubles use it, so that no test sleeps.
package final class Watched<Value: Sendable>: Sendable {
    private struct Watcher {
        var isMet: @Sendable (Value) -> Bool
        var promise: Promise<Void>
    }

    private struct State {
        var value: Value
        var watchers: [Int: Watcher] = [:]
        var lastWatcher = 0
    }

    private let state: Locked<State>
    /// The end of a wait for what never comes: sooner than that of the whole run, which
    /// `EndsInTime` ends.
    private static var limit: Duration { .seconds(300) }

    package init(_ value: Value) {
        state = Locked(State(value: value))
    }

    package var value: Value { state.withLock { $0.value } }

    /// Changes the value and resumes the tasks whose conditions it now satisfies.
    ///
    /// - Parameter change: Changes the value. Called while a lock is held, so it must not use this
    ///   instance.
    /// - Returns: The result of `change`.
    @discardableResult
    package func update<Result: Sendable>(_ change: @Sendable (inout Value) -> Result) -> Result {
        let (result, met) = state.withLock { state in
            let result = change(&state.value)
            let met = state.watchers.filter { $0.value.isMet(state.value) }
            for id in met.keys { state.watchers[id] = nil }
            return (result, met.values.map(\.promise))
        }
        for promise in met { promise.settle() }
        return result
    }

    /// Waits until the value satisfies a condition.
    ///
    /// - Parameter isMet: The condition. Called while a lock is held, so it must not use this
    ///   instance.
    /// - Throws: `CancellationError` if the task is cancelled first.
    package func wait(until isMet: @escaping @Sendable (Value) -> Bool) async throws {
        try await wait(with: Promise<Void>(), until: isMet)
    }

    /// Waits until the value satisfies a condition, which another task brings about.
    ///
    /// - Throws: The error of the other task, or ``TestError``, if it ends before;
    ///   `CancellationError` if the task is cancelled first.
    package func wait<Success, Failure>(
        orEndOf task: Task<Success, Failure>, until isMet: @escaping @Sendable (Value) -> Bool
    ) async throws {
        let promise = Promise<Void>()
        let end = Task {
            switch await task.result {
            case .success: promise.settle(.failure(TestError("the task has ended without what is waited for")))
            case .failure(let error): promise.settle(.failure(error))
            }
        }
        defer { end.cancel() }
        do { try await wait(with: promise, until: isMet) } catch {
            // The task can have done both.
            guard isMet(value) else { throw error }
        }
    }

    private func wait(with promise: Promise<Void>, until isMet: @escaping @Sendable (Value) -> Bool) async throws {
        try Task.checkCancellation()
        let id: Int? = state.withLock { state in
            guard !isMet(state.value) else { return nil }
            state.lastWatcher += 1
            state.watchers[state.lastWatcher] = Watcher(isMet: isMet, promise: promise)
            return state.lastWatcher
        }
        guard let id else { return }
        defer { state.withLock { _ = $0.watchers.removeValue(forKey: id) } }
        do { try await promise.value(until: Deadline(in: Self.limit)) } catch is DeadlineExceeded {
            throw TestError("what is waited for has not come within \(Self.limit); the value is \(value)")
        }
    }
}
