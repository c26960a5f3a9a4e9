/// A JSON number with exact conversions.
///
/// `text` is valid only inside the closure of the ``JSONCursor`` that read it. The computed values
/// may be kept.
package struct JSONNumber {
    /// The characters of the number, with every digit.
    package let text: JSONSlice
    /// Whether the number is written without a fraction and without an exponent.
    package let isInteger: Bool
    /// Whether the number starts with a minus sign; also true for `-0`.
    package let isNegative: Bool
    /// The significant digits as a whole number; the leading ones if `isTruncated`.
    let mantissa: UInt64
    /// The power of ten that the mantissa is multiplied by.
    let exponent: Int
    /// Whether the mantissa lacks digits that are not zero.
    let isTruncated: Bool

    /// The number as an `Int64`; nil if it has a fraction or does not fit.
    ///
    /// The number may be written as `1.0` or `1e3`.
    package var int64: Int64? {
        guard let magnitude else { return nil }
        if isNegative { return magnitude <= 1 << 63 ? Int64(truncatingIfNeeded: 0 &- magnitude) : nil }
        return Int64(exactly: magnitude)
    }

    /// The number as a `UInt64`; nil if it is negative, has a fraction or does not fit.
    ///
    /// The number may be written as `1.0` or `1e3`.
    package var uint64: UInt64? {
        guard let magnitude else { return nil }
        return isNegative && magnitude != 0 ? nil : magnitude
    }

    /// The nearest double by IEEE 754 rounding; nil if that is infinite. Underflow results in zero.
    ///
    /// A mantissa up to 2⁵³ and a power of ten up to 10²² are exact doubles, so a single
    /// multiplication or division rounds correctly (Clinger, "How to Read Floating Point Numbers
    /// Accurately"). Other numbers take the slow path.
    @inline(__always)
    package var double: Double? {
        if !isTruncated {
            if exponent == 0 {
                let value = Double(mantissa)
                return isNegative ? -value : value
            }
            if mantissa <= 1 << 53, exponent >= -22, exponent <= 22 {
                let value = Double(mantissa)
                let scaled = exponent < 0 ? value / Self.powers[-exponent] : value * Self.powers[exponent]
                return isNegative ? -scaled : scaled
            }
        }
        return slowDouble
    }

    /// The number of digits from the first to the last that is not zero.
    var significantDigitCount: Int {
        let digits = text.bytes.prefix { $0 != ASCII.e && $0 != ASCII.upperE }.filter(ASCII.isDigit)
        guard let first = digits.firstIndex(where: { $0 != ASCII.zero }),
            let last = digits.lastIndex(where: { $0 != ASCII.zero })
        else { return 0 }
        return last - first + 1
    }

    /// The absolute value as a whole number; nil if it has a fraction or does not fit.
    private var magnitude: UInt64? {
        guard !isTruncated else { return nil }
        if exponent == 0 || mantissa == 0 { return mantissa }
        var value = mantissa
        if exponent < 0 {
            for _ in 0..<min(-exponent, 20) {
                guard value % 10 == 0 else { return nil }
                value /= 10
            }
            return value == 0 ? nil : value
        }
        for _ in 0..<min(exponent, 20) {
            let (product, overflow) = value.multipliedReportingOverflow(by: 10)
            guard !overflow else { return nil }
            value = product
        }
        return value
    }

    @inline(never)
    private var slowDouble: Double? {
        guard let value = Double(text.string) else { return nil }
        return value.isFinite ? value : nil
    }

    /// The powers of ten that a double represents exactly.
    static let powers: [Double] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
        1e20, 1e21, 1e22,
    ]
}
