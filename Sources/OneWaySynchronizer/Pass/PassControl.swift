import SyncBase

/// A handle to a pass: reads its stage, stops it, and waits for its end.
final class PassControl: Sendable {
    /// Why a pass was stopped.
    enum StopReason: Sendable, Equatable {
        case cancelled
        case timedOut(after: Duration)
    }

    /// A stage and its start, by the clock of the pass.
    struct Place: Sendable {
        var stage: SyncStage
        var since: Duration
    }

    private struct State {
        var reason: StopReason?
        var place: Place?
        var cursor: ItemCursor?
        var cancelWork: (@Sendable () -> Void)?
    }

    private let state = Locked(State())
    /// Settled when the last call of the pass has returned.
    let ended = Promise<Void>()

    var isStopped: Bool { state.withLock { $0.reason != nil } }

    /// The stage that the pass is in; nil before the first one.
    var place: Place? { state.withLock(\.place) }

    /// Stops handing out work, then cancels the running calls. Only the first reason counts. Has no
    /// effect once the stoppable part has ended.
    func stop(_ reason: StopReason) {
        let (cursor, cancelWork) = state.withLock { state -> (ItemCursor?, (@Sendable () -> Void)?) in
            state.reason = state.reason ?? reason
            return (state.cursor, state.cancelWork)
        }
        cursor?.stop()
        cancelWork?()
    }

    /// Runs the stoppable part of a pass in a separate task that inherits the current task's
    /// context.
    ///
    /// - Returns: The function's result, and why the pass was stopped. After it returns, the pass
    ///   can no longer be stopped.
    func run<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) async -> (Value, StopReason?) {
        let work = Task { await body() }
        let isStopped = state.withLock { state in
            state.cancelWork = { work.cancel() }
            return state.reason != nil
        }
        if isStopped { work.cancel() }
        let value = await work.value
        let reason = state.withLock { state in
            state.cancelWork = nil
            return state.reason
        }
        return (value, reason)
    }

    /// Records that a stage begins.
    func enter(_ stage: SyncStage, at time: Duration) {
        state.withLock { $0.place = Place(stage: stage, since: time) }
    }

    /// Enables progress reports of the running stage.
    func observe() {
        state.withLock(\.cursor)?.observe()
    }

    /// Sets the cursor that is stopped with the pass.
    func use(_ cursor: ItemCursor) {
        let (isStopped, former) = state.withLock { state in
            let former = state.cursor
            state.cursor = cursor
            return (state.reason != nil, former)
        }
        if isStopped { cursor.stop() }
        // Released outside the lock.
        _ = former
    }
}
