import Foundation
import SyncBase
public import SyncModel

extension RecordMapper.Exporter.Options {
    /// A text format of exported dates.
    public struct DateFormat: Sendable {
        /// A date formatter with a lock, because the formatter is not thread-safe.
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

        /// The digits after the second; nil for a pattern.
        let fraction: DateText.Fraction?
        private let pattern: Pattern?

        private init(_ fraction: DateText.Fraction?, pattern: Pattern? = nil) {
            self.fraction = fraction
            self.pattern = pattern
        }

        /// `2015-06-23T12:40:08Z`, with three or six fraction digits if the date has them.
        public static let iso8601 = DateFormat(.shortest)

        /// `2015-06-23T12:40:08Z`, without fractions of a second.
        public static let iso8601Seconds = DateFormat(DateText.Fraction.none)

        /// Returns a format for a Unicode date pattern (UTS #35, part 4), such as `yyyy-MM-dd`.
        ///
        /// Dates are written in UTC and in the locale `en_US_POSIX`. A pattern is about a hundred
        /// times slower than ``iso8601``.
        public static func pattern(_ pattern: String) -> DateFormat {
            DateFormat(nil, pattern: Pattern(pattern))
        }

        /// Returns the text of a date.
        ///
        /// The ISO 8601 formats clamp dates to the years 0 to 9999. An export of other
        /// dates in these formats fails.
        public func string(from moment: Timestamp) -> String {
            if let pattern { return pattern.string(moment.date) }
            return DateText.text(moment.microseconds, fraction: fraction ?? .shortest)
        }
    }
}
