import SyncBase
public import Foundation

/// How dates are written.
public struct DateFormat: Sendable {
    /// A formatter may be used by one thread at a time: the lock sees to that.
    private final class Pattern: Sendable {
        private let formatter: Locked<DateFormatter>

        init(_ pattern: String) {
            let formatter = DateFormatter()
            formatter.locale = Locale(identifier: "en_US_POSIX")
            formatter.timeZone = TimeZone(secondsFromGMT: 0)
            formatter.dateFormat = pattern
            self.formatter = Locked(formatter)
        }

        func string(_ date: Date) -> String {
            formatter.withLock { $0.string(from: date) }
        }
    }

    /// What a format is, for a writer that has a faster way for some of them.
    enum Kind: Sendable { case iso8601, iso8601Seconds, pattern }

    let kind: Kind
    private let pattern: Pattern?

    private init(_ kind: Kind, pattern: Pattern? = nil) {
        self.kind = kind
        self.pattern = pattern
    }

    /// `2015-06-23T12:40:08Z`, with three fraction digits where they are not zero.
    public static let iso8601 = DateFormat(.iso8601)

    /// `2015-06-23T12:40:08Z`, fractions of a second dropped.
    public static let iso8601Seconds = DateFormat(.iso8601Seconds)

    /// A Unicode date pattern (UTS #35, part 4), in UTC and in the locale `en_US_POSIX`, such as `yyyy-MM-dd`.
    ///
    /// Some hundred times slower than ``iso8601``.
    public static func pattern(_ pattern: String) -> DateFormat {
        DateFormat(.pattern, pattern: Pattern(pattern))
    }

    /// The text of a date.
    ///
    /// - Parameter milliseconds: since 1970-01-01T00:00:00Z; ISO 8601 takes what lies outside ``DateParser/range`` for its nearer end.
    public func string(milliseconds: Int64) -> String {
        if let pattern { return pattern.string(Date(timeIntervalSince1970: Double(milliseconds) / 1000)) }
        let whole = kind == .iso8601Seconds ? Self.wholeSeconds(milliseconds) : milliseconds
        return String(unsafeUninitializedCapacity: Self.iso8601ByteCount) { buffer in
            buffer.baseAddress.map { Self.writeISO8601(whole, to: $0) } ?? 0
        }
    }

    /// Milliseconds with the fraction of a second dropped, also before 1970.
    @inline(__always)
    static func wholeSeconds(_ milliseconds: Int64) -> Int64 {
        let fraction = milliseconds % 1000
        return milliseconds - (fraction < 0 ? fraction + 1000 : fraction)
    }

    /// Room that ``writeISO8601(_:to:)`` needs.
    static let iso8601ByteCount = 24

    /// Writes `2015-06-23T12:40:08.123Z`, the fraction only where it is not zero.
    ///
    /// - Parameter output: room for 24 bytes.
    /// - Returns: how many bytes were written.
    @inline(__always)
    static func writeISO8601(_ milliseconds: Int64, to output: UnsafeMutablePointer<UInt8>) -> Int {
        let milliseconds = Int(min(max(milliseconds, DateParser.range.lowerBound), DateParser.range.upperBound))
        // Counted from the start of the range, a whole day, so that nothing negative is divided.
        let sinceStart = milliseconds - Int(DateParser.range.lowerBound)
        let (dayCount, rest) = sinceStart.quotientAndRemainder(dividingBy: 86_400_000)
        let date = CivilDate(daysSince1970: dayCount + Int(DateParser.range.lowerBound) / 86_400_000)
        let (century, yearOfCentury) = date.year.quotientAndRemainder(dividingBy: 100)
        put(century, output)
        put(yearOfCentury, output + 2)
        output[4] = ASCII.minus
        put(date.month, output + 5)
        output[7] = ASCII.minus
        put(date.day, output + 8)
        output[10] = 0x54
        let (seconds, fraction) = rest.quotientAndRemainder(dividingBy: 1000)
        put(seconds / 3600, output + 11)
        output[13] = ASCII.colon
        put(seconds / 60 % 60, output + 14)
        output[16] = ASCII.colon
        put(seconds % 60, output + 17)
        guard fraction != 0 else {
            output[19] = 0x5A
            return 20
        }
        output[19] = ASCII.dot
        output[20] = ASCII.zero + UInt8(truncatingIfNeeded: fraction / 100)
        put(fraction % 100, output + 21)
        output[23] = 0x5A
        return 24
    }

    @inline(__always)
    private static func put(_ value: Int, _ output: UnsafeMutablePointer<UInt8>) {
        output[0] = ASCII.zero + UInt8(truncatingIfNeeded: value / 10)
        output[1] = ASCII.zero + UInt8(truncatingIfNeeded: value % 10)
    }
}

extension DateParser {
    /// The date a text stands for.
    public static func date(_ text: String) -> Date? {
        milliseconds(text).map { Date(timeIntervalSince1970: Double($0) / 1000) }
    }
}
