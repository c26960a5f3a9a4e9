import OneWaySynchronizer
import Testing

/// The machine alone: every decision that the synchronizer takes.
@Suite struct SynchronizerStateTests {
    typealias State = SynchronizerState
    typealias Event = SynchronizerState.Event
    typealias Effect = SynchronizerState.Effect

    /// The effects of each event, one after another.
    private func effects(of events: [Event]) -> [[Effect]] {
        var state = State()
        return events.map { state.handle($0) }
    }

    @Test func aRequestBeginsAPassAndItsEndAnswers() {
        #expect(
            effects(of: [.syncRequested(1), .passEnded]) == [
                [.publishStatus(isSyncing: true), .beginPass],
                [.answer([1], .passResult), .publishStatus(isSyncing: false)],
            ])
    }

    @Test func requestsDuringAPassQueueOneMoreAndAreAnsweredTogether() {
        #expect(
            effects(of: [.syncRequested(1), .syncRequested(2), .syncRequested(3), .passEnded, .passEnded]) == [
                [.publishStatus(isSyncing: true), .beginPass], [], [],
                [.beginPass],
                [.answer([1, 2, 3], .passResult), .publishStatus(isSyncing: false)],
            ])
    }

    @Test func aQueuedPassThatNobodyWaitsForAnyMoreIsDropped() {
        #expect(
            effects(of: [.syncRequested(1), .syncRequested(2), .waiterCancelled(2), .passEnded]) == [
                [.publishStatus(isSyncing: true), .beginPass], [],
                [.answer([2], .stoppedWaiting)],
                [.answer([1], .passResult), .publishStatus(isSyncing: false)],
            ])
    }

    @Test func thePassGoesOnWhileAQueuedCallerWaits() {
        #expect(
            effects(of: [.syncRequested(1), .syncRequested(2), .waiterCancelled(1), .passEnded, .passEnded]) == [
                [.publishStatus(isSyncing: true), .beginPass], [],
                [.answer([1], .stoppedWaiting)],
                [.beginPass],
                [.answer([2], .passResult), .publishStatus(isSyncing: false)],
            ])
    }

    @Test func theLastWaiterCancelledCancelsThePass() {
        #expect(
            effects(of: [.syncRequested(1), .waiterCancelled(1), .passEnded]) == [
                [.publishStatus(isSyncing: true), .beginPass],
                [.answer([1], .stoppedWaiting), .cancelPass],
                [.answer([], .cancelledPass), .publishStatus(isSyncing: false)],
            ])
    }

    @Test func cancelDropsTheQueuedPassAndCancelsEveryCaller() {
        #expect(
            effects(of: [.syncRequested(1), .syncRequested(2), .cancelRequested, .passEnded]) == [
                [.publishStatus(isSyncing: true), .beginPass], [], [.cancelPass],
                [.answer([1, 2], .cancelledPass), .publishStatus(isSyncing: false)],
            ])
    }

    @Test func aRequestAfterCancelGetsAFreshPass() {
        #expect(
            effects(of: [.syncRequested(1), .cancelRequested, .syncRequested(2), .passEnded, .passEnded]) == [
                [.publishStatus(isSyncing: true), .beginPass], [.cancelPass], [],
                [.answer([1], .cancelledPass), .beginPass],
                [.answer([2], .passResult), .publishStatus(isSyncing: false)],
            ])
    }

    @Test func cancelWithNothingRunningDoesNothing() {
        #expect(effects(of: [.cancelRequested, .waiterCancelled(7)]) == [[], []])
    }

    /// Every sequence of events up to a length, checked against what must always hold.
    @Test func everySequenceOfEventsKeepsTheInvariants() {
        var walk = Walk()
        walk.explore(Situation(), depth: 9)
        let firstViolation = walk.violations.first
        #expect(firstViolation == nil)
        #expect(walk.situationCount > 50_000)
    }
}

/// The machine, and what an outsider who watches its effects knows.
private struct Situation {
    var state = SynchronizerState()
    var path: [SynchronizerState.Event] = []
    var lastWaiter = 0
    /// Who waits, and how many passes had begun when they asked.
    var waiting: [Int: Int] = [:]
    var answered: Set<Int> = []
    var passesBegun = 0
    var isPassRunning = false
    var isPassCancelled = false
    var publishedStatus = false
    /// Who waits and was told by `cancel()` that no pass is owed.
    var cancelled: Set<Int> = []
    /// Whether somebody asked during the running pass who still waits and was not cancelled.
    var owesAPass: Bool {
        isPassRunning && waiting.contains { $0.value == passesBegun && !cancelled.contains($0.key) }
    }
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
        var events: [SynchronizerState.Event] = [.syncRequested(situation.lastWaiter + 1), .cancelRequested]
        // The first and the last of those who wait stand for the rest; somebody who was answered may be cancelled late.
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
        let owedAPass = situation.owesAPass
        let wasRunning = situation.isPassRunning
        let wasCancelled = situation.isPassCancelled
        switch event {
        case .syncRequested(let waiter):
            situation.lastWaiter = waiter
            situation.waiting[waiter] = situation.passesBegun
        case .cancelRequested:
            situation.cancelled.formUnion(situation.waiting.keys)
        case .waiterCancelled:
            break
        case .passEnded:
            situation.isPassRunning = false
        }
        for effect in situation.state.handle(event) {
            switch effect {
            case .beginPass:
                check(!situation.isPassRunning, "never two passes at once")
                check(situation.publishedStatus, "a pass begins while the status says so")
                situation.isPassRunning = true
                situation.isPassCancelled = false
                situation.passesBegun += 1
            case .cancelPass:
                check(situation.isPassRunning, "only a running pass is cancelled")
                check(!situation.isPassCancelled, "a pass is cancelled once")
                situation.isPassCancelled = true
            case .answer(let waiters, let answer):
                for waiter in waiters {
                    let asked = situation.waiting.removeValue(forKey: waiter)
                    check(asked != nil, "each waiter is answered exactly once")
                    situation.answered.insert(waiter)
                    if answer == .passResult {
                        check((asked ?? 0) < situation.passesBegun, "a caller sees a pass that began after its call")
                        check(!wasCancelled, "a cancelled pass gives no result")
                    }
                    if answer == .cancelledPass { check(wasCancelled, "only a cancelled pass answers so") }
                    if answer == .stoppedWaiting { check(event == .waiterCancelled(waiter), "at its own wish") }
                }
            case .publishStatus(let isSyncing):
                check(isSyncing != situation.publishedStatus, "a status is published when it changes")
                situation.publishedStatus = isSyncing
            }
        }
        check(situation.state.isSyncing == situation.isPassRunning, "idle means that nothing runs")
        check(situation.publishedStatus == situation.isPassRunning, "the status is true")
        check(situation.isPassRunning || situation.waiting.isEmpty, "nobody waits for nothing")
        if case .waiterCancelled(let waiter) = event {
            check(situation.waiting[waiter] == nil, "who is cancelled stops waiting at once")
        }
        if wasRunning, !wasCancelled, situation.isPassRunning, situation.waiting.isEmpty {
            check(situation.isPassCancelled, "a pass that nobody waits for is cancelled")
        }
        if event == .passEnded, owedAPass {
            check(situation.isPassRunning, "a queued re-sync runs unless cancelled")
        }
        if event == .cancelRequested {
            var again = situation.state
            check(again.handle(.cancelRequested).isEmpty && again == situation.state, "cancel is idempotent")
            check(!situation.isPassRunning || situation.isPassCancelled, "cancel cancels")
        }
    }
}
