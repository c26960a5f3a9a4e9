/// Decides what a ``Synchronizer`` does next: a pure state machine that returns effects.
///
/// It uses no I/O, tasks, clock or continuations. Waiting callers are numbers, so that everything
/// here is `Equatable` and every sequence of events can be tested.
///
///     idle ── syncRequested ──▶ running ── passEnded, empty queue ──▶ idle
///                                │  ▲ ╰── passEnded, others queued ──▶ running
///          cancelRequested, or   │  │
///     the last waiter cancelled  ▼  │ passEnded, sync requested since
///                            cancelling ── passEnded, nothing requested since ──▶ idle
///
/// Two rules hold in every state. A caller is answered at the end of the first pass of its scope
/// that began after its call. While a pass runs, at least one caller waits: the last one is
/// answered when the pass has ended.
package struct SynchronizerState: Equatable, Sendable {
    /// A caller that waits for an answer.
    package typealias Waiter = Int

    /// The leases that a request was made under, outermost first; empty without leases.
    package typealias Scope = [Int]

    /// The callers of a queued pass, which made their requests under the same leases.
    package struct Group: Equatable, Sendable {
        /// The leases of the requests.
        package var scope: Scope
        /// The first of the callers, whose context the pass runs in.
        package var firstWaiter: Waiter
        /// The callers that still wait; never empty.
        package var waiters: [Waiter]
    }

    package enum Phase: Equatable, Sendable {
        /// No pass runs. `syncRequested` leads to `running`.
        case idle

        /// A pass runs for `current`. Afterwards each group of `queue` gets a pass of its own, in
        /// order. `current` is empty if its callers were cancelled while others waited. `passEnded`
        /// leads to `idle` or to the next pass. `cancelRequested`, or the last waiter's
        /// cancellation, leads to `cancelling`.
        case running(current: [Waiter], queue: [Group])

        /// A cancelled pass is ending. `cancelled` are answered at its end. `queue` holds later
        /// requests, which get new passes. `passEnded` leads to `running` if the queue is not
        /// empty, otherwise to `idle`.
        case cancelling(cancelled: [Waiter], queue: [Group])
    }

    package enum Event: Equatable, Sendable {
        /// A caller requests a sync and waits.
        case syncRequested(Waiter, Scope)
        /// `cancel()` was called.
        case cancelRequested
        /// A caller's own task was cancelled. Unknown waiters, such as those just answered, are
        /// ignored.
        case waiterCancelled(Waiter)
        /// The running pass has ended, `owsSyncEnd` included.
        case passEnded
    }

    package enum Effect: Equatable, Sendable {
        /// Begin a pass in the context of this caller's request.
        case beginPass(firstWaiter: Waiter)
        /// Stop the running pass, then cancel its task.
        case cancelPass
        /// Release the context of a pass that will not begin.
        case dropPass(firstWaiter: Waiter)
        /// Resume these callers.
        case answer([Waiter], Answer)
        case publishStatus(isSyncing: Bool)
    }

    package enum Answer: Equatable, Sendable {
        /// The result of the pass that just ended.
        case passResult
        /// Cancelled, with the report of the pass that just ended.
        case cancelledPass
        /// Cancelled while other callers wait for the pass.
        case stoppedWaiting
    }

    package private(set) var phase = Phase.idle

    package init() {}

    /// Whether a pass runs or is about to begin.
    package var isSyncing: Bool { phase != .idle }

    /// The caller whose context would serve a request of this scope; nil if the request would found
    /// a pass.
    package func firstWaiter(for scope: Scope) -> Waiter? {
        switch phase {
        case .idle: nil
        case .running(_, let queue), .cancelling(_, let queue): queue.first { $0.scope == scope }?.firstWaiter
        }
    }

    /// Handles an event, and returns the effects to run, in order.
    package mutating func handle(_ event: Event) -> [Effect] {
        switch (phase, event) {
        case (.idle, .syncRequested(let waiter, _)):
            phase = .running(current: [waiter], queue: [])
            return [.publishStatus(isSyncing: true), .beginPass(firstWaiter: waiter)]

        case (.idle, .cancelRequested), (.idle, .waiterCancelled), (.idle, .passEnded):
            return []

        case (.running(let current, var queue), .syncRequested(let waiter, let scope)):
            queue.add(waiter, scope)
            phase = .running(current: current, queue: queue)
            return []

        case (.running(let current, let queue), .cancelRequested):
            phase = .cancelling(cancelled: current + queue.flatMap(\.waiters), queue: [])
            return queue.drops + [.cancelPass]

        case (.running(var current, var queue), .waiterCancelled(let waiter)):
            guard let drops = current.remove(waiter) ? [] : queue.remove(waiter) else { return [] }
            guard !current.isEmpty || !queue.isEmpty else {
                // No other caller waits: this one is answered when the pass has ended.
                phase = .cancelling(cancelled: [waiter], queue: [])
                return drops + [.cancelPass]
            }
            phase = .running(current: current, queue: queue)
            return drops + [.answer([waiter], .stoppedWaiting)]

        case (.running(let current, let queue), .passEnded):
            return ended(answering: current, .passResult, next: queue)

        case (.cancelling(let cancelled, var queue), .syncRequested(let waiter, let scope)):
            queue.add(waiter, scope)
            phase = .cancelling(cancelled: cancelled, queue: queue)
            return []

        case (.cancelling(let cancelled, let queue), .cancelRequested):
            phase = .cancelling(cancelled: cancelled + queue.flatMap(\.waiters), queue: [])
            return queue.drops

        case (.cancelling(var cancelled, var queue), .waiterCancelled(let waiter)):
            guard let drops = cancelled.remove(waiter) ? [] : queue.remove(waiter) else { return [] }
            guard !cancelled.isEmpty || !queue.isEmpty else {
                // No other caller waits: this one is answered when the pass has ended.
                phase = .cancelling(cancelled: [waiter], queue: [])
                return drops
            }
            phase = .cancelling(cancelled: cancelled, queue: queue)
            return drops + [.answer([waiter], .stoppedWaiting)]

        case (.cancelling(let cancelled, let queue), .passEnded):
            return ended(answering: cancelled, .cancelledPass, next: queue)
        }
    }

    private mutating func ended(answering waiters: [Waiter], _ answer: Answer, next queue: [Group]) -> [Effect] {
        let answers: [Effect] = waiters.isEmpty ? [] : [.answer(waiters, answer)]
        guard let group = queue.first else {
            phase = .idle
            return answers + [.publishStatus(isSyncing: false)]
        }
        phase = .running(current: group.waiters, queue: Array(queue.dropFirst()))
        return answers + [.beginPass(firstWaiter: group.firstWaiter)]
    }
}

