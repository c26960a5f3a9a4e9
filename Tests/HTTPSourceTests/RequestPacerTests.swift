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
        // One that did not have to wait would have a connection now.
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        pacer.leave()
        try await pacer.enter()
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
