import SyncBase

/// A reader of dates in text and numbers, shared by payloads, predicates and databases.
///
/// The result is in microseconds since 1970-01-01T00:00:00Z, rounded down. It is nil for input that
/// is not a date:
///
/// - `2014-01-02` is midnight in UTC. `T`, `t` or a space introduces a time, `12:40` or `12:40:08`,
///   with an optional fraction of any length after a dot or a comma. The time zone is `Z`, `z`,
///   `+02:00`, `+0200` or `+02`, optionally after a space. Without a time zone, the time is in UTC.
///   Years are 0000 to 9999, and offsets go up to 23:59.
/// - 24:00:00 is midnight at the end of the day (ISO 8601-1:2004, section 4.3.8).
/// - Second 60 is valid only as the last second of a day in UTC. It means the second after it, as
///   in POSIX time.
/// - `20140102`, `20140102T124008Z` and `20140102124008` are dates of the basic format. Other texts
///   of eight digits, and texts of four, which can be years, are not dates.
/// - A number, or other text without a hyphen, is a Unix timestamp with an optional fraction:
///   seconds below 10¹¹ (the year 5138), milliseconds below 10¹⁴, microseconds below 10¹⁷,
///   and nanoseconds above. A number can be negative, text cannot. Milliseconds before March 1973
///   are read as seconds, because nothing distinguishes them.
/// - White space around the text is ignored.
package enum DateText {
    /// The microseconds of the first and last dates that have a text: years 0000 to 9999.
    package static let range: ClosedRange<Int64> = -62_167_219_200_000_000...253_402_300_799_999_999

    /// Returns the date that a text represents, or nil if it is not a date.
    ///
    /// - Parameter utf8: The text as UTF-8, without escapes.
    @inlinable @inline(__always)
    package static func microseconds(_ utf8: UnsafeBufferPointer<UInt8>) -> Int64? {
        guard var start = utf8.baseAddress else { return nil }
        var end = start + utf8.count
        while start < end, isWhitespace(start.pointee) { start += 1 }
        while start < end, isWhitespace(end[-1]) { end -= 1 }
        if end - start >= 10, start[4] == UInt8(ascii: "-") { return iso8601(start, end) }
        return compact(start, end)
    }

    /// Returns the date that a text represents, or nil if it is not a date.
    package static func microseconds(_ text: String) -> Int64? {
        var text = text
        return text.withUTF8 { microseconds($0) }
    }

    /// Reads a decimal number as a Unix timestamp.
    ///
    /// The size of the integer part decides the unit. The result is rounded down to a microsecond.
    ///
    /// - Parameters:
    ///   - mantissa: The significant digits.
    ///   - exponent: The power of ten that multiplies the mantissa.
    ///   - isNegative: Whether the number is below zero.
    ///   - isTruncated: Whether the number has further digits that are not zero; false by default.
    /// - Returns: The microseconds since 1970, or nil for a date outside ``range``.
    package static func microseconds(
        mantissa: UInt64, exponent: Int, isNegative: Bool, isTruncated: Bool = false
    ) -> Int64? {
        var whole = mantissa
        var exponent = exponent
        var millionths: UInt64 = 0
        var isInexact = isTruncated
        // A divisor has at most 19 zeros. Digits that small are far below a microsecond.
        while exponent < -19, whole != 0 {
            isInexact = isInexact || whole % 10 != 0
            whole /= 10
            exponent += 1
        }
        if exponent > 0 {
            for _ in 0..<min(exponent, 20) where whole != 0 {
                let (product, overflow) = whole.multipliedReportingOverflow(by: 10)
                guard !overflow else { return nil }
                whole = product
            }
        } else if exponent < 0 {
            var divisor: UInt64 = 1
            for _ in 0..<min(-exponent, 19) { divisor *= 10 }
            var rest: UInt64
            (whole, rest) = whole.quotientAndRemainder(dividingBy: divisor)
            for _ in 0..<6 {
                divisor /= 10
                guard divisor > 0 else {
                    millionths *= 10
                    continue
                }
                let digit: UInt64
                (digit, rest) = rest.quotientAndRemainder(dividingBy: divisor)
                millionths = millionths * 10 + digit
            }
            isInexact = isInexact || rest != 0
        }
        let result: UInt64
        switch whole {
        case ..<100_000_000_000:
            result = whole * 1_000_000 + millionths
        case ..<100_000_000_000_000:
            result = whole * 1000 + millionths / 1000
            isInexact = isInexact || millionths % 1000 != 0
        case ..<100_000_000_000_000_000:
            result = whole
            isInexact = isInexact || millionths != 0
        default:
            result = whole / 1000
            isInexact = isInexact || millionths != 0 || whole % 1000 != 0
        }
        guard let magnitude = Int64(exactly: result) else { return nil }
        let value = isNegative ? -magnitude - (isInexact ? 1 : 0) : magnitude
        return range.contains(value) ? value : nil
    }

    // MARK: ISO 8601

    /// Reads a date such as `2015-06-23T14:40:08.123+02:00` of at least ten bytes.
    @inlinable @inline(__always)
    static func iso8601(_ start: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>) -> Int64? {
        guard let century = pair(start), let yearOfCentury = pair(start + 2), let month = pair(start + 5),
            let day = pair(start + 8), start[7] == UInt8(ascii: "-")
        else { return nil }
        let date = CivilDate(year: century * 100 + yearOfCentury, month: month, day: day)
        guard date.isValid else { return nil }
        let midnight = Int64(date.daysSince1970) * 86_400
        if end - start == 10 { return midnight * 1_000_000 }
        return time(start + 10, end, midnight: midnight)
    }

    /// Reads a date of the basic format, such as `20150623T144008.123+0200`, or a Unix timestamp.
    @usableFromInline @inline(never)
    static func compact(_ start: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>) -> Int64? {
        let text = UnsafeBufferPointer(start: start, count: end - start)
        let digitCount = text.prefix { $0 &- 0x30 < 10 }.count
        // With as many digits, timestamps are from 1970, or from after the year 2286.
        switch digitCount {
        case 4 where text.count == 4: return nil
        case 8: return iso8601(basic: text)
        case 14: return iso8601(basic: text) ?? timestamp(start, end)
        default: return timestamp(start, end)
        }
    }

    /// Reads a text that begins with eight digits by its extended format.
    private static func iso8601(basic text: UnsafeBufferPointer<UInt8>) -> Int64? {
        let digits = Array(text)
        var extended = digits[..<4] + [UInt8(ascii: "-")] + digits[4..<6] + [UInt8(ascii: "-")] + digits[6..<8]
        if digits.count > 8 {
            let time = digits.dropFirst(digits[8] | 0x20 == 0x74 ? 9 : 8)
            guard time.count >= 4 else { return nil }
            extended += [UInt8(ascii: "T")] + time.prefix(2) + [UInt8(ascii: ":")] + time.dropFirst(2).prefix(2)
            let rest = time.dropFirst(4)
            guard rest.first != UInt8(ascii: ":") else { return nil }
            if let byte = rest.first, byte &- 0x30 < 10 { extended.append(UInt8(ascii: ":")) }
            extended += rest
        }
        return extended.withUnsafeBufferPointer { bytes in
            bytes.baseAddress.flatMap { iso8601($0, $0 + bytes.count) }
        }
    }

    /// Reads the separator, the time of day and the offset.
    @inlinable @inline(__always)
    static func time(_ start: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>, midnight: Int64) -> Int64? {
        guard end - start >= 6, start.pointee | 0x20 == 0x74 || start.pointee == UInt8(ascii: " "),
            let hour = pair(start + 1), let minute = pair(start + 4), start[3] == UInt8(ascii: ":"), hour <= 24,
            minute <= 59
        else { return nil }
        var cursor = start + 6
        var second = 0
        var microseconds = 0
        if cursor < end, cursor.pointee == UInt8(ascii: ":") {
            guard end - cursor >= 3, let value = pair(cursor + 1), value <= 60 else { return nil }
            second = value
            cursor += 3
            if cursor < end, cursor.pointee == UInt8(ascii: ".") || cursor.pointee == UInt8(ascii: ",") {
                guard let value = fraction(&cursor, end, hour: hour) else { return nil }
                microseconds = value
            }
        }
        guard hour < 24 || (minute == 0 && second == 0 && microseconds == 0) else { return nil }
        guard let offset = offset(cursor, end) else { return nil }
        let total = midnight + Int64(hour * 3600 + minute * 60 + second - offset)
        // Second 60 is valid only at the end of a day in UTC; the sum is then the next midnight.
        guard second < 60 || total % 86_400 == 0 else { return nil }
        let result = total * 1_000_000 + Int64(microseconds)
        return result >= -62_167_219_200_000_000 && result <= 253_402_300_799_999_999 ? result : nil
    }

    /// Reads the fraction digits after the separator as microseconds; digits after the sixth are
    /// dropped.
    @inlinable @inline(__always)
    static func fraction(_ cursor: inout UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>, hour: Int) -> Int? {
        cursor += 1
        let first = cursor
        var value = 0
        var isZero = true
        while cursor < end, cursor.pointee &- 0x30 < 10 {
            let digit = Int(cursor.pointee &- 0x30)
            if cursor - first < 6 { value = value &* 10 &+ digit }
            if digit != 0 { isZero = false }
            cursor += 1
        }
        guard cursor > first, isZero || hour < 24 else { return nil }
        switch cursor - first {
        case 1: return value * 100_000
        case 2: return value * 10_000
        case 3: return value * 1000
        case 4: return value * 100
        case 5: return value * 10
        default: return value
        }
    }

    /// Reads the offset from UTC in seconds, positive east of UTC; zero at the end of the text.
    @inlinable @inline(__always)
    static func offset(_ start: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>) -> Int? {
        var cursor = start
        guard cursor < end else { return 0 }
        if cursor.pointee == UInt8(ascii: " ") { cursor += 1 }
        guard cursor < end else { return nil }
        if cursor.pointee | 0x20 == 0x7A { return cursor + 1 == end ? 0 : nil }
        let isNegative = cursor.pointee == UInt8(ascii: "-")
        guard isNegative || cursor.pointee == UInt8(ascii: "+"), end - cursor >= 3, let hours = pair(cursor + 1),
            hours <= 23
        else { return nil }
        cursor += 3
        var minutes = 0
        if cursor < end {
            if cursor.pointee == UInt8(ascii: ":") { cursor += 1 }
            guard end - cursor == 2, let value = pair(cursor), value <= 59 else { return nil }
            minutes = value
        }
        let seconds = hours * 3600 + minutes * 60
        return isNegative ? -seconds : seconds
    }

    /// Reads a number of two digits.
    @inlinable @inline(__always)
    static func pair(_ digits: UnsafePointer<UInt8>) -> Int? {
        let tens = digits[0] &- 0x30
        let ones = digits[1] &- 0x30
        guard tens < 10, ones < 10 else { return nil }
        return Int(tens) * 10 + Int(ones)
    }

    @inlinable @inline(__always)
    static func isWhitespace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
    }

    // MARK: Timestamps

    /// Reads a Unix timestamp: digits with an optional fraction.
    private static func timestamp(_ start: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>) -> Int64? {
        var mantissa: UInt64 = 0
        var exponent = 0
        var hasDot = false
        var cursor = start
        while cursor < end {
            let byte = cursor.pointee
            if byte == UInt8(ascii: "."), !hasDot, cursor > start, cursor + 1 < end {
                hasDot = true
            } else {
                guard byte &- 0x30 < 10 else { return nil }
                let (product, overflow) = mantissa.multipliedReportingOverflow(by: 10)
                let (sum, carry) = product.addingReportingOverflow(UInt64(byte &- 0x30))
                if overflow || carry {
                    // Fraction digits that do not fit are below a nanosecond.
                    guard hasDot else { return nil }
                } else {
                    mantissa = sum
                    if hasDot { exponent -= 1 }
                }
            }
            cursor += 1
        }
        guard cursor > start else { return nil }
        return microseconds(mantissa: mantissa, exponent: exponent, isNegative: false)
    }
}
