package import Foundation

/// Dates and delays in header fields.
package enum HTTPDate {
    /// Reads a date (RFC 9110, section 5.6.7); nil if the text is not one.
    package static func parse(_ text: String) -> Date? {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "GMT")
        formatter.isLenient = false
        // The format in use, then the two obsolete ones that a recipient must still read.
        for format in ["EEE, dd MMM yyyy HH:mm:ss 'GMT'", "EEEE, dd-MMM-yy HH:mm:ss 'GMT'", "EEE MMM d HH:mm:ss yyyy"] {
            formatter.dateFormat = format
            if let date = formatter.date(from: text) { return date }
        }
        return nil
    }

    /// The wait that the head of a response asks for.
    ///
    /// Without `Retry-After`, an exhausted `X-RateLimit-Remaining` makes `X-RateLimit-Reset` count:
    /// seconds since 1970, or seconds from now.
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
    /// - Parameter now: The time from which a date is counted. The server's own `Date` is best,
    ///   because clocks differ.
    /// - Returns: Zero for a date in the past; nil if the value is neither a number nor a date.
    package static func retryAfter(_ value: String?, now: Date) -> Duration? {
        guard let value = value?.trimmingCharacters(in: .whitespaces), !value.isEmpty else { return nil }
        // Longer than a year counts as a year. The caller applies a limit.
        let longest = 86_400 * 365
        if value.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
            return .seconds(min(Int(value) ?? longest, longest))
        }
        return parse(value).map { date in
            .seconds(Int(min(max(0, date.timeIntervalSince(now).rounded(.up)), Double(longest))))
        }
    }
}
