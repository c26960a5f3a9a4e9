import SyncBase

/// The shared position of a stage's workers: hands out each item once, and failed items again after
/// their wait.
///
/// The lock is taken once per item, for the end of a call and the next position together. There is
/// no task, node or array element per item.
final class ItemCursor: Sendable {
    /// A call to make.
    struct Step {
        var index: Int
        /// From 1.
        var attempt: Int
        /// The wait before the call; nil for none.
        var delay: Duration?
    }

    /// How a call ended.
    enum CallEnd {
        /// The call for a position returned an answer.
        case done(Int, Bool)
        case failed
        /// The stage was stopped before the call ended; neither done nor failed.
        case interrupted
        /// The call is repeated after a wait.
        case retry(Step)
    }

    /// The call that a worker makes.
    struct Call {
        var index: Int
        var attempt: Int
        /// When the call began, by the clock; zero unless there is a time-out.
        var start: Duration
    }

    private struct Worker {
        var call: Call?
        /// Whether the running call timed out: the worker's task is cancelled and must be replaced.
        var isTimedOut = false
        var cancel: (@Sendable () -> Void)?
    }

    private struct State {
        var next = 0
        var done = 0
        var failed = 0
        var retries = 0
        var trueCount = 0
        /// The answers by position; empty unless they are kept.
        var answers: [Bool?] = []
        var isStopped = false
        /// Whether the stage timed out.
        var isTimedOut = false
        var waiting = RetryQueue()
        var workers: [Worker]
        /// Whether progress is reported.
        var isObserved = false
        var reportedCount = 0
        var reportedTime: Duration = .zero
    }

    /// The results of a stage.
    struct Counts {
        var done = 0
        var failed = 0
        var retries = 0
        /// The number of calls that returned `true`.
        var trueCount = 0
        /// The answer for each position, nil if there is none; empty unless answers are kept.
        var answers: [Bool?] = []
        /// Whether the stage timed out.
        var isTimedOut = false

        /// The positions with a given answer, ascending.
        func positions(answering answer: Bool) -> [Int] {
            answers.indices.filter { answers[$0] == answer }
        }
    }

    private let stage: SyncStage
    private let count: Int
    private let stopsOnFailure: Bool
    private let clock: SyncClock
    private let events: Broadcaster<SyncEvent>
    private let keepsAnswers: Bool
    /// Whether calls can read ``RetryPolicy/Attempt/current``.
    private let keepsCalls: Bool
    /// The longest duration of a call.
    let callTimeout: Duration?
    private let state: Locked<State>

    init(
        stage: SyncStage, count: Int, width: Int, stopsOnFailure: Bool, keepsAnswers: Bool, callTimeout: Duration?,
        clock: SyncClock, events: Broadcaster<SyncEvent>
    ) {
        self.stage = stage
        self.count = count
        self.stopsOnFailure = stopsOnFailure
        self.clock = clock
        self.events = events
        self.callTimeout = callTimeout
        self.keepsAnswers = keepsAnswers
        keepsCalls = stage != .shouldUpdate
        state = Locked(
            State(
                answers: keepsAnswers ? [Bool?](repeating: nil, count: count) : [],
                workers: [Worker](repeating: Worker(), count: width)))
    }

    // MARK: Workers

    /// Records how a worker's last call ended, and returns its next one; nil if none is left for
    /// it.
    func advance(_ worker: Int, after end: CallEnd?) -> Step? {
        let start = callStart()
        return state.withLock { state in
            note(end, in: &state)
            if callTimeout != nil {
                state.workers[worker].call = nil
                guard !state.workers[worker].isTimedOut else { return nil }
            }
            guard !state.isStopped, let step = nextStep(in: &state) else { return nil }
            if step.delay == nil { begin(step, by: worker, at: start, in: &state) }
            return step
        }
    }

    /// Records that a worker begins a delayed call, and returns whether it may.
    func begin(_ step: Step, by worker: Int) -> Bool {
        let start = callStart()
        return state.withLock { state in
            guard !state.isStopped else { return false }
            begin(step, by: worker, at: start, in: &state)
            return true
        }
    }

    /// The time, if calls have a time-out. It is read outside the lock, so that workers do not wait
    /// for each other's clock access.
    private func callStart() -> Duration {
        callTimeout == nil ? .zero : clock.now()
    }

    @inline(__always)
    private func begin(_ step: Step, by worker: Int, at start: Duration, in state: inout State) {
        if step.attempt > 1 { state.retries += 1 }
        if keepsCalls { state.workers[worker].call = Call(index: step.index, attempt: step.attempt, start: start) }
    }

