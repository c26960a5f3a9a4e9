import Foundation
import OneWaySynchronizer
import OneWayTestLimits
import OneWayTestSupport
import SyncBase
import Testing

/// The service that keeps a collection fresh.
@Suite(.endsInTime) struct SyncServiceTests {
    /// A service whose clock and date a test moves together.
    private struct World {
        let clock = ManualClock()
        let processor: ScriptedProcessor
        let synchronizer: Synchronizer<ScriptedProcessor>
        let service: SyncService<SyncReport>

        init(
            schedule: SyncSchedule, onCall: @escaping @Sendable (ScriptedProcessor.Call) async throws -> Void = { _ in }
        ) {
            processor = ScriptedProcessor(source: [TestItem("a")], onCall: onCall)
            synchronizer = Synchronizer(processor: processor)
            let clock = clock
            service = SyncService(
                synchronizer: synchronizer, schedule: schedule, clock: clock,
                date: { Date(timeIntervalSince1970: clock.now.offset / .seconds(1)) })
        }
    }

    private let everyMinute = SyncSchedule(interval: .seconds(60), jitter: 0)

    @Test func itSyncsAtOnceAndThenOnSchedule() async throws {
        let world = World(schedule: everyMinute)
        let run = Task { try await world.service.run() }
        for round in 1...3 {
            try await world.processor.log.wait(for: .end, count: round)
            try await world.clock.waitForPendingDelays([.seconds(60)])
            #expect(world.service.health.lastSuccess == Date(timeIntervalSince1970: Double(round - 1) * 60))
            #expect(world.service.health.nextRun == Date(timeIntervalSince1970: Double(round) * 60))
            world.clock.advance(by: .seconds(60))
        }
        world.service.requestStop()
        try await run.value
        #expect(world.service.health.nextRun == nil)
    }

    @Test func triggersDuringASyncMakeOneMore() async throws {
        let gate = Gate()
        let world = World(schedule: everyMinute) { if $0 == .content("a") { try await gate.pass() } }
        let run = Task { try await world.service.run() }
        try await gate.waitForArrivals(orEndOf: run)
        #expect(world.service.health.isSyncing)
        for _ in 0..<100 { world.service.trigger() }
        gate.open()
        try await world.processor.log.wait(for: .end, count: 2)
        try await world.clock.waitForPendingDelays([.seconds(60)])
        #expect(world.processor.calls.count { $0 == .begin } == 2)
        world.service.requestStop()
        try await run.value
    }

    @Test func aTriggerEndsTheWait() async throws {
        let world = World(schedule: everyMinute)
        let run = Task { try await world.service.run() }
        try await world.clock.waitForPendingDelays([.seconds(60)])
        world.service.trigger()
        try await world.processor.log.wait(for: .end, count: 2)
        world.service.requestStop()
        try await run.value
    }

    @Test func aStopLetsTheRunningSyncFinishAndStartsNoOther() async throws {
        let gate = Gate()
        let world = World(schedule: everyMinute) { if $0 == .content("a") { try await gate.pass() } }
        let run = Task { try await world.service.run() }
        try await gate.waitForArrivals(orEndOf: run)
        world.service.trigger()
        world.service.requestStop()
        gate.open()
        try await run.value
        #expect(world.processor.local == ["a": 1])
        #expect(world.processor.calls.count { $0 == .begin } == 1)
        #expect(world.service.health.lastReport?.inserted == 1)
    }

    @Test func aStopBeforeTheStartIsRemembered() async throws {
        let world = World(schedule: everyMinute)
        world.service.requestStop()
        try await world.service.run()
        #expect(world.processor.calls.isEmpty)
    }

    /// The date is the last thing that the service asks for before a sync.
    @Test func aStopRightBeforeASyncIsInTime() async throws {
        let stop = Locked<(@Sendable () -> Void)?>(nil)
        let count = Locked(0)
        let service = SyncService(
            schedule: everyMinute,
            date: {
                stop.value?()
                return Date(timeIntervalSince1970: 0)
            }, sync: { count.withLock { $0 += 1 } })
        stop.value = { service.requestStop() }
        try await service.run()
        #expect(count.value == 0)
        #expect(service.health.activity == nil)
    }

    @Test func aCancelEndsThePassBeforeRunReturns() async throws {
        let gate = Gate()
        let world = World(schedule: everyMinute) { call in
            if call == .content("a") { try await gate.pass() }
        }
        let run = Task { try await world.service.run() }
        try await gate.waitForArrivals(orEndOf: run)
        run.cancel()
        await #expect(throws: CancellationError.self) { try await run.value }
        #expect(world.processor.calls.last == .end)
        #expect(!world.synchronizer.isSyncing)
        #expect(world.service.health.consecutiveFailures == 0)
    }

