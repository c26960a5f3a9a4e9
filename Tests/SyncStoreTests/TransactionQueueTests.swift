import OneWayTestLimits
import SyncStore
import OneWayTestSupport
import Testing

@Suite(.endsInTime) struct TransactionQueueTests {
    @Test func turnsAreTakenInTheOrderOfAsking() async throws {
        let queue = TransactionQueue()
        let log = EventLog<Int>()
        let gate = Gate()
        let first = Task { try await queue.run { try await gate.pass() } }
        try await gate.waitForArrivals(orEndOf: first)
        var waiting: [Task<Void, any Error>] = []
        for number in 0..<20 {
            waiting.append(Task { try await queue.run { log.append(number) } })
            while queue.waitingCount <= number { await Task.yield() }
        }
        gate.open()
        try await first.value
        for task in waiting { try await task.value }
        #expect(log.events == Array(0..<20))
    }

    @Test func whoWaitsCanBeCancelled() async throws {
        let queue = TransactionQueue()
        let gate = Gate()
        let first = Task { try await queue.run { try await gate.pass() } }
        try await gate.waitForArrivals(orEndOf: first)
        let second = Task { try await queue.run {} }
        while queue.waitingCount == 0 { await Task.yield() }
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        #expect(queue.waitingCount == 0)
        gate.open()
        try await first.value
        try await queue.run {}
    }
}
