public import Foundation
public import OneWaySynchronizer

/// What went wrong with one request. Its description is one line that names the address, without what may be secret in it.
public struct HTTPError: Error, Sendable, Equatable {
    /// The ways in which a request fails.
    public enum Problem: Error, Sendable, Equatable {
        /// No reply: the text says why, and `isLasting` whether trying again is pointless (an untrusted certificate).
        case unreachable(String, isLasting: Bool)
        /// Nothing arrived for as long as the client waits, or the whole took longer than it may.
        case timedOut
        /// A reply that is no success. `firstLine` is the beginning of its body, for people; `retryAfter` how long the server asks to wait.
        case status(Int, firstLine: String, retryAfter: Duration?)
        /// The connection ended before the body did, or the JSON did. `expected` is nil when the length was not known.
        case cutShort(received: Int, expected: Int?)
        /// The body is longer than the client takes.
        case tooLarge(limit: Int)
        /// A success, but the body is no JSON: a page for people, most likely. `firstLine` is how it begins.
        case notJSON(firstLine: String)
        /// More redirects than the client follows.
        case tooManyRedirects(limit: Int)
        /// A redirect, or a link to the next page, that is not http or https, or leaves https.
        case forbiddenAddress(String)
        /// A page that was read already comes again as the next one, without end.
        case pageLoop
        /// More pages than there may be.
        case tooManyPages(limit: Int)
        /// The body could not be written to the disk.
        case cannotWrite(String)
    }

    /// What was asked for.
    public let url: URL
    /// What went wrong.
    public let problem: Problem

    /// Makes an error.
    public init(url: URL, problem: Problem) {
        self.url = url
        self.problem = problem
    }
}

extension HTTPError: CustomStringConvertible {
    /// The address without secrets, and what went wrong.
    public var description: String {
        let name = url.displayName
        switch problem {
        case .unreachable(let reason, _): return "\(name): \(reason)"
        case .timedOut: return "\(name): timed out"
        case .status(let status, let firstLine, let retryAfter):
            let wait = retryAfter.map { ", asks to wait \($0.components.seconds) s" } ?? ""
            return "\(name): status \(status)\(wait)" + (firstLine.isEmpty ? "" : ": \(firstLine)")
        case .cutShort(let received, let expected):
            let all = expected.map { " of \($0)" } ?? ""
            return "\(name): the body was cut short after \(received)\(all) bytes"
        case .tooLarge(let limit): return "\(name): the body is longer than \(limit) bytes"
        case .notJSON(let firstLine): return "\(name): the body is no JSON: \(firstLine)"
        case .tooManyRedirects(let limit): return "\(name): more than \(limit) redirects"
        case .forbiddenAddress(let target):
            return "\(name): leads to \(target), which is not http or https, or less secure"
        case .pageLoop: return "\(name): the pages lead back to one that was read"
        case .tooManyPages(let limit): return "\(name): more than \(limit) pages"
        case .cannotWrite(let reason): return "\(name): cannot keep the body: \(reason)"
        }
    }
}

extension HTTPError: RetryableError {
    /// Whether the server, or the way to it, may do better later: no reply, a body cut short, 408, 425, 429 and 5xx
    /// except 501 and 505.
    public var isRetryable: Bool {
        switch problem {
        case .unreachable(_, let isLasting): !isLasting
        case .timedOut, .cutShort: true
        case .status(let status, _, _):
            [408, 425, 429].contains(status) || status >= 500 && ![501, 505].contains(status)
        case .tooLarge, .notJSON, .tooManyRedirects, .forbiddenAddress, .pageLoop, .tooManyPages, .cannotWrite: false
        }
    }

    /// What the server's `Retry-After` said.
    public var retryAfter: Duration? {
        if case .status(_, _, let retryAfter) = problem { retryAfter } else { nil }
    }
}

extension URL {
    /// The address for messages: without a user's name and password, without values of the query that are more than a number.
    package var displayName: String {
        guard var parts = URLComponents(url: self, resolvingAgainstBaseURL: true) else { return "an address" }
        parts.user = nil
        parts.password = nil
        parts.fragment = nil
        parts.queryItems = parts.queryItems?.map { item in
            let isHarmless = item.value.map { $0.count < 10 && $0.allSatisfy(\.isNumber) } ?? true
            return isHarmless ? item : URLQueryItem(name: item.name, value: "…")
        }
        return (parts.string ?? "an address").replacing("%E2%80%A6", with: "…")
    }

    /// Whether the client may ask for it.
    package var isHTTP: Bool {
        let scheme = scheme?.lowercased()
        return (scheme == "http" || scheme == "https") && !(host ?? "").isEmpty
    }

    /// What requests to it may share (RFC 6454, section 4).
    package var origin: String {
        let scheme = scheme?.lowercased() ?? ""
        return "\(scheme)://\(host?.lowercased() ?? ""):\(port ?? (scheme == "https" ? 443 : 80))"
    }
}