    /// The call that a worker makes now, or made last; nil in stages without
    /// ``RetryPolicy/Attempt``.
    func call(of worker: Int) -> Call? {
        state.withLock { $0.workers[worker].call }
    }

    /// Whether a worker's call timed out.
    func isTimedOut(_ worker: Int) -> Bool {
        state.withLock { $0.workers[worker].isTimedOut }
    }

    /// Records that a worker begins or continues to work, and how to cancel its task.
    func enter(_ worker: Int, cancel: @escaping @Sendable () -> Void) {
        let isTimedOut = state.withLock { state in
            state.workers[worker].cancel = cancel
            return state.workers[worker].isTimedOut
        }
        // The watch came first.
        if isTimedOut { cancel() }
    }

    /// Records that a worker's task has ended, and returns whether another task replaces it.
    func leave(_ worker: Int) -> Bool {
        let (former, isReplaced) = state.withLock { state in
            let former = state.workers[worker]
            state.workers[worker] = Worker()
            return (former, former.isTimedOut && !state.isStopped)
        }
        _ = former.cancel
        return isReplaced
    }

    /// Cancels the calls that have timed out.
    ///
    /// - Returns: When the next call may time out; at least a millisecond from now, so that the
    ///   watch rests even if no call has any time.
    func cancelLateCalls(_ timeout: Duration) -> Duration {
        let now = clock.now()
        let (cancels, next) = state.withLock { state in
            var cancels: [@Sendable () -> Void] = []
            var next = now.addingClamped(timeout)
            for worker in state.workers.indices {
                guard let call = state.workers[worker].call, !state.workers[worker].isTimedOut else { continue }
                let end = call.start.addingClamped(timeout)
                if end > now {
                    next = min(next, end)
                } else {
                    state.workers[worker].isTimedOut = true
                    if let cancel = state.workers[worker].cancel { cancels.append(cancel) }
                }
            }
            return (cancels, next)
        }
        for cancel in cancels { cancel() }
        return max(next, now.addingClamped(.milliseconds(1)))
    }

    // MARK: Items

    /// Reports progress from now on. Without observers, an item does not read the clock.
    func observe() {
        state.withLock { $0.isObserved = true }
    }

    private func note(_ end: CallEnd?, in state: inout State) {
        switch end {
        case nil, .interrupted:
            return
        case .retry(let step):
            state.waiting.insert(
                index: step.index, attempt: step.attempt, due: clock.now().addingClamped(step.delay ?? .zero))
            return
        case .done(let index, let answer):
            state.done += 1
            if answer { state.trueCount += 1 }
            if keepsAnswers { state.answers[index] = answer }
        case .failed:
            state.failed += 1
        }
        if state.isObserved { reportProgress(in: &state) }
    }

    /// Returns waiting items that are due first, then new items, then waiting items not yet due.
    private func nextStep(in state: inout State) -> Step? {
        if let due = state.waiting.nextDue {
            let delay = due - clock.now()
            if delay <= .zero || state.next == count, let item = state.waiting.popFirst() {
                return Step(index: item.index, attempt: item.attempt, delay: delay > .zero ? delay : nil)
            }
        }
        guard state.next < count else { return nil }
        defer { state.next += 1 }
        return Step(index: state.next, attempt: 1)
    }

    /// Returns whether a call that threw counts as a failure; false if its stage was already
    /// stopped.
    ///
    /// In a stage that stops on failure, the first failure stops it.
    func claimFailure() -> Bool {
        state.withLock { state in
            guard !state.isStopped else { return false }
            state.isStopped = stopsOnFailure
            return true
        }
    }

    /// Stops handing out steps.
    ///
    /// - Parameter isTimedOut: Whether the stage timed out.
    func stop(isTimedOut: Bool = false) {
        state.withLock { state in
            if !state.isStopped { state.isTimedOut = isTimedOut }
            state.isStopped = true
        }
    }

    var isStopped: Bool { state.withLock { $0.isStopped } }

    var counts: Counts {
        state.withLock {
            Counts(
                done: $0.done, failed: $0.failed, retries: $0.retries, trueCount: $0.trueCount, answers: $0.answers,
                isTimedOut: $0.isTimedOut)
        }
    }

    /// Sends progress about a hundred times by count, and ten times a second if items are slow.
    /// Runs under the lock, so that observers see rising counts.
    private func reportProgress(in state: inout State) {
        let finished = state.done + state.failed
        let now = clock.now()
        let isStep = finished - state.reportedCount >= max(1, count / 100)
        guard isStep || finished == count || now - state.reportedTime >= .milliseconds(100) else { return }
        state.reportedCount = finished
        state.reportedTime = now
        let progress = SyncStatus.Progress(stage: stage, done: state.done, failed: state.failed, total: count)
        events.send(.progress(progress))
    }
}
