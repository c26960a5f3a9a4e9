/// Reads dates from bytes: ISO 8601 as web services write it, and Unix timestamps.
///
/// The result is milliseconds since 1970-01-01T00:00:00Z, rounded down; nil if the text is not a date. What is understood:
///
/// - `2014-01-02`, which is its midnight in UTC; with `T`, `t` or a space, a time `12:40` or `12:40:08`; with a dot or a comma, a
///   fraction of any length, of which three digits count; then `Z`, `z`, `+02:00`, `+0200`, `+02`, also after a space, or
///   nothing, which is UTC. Years 0000...9999; days as the months and leap years have them; offsets up to 23:59.
/// - 24:00:00 is the midnight at the end of the day (ISO 8601-1, 4.3.8 of the 2004 edition); no other time has the hour 24.
/// - A 60th second, only as the last of a day in UTC, is the second after it, as POSIX time counts.
/// - Text without a hyphen is a Unix timestamp, as is a number: seconds below 10¹¹ (the year 5138), milliseconds below 10¹⁴,
///   microseconds below 10¹⁷, nanoseconds above; a fraction is allowed. A number may be negative, text may not. Milliseconds before March 1973 are
///   therefore taken for seconds: nothing tells them apart.
/// - White space around the text counts for nothing; anything else, and any date outside the years 0000...9999, is no date.
public enum DateParser {
    /// The milliseconds of the first and the last moment that can be read or written: years 0000 to 9999.
    public static let range: ClosedRange<Int64> = -62_167_219_200_000...253_402_300_799_999

    /// The date a text stands for, given as UTF-8 without escapes.
    @inline(__always)
    public static func milliseconds(_ text: UnsafeBufferPointer<UInt8>) -> Int64? {
        guard var start = text.baseAddress else { return nil }
        var end = start + text.count
        while start < end, ASCII.isWhitespace(start.pointee) { start += 1 }
        while start < end, ASCII.isWhitespace(end[-1]) { end -= 1 }
        if end - start >= 10, start[4] == ASCII.minus { return iso8601(start, end) }
        return timestamp(start, end)
    }

    /// The date a text stands for.
    public static func milliseconds(_ text: String) -> Int64? {
        var text = text
        return text.withUTF8 { milliseconds($0) }
    }

    /// The date a JSON string stands for.
    @inline(__always)
    public static func milliseconds(_ slice: JSONSlice) -> Int64? {
        slice.isEscaped ? slice.withUTF8 { milliseconds($0) } : milliseconds(slice.bytes)
    }

    /// The date a number stands for as a Unix timestamp.
    public static func milliseconds(_ number: JSONNumber) -> Int64? {
        if !number.isTruncated {
            return milliseconds(
                mantissa: number.mantissa, exponent: number.exponent, isNegative: number.isNegative)
        }
        return number.double.flatMap { milliseconds($0) }
    }

    /// The date a whole number stands for as a Unix timestamp.
    public static func milliseconds(_ timestamp: Int64) -> Int64? {
        milliseconds(mantissa: timestamp.magnitude, exponent: 0, isNegative: timestamp < 0)
    }

    /// The date a number stands for as a Unix timestamp, to the millisecond nearest to the double.
    public static func milliseconds(_ timestamp: Double) -> Int64? {
        let magnitude = timestamp.magnitude
        // 10 ** 15 times 1000 is still below 2 ** 63; everything larger is whole.
        guard magnitude < 1e15 else {
            return UInt64(exactly: magnitude.rounded(.down)).flatMap {
                milliseconds(mantissa: $0, exponent: 0, isNegative: timestamp < 0)
            }
        }
        let thousandths = UInt64((magnitude * 1000).rounded())
        return milliseconds(mantissa: thousandths, exponent: -3, isNegative: timestamp < 0)
    }

    // MARK: ISO 8601

    /// `2015-06-23T14:40:08.123+02:00`, at least ten bytes.
    @inline(__always)
    private static func iso8601(_ start: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>) -> Int64? {
        guard let century = pair(start), let yearOfCentury = pair(start + 2), let month = pair(start + 5),
            let day = pair(start + 8), start[7] == ASCII.minus
        else { return nil }
        let date = CivilDate(year: century * 100 + yearOfCentury, month: month, day: day)
        guard date.isValid else { return nil }
        let midnight = date.daysSince1970 * 86_400
        if end - start == 10 { return Int64(midnight) * 1000 }
        return time(start + 10, end, midnight: midnight)
    }

    /// The separator, the time of day and the offset.
    @inline(__always)
    private static func time(_ start: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>, midnight: Int) -> Int64? {
        guard end - start >= 6, start.pointee | 0x20 == 0x74 || start.pointee == ASCII.space,
            let hour = pair(start + 1), let minute = pair(start + 4), start[3] == ASCII.colon, hour <= 24, minute <= 59
        else { return nil }
        var cursor = start + 6
        var second = 0
        var milliseconds = 0
        if cursor < end, cursor.pointee == ASCII.colon {
            guard end - cursor >= 3, let value = pair(cursor + 1), value <= 60 else { return nil }
            second = value
            cursor += 3
            if cursor < end, cursor.pointee == ASCII.dot || cursor.pointee == ASCII.comma {
                guard let value = fraction(&cursor, end, hour: hour) else { return nil }
                milliseconds = value
            }
        }
        guard hour < 24 || (minute == 0 && second == 0 && milliseconds == 0) else { return nil }
        guard let offset = offset(cursor, end) else { return nil }
        let total = midnight + hour * 3600 + minute * 60 + second - offset
        // Only the last second of a day in UTC can be a 60th; counted on, it is the next midnight.
        guard second < 60 || total % 86_400 == 0 else { return nil }
        let result = Int64(total) * 1000 + Int64(milliseconds)
        return range.contains(result) ? result : nil
    }

