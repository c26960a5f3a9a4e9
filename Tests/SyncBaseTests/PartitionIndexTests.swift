import OneWayTestLimits
import SyncBase
import Testing

@Suite(.endsInTime) struct PartitionIndexTests {
    @Test(arguments: [0, 1, 2, 3, 7, 8, 100])
    func theFirstElementThatSatisfiesAConditionIsFound(count: Int) {
        for start in [0, 5] {
            let numbers = Array(0..<start + count)[start...]
            for bound in (start - 1)...(start + count + 1) {
                let expected = numbers.firstIndex { $0 >= bound } ?? numbers.endIndex
                #expect(numbers.partitionIndex { $0 >= bound } == expected)
            }
        }
    }
}
