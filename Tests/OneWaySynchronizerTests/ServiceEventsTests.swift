import Foundation
import OneWaySynchronizer
import OneWayTestLimits
import OneWayTestSupport
import SyncBase
import Testing

/// What a service reports, and how it is stopped.
@Suite(.endsInTime) struct ServiceEventsTests {
    private let clock = ManualClock()
    private let everyMinute = SyncSchedule(interval: .seconds(60), jitter: 0)
    private let other = SyncLeaseHolder(host: "web-1", program: "Demo", processID: 4711)

    private var date: @Sendable () -> Date {
        { [clock] in Date(timeIntervalSince1970: clock.now.offset / .seconds(1)) }
    }

    private func words<Report: Sendable>(_ events: SyncEvents<SyncService<Report>.Event>, until last: String) async
        -> [String]
    {
        var words: [String] = []
        for await event in events {
            switch event {
            case .began: words.append("began")
            case .progress(let progress): words.append("\(progress.stage.rawValue) \(progress.done)")
            case .retried(let retry): words.append("retried \(retry.attempt) of \(retry.maxAttempts)")
            case .succeeded: words.append("succeeded")
            case .failed: words.append("failed")
            case .cancelled: words.append("cancelled")
            case .standingBy(let holder): words.append("standing by for \(holder?.host ?? "somebody")")
            case .tookOver: words.append("took over")
            }
            if words.last == last { break }
        }
        return words
    }

