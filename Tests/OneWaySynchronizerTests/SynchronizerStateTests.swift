import OneWaySynchronizer
import OneWayTestLimits
import Testing

/// The machine without a synchronizer: every decision that one takes.
@Suite(.endsInTime) struct SynchronizerStateTests {
    typealias State = SynchronizerState
    typealias Event = SynchronizerState.Event
    typealias Effect = SynchronizerState.Effect

    private let begin: [Effect] = [.publishStatus(isSyncing: true), .beginPass(firstWaiter: 1)]
    private let idle = Effect.publishStatus(isSyncing: false)

    /// The effects of each event, one after another.
    private func effects(of events: [Event]) -> [[Effect]] {
        var state = State()
        return events.map { state.handle($0) }
    }

    private func ask(_ waiter: Int, _ scope: State.Scope = []) -> Event { .syncRequested(waiter, scope) }

    @Test func aRequestBeginsAPassAndItsEndAnswers() {
        #expect(effects(of: [ask(1), .passEnded]) == [begin, [.answer([1], .passResult), idle]])
    }

    @Test func eachCallerIsAnsweredByTheFirstPassAfterItsCall() {
        #expect(
            effects(of: [ask(1), ask(2), ask(3), .passEnded, ask(4), .passEnded, .passEnded]) == [
                begin, [], [],
                [.answer([1], .passResult), .beginPass(firstWaiter: 2)], [],
                [.answer([2, 3], .passResult), .beginPass(firstWaiter: 4)],
                [.answer([4], .passResult), idle],
            ])
    }

    @Test func callersUnderDifferentLeasesShareNoPass() {
        #expect(
            effects(of: [ask(1, [7]), ask(2, [8]), ask(3, [7]), ask(4, [8]), .passEnded, .passEnded, .passEnded]) == [
                begin, [], [], [],
                [.answer([1], .passResult), .beginPass(firstWaiter: 2)],
                [.answer([2, 4], .passResult), .beginPass(firstWaiter: 3)],
                [.answer([3], .passResult), idle],
            ])
    }

    @Test func theFirstWaiterOfAPassIsKnownToThoseWhoJoinIt() {
        var state = State()
        #expect(state.firstWaiter(for: []) == nil)
        _ = state.handle(ask(1))
        #expect(state.firstWaiter(for: []) == nil)
        _ = state.handle(ask(2))
        #expect(state.firstWaiter(for: []) == 2 && state.firstWaiter(for: [7]) == nil)
        _ = state.handle(.cancelRequested)
        #expect(state.firstWaiter(for: []) == nil)
        _ = state.handle(ask(3))
        #expect(state.firstWaiter(for: []) == 3)
    }

    @Test func aQueuedPassThatNobodyWaitsForAnyMoreIsDropped() {
        #expect(
            effects(of: [ask(1), ask(2), .waiterCancelled(2), .passEnded]) == [
                begin, [],
                [.dropPass(firstWaiter: 2), .answer([2], .stoppedWaiting)],
                [.answer([1], .passResult), idle],
            ])
    }

    @Test func aQueuedPassOutlivesItsFirstWaiter() {
        #expect(
            effects(of: [ask(1), ask(2), ask(3), .waiterCancelled(2), .passEnded, .passEnded]) == [
                begin, [], [], [.answer([2], .stoppedWaiting)],
                [.answer([1], .passResult), .beginPass(firstWaiter: 2)],
                [.answer([3], .passResult), idle],
            ])
    }

    @Test func thePassGoesOnWhileAQueuedCallerWaits() {
        #expect(
            effects(of: [ask(1), ask(2), .waiterCancelled(1), .passEnded, .passEnded]) == [
                begin, [], [.answer([1], .stoppedWaiting)],
                [.beginPass(firstWaiter: 2)],
                [.answer([2], .passResult), idle],
            ])
    }

    @Test func theLastWaiterCancelledCancelsThePassAndIsAnsweredAtItsEnd() {
        #expect(
            effects(of: [ask(1), .waiterCancelled(1), .passEnded]) == [
                begin, [.cancelPass], [.answer([1], .cancelledPass), idle],
            ])
        #expect(
            effects(of: [ask(1), ask(2), .waiterCancelled(1), .waiterCancelled(2), .passEnded]) == [
                begin, [], [.answer([1], .stoppedWaiting)], [.dropPass(firstWaiter: 2), .cancelPass],
                [.answer([2], .cancelledPass), idle],
            ])
    }

    @Test func cancelDropsTheQueuedPassesAndCancelsEveryCaller() {
        #expect(
            effects(of: [ask(1), ask(2), ask(3, [7]), .cancelRequested, .passEnded]) == [
                begin, [], [], [.dropPass(firstWaiter: 2), .dropPass(firstWaiter: 3), .cancelPass],
                [.answer([1, 2, 3], .cancelledPass), idle],
            ])
    }

    @Test func aRequestAfterCancelGetsAFreshPass() {
        #expect(
            effects(of: [ask(1), .cancelRequested, ask(2), .passEnded, .passEnded]) == [
                begin, [.cancelPass], [],
                [.answer([1], .cancelledPass), .beginPass(firstWaiter: 2)],
                [.answer([2], .passResult), idle],
            ])
    }

    @Test func cancelWithNothingRunningDoesNothing() {
        #expect(effects(of: [.cancelRequested, .waiterCancelled(7), .passEnded]) == [[], [], []])
    }

    /// Every sequence of events up to a length, checked against what must always hold.
    @Test func everySequenceOfEventsKeepsTheInvariants() {
        var walk = Walk()
        walk.explore(Situation(), depth: 8)
        let firstViolation = walk.violations.first
        #expect(firstViolation == nil)
        #expect(walk.situationCount > 50_000)
    }
}

