/// A clock whose time advances only when a test advances it.
///
/// A test of several parties gives each of them a clock of its own that shares the time of the
/// others, so that it can wait for one party's sleep.
package final class ManualClock: Clock, Sendable {
    package struct Instant: InstantProtocol {
        package var offset: Duration

        package func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        package func duration(to other: Instant) -> Duration { other.offset - offset }
        package static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private struct Sleeper {
        var clock: ObjectIdentifier
        var deadline: Instant
    }

    private struct State {
        var now = Instant(offset: .zero)
        /// The tasks that sleep by one of the clocks that share the time.
        var sleepers: [Int: Sleeper] = [:]
        var lastSleeper = 0

        /// The remaining delays of those who sleep by a clock, in ascending order.
        func delays(by clock: ObjectIdentifier) -> [Duration] {
            sleepers.values.filter { $0.clock == clock }.map { now.duration(to: $0.deadline) }.sorted()
        }
    }

    private let state: Watched<State>

    package init() {
        state = Watched(State())
    }

    /// Creates a clock that shows the time of another one, and advances together with it.
    package init(sharingTimeOf other: ManualClock) {
        state = other.state
    }

    package var now: Instant { state.value.now }
    package var minimumResolution: Duration { .nanoseconds(1) }

    /// The remaining delays of the tasks that sleep by this clock, in ascending order.
    package var pendingDelays: [Duration] { state.value.delays(by: ObjectIdentifier(self)) }

    package func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let clock = ObjectIdentifier(self)
        let id = state.update { state in
            state.lastSleeper += 1
            state.sleepers[state.lastSleeper] = Sleeper(clock: clock, deadline: deadline)
            return state.lastSleeper
        }
        defer { state.update { _ = $0.sleepers.removeValue(forKey: id) } }
        try await state.wait { $0.now >= deadline }
    }

    /// Advances the time and resumes the tasks whose deadlines have been reached.
    package func advance(by duration: Duration) {
        state.update { $0.now = $0.now.advanced(by: duration) }
    }

    /// Waits until the remaining delays of the tasks that sleep by this clock are exactly these, in
    /// ascending order.
    ///
    /// A task whose deadline has been reached counts, with a delay of zero or less, until it runs.
    ///
    /// - Parameter alternatives: Lists of delays. The wait ends when the pending delays equal one
    ///   of them; give several where the order of concurrent tasks decides.
    /// - Throws: `CancellationError` if the task is cancelled first.
    package func waitForPendingDelays(_ alternatives: [Duration]...) async throws {
        let clock = ObjectIdentifier(self)
        try await state.wait { alternatives.contains($0.delays(by: clock)) }
    }
}
