/// Sleeps of a clock that share its timers.
///
/// A cancelled sleep of Swift's own clocks keeps its memory until its time has come. Most sleeps
/// are time limits that are not reached, so the calls of the last half minute would each keep half
/// a kilobyte.
package final class SharedTimer<Source: Clock>: Sendable where Source.Duration == Duration {
    private struct End: Comparable, Sendable {
        var time: Source.Instant
        var id: Int

        static func < (left: End, right: End) -> Bool { left.time < right.time }
    }

    private struct State: Sendable {
        var sleepers: [Int: Promise<Void>] = [:]
        /// The ends of the sleeps, and of some that were cancelled.
        var ends = MinHeap<End>()
        var lastID = 0
        /// When the clock's timers fire, each before the ones in front of it.
        var timers: [Source.Instant] = []

        /// When a further timer has to fire; nil if the present ones are enough.
        mutating func addTimer() -> Source.Instant? {
            while let end = ends.first, sleepers[end.id] == nil { _ = ends.popFirst() }
            guard let next = ends.first?.time, timers.last.map({ next < $0 }) ?? true else { return nil }
            timers.append(next)
            return next
        }
    }

    private let clock: Source
    private let state = Locked(State())

    /// Creates a timer without sleeps.
    package init(_ clock: Source) {
        self.clock = clock
    }

    /// Suspends the task for a duration.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    package func sleep(for duration: Duration) async throws {
        let time = clock.now.advanced(by: duration)
        let sleeper = Promise<Void>()
        let (id, timer) = state.withLock { state in
            state.lastID += 1
            state.sleepers[state.lastID] = sleeper
            state.ends.insert(End(time: time, id: state.lastID))
            return (state.lastID, state.addTimer())
        }
        if let timer { start(timer) }
        defer { remove(id) }
        try await sleeper.value()
    }

    private func remove(_ id: Int) {
        state.withLock { state in
            state.sleepers[id] = nil
            guard state.ends.count > 2 * state.sleepers.count + 64 else { return }
            let sleepers = state.sleepers
            state.ends.removeAll { sleepers[$0.id] == nil }
        }
    }

    private func start(_ time: Source.Instant) {
        Task.detached { [self] in
            // Nobody cancels the task.
            try? await clock.sleep(until: time, tolerance: nil)
            wake()
        }
    }

    /// Ends the sleeps whose time has come.
    private func wake() {
        let (sleepers, timer) = state.withLock { state in
            let now = clock.now
            var sleepers: [Promise<Void>] = []
            while let end = state.ends.first, end.time <= now {
                _ = state.ends.popFirst()
                if let sleeper = state.sleepers[end.id] { sleepers.append(sleeper) }
            }
            state.timers.removeAll { $0 <= now }
            return (sleepers, state.addTimer())
        }
        for sleeper in sleepers { sleeper.settle() }
        if let timer { start(timer) }
    }
}
