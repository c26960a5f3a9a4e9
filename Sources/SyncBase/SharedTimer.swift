/// Calls and sleeps of a clock that share its timers.
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
        var calls: [Int: @Sendable () -> Void] = [:]
        /// When the calls are due, and some that were cancelled.
        var ends = MinHeap<End>()
        var lastID = 0
        /// When the clock's timers fire, each before the ones in front of it.
        var timers: [Source.Instant] = []

        /// When a further timer has to fire; nil if the present ones are enough.
        mutating func addTimer() -> Source.Instant? {
            while let end = ends.first, calls[end.id] == nil { _ = ends.popFirst() }
            guard let next = ends.first?.time, timers.last.map({ next < $0 }) ?? true else { return nil }
            timers.append(next)
            return next
        }
    }

    private let clock: Source
    private let state = Locked(State())

    /// Creates a timer without calls.
    package init(_ clock: Source) {
        self.clock = clock
    }

    /// Suspends the task for a duration.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    package func sleep(for duration: Duration) async throws {
        let sleeper = Promise<Void>()
        let id = call(after: duration) { sleeper.settle() }
        defer { cancel(id) }
        try await sleeper.value()
    }

    /// Calls a function once, after a duration.
    ///
    /// - Returns: The number by which ``cancel(_:)`` finds the call.
    package func call(after duration: Duration, _ body: @escaping @Sendable () -> Void) -> Int {
        let time = clock.now.advanced(by: duration)
        let (id, timer) = state.withLock { state in
            state.lastID += 1
            state.calls[state.lastID] = body
            state.ends.insert(End(time: time, id: state.lastID))
            return (state.lastID, state.addTimer())
        }
        if let timer { start(timer) }
        return id
    }

    /// Cancels a call, unless it has begun.
    package func cancel(_ id: Int) {
        // What the call refers to is released outside the lock.
        let call = state.withLock { state in
            let call = state.calls.removeValue(forKey: id)
            if state.ends.count > 2 * state.calls.count + 64 {
                let calls = state.calls
                state.ends.removeAll { calls[$0.id] == nil }
            }
            return call
        }
        withExtendedLifetime(call) {}
    }

    private func start(_ time: Source.Instant) {
        Task.detached { [self] in
            // Nobody cancels the task.
            try? await clock.sleep(until: time, tolerance: nil)
            wake()
        }
    }

    /// Makes the calls whose time has come.
    private func wake() {
        let (calls, timer) = state.withLock { state in
            let now = clock.now
            var calls: [@Sendable () -> Void] = []
            while let end = state.ends.first, end.time <= now {
                _ = state.ends.popFirst()
                if let call = state.calls.removeValue(forKey: end.id) { calls.append(call) }
            }
            state.timers.removeAll { $0 <= now }
            return (calls, state.addTimer())
        }
        for call in calls { call() }
        if let timer { start(timer) }
    }
}
