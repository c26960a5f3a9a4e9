import OneWayTestLimits
import OneWayTestSupport
import Testing

@testable import OneWaySynchronizer

/// The queue of items that wait for a retry.
@Suite(.endsInTime) struct RetryQueueTests {
    @Test(arguments: 0..<50) func itemsComeOutByTimeThenByIndex(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var queue = RetryQueue()
        var expected: [RetryQueue.Item] = []
        func first() -> RetryQueue.Item? { expected.min { ($0.due, $0.index) < ($1.due, $1.index) } }
        for index in 0..<200 {
            if Int.random(in: 0..<3, using: &random) < 2 {
                // Few times, so that many items are due at once.
                let due = Duration.seconds(Int.random(in: 0..<20, using: &random))
                queue.insert(index: 200 - index, attempt: index, due: due)
                expected.append(RetryQueue.Item(index: 200 - index, attempt: index, due: due))
            } else {
                pop()
            }
            #expect(queue.nextDue == first()?.due)
        }
        while !expected.isEmpty { pop() }
        #expect(queue.nextDue == nil && queue.popFirst() == nil)

        func pop() {
            let next = queue.popFirst()
            #expect(next == first())
            expected.removeAll { $0 == next }
        }
    }
}
