import OneWayTestLimits
import OneWayTestSupport
import SyncBase
import Testing

@Suite(.endsInTime) struct SyncClockTests {
    @Test func longSleepsAreClamped() async throws {
        for duration in [Duration.seconds(Int64.max), .longest, .seconds(Int64.max) * 9] {
            let sleep = Task { try await SyncClock.continuous.sleep(duration) }
            sleep.cancel()
            await #expect(throws: CancellationError.self) { try await sleep.value }
        }
        let clock = ManualClock()
        let sleep = Task { try await SyncClock(clock).sleep(.longest) }
        try await clock.waitForPendingDelays([SyncClock.longestSleep])
        sleep.cancel()
        await #expect(throws: CancellationError.self) { try await sleep.value }
    }

    @Test func sumsAndProductsAreClamped() {
        #expect(Duration.seconds(1).addingClamped(.seconds(2)) == .seconds(3))
        #expect(Duration.seconds(1).addingClamped(.seconds(-2)) == .seconds(-1))
        #expect(Duration.longest.addingClamped(.seconds(1)) == .longest)
        #expect(Duration.longest.addingClamped(.longest) == .longest)
        #expect(Duration.shortest.addingClamped(.shortest) == .shortest)
        #expect(Duration.longest.addingClamped(.shortest) == .zero)
        #expect(Duration.seconds(4).multipliedClamped(by: 0.5) == .seconds(2))
        #expect(Duration.longest.multipliedClamped(by: 2) == .longest)
        #expect(Duration.shortest.multipliedClamped(by: 1e300) == .shortest)
        #expect(Duration.seconds(1).multipliedClamped(by: -1) == .zero)
        #expect(Duration.seconds(1).multipliedClamped(by: .nan) == .zero)
        #expect(Duration.seconds(1).multipliedClamped(by: .infinity) == .longest)
        #expect(
            Duration.zero.multipliedClamped(by: 2) == .zero && Duration.seconds(1).multipliedClamped(by: 0) == .zero)
        // From 10^18 s on.
        #expect(Duration.seconds(1 << 59).multipliedClamped(by: 1) == .seconds(1 << 59))
        #expect(Duration.seconds(-1 << 59).multipliedClamped(by: 1) == .seconds(-1 << 59))
        #expect(Duration.seconds(1_000_000_000_000_000_000).multipliedClamped(by: 1) == .longest)
        #expect(Duration.seconds(-1_000_000_000_000_000_000).multipliedClamped(by: 1) == .shortest)
    }

    @Test func aDeadlineIsReachedByItsClock() async throws {
        let clock = ManualClock()
        let deadline = Deadline(in: .seconds(3), by: SyncClock(clock))
        let sleep = Task { try await deadline.sleep() }
        try await clock.waitForPendingDelays([.seconds(3)])
        #expect(deadline.remaining == .seconds(3))
        clock.advance(by: .seconds(3))
        try await sleep.value
        #expect(deadline.remaining == .zero)
        #expect(Deadline(in: .longest, by: SyncClock(clock)).time == .longest)
        try await Deadline(in: .seconds(-1)).sleep()
    }

    @Test func anAlarmCallsOnceAtItsTime() async throws {
        let clock = ManualClock()
        let calls = Watched<[Int]>([])
        let alarms = [1, 2, 3].map { number in
            SyncClock(clock).alarm(after: .seconds(number)) { calls.update { $0.append(number) } }
        }
        try await clock.waitForPendingDelays([.seconds(1), .seconds(2), .seconds(3)])
        alarms[1].cancel()
        try await clock.waitForPendingDelays([.seconds(1), .seconds(3)])
        clock.advance(by: .seconds(3))
        try await calls.wait { $0.sorted() == [1, 3] }
        _ = SyncClock(clock).alarm(after: .longest) {}
        try await clock.waitForPendingDelays([SyncClock.longestSleep])
        clock.advance(by: SyncClock.longestSleep)
        try await clock.waitForPendingDelays([])
    }

    @Test func anAlarmOfTheSystemsClockCalls() async throws {
        let called = Promise<Void>()
        let never = SyncClock.continuous.alarm(after: .longest) { called.settle(.failure(CancellationError())) }
        _ = SyncClock.continuous.alarm(after: .zero) { called.settle() }
        try await called.value()
        never.cancel()
    }
}
