import Foundation
import OneWaySynchronizer
import OneWayTestLimits
import OneWayTestSupport
import SyncBase
import Testing

/// Services that share a lease, of which one syncs.
@Suite(.endsInTime) struct LeasedServiceTests {
    private let clock = ManualClock()
    private let lease: ScriptedLease
    private let log = EventLog<String>()
    private let everyMinute = SyncSchedule(interval: .seconds(60), jitter: 0)
    private let other = SyncLeaseHolder(host: "web-1", program: "Demo", processID: 4711)

    init() {
        lease = ScriptedLease(duration: .seconds(9), clock: clock)
    }

    private func service(
        _ name: String, gate: Gate = Gate(isOpen: true), clock: ManualClock? = nil
    ) -> SyncService<String> {
        SyncService(schedule: everyMinute, lease: lease, clock: clock ?? self.clock) { [log] in
            log.append(name)
            try await gate.pass()
            return name
        }
    }

    @Test func oneServiceSyncsAndTheOtherStandsBy() async throws {
        let firstClock = ManualClock(sharingTimeOf: clock)
        let secondClock = ManualClock(sharingTimeOf: clock)
        let first = service("first", clock: firstClock)
        let second = service("second", clock: secondClock)
        let runFirst = Task { try await first.run() }
        // The renewal, the expiry, and the next sync.
        try await firstClock.waitForPendingDelays([.seconds(3), .seconds(9), .seconds(60)])
        let runSecond = Task { try await second.run() }
        try await secondClock.waitForPendingDelays([.seconds(3)])
        #expect(second.health.isStandingBy)
        #expect(second.health.leaseHolder?.processID == ProcessInfo.processInfo.processIdentifier)
        // Triggers do not make it ask more often.
        for _ in 0..<10 { second.trigger() }
        for count in 2...3 {
            try await secondClock.waitForPendingDelays([.seconds(3)])
            #expect(lease.log.events.count { $0 == .refused } == count - 1)
            clock.advance(by: .seconds(3))
            try await firstClock.waitForPendingDelays([.seconds(3), .seconds(12 - 3 * count), .seconds(63 - 3 * count)])
            try await lease.log.wait(for: .refused, count: count)
        }
        #expect(log.events == ["first"])
        #expect(second.health.nextRun == nil)
        first.requestStop()
        try await runFirst.value
        // Asked again within a third of the lease's time, it takes over, and does what it was asked
        // for.
        try await secondClock.waitForPendingDelays([.seconds(3)])
        clock.advance(by: .seconds(3))
        try await secondClock.waitForPendingDelays([.seconds(3), .seconds(9), .seconds(60)])
        #expect(log.events == ["first", "second"])
        #expect(!second.health.isStandingBy && second.health.leaseHolder == nil)
        second.requestStop()
        try await runSecond.value
        #expect(lease.holder == nil)
    }

    @Test func aLostLeaseCancelsTheSyncAndTheServiceStandsByAgain() async throws {
        let gate = Gate()
        let service = service("sync", gate: gate)
        let run = Task { try await service.run() }
        try await gate.waitForArrivals(orEndOf: run)
        try await clock.waitForPendingDelays([.seconds(3), .seconds(9)])
        lease.seize(by: other)
        clock.advance(by: .seconds(3))
        try await lease.log.wait(for: .released)
        try await clock.waitForPendingDelays([.seconds(3)])
        #expect(service.health.lastError is SyncLeaseError)
        #expect(service.health.lastSuccess == nil)
        #expect(service.health.consecutiveFailures == 1)
        clock.advance(by: .seconds(3))
        try await lease.log.wait(for: .refused)
        try await clock.waitForPendingDelays([.seconds(3)])
        #expect(service.health.leaseHolder == other)
        gate.open()
        lease.giveUp()
        clock.advance(by: .seconds(3))
        try await log.wait(for: "sync", count: 2)
        service.requestStop()
        try await run.value
        #expect(service.health.lastReport == "sync")
    }

    @Test func failuresOfTheLeaseDoNotDelayTheSyncs() async throws {
        lease.beUnavailable(TestError("away"))
        let schedule = SyncSchedule(interval: .seconds(60), jitter: 0, failureDelay: .seconds(20), runsAtStart: false)
        let service = SyncService<String>(schedule: schedule, lease: lease, clock: clock) { [log] in
            log.append("sync")
            throw TestError("failed")
        }
        let run = Task { try await service.run() }
        for _ in 1...5 {
            try await clock.waitForPendingDelays([.seconds(3)])
            clock.advance(by: .seconds(3))
        }
        try await clock.waitForPendingDelays([.seconds(3)])
        #expect(service.health.consecutiveFailures == 6)
        lease.beUnavailable(nil)
        clock.advance(by: .seconds(3))
        try await clock.waitForPendingDelays([.seconds(3), .seconds(9), .seconds(60)])
        service.trigger()
        try await log.wait(for: "sync")
        try await clock.waitForPendingDelays([.seconds(3), .seconds(9), .seconds(20)])
        #expect(service.health.consecutiveFailures == 7)
        service.requestStop()
        try await run.value
    }