/// The machine, and what an outsider who watches its effects knows.
private struct Situation {
    struct Caller {
        var scope: SynchronizerState.Scope
        /// How many passes had begun when it asked.
        var passesBegun: Int
        /// Whether its own task was cancelled, so that it waits only for the end of the pass.
        var isLeaving = false
        /// Whether `cancel()` was called since it asked.
        var isCancelled = false
    }

    var state = SynchronizerState()
    var path: [SynchronizerState.Event] = []
    var lastWaiter = 0
    var waiting: [Int: Caller] = [:]
    var answered: Set<Int> = []
    /// The scopes of the callers, to be known after they were answered.
    var scopes: [Int: SynchronizerState.Scope] = [:]
    var passesBegun = 0
    var isPassRunning = false
    var passScope: SynchronizerState.Scope = []
    var isPassCancelled = false
    var publishedStatus = false
    var dropped: Set<Int> = []
}

private struct Walk {
    var violations: [String] = []
    var situationCount = 0

    mutating func explore(_ situation: Situation, depth: Int) {
        situationCount += 1
        guard depth > 0 else { return }
        for event in events(from: situation) {
            var next = situation
            next.path.append(event)
            step(&next, event)
            explore(next, depth: depth - 1)
        }
    }

    /// What can happen: anybody may ask or cancel at any time, and a pass that runs may end.
    private func events(from situation: Situation) -> [SynchronizerState.Event] {
        let next = situation.lastWaiter + 1
        var events: [SynchronizerState.Event] = [.syncRequested(next, []), .cancelRequested]
        // Under another lease, now and then.
        if next % 2 == 0 { events.append(.syncRequested(next, [7])) }
        // The first and the last of those who wait stand for the rest; somebody who was answered
        // may be cancelled late.
        let waiters = Set([situation.waiting.keys.min(), situation.waiting.keys.max(), situation.answered.min()])
        events += waiters.compactMap(\.self).sorted().map { .waiterCancelled($0) }
        if situation.isPassRunning { events.append(.passEnded) }
        return events
    }

