import OneWayTestLimits
import OneWayTestSupport
import SyncBase
import Testing

@Suite(.endsInTime) struct MinHeapTests {
    @Test(arguments: 0..<50 as Range<UInt64>)
    func theSmallestElementComesFirst(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var heap = MinHeap<Int>()
        var array: [Int] = []
        for _ in 0..<600 {
            switch Int.random(in: 0..<20, using: &random) {
            case 0..<12:
                let number = Int.random(in: 0..<100, using: &random)
                heap.insert(number)
                array = (array + [number]).sorted()
            case 12..<19: #expect(heap.popFirst() == (array.isEmpty ? nil : array.removeFirst()))
            default:
                heap.removeAll { $0.isMultiple(of: 3) }
                array.removeAll { $0.isMultiple(of: 3) }
            }
            #expect(heap.first == array.first)
            #expect(heap.count == array.count)
        }
    }
}
