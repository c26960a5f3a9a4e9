import OneWayTestLimits
import OneWayTestSupport
import SyncBase
import Testing

@Suite(.endsInTime) struct FIFOTests {
    @Test(arguments: 0..<50 as Range<UInt64>)
    func behavesAsAnArray(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var queue = FIFO<Int>()
        var array: [Int] = []
        for number in 0..<600 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<5:
                queue.append(number)
                array.append(number)
            case 5..<8:
                #expect(queue.popFirst() == (array.isEmpty ? nil : array.removeFirst()))
            case 8 where !array.isEmpty:
                let place = Int.random(in: array.indices, using: &random)
                #expect(queue.remove(at: place) == array.remove(at: place))
            default:
                let place = Int.random(in: 0...array.count, using: &random)
                queue.insert(number, at: place)
                array.insert(number, at: place)
            }
            #expect(queue.count == array.count)
        }
        #expect(Array(queue) == array)
    }

    /// Takes hours if removing from the front moves the others.
    @Test func removingFromTheFrontTakesConstantTime() {
        var queue = FIFO<Int>()
        for number in 0..<1_000_000 { queue.append(number) }
        var sum = 0
        while let first = queue.popFirst() { sum += first }
        #expect(sum == 499_999_500_000)
    }

    @Test func aRemovedElementIsReleased() {
        final class Probe {}
        var queue = FIFO<Probe>()
        weak var first: Probe?
        for _ in 0..<3 {
            let probe = Probe()
            first = first ?? probe
            queue.append(probe)
        }
        #expect(first != nil)
        _ = queue.popFirst()
        #expect(first == nil)
    }
}
