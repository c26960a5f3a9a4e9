import OneWayTestLimits
import OneWayTestSupport
import SyncBase
import Testing

@Suite(.endsInTime) struct SharedTimerTests {
    private let clock = ManualClock()
    private let timer: SharedTimer<ManualClock>
    private let ended = Watched<[Int]>([])

    init() {
        timer = SharedTimer(clock)
    }

    private func sleep(seconds: Int) -> Task<Void, any Error> {
        Task { [timer, ended] in
            try await timer.sleep(for: .seconds(seconds))
            ended.update { $0.append(seconds) }
        }
    }

    @Test func sleepsEndAtTheirTimes() async throws {
        for (seconds, delays) in [(3, [3]), (2, [2, 3]), (1, [1, 2, 3])] {
            _ = sleep(seconds: seconds)
            try await clock.waitForPendingDelays(delays.map { .seconds($0) })
        }
        for seconds in 1...3 {
            clock.advance(by: .seconds(1))
            try await ended.wait { $0 == Array(1...seconds) }
        }
        try await clock.waitForPendingDelays([])
    }

    @Test func sleepsOfTheSameTimeEndTogether() async throws {
        let first = sleep(seconds: 5)
        try await clock.waitForPendingDelays([.seconds(5)])
        let others = (0..<100).map { _ in sleep(seconds: 5) }
        // Some may begin after the time has come, and sleep until 10.
        clock.advance(by: .seconds(5))
        try await first.value
        clock.advance(by: .seconds(5))
        for other in others { try await other.value }
        #expect(ended.value.count == 101)
    }

    @Test func cancelledSleepsLeaveNoTimer() async throws {
        let first = sleep(seconds: 10)
        try await clock.waitForPendingDelays([.seconds(10)])
        for seconds in 11...300 {
            let sleep = sleep(seconds: seconds)
            sleep.cancel()
            await #expect(throws: CancellationError.self) { try await sleep.value }
        }
        #expect(clock.pendingDelays == [.seconds(10)])
        // The time of a cancelled sleep passes without effect.
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        _ = sleep(seconds: 20)
        clock.advance(by: .seconds(10))
        try await clock.waitForPendingDelays([.seconds(10)], [.seconds(20)])
        clock.advance(by: .seconds(20))
        try await ended.wait { $0 == [20] }
    }

    @Test func aCallIsMadeOnceAtItsTime() async throws {
        _ = timer.call(after: .seconds(2)) { [ended] in ended.update { $0.append(2) } }
        let cancelled = timer.call(after: .seconds(2)) { [ended] in ended.update { $0.append(-2) } }
        _ = timer.call(after: .seconds(4)) { [ended] in ended.update { $0.append(4) } }
        try await clock.waitForPendingDelays([.seconds(2)])
        timer.cancel(cancelled)
        clock.advance(by: .seconds(2))
        try await ended.wait { $0 == [2] }
        // After its call, a number stands for nothing.
        timer.cancel(cancelled)
        try await clock.waitForPendingDelays([.seconds(2)])
        clock.advance(by: .seconds(2))
        try await ended.wait { $0 == [2, 4] }
        try await clock.waitForPendingDelays([])
    }
}
