/// A clock that stands still until a test moves it.
package final class ManualClock: Clock, Sendable {
    package struct Instant: InstantProtocol {
        package var offset: Duration

        package func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        package func duration(to other: Instant) -> Duration { other.offset - offset }
        package static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private struct State {
        var now = Instant(offset: .zero)
        /// When each of those that sleep wants to be woken.
        var deadlines: [Int: Instant] = [:]
        var lastSleeper = 0
    }

    private let state = Watched(State())

    package init() {}

    package var now: Instant { state.value.now }
    package var minimumResolution: Duration { .nanoseconds(1) }

    /// What those that sleep now still have to wait, shortest first.
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

    /// Moves the time, and wakes those whose time has come.
    package func advance(by duration: Duration) {
        state.update { $0.now = $0.now.advanced(by: duration) }
    }

    /// Waits until those that sleep have to wait exactly this long, shortest first.
    package func waitForPendingDelays(_ delays: [Duration]) async throws {
        try await state.wait { state in
            state.deadlines.values.map { state.now.duration(to: $0) }.sorted() == delays
        }
    }

    /// Waits until at least this many sleep whose time has not come.
    package func waitForSleepers(_ count: Int = 1) async throws {
        try await state.wait { state in state.deadlines.values.count { $0 > state.now } >= count }
    }
}