    @Test func aStopEndsTheStandby() async throws {
        lease.seize(by: other)
        let service = service("sync")
        let run = Task { try await service.run() }
        try await clock.waitForPendingDelays([.seconds(3)])
        service.requestStop()
        try await run.value
        #expect(log.events.isEmpty)
        #expect(!service.health.isStandingBy)
    }

    @Test func aCancelEndsTheStandby() async throws {
        lease.seize(by: other)
        let service = service("sync")
        let run = Task { try await service.run() }
        try await clock.waitForPendingDelays([.seconds(3)])
        run.cancel()
        await #expect(throws: CancellationError.self) { try await run.value }
    }

    @Test func aCancelEndsTheSyncAndReleasesTheLease() async throws {
        let gate = Gate()
        let service = service("sync", gate: gate)
        let run = Task { try await service.run() }
        try await gate.waitForArrivals(orEndOf: run)
        run.cancel()
        await #expect(throws: CancellationError.self) { try await run.value }
        #expect(lease.holder == nil)
        #expect(service.health.consecutiveFailures == 0)
    }

    @Test func aStopLetsTheSyncFinishUnderTheLease() async throws {
        let gate = Gate()
        let service = service("sync", gate: gate)
        let run = Task { try await service.run() }
        try await gate.waitForArrivals(orEndOf: run)
        service.requestStop()
        #expect(lease.holder != nil)
        gate.open()
        try await run.value
        #expect(lease.log.events == [.granted, .released])
        #expect(service.health.lastReport == "sync")
    }

    @Test func passesThatOthersRequestRunUnderTheLeaseOrNotAtAll() async throws {
        let gate = Gate()
        let isGated = Locked(false)
        let processor = ScriptedProcessor(source: [TestItem("a")]) { call in
            if call == .list, isGated.withLock(\.self) { try await gate.pass() }
        }
        let synchronizer = Synchronizer(processor: processor, clock: clock)
        let service = SyncService(synchronizer: synchronizer, schedule: everyMinute, lease: lease, clock: clock)
        func expectRefusal() async throws {
            let direct = try await #require(throws: SyncFailure.self) { try await synchronizer.sync() }
            #expect(
                direct.description
                    == "begin: the lease on the test is not held by this process; its service syncs when it gets the lease"
            )
            #expect(!direct.isCancelled)
            let result = await withCheckedContinuation { continuation in
                synchronizer.sync { continuation.resume(returning: $0) }
            }
            #expect(throws: SyncFailure.self) { try result.get() }
        }
        try await expectRefusal()
        #expect(processor.calls.isEmpty)
        let run = Task { try await service.run() }
        try await clock.waitForPendingDelays([.seconds(3), .seconds(9), .seconds(60)])
        #expect(try await synchronizer.sync().unchanged == 1)
        // The pass of another is cancelled with the lease, too.
        isGated.withLock { $0 = true }
        let direct = Task { try await synchronizer.sync() }
        try await gate.waitForArrivals(orEndOf: direct)
        lease.seize(by: other)
        clock.advance(by: .seconds(3))
        let failure = await #expect(throws: SyncFailure.self) { try await direct.value }
        #expect(failure?.isCancelled == true)
        try await lease.log.wait(for: .released)
        try await expectRefusal()
        service.requestStop()
        try await run.value
        #expect(processor.calls.count { $0 == .begin } == 3)
    }

    @Test func aServiceThatIsGoneRequiresNoLease() async throws {
        let synchronizer = Synchronizer(processor: ScriptedProcessor(source: [TestItem("a")]), clock: clock)
        _ = SyncService(synchronizer: synchronizer, schedule: everyMinute, lease: lease, clock: clock)
        #expect(try await synchronizer.sync().inserted == 1)
    }

    @Test func aLeaseThatCannotBeAskedForIsAFailure() async throws {
        struct DeafLease: SyncLease {
            let name = "nobody"
            let duration = Duration.seconds(9)
            func tryAcquire(for holder: SyncLeaseHolder) async throws -> SyncLeaseAnswer {
                throw TestError("no answer")
            }
        }
        let service = SyncService(schedule: everyMinute, lease: DeafLease(), clock: clock) {}
        let run = Task { try await service.run() }
        try await clock.waitForPendingDelays([.seconds(3)])
        #expect(service.health.lastError as? TestError == TestError("no answer"))
        service.requestStop()
        try await run.value
    }
}
