import SyncBase

/// The time limits of a fetch. Cancels its task when one is exceeded.
final class FetchWatch: Sendable {
    /// What a fetch may take.
    struct Limits: Sendable {
        /// The longest time without any data while the server is waited for.
        var silence: Duration
        /// The longest duration; nil for no limit.
        var duration: Duration?
        /// The rate in bytes per second that extends `duration`; 0 for no extension.
        var slowestByteRate: Int
        /// When the fetch must have ended, by the clock; nil for no limit.
        var deadline: Duration?
    }

    private struct State: Sendable {
        /// When the request was sent, by the clock, moved by the time in which the server was not
        /// waited for.
        var begin = Duration.zero
        /// When data last arrived, by the clock.
        var lastArrival = Duration.zero
        /// Since when the reader or a retry, not the server, is waited for; nil if it is not.
        var ourTurn: Duration?
        /// The number of bytes of the body that have arrived.
        var byteCount = 0
        /// The limit that was exceeded; nil if none was.
        var problem: HTTPError.Problem?
        var isOver = false
        var task: Task<Void, Never>?
        var alarm: SyncClock.Alarm?
    }

    private let limits: Limits
    private let clock: SyncClock
    private let state = Locked(State())

    init(_ limits: Limits, by clock: SyncClock) {
        self.limits = limits
        self.clock = clock
    }

    /// Sets the task that is cancelled when a limit is exceeded.
    func guardTask(_ task: Task<Void, Never>) {
        let mustCancel = state.withLock { state in
            if !state.isOver { state.task = task }
            return state.problem != nil
        }
        if mustCancel { task.cancel() }
    }

    /// The limit that was exceeded; nil if none was.
    var problem: HTTPError.Problem? { state.withLock(\.problem) }

    /// Starts the time.
    func begin() {
        let now = clock.now()
        state.withLock { ($0.begin, $0.lastArrival) = (now, now) }
        check()
    }

    /// Records that data of the server has arrived.
    func noteArrival(of byteCount: Int = 0) {
        let now = clock.now()
        state.withLock { state in
            state.lastArrival = now
            if let ourTurn = state.ourTurn.take() { state.begin += now - ourTurn }
            state.byteCount += byteCount
        }
    }

    /// Records that the reader or a retry, not the server, is waited for until the next arrival.
    func noteOurTurn() {
        let now = clock.now()
        state.withLock { $0.ourTurn = $0.ourTurn ?? now }
    }

    /// Stops the time.
    func end() {
        let alarm = state.withLock { state in
            defer { (state.isOver, state.task, state.alarm) = (true, nil, nil) }
            return state.alarm
        }
        alarm?.cancel()
    }

    /// Cancels the task if nothing has arrived for too long, or at the time limit; otherwise checks
    /// again when that can be.
    private func check() {
        let now = clock.now()
        let (wait, task) = state.withLock { state -> (Duration?, Task<Void, Never>?) in
            guard !state.isOver else { return (nil, nil) }
            let duration = longestDuration(state)
            let waited = (state.ourTurn ?? now) - state.begin
            let end = (now - waited).addingClamped(duration)
            let endOfSilence = (state.ourTurn == nil ? state.lastArrival : now).addingClamped(limits.silence)
            let wait = min(end, limits.deadline ?? .longest, endOfSilence) - now
            if wait > .zero { return (wait, nil) }
            state.problem = end <= now ? .tooSlow(received: state.byteCount, limit: duration) : .timedOut
            return (nil, state.task)
        }
        task?.cancel()
        guard let wait else { return }
        let alarm = clock.alarm(after: wait) { [self] in
            // A process that was suspended, or whose threads were busy, has not listened: the
            // silence was not the server's.
            let late = clock.now()
            if late - (now + wait) > limits.silence / 100 { state.withLock { $0.lastArrival = late } }
            check()
        }
        let isOver = state.withLock { state in
            if !state.isOver { state.alarm = alarm }
            return state.isOver
        }
        if isOver { alarm.cancel() }
    }

    private func longestDuration(_ state: State) -> Duration {
        let longest = limits.duration ?? .longest
        guard limits.slowestByteRate > 0 else { return longest }
        return longest.addingClamped(.seconds(state.byteCount / limits.slowestByteRate))
    }
}
