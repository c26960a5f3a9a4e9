import SyncBase

extension DateText {
    /// The number of fraction digits in a written date.
    package enum Fraction: Hashable, Sendable {
        /// No fraction digits. The fraction is rounded down, even before 1970.
        case none
        /// Three or six digits if the fraction needs them; otherwise none.
        case shortest
        /// Six digits, so that texts sort in the order of their dates.
        case microseconds
    }

    /// The length of a date with six fraction digits in bytes, and the most that ``write`` needs.
    package static let byteCount = 27

    /// Whether a date has a text: whether it is in ``range``.
    @inlinable @inline(__always)
    package static func hasText(_ microseconds: Int64) -> Bool {
        let start: Int64 = -62_167_219_200_000_000
        // An earlier date becomes a larger number.
        return UInt64(bitPattern: microseconds &- start) <= 315_569_519_999_999_999
    }

    /// Writes a date as ISO 8601 in UTC, such as `2015-06-23T12:40:08.123Z`.
    ///
    /// - Parameters:
    ///   - microseconds: The date in microseconds since 1970. A date outside ``range`` is written
    ///     as the nearest date inside it.
    ///   - output: Memory with room for ``byteCount`` bytes.
    ///   - fraction: The number of fraction digits.
    /// - Returns: The number of bytes written.
    @inlinable @inline(__always)
    package static func write(
        _ microseconds: Int64, to output: UnsafeMutablePointer<UInt8>, fraction: Fraction
    ) -> Int {
        let start: Int64 = -62_167_219_200_000_000
        let limited = min(max(microseconds, start), 253_402_300_799_999_999)
        // Counting from the start of the range keeps the dividend nonnegative. It does not fit into
        // the integers of a 32-bit watch.
        let (dayCount, rest) = (limited - start).quotientAndRemainder(dividingBy: 86_400_000_000)
        let date = CivilDate(daysSince1970: Int(dayCount) - 719_528)
        let (century, yearOfCentury) = date.year.quotientAndRemainder(dividingBy: 100)
        put(century, output)
        put(yearOfCentury, output + 2)
        output[4] = UInt8(ascii: "-")
        put(date.month, output + 5)
        output[7] = UInt8(ascii: "-")
        put(date.day, output + 8)
        output[10] = UInt8(ascii: "T")
        let time = rest.quotientAndRemainder(dividingBy: 1_000_000)
        let (seconds, digits) = (Int(time.quotient), Int(time.remainder))
        put(seconds / 3600, output + 11)
        output[13] = UInt8(ascii: ":")
        put(seconds / 60 % 60, output + 14)
        output[16] = UInt8(ascii: ":")
        put(seconds % 60, output + 17)
        guard fraction == .microseconds || (fraction == .shortest && digits != 0) else {
            output[19] = UInt8(ascii: "Z")
            return 20
        }
        output[19] = UInt8(ascii: ".")
        put(digits / 10_000, output + 20)
        if fraction == .shortest, digits % 1000 == 0 {
            output[22] = 0x30 &+ UInt8(truncatingIfNeeded: digits / 1000 % 10)
            output[23] = UInt8(ascii: "Z")
            return 24
        }
        put(digits / 100 % 100, output + 22)
        put(digits % 100, output + 24)
        output[26] = UInt8(ascii: "Z")
        return 27
    }

    /// Writes a date as text of fixed length that sorts in the order of dates.
    ///
    /// - Parameters:
    ///   - moment: The date.
    ///   - output: Memory with room for ``byteCount`` bytes, all of which are written.
    /// - Returns: False, with nothing written, for a date outside ``range``.
    package static func write(sortable moment: Timestamp, to output: UnsafeMutablePointer<UInt8>) -> Bool {
        guard range.contains(moment.microseconds) else { return false }
        _ = write(moment.microseconds, to: output, fraction: .microseconds)
        return true
    }

    /// Returns a date's text of a fixed length, or nil for a date outside ``range``.
    package static func text(sortable moment: Timestamp) -> String? {
        range.contains(moment.microseconds) ? text(moment.microseconds, fraction: .microseconds) : nil
    }

    /// Returns the ISO 8601 text of a date in microseconds since 1970.
    package static func text(_ microseconds: Int64, fraction: Fraction) -> String {
        String(unsafeUninitializedCapacity: byteCount) { buffer in
            buffer.baseAddress.map { write(microseconds, to: $0, fraction: fraction) } ?? 0
        }
    }

    @inlinable @inline(__always)
    static func put(_ value: Int, _ output: UnsafeMutablePointer<UInt8>) {
        output[0] = 0x30 &+ UInt8(truncatingIfNeeded: value / 10)
        output[1] = 0x30 &+ UInt8(truncatingIfNeeded: value % 10)
    }
}
