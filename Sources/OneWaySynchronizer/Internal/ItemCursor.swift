import SyncBase
/// The shared position of a stage's workers: hands out each item once, failed ones again after their wait.
///
/// One lock per item, for its outcome and the next position together; no task, node or array element per item.
final class ItemCursor: Sendable {
    /// What to do with an item's call.
    struct Step {
        var index: Int
        /// From 1.
        var attempt: Int
        /// How long to wait before the call.
        var delay: Duration = .zero
    }

    /// How an item's call ended.
    enum Outcome {
        /// The call at a position answered.
        case done(Int, Bool)
        case failed
        /// Ended by the stop of its stage; neither done nor failed.
        case interrupted
        /// To be called again after a while.
        case retry(Step)
    }

    private struct Waiting {
        var index: Int
        var attempt: Int
        var due: Duration
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
        /// Items that wait to be called again; at most `maximumWaitingCount`.
        var waiting: [Waiting] = []
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
        /// What each position's call answered, `nil` where it did not; empty unless answers are kept.
        var answers: [Bool?] = []

        /// The positions whose calls answered so, ascending.
        func positions(answering answer: Bool) -> [Int] {
            answers.indices.filter { answers[$0] == answer }
        }
    }

    private let stage: SyncStage
    private let count: Int
    private let stopsOnFailure: Bool
    private let maximumWaitingCount: Int
    private let clock: SyncClock
    private let events: EventBroadcaster
    private let keepsAnswers: Bool
    private let state: Locked<State>

    init(
        stage: SyncStage, count: Int, width: Int, stopsOnFailure: Bool, keepsAnswers: Bool, clock: SyncClock,
        events: EventBroadcaster
    ) {
        self.stage = stage
        self.count = count
        self.stopsOnFailure = stopsOnFailure
        self.clock = clock
        self.events = events
        // Bounds the list of waiting items: past it, a worker waits with its own instead of starting others.
        maximumWaitingCount = 4 * width
        self.keepsAnswers = keepsAnswers
        state = Locked(State(answers: keepsAnswers ? [Bool?](repeating: nil, count: count) : []))
    }

    /// Notes how the last call ended, and hands out the next one; `nil` when there is none for this worker.
    func advance(after outcome: Outcome?) -> Step? {
        state.withLock { state in
            note(outcome, in: &state)
            return state.isStopped ? nil : nextStep(in: &state)
        }
    }

    private func note(_ outcome: Outcome?, in state: inout State) {
        switch outcome {
        case nil, .interrupted:
            return
        case .retry(let step):
            state.retries += 1
            state.waiting.append(Waiting(index: step.index, attempt: step.attempt, due: clock.now() + step.delay))
            return
        case .done(let index, let answer):
            state.done += 1
            if answer { state.trueCount += 1 }
            if keepsAnswers { state.answers[index] = answer }
        case .failed:
            state.failed += 1
        }
        if events.isObserved { reportProgress(in: &state) }
    }

    /// Waiting items that are due come first, then new ones, then those not yet due.
    private func nextStep(in state: inout State) -> Step? {
        if let index = state.waiting.indices.min(by: { state.waiting[$0].due < state.waiting[$1].due }) {
            let delay = state.waiting[index].due - clock.now()
            if delay <= .zero || state.next == count || state.waiting.count >= maximumWaitingCount {
                let item = state.waiting.remove(at: index)
                return Step(index: item.index, attempt: item.attempt, delay: max(delay, .zero))
            }
        }
        guard state.next < count else { return nil }
        defer { state.next += 1 }
        return Step(index: state.next, attempt: 1)
    }

    /// Whether a call that threw counts as a failure; otherwise it was interrupted, because the stage was stopped before.
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
    func stop() {
        state.withLock { $0.isStopped = true }
    }

    var isStopped: Bool { state.withLock { $0.isStopped } }

    var tally: Tally {
        state.withLock {
            Tally(done: $0.done, failed: $0.failed, retries: $0.retries, trueCount: $0.trueCount, answers: $0.answers)
        }
    }

    /// Sends progress about a hundred times by count, and ten times a second where items are slow. Under the lock, so
    /// that observers see the counts rise.
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
