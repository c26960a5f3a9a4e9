import OneWayTestLimits
import SyncStore
import Testing

@Suite(.endsInTime) struct IntegerSumTests {
    @Test(
        arguments: [
            ([], 0), ([1, -3], -2), ([.max, 1, -2], .max - 1), ([.min, -1, 2], .min + 1),
            ([.max, .max, .min, .min], -2),
            ([.max, 1], nil), ([.min, -1], nil), ([.max, .max, .max], nil), ([.min, .min], nil),
        ] as [([Int64], Int64?)])
    func onlyTheSumItselfCanOverflow(numbers: [Int64], expected: Int64?) {
        var sum = IntegerSum()
        for number in numbers { sum.add(number) }
        #expect(sum.value == expected)
        #expect(sum.count == numbers.count)
        let real = numbers.reduce(0.0) { $0 + Double($1) }
        #expect(abs(sum.real - real) <= abs(real) * 1e-15 + 4096)
    }
}
