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
        try Task.checkCancellation()
        let promise = Promise<Void>()
        let id: Int? = state.withLock { state in
            guard !isMet(state.value) else { return nil }
            state.lastWatcher += 1
            state.watchers[state.lastWatcher] = Watcher(isMet: isMet, promise: promise)
            return state.lastWatcher
        }
        guard let id else { return }
        defer { state.withLock { _ = $0.watchers.removeValue(forKey: id) } }
        try await promise.value()
    }
}
