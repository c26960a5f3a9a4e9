import SyncBase

/// What others may do with a pass: see its stage, stop it, and wait for its end.
final class PassControl: Sendable {
    /// Why a pass was stopped.
    enum StopReason: Sendable, Equatable {
        case cancelled
        case timedOut(after: Duration)
    }

    /// A stage and when it began, by the clock of the pass.
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

    /// Stops handing out work, then cancels the running calls. The first reason counts. Without
    /// effect once the stoppable part has ended.
    func stop(_ reason: StopReason) {
        let (cursor, cancelWork) = state.withLock { state -> (ItemCursor?, (@Sendable () -> Void)?) in
            state.reason = state.reason ?? reason
            return (state.cursor, state.cancelWork)
        }
        cursor?.stop()
        cancelWork?()
    }

    /// Runs the stoppable part of a pass, in a task of its own that inherits the context of the
    /// current one.
    ///
    /// - Returns: The function's result, and why the pass was stopped. From then on it cannot be
    ///   stopped any more.
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

    /// Notes that a stage begins.
    func enter(_ stage: SyncStage, at time: Duration) {
        state.withLock { $0.place = Place(stage: stage, since: time) }
    }

    /// Has the progress of the running stage reported.
    func observe() {
        state.withLock(\.cursor)?.observe()
    }

    /// Has a cursor stopped with the pass, until it is replaced.
    func adopt(_ cursor: ItemCursor?) {
        let (isStopped, former) = state.withLock { state in
            let former = state.cursor
            state.cursor = cursor
            return (state.reason != nil, former)
        }
        if isStopped { cursor?.stop() }
        // Released outside the lock.
        _ = former
    }
}
