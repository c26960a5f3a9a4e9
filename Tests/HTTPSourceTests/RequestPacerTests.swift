import OneWayTestLimits
import OneWayTestSupport
import SyncBase
import Testing

@testable import HTTPTransfer

/// The limits of simultaneous requests, and of requests per second.
@Suite(.endsInTime) struct RequestPacerTests {
    @Test(arguments: [(0, 1), (1, 1), (2, 2)])
    func noMoreRequestsRunThanThereAreConnections(connectionCount: Int, limit: Int) async throws {
        let pacer = RequestPacer(connectionCount: connectionCount, requestsPerSecond: nil, clock: .continuous)
        for _ in 0..<limit { try await pacer.enter() }
        let waiting = Task { try await pacer.enter() }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        pacer.leave()
        try await pacer.enter()
        for _ in 0..<limit { pacer.leave() }
        // Tasks that share the connections.
        let running = Locked((now: 0, most: 0))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    try await pacer.enter()
                    running.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
                    for _ in 0..<20 { await Task.yield() }
                    running.withLock { $0.now -= 1 }
                    pacer.leave()
                }
            }
            try await group.waitForAll()
        }
        #expect(running.withLock { $0.most } <= limit)
    }

    @Test(arguments: [nil, 0, -1] as [Double?]) func withoutALimitNobodyWaits(requestsPerSecond: Double?) async throws {
        let clock = ManualClock()
        let pacer = RequestPacer(
            connectionCount: 9, requestsPerSecond: requestsPerSecond, clock: SyncClock(clock))
        for _ in 0..<5 { try await pacer.enter() }
        #expect(clock.now.offset == .zero)
    }

    @Test func aTurnCanBeFarAway() async throws {
        let pacer = RequestPacer(
            connectionCount: 9, requestsPerSecond: .leastNonzeroMagnitude, clock: SyncClock(ManualClock()))
        try await pacer.enter()
        pacer.pause(.seconds(Int64.max))
        let waiting = Task { try await pacer.enter() }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
    }
}
