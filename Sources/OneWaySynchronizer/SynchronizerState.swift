/// Decides what a ``Synchronizer`` does next: a pure machine, from a state and an event to a new state and effects.
///
/// No I/O, no tasks, no clock, no continuations: callers that wait are numbers, so that everything here is `Equatable` and
/// every sequence of events can be tried.
///
///     idle ── syncRequested ──▶ running ── passEnded, nothing queued ──▶ idle
///                                │  ▲ ╰── passEnded, queued ──▶ running
///          cancelRequested, or   │  │
///     the last waiter cancelled  ▼  │ passEnded, sync requested since
///                            cancelling ── passEnded, nothing requested since ──▶ idle
package struct SynchronizerState: Equatable, Sendable {
    /// A caller that waits for an answer.
    package typealias Waiter = Int

    package enum Phase: Equatable, Sendable {
        /// No pass runs. `syncRequested` leads to `running`.
        case idle

        /// A pass runs for `current`; a re-sync after it was requested by `queued`, if there are any. All of them are
        /// answered together. Ends with `passEnded`; `cancelRequested`, or the last waiter's cancellation, lead to
        /// `cancelling`.
        case running(current: [Waiter], queued: [Waiter])

        /// A cancelled pass is ending. `cancelled` wait for that; `next` asked for a sync since, and get a fresh pass.
        /// Left with `passEnded`: to `running` where `next` has waiters, else to `idle`.
        case cancelling(cancelled: [Waiter], next: [Waiter])
    }

    package enum Event: Equatable, Sendable {
        /// A caller asks for a sync and waits.
        case syncRequested(Waiter)
        /// Someone called `cancel()`.
        case cancelRequested
        /// A caller's own task was cancelled. Unknown waiters, such as those just answered, are ignored.
        case waiterCancelled(Waiter)
        /// The running pass has ended, `owsSyncEnd` included.
        case passEnded
    }

    package enum Effect: Equatable, Sendable {
        case beginPass
        /// Cancel the running pass's task.
        case cancelPass
        /// Resume these callers.
        case answer([Waiter], Answer)
        case publishStatus(isSyncing: Bool)
    }

    package enum Answer: Equatable, Sendable {
        /// The result of the pass that just ended.
        case passResult
        /// Cancelled, with the report of the pass that just ended.
        case cancelledPass
        /// Cancelled, while the pass may go on.
        case stoppedWaiting
    }

    package private(set) var phase = Phase.idle

    package init() {}

    /// Whether a pass runs or is about to.
    package var isSyncing: Bool { phase != .idle }

    /// Takes an event; returns what is to be done, in order.
    package mutating func handle(_ event: Event) -> [Effect] {
        switch (phase, event) {
        case (.idle, .syncRequested(let waiter)):
            phase = .running(current: [waiter], queued: [])
            return [.publishStatus(isSyncing: true), .beginPass]

        case (.idle, .cancelRequested), (.idle, .waiterCancelled), (.idle, .passEnded):
            return []

        case (.running(let current, let queued), .syncRequested(let waiter)):
            phase = .running(current: current, queued: queued + [waiter])
            return []

        case (.running(let current, let queued), .cancelRequested):
            phase = .cancelling(cancelled: current + queued, next: [])
            return [.cancelPass]

        case (.running(var current, var queued), .waiterCancelled(let waiter)):
            guard current.remove(waiter) || queued.remove(waiter) else { return [] }
            let answer = Effect.answer([waiter], .stoppedWaiting)
            if current.isEmpty && queued.isEmpty {
                phase = .cancelling(cancelled: [], next: [])
                return [answer, .cancelPass]
            }
            phase = .running(current: current, queued: queued)
            return [answer]

        case (.running(let current, queued: []), .passEnded):
            phase = .idle
            return [.answer(current, .passResult), .publishStatus(isSyncing: false)]

        case (.running(let current, let queued), .passEnded):
            phase = .running(current: current + queued, queued: [])
            return [.beginPass]

        case (.cancelling(let cancelled, let next), .syncRequested(let waiter)):
            phase = .cancelling(cancelled: cancelled, next: next + [waiter])
            return []

        case (.cancelling(let cancelled, let next), .cancelRequested):
            phase = .cancelling(cancelled: cancelled + next, next: [])
            return []

        case (.cancelling(var cancelled, var next), .waiterCancelled(let waiter)):
            guard cancelled.remove(waiter) || next.remove(waiter) else { return [] }
            phase = .cancelling(cancelled: cancelled, next: next)
            return [.answer([waiter], .stoppedWaiting)]

        case (.cancelling(let cancelled, next: []), .passEnded):
            phase = .idle
            return [.answer(cancelled, .cancelledPass), .publishStatus(isSyncing: false)]

        case (.cancelling(let cancelled, let next), .passEnded):
            phase = .running(current: next, queued: [])
            return [.answer(cancelled, .cancelledPass), .beginPass]
        }
    }
}

extension [SynchronizerState.Waiter] {
    /// Removes a waiter; whether it was there.
    fileprivate mutating func remove(_ waiter: SynchronizerState.Waiter) -> Bool {
        guard let index = firstIndex(of: waiter) else { return false }
        remove(at: index)
        return true
    }
}
