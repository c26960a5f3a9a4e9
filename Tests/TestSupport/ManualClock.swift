/// A clock whose time advances only when a test advances it.
package final class ManualClock: Clock, Sendable {
    package struct Instant: InstantProtocol {
        package var offset: Duration

        package func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        package func duration(to other: Instant) -> Duration { other.offset - offset }
        package static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private struct State {
        var now = Instant(offset: .zero)
        /// The deadlines of the sleeping tasks.
        var deadlines: [Int: Instant] = [:]
        var lastSleeper = 0
    }

    private let state = Watched(State())

    package init() {}

    package var now: Instant { state.value.now }
    package var minimumResolution: Duration { .nanoseconds(1) }

    /// The remaining delays of the sleeping tasks, in ascending order.
    package var pendingDelays: [Duration] {
        let state = state.value
        return state.deadlines.values.map { state.now.duration(to: $0) }.sorted()
    }

    package func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let id = state.update { state in
            state.lastSleeper += 1
            state.deadlines[state.lastSleeper] = deadline
            return state.lastSleeper
        }
        defer { state.update { _ = $0.deadlines.removeValue(forKey: id) } }
        try await state.wait { $0.now >= deadline }
    }

    /// Advances the time and resumes the tasks whose deadlines have been reached.
    package func advance(by duration: Duration) {
        state.update { $0.now = $0.now.advanced(by: duration) }
    }

    /// Waits until the remaining delays of the sleeping tasks are exactly these, in ascending
    /// order.
    ///
    /// - Throws: `CancellationError` if the task is cancelled first.
    package func waitForPendingDelays(_ delays: [Duration]) async throws {
        try await state.wait { state in
            state.deadlines.values.map { state.now.duration(to: $0) }.sorted() == delays
        }
    }

    /// Waits until at least this many tasks are sleeping with a deadline in the future.
    ///
    /// - Throws: `CancellationError` if the task is cancelled first.
    package func waitForSleepers(_ count: Int = 1) async throws {
        try await state.wait { state in state.deadlines.values.count { $0 > state.now } >= count }
    }
}
