import Foundation
import OneWaySynchronizer

/// What went wrong with one request. Its description is one line that names the URL.
struct HTTPError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The ways in which a request fails.
    enum Problem: Sendable, Equatable {
        /// No reply: the text says why, and `isLasting` whether trying again is pointless (an untrusted certificate).
        case unreachable(String, isLasting: Bool)
        /// Nothing arrived for as long as the client waits.
        case timedOut
        /// A reply with another status than 200…204. `firstLine` is the beginning of its body, for people.
        case status(Int, firstLine: String, retryAfter: Duration?)
        /// The connection ended before the body did. `expected` is nil when its length was not known.
        case cutShort(received: Int, expected: Int?)
        /// The body is longer than the client takes.
        case tooLarge(limit: Int)
        /// More redirects than the client follows.
        case tooManyRedirects(limit: Int)
        /// A redirect to something that is not http or https.
        case forbiddenRedirect(String)
        /// The body could not be written to the disk.
        case cannotWrite(String)
    }

    let url: URL
    let problem: Problem

    var description: String {
        let name = url.displayName
        switch problem {
        case .unreachable(let reason, _):
            return "\(name): \(reason)"
        case .timedOut:
            return "\(name): timed out"
        case .status(let status, let firstLine, let retryAfter):
            let wait = retryAfter.map { ", asks to wait \($0.components.seconds) s" } ?? ""
            return "\(name): status \(status)\(wait)" + (firstLine.isEmpty ? "" : ": \(firstLine)")
        case .cutShort(let received, let expected):
            let all = expected.map { " of \($0)" } ?? ""
            return "\(name): the body was cut short after \(received)\(all) bytes"
        case .tooLarge(let limit):
            return "\(name): the body is longer than \(limit) bytes"
        case .tooManyRedirects(let limit):
            return "\(name): more than \(limit) redirects"
        case .forbiddenRedirect(let target):
            return "\(name): redirects to \(target), which is neither http nor https"
        case .cannotWrite(let reason):
            return "\(name): cannot keep the body: \(reason)"
        }
    }

    /// Reads `Retry-After` (RFC 9110, section 10.2.3): a number of seconds, or a date in HTTP's format.
    ///
    /// - Returns: At least zero, also for a date in the past; nil when the value is neither.
    static func retryAfter(_ value: String?, now: Date = Date()) -> Duration? {
        guard let value = value?.trimmingCharacters(in: .whitespaces), !value.isEmpty else { return nil }
        if value.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
            // A number that no Int holds is as long as one that waits for a day: the caller caps either.
            return .seconds(min(Int(value) ?? .max, 86_400 * 365))
        }
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "GMT")
        formatter.isLenient = false
        // The format in use, then the two obsolete ones that a recipient must still read (RFC 9110, section 5.6.7).
        for format in ["EEE, dd MMM yyyy HH:mm:ss 'GMT'", "EEEE, dd-MMM-yy HH:mm:ss 'GMT'", "EEE MMM d HH:mm:ss yyyy"] {
            formatter.dateFormat = format
            if let date = formatter.date(from: value) {
                let seconds = min(date.timeIntervalSince(now).rounded(.up), 86_400 * 365)
                return .seconds(max(0, Int(seconds)))
            }
        }
        return nil
    }
}

extension HTTPError: RetryableError {
    /// Whether the server, or the way to it, may do better later: no reply, a body cut short, 408, 425, 429 and 5xx
    /// except 501 and 505.
    var isRetryable: Bool {
        switch problem {
        case .unreachable(_, let isLasting): !isLasting
        case .timedOut, .cutShort: true
        case .status(let status, _, _):
            [408, 425, 429].contains(status) || status >= 500 && ![501, 505].contains(status)
        case .tooLarge, .tooManyRedirects, .forbiddenRedirect, .cannotWrite: false
        }
    }

    /// What the server's `Retry-After` said.
    var retryAfter: Duration? {
        if case .status(_, _, let retryAfter) = problem { retryAfter } else { nil }
    }
}

extension URL {
    /// The address for messages: without a user's name or password.
    var displayName: String {
        guard user != nil || password != nil, var parts = URLComponents(url: self, resolvingAgainstBaseURL: true) else {
            return absoluteString
        }
        parts.user = nil
        parts.password = nil
        return parts.string ?? "a URL with a password"
    }

    /// Whether the client may ask for it.
    var isHTTP: Bool {
        let scheme = scheme?.lowercased()
        return (scheme == "http" || scheme == "https") && !(host ?? "").isEmpty
    }
}