    /// The digits after the separator; three of them count, but after 24:00:00 none may be anything but zero.
    @inline(__always)
    private static func fraction(_ cursor: inout UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>, hour: Int) -> Int? {
        cursor += 1
        let first = cursor
        var value = 0
        var isZero = true
        while cursor < end, ASCII.isDigit(cursor.pointee) {
            let digit = Int(cursor.pointee &- ASCII.zero)
            if cursor - first < 3 { value = value * 10 + digit }
            if digit != 0 { isZero = false }
            cursor += 1
        }
        guard cursor > first, isZero || hour < 24 else { return nil }
        switch cursor - first {
        case 1: return value * 100
        case 2: return value * 10
        default: return value
        }
    }

    /// Seconds that the local time is ahead of UTC; zero at the end of the text.
    @inline(__always)
    private static func offset(_ start: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>) -> Int? {
        var cursor = start
        guard cursor < end else { return 0 }
        if cursor.pointee == ASCII.space { cursor += 1 }
        guard cursor < end else { return nil }
        if cursor.pointee | 0x20 == 0x7A { return cursor + 1 == end ? 0 : nil }
        let isNegative = cursor.pointee == ASCII.minus
        guard isNegative || cursor.pointee == ASCII.plus, end - cursor >= 3, let hours = pair(cursor + 1), hours <= 23
        else { return nil }
        cursor += 3
        var minutes = 0
        if cursor < end {
            if cursor.pointee == ASCII.colon { cursor += 1 }
            guard end - cursor == 2, let value = pair(cursor), value <= 59 else { return nil }
            minutes = value
        }
        let seconds = hours * 3600 + minutes * 60
        return isNegative ? -seconds : seconds
    }

    /// The value of two digits.
    @inline(__always)
    private static func pair(_ digits: UnsafePointer<UInt8>) -> Int? {
        let tens = digits[0] &- ASCII.zero
        let ones = digits[1] &- ASCII.zero
        guard tens < 10, ones < 10 else { return nil }
        return Int(tens) * 10 + Int(ones)
    }

    // MARK: Timestamps

    /// Digits, perhaps with a fraction.
    @inline(never)
    private static func timestamp(_ start: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>) -> Int64? {
        var mantissa: UInt64 = 0
        var exponent = 0
        var hasDot = false
        var cursor = start
        while cursor < end {
            let byte = cursor.pointee
            if byte == ASCII.dot, !hasDot, cursor > start, cursor + 1 < end {
                hasDot = true
            } else {
                guard ASCII.isDigit(byte) else { return nil }
                let (product, overflow) = mantissa.multipliedReportingOverflow(by: 10)
                let (sum, carry) = product.addingReportingOverflow(UInt64(byte &- ASCII.zero))
                if overflow || carry {
                    // Digits of the fraction beyond what fits are below a nanosecond.
                    guard hasDot else { return nil }
                } else {
                    mantissa = sum
                    if hasDot { exponent -= 1 }
                }
            }
            cursor += 1
        }
        guard cursor > start else { return nil }
        return milliseconds(mantissa: mantissa, exponent: exponent, isNegative: false)
    }

    /// The unit is told by the size of the whole part; what is smaller than a millisecond is rounded down.
    private static func milliseconds(mantissa: UInt64, exponent: Int, isNegative: Bool) -> Int64? {
        var whole = mantissa
        var thousandths: UInt64 = 0
        var isInexact = false
        if exponent > 0 {
            for _ in 0..<min(exponent, 20) where whole != 0 {
                let (product, overflow) = whole.multipliedReportingOverflow(by: 10)
                guard !overflow else { return nil }
                whole = product
            }
        } else if exponent < 0 {
            guard exponent >= -19 else { return mantissa == 0 ? 0 : (isNegative ? -1 : 0) }
            var divisor: UInt64 = 1
            for _ in 0..<(-exponent) { divisor *= 10 }
            var rest: UInt64
            (whole, rest) = mantissa.quotientAndRemainder(dividingBy: divisor)
            for _ in 0..<3 {
                divisor /= 10
                guard divisor > 0 else {
                    thousandths *= 10
                    continue
                }
                let digit: UInt64
                (digit, rest) = rest.quotientAndRemainder(dividingBy: divisor)
                thousandths = thousandths * 10 + digit
            }
            isInexact = rest != 0
        }
        let result: UInt64
        if whole < 100_000_000_000 {
            result = whole * 1000 + thousandths
        } else {
            let divisor: UInt64 =
                whole < 100_000_000_000_000 ? 1 : whole < 100_000_000_000_000_000 ? 1000 : 1_000_000
            result = whole / divisor
            isInexact = isInexact || thousandths != 0 || whole % divisor != 0
        }
        guard let magnitude = Int64(exactly: result) else { return nil }
        let value = isNegative ? -magnitude - (isInexact ? 1 : 0) : magnitude
        return range.contains(value) ? value : nil
    }
}
