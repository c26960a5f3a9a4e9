import SyncBase

/// The shared position of a stage's workers: hands out each item once, and failed ones again after
/// their wait.
///
/// One lock per item, for the end of a call and the next position together; no task, node or array
/// element per item.
final class ItemCursor: Sendable {
    /// A call to make.
    struct Step {
        var index: Int
        /// From 1.
        var attempt: Int
        /// How long to wait before the call; nil for not at all.
        var delay: Duration?
    }

    /// How a call ended.
    enum CallEnd {
        /// The call at a position answered.
        case done(Int, Bool)
        case failed
        /// Ended by the stop of its stage; neither done nor failed.
        case interrupted
        /// To be made again after a while.
        case retry(Step)
    }

    /// The call that a worker makes.
    struct Call {
        var index: Int
        var attempt: Int
        /// When it began, by the clock; zero unless there is a time-out.
        var start: Duration
    }

    private struct Worker {
        var call: Call?
        /// Whether the running call took too long, so that the worker's task is cancelled and it
        /// has to be replaced.
        var isTimedOut = false
        var cancel: (@Sendable () -> Void)?
    }

    private struct State {
        var next = 0
        var done = 0
        var failed = 0
        var retries = 0
        var trueCount = 0
        /// By position; empty unless they are kept.
        var answers: [Bool?] = []
        var isStopped = false
        /// Whether the stage took too long.
        var isTimedOut = false
        var waiting = RetryQueue()
        var workers: [Worker]
        /// Whether progress is reported.
        var isObserved = false
        var reportedCount = 0
        var reportedTime: Duration = .zero
    }

    /// How the stage went.
    struct Tally {
        var done = 0
        var failed = 0
        var retries = 0
        /// How many calls answered `true`.
        var trueCount = 0
        /// What each position's call answered, nil without an answer; empty unless answers are
        /// kept.
        var answers: [Bool?] = []
        /// Whether the stage took too long.
        var isTimedOut = false

        /// The positions whose calls answered so, ascending.
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
    /// Whether calls may ask about themselves.
    private let keepsCalls: Bool
    /// How long a call may take.
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

    /// Notes how a worker's last call ended, and hands out its next one; nil when there is none for
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

    /// Notes that a worker begins a call that had to wait. Returns whether it may.
    func begin(_ step: Step, by worker: Int) -> Bool {
        let start = callStart()
        return state.withLock { state in
            guard !state.isStopped else { return false }
            begin(step, by: worker, at: start, in: &state)
            return true
        }
    }

    /// The time, if calls have a time-out. Looked up outside the lock, so that workers do not wait
    /// for each other's look at the clock.
    private func callStart() -> Duration {
        callTimeout == nil ? .zero : clock.now()
    }

    @inline(__always)
    private func begin(_ step: Step, by worker: Int, at start: Duration, in state: inout State) {
        if step.attempt > 1 { state.retries += 1 }
        if keepsCalls { state.workers[worker].call = Call(index: step.index, attempt: step.attempt, start: start) }
    }

    /// The call that a worker makes now, or made last; nil in stages whose calls have no
    /// ``SyncAttempt``.
    func call(of worker: Int) -> Call? {
        state.withLock { $0.workers[worker].call }
    }

    /// Whether a worker's call took too long.
    func isTimedOut(_ worker: Int) -> Bool {
        state.withLock { $0.workers[worker].isTimedOut }
    }

    /// Notes that a worker begins or continues its work, and how its task is cancelled.
    func enter(_ worker: Int, cancel: @escaping @Sendable () -> Void) {
        let isTimedOut = state.withLock { state in
            state.workers[worker].cancel = cancel
            return state.workers[worker].isTimedOut
        }
        // The watch was faster.
        if isTimedOut { cancel() }
    }

    /// Notes that a worker's task has ended. Returns whether another one takes its place.
    func leave(_ worker: Int) -> Bool {
        let (former, isReplaced) = state.withLock { state in
            let former = state.workers[worker]
            state.workers[worker] = Worker()
            return (former, former.isTimedOut && !state.isStopped)
        }
        _ = former.cancel
        return isReplaced
    }

    /// Cancels the calls that take too long.
    ///
    /// - Returns: When the next one may.
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
        return next
    }

    // MARK: Items

    /// Reports progress from now on. Without observers, an item costs no look at the clock.
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

    /// Waiting items that are due come first, then new ones, then those not yet due.
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

    /// Whether a call that threw counts as a failure; otherwise it was interrupted, because the
    /// stage was stopped before.
    ///
    /// The first failure of a stage that ends with it stops it.
    func claimFailure() -> Bool {
        state.withLock { state in
            guard !state.isStopped else { return false }
            state.isStopped = stopsOnFailure
            return true
        }
    }

    /// Hands out nothing more.
    ///
    /// - Parameter isTimedOut: Whether the stage took too long.
    func stop(isTimedOut: Bool = false) {
        state.withLock { state in
            if !state.isStopped { state.isTimedOut = isTimedOut }
            state.isStopped = true
        }
    }

    var isStopped: Bool { state.withLock { $0.isStopped } }

    var tally: Tally {
        state.withLock {
            Tally(
                done: $0.done, failed: $0.failed, retries: $0.retries, trueCount: $0.trueCount, answers: $0.answers,
                isTimedOut: $0.isTimedOut)
        }
    }

    /// Sends progress about a hundred times by count, and ten times a second when items are slow.
    /// Under the lock, so that observers see the counts rise.
    private func reportProgress(in state: inout State) {
        let finished = state.done + state.failed
        let now = clock.now()
        let isStep = finished - state.reportedCount >= max(1, count / 100)
        guard isStep || finished == count || now - state.reportedTime >= .milliseconds(100) else { return }
        state.reportedCount = finished
        state.reportedTime = now
        let progress = SyncProgress(stage: stage, done: state.done, failed: state.failed, total: count)
        events.send(.progress(progress))
    }
}