extension [SynchronizerState.Waiter] {
    /// Removes a waiter, and returns whether it was there.
    fileprivate mutating func remove(_ waiter: SynchronizerState.Waiter) -> Bool {
        guard let index = firstIndex(of: waiter) else { return false }
        remove(at: index)
        return true
    }
}

extension [SynchronizerState.Group] {
    /// Adds a waiter to the last group of its scope, or to a new group if there is none.
    fileprivate mutating func add(_ waiter: SynchronizerState.Waiter, _ scope: SynchronizerState.Scope) {
        if let index = firstIndex(where: { $0.scope == scope }) {
            self[index].waiters.append(waiter)
        } else {
            append(SynchronizerState.Group(scope: scope, firstWaiter: waiter, waiters: [waiter]))
        }
    }

    /// Removes a waiter, and its group if it was the last one.
    ///
    /// - Returns: The resulting effects; nil if the waiter is in no group.
    fileprivate mutating func remove(_ waiter: SynchronizerState.Waiter) -> [SynchronizerState.Effect]? {
        for index in indices where self[index].waiters.remove(waiter) {
            guard self[index].waiters.isEmpty else { return [] }
            return [.dropPass(firstWaiter: remove(at: index).firstWaiter)]
        }
        return nil
    }

    /// The effects that drop all groups.
    fileprivate var drops: [SynchronizerState.Effect] { map { .dropPass(firstWaiter: $0.firstWaiter) } }
}