    private mutating func step(_ situation: inout Situation, _ event: SynchronizerState.Event) {
        let path = situation.path
        func check(_ holds: Bool, _ rule: String) {
            if !holds { violations.append("\(rule): \(path)") }
        }
        let wasRunning = situation.isPassRunning
        let wasCancelled = situation.isPassCancelled
        let passScope = situation.passScope
        let pass = situation.passesBegun
        let others = situation.waiting.count - 1
        switch event {
        case .syncRequested(let waiter, let scope):
            situation.lastWaiter = waiter
            situation.scopes[waiter] = scope
            situation.waiting[waiter] = Situation.Caller(scope: scope, passesBegun: situation.passesBegun)
        case .cancelRequested:
            for waiter in situation.waiting.keys { situation.waiting[waiter]?.isCancelled = true }
        case .waiterCancelled(let waiter):
            situation.waiting[waiter]?.isLeaving = true
        case .passEnded:
            situation.isPassRunning = false
        }
        for effect in situation.state.handle(event) {
            switch effect {
            case .beginPass(let firstWaiter):
                check(!situation.isPassRunning, "never two passes at once")
                check(situation.publishedStatus, "a pass begins while the status says so")
                check(!situation.dropped.contains(firstWaiter), "a pass that was dropped does not begin")
                check(situation.waiting.values.contains { !$0.isLeaving }, "a pass begins for somebody")
                situation.isPassRunning = true
                situation.isPassCancelled = false
                situation.passesBegun += 1
                situation.passScope = situation.scopes[firstWaiter] ?? []
            case .dropPass(let firstWaiter):
                check(situation.dropped.insert(firstWaiter).inserted, "a pass is dropped once")
            case .cancelPass:
                check(situation.isPassRunning, "only a running pass is cancelled")
                check(!situation.isPassCancelled, "a pass is cancelled once")
                situation.isPassCancelled = true
            case .answer(let waiters, let answer):
                check(!waiters.isEmpty, "an answer is for somebody")
                for waiter in waiters {
                    let caller = situation.waiting.removeValue(forKey: waiter)
                    check(caller != nil, "each waiter is answered exactly once")
                    situation.answered.insert(waiter)
                    switch answer {
                    case .passResult:
                        check(event == .passEnded, "results come at the end of a pass")
                        check((caller?.passesBegun ?? 0) < pass, "a caller sees a pass that began after its call")
                        check(caller?.scope == passScope, "a caller sees a pass under its own leases")
                        check(!wasCancelled, "a cancelled pass gives no result")
                    case .cancelledPass:
                        check(event == .passEnded && wasCancelled, "only the end of a cancelled pass answers so")
                    case .stoppedWaiting:
                        check(event == .waiterCancelled(waiter), "a caller stops waiting at its own wish")
                        check(others > 0, "the last caller waits for the end of the pass")
                    }
                }
            case .publishStatus(let isSyncing):
                check(isSyncing != situation.publishedStatus, "a status is published when it changes")
                situation.publishedStatus = isSyncing
            }
        }
        check(situation.state.isSyncing == situation.isPassRunning, "idle means that nothing runs")
        check(situation.publishedStatus == situation.isPassRunning, "the status is true")
        check(situation.isPassRunning == !situation.waiting.isEmpty, "while a pass runs, somebody waits, and only then")
        if situation.isPassRunning, situation.waiting.values.allSatisfy(\.isLeaving) {
            check(situation.isPassCancelled, "a pass that nobody wants is cancelled")
        }
        if case .waiterCancelled(let waiter) = event, others > 0 {
            check(situation.waiting[waiter] == nil, "a caller that is cancelled while others wait returns at once")
        }
        if event == .passEnded, wasRunning {
            let starved = situation.waiting.values.contains { caller in
                // Its pass was the one that ended.
                caller.passesBegun < pass && caller.scope == passScope
            }
            check(!starved, "the first pass after a call answers it")
            check(!situation.waiting.values.contains(where: \.isCancelled), "cancelled callers are answered")
        }
        if event == .cancelRequested {
            var again = situation.state
            check(again.handle(.cancelRequested).isEmpty && again == situation.state, "cancel is idempotent")
            check(!situation.isPassRunning || situation.isPassCancelled, "cancel cancels")
        }
    }
}
