/// A type-erased clock: the current time and a cancellable sleep.
package struct SyncClock: Sendable {
    /// The system's continuous clock, which keeps running while the machine sleeps.
    package static let continuous = SyncClock(ContinuousClock())

    /// The longest single sleep: about 100 years. System clocks trap on much longer ones.
    package static let longestSleep = Duration.seconds(Int64(3_155_760_000))

    /// The time since the clock value was created.
    package let now: @Sendable () -> Duration

    private static let timer = SharedTimer(ContinuousClock())

    private let wait: @Sendable (Duration) async throws -> Void
    private let schedule: @Sendable (Duration, @escaping @Sendable () -> Void) -> Alarm

    /// Creates a wrapper of a clock.
    package init(_ clock: some Clock<Duration>) {
        let start = clock.now
        now = { start.duration(to: clock.now) }
        if clock is ContinuousClock {
            wait = { try await Self.timer.sleep(for: $0) }
            schedule = { duration, body in
                let id = Self.timer.call(after: duration, body)
                return Alarm { Self.timer.cancel(id) }
            }
        } else {
            wait = { try await clock.sleep(for: $0) }
            schedule = { duration, body in
                let task = Task { if (try? await clock.sleep(for: duration)) != nil { body() } }
                return Alarm { task.cancel() }
            }
        }
    }

    /// Suspends the task for a duration, at most 100 years.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    package func sleep(_ duration: Duration) async throws {
        try await wait(min(duration, Self.longestSleep))
    }

    /// A call that waits for its time.
    package struct Alarm: Sendable {
        fileprivate let stop: @Sendable () -> Void

        /// Cancels the call, unless it has begun.
        package func cancel() { stop() }
    }

    /// Calls a function once, after a duration of at most 100 years. Costs less than a task that
    /// sleeps.
    package func alarm(after duration: Duration, _ body: @escaping @Sendable () -> Void) -> Alarm {
        schedule(min(duration, Self.longestSleep), body)
    }
}

extension Duration {
    /// The sum of two durations from ``shortest`` to ``longest``, limited to these instead of
    /// overflowing.
    package func addingClamped(_ other: Duration) -> Duration {
        if other > .zero { return self > .longest - other ? .longest : self + other }
        return self < .shortest - other ? .shortest : self + other
    }

    /// The duration times a factor of at least 0, at most ``longest``; NaN counts as 0.
    package func multipliedClamped(by factor: Double) -> Duration {
        guard factor > 0 else { return .zero }
        let seconds = (self / .seconds(1)) * factor
        // Below, `Duration * Double` cannot overflow.
        return abs(seconds) < 1e18 ? self * factor : seconds > 0 ? .longest : .shortest
    }

    /// The longest duration that this package computes with: `Int64.max` seconds.
    package static var longest: Duration { .seconds(Int64.max) }

    /// The opposite of ``longest``.
    package static var shortest: Duration { .seconds(-Int64.max) }
}

/// The time at which a wait ends, by a clock.
@usableFromInline package struct Deadline: Sendable {
    /// The clock's time at which the wait ends.
    package let time: Duration

    /// The clock that measures the time.
    package let clock: SyncClock

    /// Creates the deadline at a time of a clock.
    package init(at time: Duration, by clock: SyncClock = .continuous) {
        self.time = time
        self.clock = clock
    }

    /// Creates a deadline a duration from now.
    package init(in duration: Duration, by clock: SyncClock = .continuous) {
        self.init(at: clock.now().addingClamped(duration), by: clock)
    }

    /// The time until the deadline; negative once it has passed.
    @usableFromInline package var remaining: Duration { time.addingClamped(.zero - clock.now()) }

    /// Suspends the task until the deadline.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    @usableFromInline package func sleep() async throws {
        while case let remaining = remaining, remaining > .zero { try await clock.sleep(remaining) }
    }
}

/// A wait reached its deadline.
@usableFromInline package struct DeadlineExceeded: Error, Hashable {
    /// Creates the error.
    @usableFromInline package init() {}
}
