/// A converter of decimal numbers to canonical text, in which equal numbers have equal bytes.
///
/// The canonical form is an optional minus sign, digits without redundant leading zeros, and, for a
/// number that is not whole, a point and digits without redundant trailing zeros. Zero is `0`.
enum DecimalText {
    /// The range of accepted numbers.
    struct Limits {
        /// The maximum number of digits from the first to the last significant digit, inclusive.
        let digitCount: Int
        /// The powers of ten that significant digits can have.
        let powers: ClosedRange<Int>

        /// The limits for text: a number within them is always a `Decimal`.
        static let text = Limits(digitCount: 38, powers: -127...127)
        /// The limits of `Decimal`: 128 bits times a power of ten.
        static let decimal = Limits(digitCount: 39, powers: -128...165)
        /// The limits of numbers in JSON, those of PostgreSQL's `numeric`.
        static let json = Limits(digitCount: .max, powers: -16_383...131_071)
    }

    /// A number that is not zero, as parts of its text.
    private struct Parts {
        let isNegative: Bool
        /// The range from the first to the last significant digit.
        let digits: Range<Int>
        let pointIndex: Int?
        /// The powers of ten of the first and the last significant digits.
        let highest: Int
        let lowest: Int
    }

    private enum Number {
        case invalid, zero
        case parts(Parts)
    }

    /// Appends the canonical form of a number in the syntax of JSON.
    ///
    /// A leading plus sign and leading zeros are also accepted.
    ///
    /// - Returns: Whether the text is a number within the limits; if not, nothing is appended.
    static func append(
        canonical text: UnsafeBufferPointer<UInt8>, within limits: Limits, to bytes: inout [UInt8]
    ) -> Bool {
        switch scan(text, within: limits) {
        case .invalid: return false
        case .zero: bytes.append(UInt8(ascii: "0"))
        case .parts(let parts): appendPlain(parts, of: text, to: &bytes)
        }
        return true
    }

    /// Appends the form of a number that `CanonicalJSON` describes.
    ///
    /// - Parameters:
    ///   - text: A number in the syntax of JSON.
    ///   - bytes: The bytes to append to.
    /// - Returns: Whether the number is within the limits; if not, nothing is appended.
    static func append(canonicalJSON text: UnsafeBufferPointer<UInt8>, to bytes: inout [UInt8]) -> Bool {
        switch scan(text, within: .json) {
        case .invalid:
            return false
        case .zero:
            bytes.append(UInt8(ascii: "0"))
        case .parts(let parts):
            // Databases write exponents out as zeros.
            guard parts.lowest <= 400, parts.highest >= -400 else { return false }
            if parts.lowest > 20 || parts.highest < -7 {
                appendScientific(parts, of: text, to: &bytes)
            } else {
                appendPlain(parts, of: text, to: &bytes)
            }
        }
        return true
    }

    private static func appendScientific(
        _ parts: Parts, of text: UnsafeBufferPointer<UInt8>, to bytes: inout [UInt8]
    ) {
        if parts.isNegative {
            bytes.append(UInt8(ascii: "-"))
        }
        bytes.append(text[parts.digits.lowerBound])
        var isFirst = true
        for index in parts.digits.dropFirst() where index != parts.pointIndex {
            if isFirst { bytes.append(UInt8(ascii: ".")) }
            isFirst = false
            bytes.append(text[index])
        }
        bytes += "e\(parts.highest)".utf8
    }

    private static func appendPlain(
        _ parts: Parts, of text: UnsafeBufferPointer<UInt8>, to bytes: inout [UInt8]
    ) {
        if parts.isNegative {
            bytes.append(UInt8(ascii: "-"))
        }
        if parts.highest < 0 {
            bytes.append(UInt8(ascii: "0"))
            bytes.append(UInt8(ascii: "."))
            bytes.append(contentsOf: repeatElement(UInt8(ascii: "0"), count: -1 - parts.highest))
        }
        var power = parts.highest
        for index in parts.digits where index != parts.pointIndex {
            if power == -1, parts.highest >= 0 {
                bytes.append(UInt8(ascii: "."))
            }
            bytes.append(text[index])
            power -= 1
        }
        if parts.lowest > 0 {
            bytes.append(contentsOf: repeatElement(UInt8(ascii: "0"), count: parts.lowest))
        }
    }

    private static func scan(_ text: UnsafeBufferPointer<UInt8>, within limits: Limits) -> Number {
        var index = 0
        var isNegative = false
        if index < text.count, text[index] == UInt8(ascii: "-") || text[index] == UInt8(ascii: "+") {
            isNegative = text[index] == UInt8(ascii: "-")
            index += 1
        }
        // The number is the digits, without the point, times 10^exponent.
        var digits: (first: Int, end: Int)?
        var exponent = 0
        var digitCount = 0
        let mantissaStart = index
        var pointIndex: Int?
        while index < text.count {
            let byte = text[index]
            if byte == UInt8(ascii: "."), pointIndex == nil {
                pointIndex = index
            } else if byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") {
                digitCount += 1
                if byte != UInt8(ascii: "0") {
                    digits = (digits?.first ?? index, index + 1)
                }
            } else {
                break
            }
            index += 1
        }
        let mantissaEnd = index
        guard digitCount > 0, text[mantissaStart] != UInt8(ascii: "."), pointIndex != mantissaEnd - 1 else {
            return .invalid
        }
        if index < text.count {
            guard text[index] | 0x20 == UInt8(ascii: "e"), let read = readExponent(text, from: index + 1) else {
                return .invalid
            }
            exponent = read
        }
        guard let digits else {
            return .zero
        }
        let units = pointIndex ?? mantissaEnd
        let power = { (index: Int) in exponent + (index < units ? units - 1 - index : units - index) }
        let highest = power(digits.first)
        let lowest = power(digits.end - 1)
        guard highest - lowest < limits.digitCount, limits.powers.contains(lowest), limits.powers.contains(highest)
        else {
            return .invalid
        }
        return .parts(
            Parts(
                isNegative: isNegative, digits: digits.first..<digits.end, pointIndex: pointIndex, highest: highest,
                lowest: lowest))
    }

    private static func readExponent(_ text: UnsafeBufferPointer<UInt8>, from start: Int) -> Int? {
        var index = start
        var isNegative = false
        if index < text.count, text[index] == UInt8(ascii: "-") || text[index] == UInt8(ascii: "+") {
            isNegative = text[index] == UInt8(ascii: "-")
            index += 1
        }
        guard index < text.count else { return nil }
        var exponent = 0
        while index < text.count {
            let byte = text[index]
            guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
            // Beyond this limit, no number fits; the limit only prevents an overflow.
            exponent = min(exponent * 10 + Int(byte - UInt8(ascii: "0")), 1_000_000_000)
            index += 1
        }
        return isNegative ? -exponent : exponent
    }
}
