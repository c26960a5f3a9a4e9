/// A sum of integers that overflows only if the result does not fit, whatever the order.
package struct IntegerSum: Sendable {
    /// The sum is `low + high * 2^64`.
    private var low: Int64 = 0
    private var high: Int64 = 0
    /// The number of integers.
    package private(set) var count: Int64 = 0

    package init() {}

    package mutating func add(_ number: Int64) {
        let (sum, isOverflow) = low.addingReportingOverflow(number)
        low = sum
        if isOverflow { high += number < 0 ? -1 : 1 }
        count += 1
    }

    /// The sum; nil if it does not fit in 64 bits.
    package var value: Int64? { high == 0 ? low : nil }

    /// The sum as the nearest floating-point number, or as one next to it.
    package var real: Double { Double(high) * 0x1p64 + Double(low) }
}
