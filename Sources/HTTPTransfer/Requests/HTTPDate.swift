package import Foundation
import SyncBase

/// Dates and delays in header fields.
package enum HTTPDate {
    private static let days = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
    private static let months = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ]

    /// Reads a date (RFC 9110, section 5.6.7); nil if the text is not one.
    ///
    /// The current format and the two obsolete ones are accepted. The name of the day is not
    /// checked.
    ///
    /// - Parameter now: The time that determines the century of a two-digit year.
    package static func parse(_ text: String, now: Date = Date()) -> Date? {
        var words = text.split(whereSeparator: { $0 == " " || $0 == "," || $0 == "-" })
        guard words.count == 5 || words.count == 6 && ["GMT", "UTC"].contains(words[5].uppercased()),
            days.contains(where: { words[0].lowercased().hasPrefix($0) })
        else { return nil }
        if words.count == 5 {
            // `Sun Nov  6 08:49:37 1994`, in the order of the other formats.
            words = [words[0], words[2], words[1], words[4], words[3]]
        }
        let time = words[4].split(separator: ":", omittingEmptySubsequences: false)
        guard let day = number(words[1], 1...2), let month = months.firstIndex(of: words[2].lowercased()),
            var year = number(words[3], 2...4), words[3].utf8.count != 3, time.count == 3,
            let hour = number(time[0], 2...2), let minute = number(time[1], 2...2),
            let second = number(time[2], 2...2), hour < 24, minute < 60, second <= 60
        else { return nil }
        if words[3].utf8.count == 2 {
            // The latest matching year that is at most 50 years in the future.
            let limit = CivilDate(daysSince1970: Int((now.timeIntervalSince1970 / 86_400).rounded(.down))).year + 50
            year += (limit - year) / 100 * 100
        }
        let date = CivilDate(year: year, month: month + 1, day: day)
        guard date.isValid else { return nil }
        // A leap second counts as the previous second.
        let seconds = hour * 3_600 + minute * 60 + min(second, 59)
        return Date(timeIntervalSince1970: TimeInterval(date.daysSince1970) * 86_400 + TimeInterval(seconds))
    }

    /// A number of ASCII digits; nil unless the number of digits is allowed.
    private static func number(_ text: Substring, _ digitCounts: ClosedRange<Int>) -> Int? {
        guard digitCounts.contains(text.utf8.count),
            text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { return nil }
        return Int(text)
    }

    /// The wait that the head of a response requests.
    ///
    /// Without `Retry-After`, `X-RateLimit-Reset` or `RateLimit-Reset` applies if the field
    /// `…-Remaining` of the same name is 0. Its value is in seconds since 1970, or in seconds from
    /// now.
    package static func retryAfter(_ headers: HTTPHeaders, now: Date) -> Duration? {
        if let wait = retryAfter(headers["Retry-After"], now: now) { return wait }
        for prefix in ["X-RateLimit-", "RateLimit-"] where headers[prefix + "Remaining"] == "0" {
            guard let reset = headers[prefix + "Reset"].flatMap({ Double($0) }), reset >= 0 else { continue }
            let seconds = reset > 1e9 ? reset - now.timeIntervalSince1970 : reset
            return .seconds(Int(min(max(0, seconds.rounded(.up)), 86_400 * 365)))
        }
        return nil
    }

    /// Reads `Retry-After` (RFC 9110, section 10.2.3): a number of seconds, or a date.
    ///
    /// - Parameter now: The time from which a date is measured. The server's own `Date` is best,
    ///   because clocks differ.
    /// - Returns: Zero for a date in the past; nil if the value is neither a number nor a date.
    package static func retryAfter(_ value: String?, now: Date) -> Duration? {
        guard let value = value?.trimmingCharacters(in: .whitespaces), !value.isEmpty else { return nil }
        // A longer wait counts as a year. The caller applies a limit.
        let longest = 86_400 * 365
        if value.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
            return .seconds(min(Int(value) ?? longest, longest))
        }
        return parse(value).map { date in
            .seconds(Int(min(max(0, date.timeIntervalSince(now).rounded(.up)), Double(longest))))
        }
    }
}