    @Test func eventsTellASyncFromItsBeginningToItsEnd() async throws {
        let attempts = Watched(0)
        let processor = ScriptedProcessor(source: [TestItem("a")]) { call in
            guard call == .content("a"),
                attempts.update({
                    $0 += 1; return $0
                }) == 1
            else { return }
            throw RetryableTestError(retryAfter: .zero)
        }
        let synchronizer = Synchronizer(
            processor: processor, options: SyncOptions(retry: RetryPolicy(baseDelay: .zero)), clock: clock)
        let service = SyncService(synchronizer: synchronizer, schedule: everyMinute, clock: clock)
        let events = service.events
        let run = Task { try await service.run() }
        #expect(
            await words(events, until: "succeeded") == [
                "began", "list 1", "localKeys 0", "retried 1 of 8", "content 1", "succeeded",
            ])
        service.requestStop()
        try await run.value
    }

    @Test func aRetryWithinASyncIsReported() async throws {
        let gate = Gate()
        let service = SyncService(schedule: everyMinute, clock: clock) {
            RetryPolicy.Retry(error: TestError("busy"), attempt: 2, maxAttempts: 8, delay: .seconds(1)).report()
            try await gate.pass()
        }
        let events = service.events
        let run = Task { try await service.run() }
        try await gate.waitForArrivals()
        #expect(service.health.description.contains("; attempt 2 of 8 failed, next in 1.0 seconds: busy; "))
        gate.open()
        #expect(await words(events, until: "succeeded") == ["began", "retried 2 of 8", "succeeded"])
        #expect(service.health.retry == nil)
        service.requestStop()
        try await run.value
    }

    @Test func whoObservesFromTheMiddleOfASyncSeesItsProgress() async throws {
        let gate = Gate()
        let processor = ScriptedProcessor(source: [TestItem("a"), TestItem("b")]) { call in
            if call == .content("a") { try await gate.pass() }
        }
        let synchronizer = Synchronizer(processor: processor, options: SyncOptions(concurrency: 1), clock: clock)
        let service = SyncService(synchronizer: synchronizer, schedule: everyMinute, clock: clock)
        let run = Task { try await service.run() }
        try await gate.waitForArrivals(orEndOf: run)
        let events = service.events
        gate.open()
        #expect(await words(events, until: "succeeded") == ["content 1", "content 2", "succeeded"])
        service.requestStop()
        try await run.value
    }

    @Test func eventsTellStandbyAndTakeover() async throws {
        let lease = ScriptedLease(clock: clock)
        lease.seize(by: other)
        let service =
            SyncService(schedule: everyMinute, lease: lease, clock: clock, date: date) {
                throw TestError("no")
            } as SyncService<Void>
        let events = service.events
        let run = Task { try await service.run() }
        // Asked twice, reported once.
        try await clock.waitForPendingDelays([.seconds(3)])
        #expect(service.health.isStandingBy && service.health.nextRun == nil)
        #expect(service.health.activity?.leaseName == "the test" && service.health.leaseHolder == other)
        clock.advance(by: .seconds(3))
        try await lease.log.wait(for: .refused, count: 2)
        try await clock.waitForPendingDelays([.seconds(3)])
        lease.giveUp()
        clock.advance(by: .seconds(3))
        #expect(
            await words(events, until: "failed") == ["standing by for web-1", "took over", "began", "failed"])
        service.requestStop()
        try await run.value
    }

    @Test func eachHolderThatIsWaitedForIsReportedOnce() async throws {
        let answers: [SyncLeaseHolder?] = [nil, nil, other, other, SyncLeaseHolder(host: "web-2")]
        let lease = AnsweringLease(answers)
        let service = SyncService(schedule: everyMinute, lease: lease, clock: clock) {}
        let events = service.events
        let run = Task { try await service.run() }
        for _ in answers {
            try await clock.waitForPendingDelays([.seconds(3)])
            #expect(service.health.isStandingBy)
            clock.advance(by: .seconds(3))
        }
        #expect(
            await words(events, until: "standing by for web-2") == [
                "standing by for somebody", "standing by for web-1", "standing by for web-2",
            ])
        service.requestStop()
        try await run.value
    }

    /// A lease that others hold, one after the other, the last one forever.
    private struct AnsweringLease: SyncLease {
        let name = "the test"
        let duration = Duration.seconds(9)
        private let holders: Locked<[SyncLeaseHolder?]>

        init(_ holders: [SyncLeaseHolder?]) {
            self.holders = Locked(holders)
        }

        func tryAcquire(for holder: SyncLeaseHolder) async throws -> SyncLeaseAnswer {
            .held(by: holders.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] })
        }
    }

    @Test func failuresToReachTheKeeperAreCountedOncePerInterval() async throws {
        struct DeafLease: SyncLease {
            let name = "nobody"
            let duration = Duration.seconds(9)
            func tryAcquire(for holder: SyncLeaseHolder) async throws -> SyncLeaseAnswer {
                throw TestError("no answer")
            }
        }
        let service = SyncService(schedule: everyMinute, lease: DeafLease(), clock: clock) {}
        let run = Task { try await service.run() }
        for round in 1...3 {
            try await clock.waitForPendingDelays([.seconds(3)])
            for _ in 0..<10 { service.trigger() }
            for _ in 0..<50 { await Task.yield() }
            #expect(service.health.consecutiveFailures == round)
            clock.advance(by: .seconds(3))
        }
        service.requestStop()
        try await run.value
    }

    @Test func healthIsTrueWhileTheKeeperDoesNotAnswer() async throws {
        struct HangingLease: SyncLease {
            let gate: Gate
            let name = "the database"
            let duration = Duration.seconds(9)
            func tryAcquire(for holder: SyncLeaseHolder) async throws -> SyncLeaseAnswer {
                try await gate.pass()
                return .held(by: nil)
            }
        }
        let gate = Gate()
        let service = SyncService(schedule: everyMinute, lease: HangingLease(gate: gate), clock: clock, date: date) {}
        let run = Task { try await service.run() }
        try await gate.waitForArrivals(orEndOf: run)
        clock.advance(by: .seconds(5))
        let activity = try #require(service.health.activity)
        #expect(activity.kind == .requestingLease && activity.leaseName == "the database")
        #expect(activity.unansweredSince == Date(timeIntervalSince1970: 0))
        #expect(!activity.isStopRequested)
        service.requestStop(within: .seconds(2))
        try await clock.waitForPendingDelays([.seconds(2)])
        #expect(service.health.activity?.isStopRequested == true)
        clock.advance(by: .seconds(2))
        try await run.value
        #expect(service.health.activity == nil)
    }

    @Test func healthSaysWhichStageHangsAndSinceWhen() async throws {
        let gate = Gate()
        let processor = ScriptedProcessor { if $0 == .localKeys { try await gate.pass() } }
        let synchronizer = Synchronizer(processor: processor, clock: clock)
        let service = SyncService(synchronizer: synchronizer, schedule: everyMinute, clock: clock, date: date)
        let run = Task { try await service.run() }
        try await gate.waitForArrivals(orEndOf: run)
        clock.advance(by: .seconds(7))
        let activity = try #require(service.health.activity)
        #expect(activity.kind == .syncing && activity.since == Date(timeIntervalSince1970: 0))
        #expect(activity.stage == .localKeys && activity.stageSince == Date(timeIntervalSince1970: 0))
        gate.open()
        service.requestStop()
        try await run.value
    }

    @Test func aStopWithATimeLetsTheSyncFinishOrCancelsIt() async throws {
        for finishes in [true, false] {
            let clock = ManualClock()
            let gate = Gate()
            let service = SyncService(schedule: everyMinute, clock: clock) { try await gate.pass() }
            let events = service.events
            let run = Task { try await service.run() }
            try await gate.waitForArrivals(orEndOf: run)
            service.requestStop(within: .seconds(10))
            try await clock.waitForPendingDelays([.seconds(10)])
            if finishes { gate.open() } else { clock.advance(by: .seconds(10)) }
            try await run.value
            let last = finishes ? "succeeded" : "cancelled"
            #expect(await words(events, until: last) == ["began", last])
            try await clock.waitForPendingDelays([])
            // Holds for good.
            try await service.run()
        }
    }

    @Test func theEventsEndWithTheRunOfAStoppedService() async throws {
        let gate = Gate()
        let service = SyncService(schedule: everyMinute, clock: clock) { try await gate.pass() }
        let events = service.events
        let run = Task { try await service.run() }
        try await gate.waitForArrivals(orEndOf: run)
        service.requestStop()
        gate.open()
        try await run.value
        var seen: [String] = []
        for await event in events { seen.append(event.description) }
        #expect(seen == ["began", "succeeded: ()"])
        for await event in service.events { Issue.record("\(event)") }
    }

    @Test func theEventsOfACancelledServiceGoOn() async throws {
        let service = SyncService(schedule: everyMinute, clock: clock) {}
        let events = service.events
        for _ in 0..<2 {
            let run = Task { try await service.run() }
            #expect(await words(events, until: "succeeded").last == "succeeded")
            run.cancel()
            await #expect(throws: CancellationError.self) { try await run.value }
        }
    }

    @Test func anIntervalOfZeroDoesNotSpin() async throws {
        let service = SyncService(schedule: SyncSchedule(interval: .zero, jitter: 0), clock: clock) {}
        let run = Task { try await service.run() }
        try await clock.waitForPendingDelays([.seconds(1)])
        service.requestStop()
        try await run.value
        let failing = SyncSchedule(interval: .seconds(-1), failureDelay: .zero, maxFailureDelay: .zero)
        #expect(failing.delay(consecutiveFailures: 3, random: 0) == .seconds(4))
    }

    /// Would deadlock if the error were released under the service's lock.
    @Test func anErrorThatLooksAtTheServiceWhenItIsReleasedDoesNoHarm() async throws {
        final class Probe: Error {
            let look: @Sendable () -> Void
            init(_ look: @escaping @Sendable () -> Void) { self.look = look }
            deinit { look() }
        }
        let held = Watched<SyncService<Void>?>(nil)
        let rounds = EventLog<Int>()
        held.update {
            $0 = SyncService(schedule: everyMinute, clock: clock) {
                rounds.append(0)
                throw Probe { _ = held.value?.health }
            }
        }
        let service = try #require(held.value)
        let run = Task { try await service.run() }
        for round in 1...3 {
            try await rounds.wait(for: 0, count: round)
            service.trigger()
        }
        service.requestStop()
        try await run.value
        held.update { $0 = nil }
    }
}