    @Test func aCancelEndsTheWait() async throws {
        let world = World(schedule: everyMinute)
        let run = Task { try await world.service.run() }
        try await world.clock.waitForPendingDelays([.seconds(60)])
        run.cancel()
        await #expect(throws: CancellationError.self) { try await run.value }
    }

    @Test func aCancelCountsAlsoAfterARequestToStop() async throws {
        let gate = Gate()
        let world = World(schedule: everyMinute) { if $0 == .content("a") { await gate.passUncancelled() } }
        let run = Task { try await world.service.run() }
        try await gate.waitForArrivals(orEndOf: run)
        world.service.requestStop()
        run.cancel()
        gate.open()
        await #expect(throws: CancellationError.self) { try await run.value }
    }

    @Test func aSyncThatSomebodyElseCancelsIsNoFailure() async throws {
        let gate = Gate()
        let world = World(schedule: everyMinute) { if $0 == .content("a") { try await gate.pass() } }
        let events = world.service.events
        let run = Task { try await world.service.run() }
        try await gate.waitForArrivals(orEndOf: run)
        world.synchronizer.cancel()
        for await event in events {
            if case .failed(let error) = event { Issue.record("\(error)") }
            if case .cancelled = event { break }
        }
        #expect(world.service.health.consecutiveFailures == 0 && world.service.health.lastSuccess == nil)
        world.service.requestStop()
        try await run.value
    }

    @Test func afterFailuresItWaitsLonger() async throws {
        let broken = Watched(true)
        let schedule = SyncSchedule(
            interval: .seconds(60), jitter: 0, failureDelay: .seconds(5), maxFailureDelay: .seconds(15))
        let world = World(schedule: schedule) { call in
            if call == .list, broken.value { throw TestError("down") }
        }
        let run = Task { try await world.service.run() }
        for (failures, delay) in [(1, 5), (2, 10), (3, 15), (4, 15)] {
            try await world.processor.log.wait(for: .end, count: failures)
            try await world.clock.waitForPendingDelays([.seconds(delay)])
            #expect(world.service.health.consecutiveFailures == failures)
            #expect((world.service.health.lastError as? SyncFailure)?.errors.first?.stage == .list)
            #expect(world.service.health.lastSuccess == nil)
            if failures == 4 { broken.update { $0 = false } }
            world.clock.advance(by: .seconds(delay))
        }
        try await world.processor.log.wait(for: .end, count: 5)
        try await world.clock.waitForPendingDelays([.seconds(60)])
        #expect(world.service.health.consecutiveFailures == 0)
        world.service.requestStop()
        try await run.value
    }

    @Test func theFirstSyncCanWaitItsTurn() async throws {
        let world = World(schedule: SyncSchedule(interval: .seconds(60), jitter: 0, runsAtStart: false))
        let run = Task { try await world.service.run() }
        try await world.clock.waitForPendingDelays([.seconds(60)])
        #expect(world.processor.calls.isEmpty)
        #expect(world.service.health.activity?.kind == .waiting)
        world.clock.advance(by: .seconds(60))
        try await world.processor.log.wait(for: .end)
        world.service.requestStop()
        try await run.value
    }

    @Test func itRunsOnce() async throws {
        let world = World(schedule: everyMinute)
        let run = Task { try await world.service.run() }
        try await world.clock.waitForPendingDelays([.seconds(60)])
        await #expect(throws: SyncServiceError.alreadyRunning) { try await world.service.run() }
        world.service.requestStop()
        try await run.value
    }

    @Test func itRunsAnySync() async throws {
        let clock = ManualClock()
        let gate = Gate(isOpen: true)
        let service = SyncService(schedule: everyMinute, clock: clock) {
            try await gate.pass()
            return "done"
        }
        let run = Task { try await service.run() }
        try await clock.waitForPendingDelays([.seconds(60)])
        #expect(service.health.lastReport == "done")
        service.requestStop()
        try await run.value
    }

    static let delays: [(failures: Int, random: Double, expected: Duration)] = [
        (0, 0, .seconds(60)), (0, 0.5, .seconds(63)), (1, 0, .seconds(60)), (2, 0, .seconds(120)),
        (3, 0.5, .seconds(252)), (5, 0, .seconds(600)), (1000, 0, .seconds(600)),
    ]

    @Test(arguments: delays)
    func waitsAreLengthenedByJitterAndFailures(failures: Int, random: Double, expected: Duration) {
        let schedule = SyncSchedule(interval: .seconds(60), jitter: 0.1)
        let delay = schedule.delay(consecutiveFailures: failures, random: random)
        #expect(abs((delay - expected) / .seconds(1)) < 1e-9)
    }
}
