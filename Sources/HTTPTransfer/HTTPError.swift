public import Foundation
public import OneWaySynchronizer
package import SyncBase

/// The failure of one request.
///
/// The description is one line that names the address without its secrets. Text of the response's
/// body is only in `debugDescription`.
public struct HTTPError: Error, Sendable, Equatable {
    /// The ways in which a request can fail.
    public enum Problem: Error, Sendable, Equatable {
        /// No response arrived, for the reason in the text. `isLasting` is true if a retry cannot
        /// help, as with an untrusted certificate.
        case unreachable(String, isLasting: Bool)
        /// No data arrived for too long, or the pass took too long.
        case timedOut
        /// Data arrived too slowly: the request did not end within its duration
        /// (``HTTPClient/Limits/requestDuration``). `received` is the number of bytes of the body
        /// that arrived.
        case tooSlow(received: Int, limit: Duration)
        /// The status is not a success, or not the expected one. `firstLine` is the beginning of
        /// the body; `retryAfter` is the wait that the server requests.
        case status(Int, firstLine: String, retryAfter: Duration?)
        /// The body is empty instead of JSON.
        case emptyBody
        /// The body or its JSON is incomplete. `expected` is nil if the length was unknown.
        case cutShort(received: Int, expected: Int?)
        /// The body is longer than the limit.
        case tooLarge(limit: Int)
        /// The response is a success, but its body is not JSON. `firstLine` is the beginning of the
        /// body.
        case notJSON(firstLine: String)
        /// There are more redirects than the limit.
        case tooManyRedirects(limit: Int)
        /// A redirect or a link to the next page is not http or https, or leaves https. The text
        /// continues "an address that"; `target` is the address without secrets.
        case forbiddenAddress(String, target: String)
        /// The client's ``HTTPClient/Destinations`` do not allow a request to the address in the
        /// text. The request was not sent.
        case forbiddenDestination(String)
        /// The link to the next page leads to a page that was already read.
        case pageLoop
        /// A page has the same objects as the previous page, because the server ignores or clamps
        /// the page number.
        case repeatedPage
        /// The value that leads to the next page has an unsuitable kind.
        case unsuitablePointer(keyPath: String, found: String)
        /// The response is a success, but its body reports an error. The first text says how, such
        /// as `ok is false`; `text` is the server's own.
        case refused(String, text: String)
        /// The response violates HTTP or a limit of the transport, as the text describes.
        case malformed(String)
        /// The body is JSON of an unexpected form. The text says where and why; `firstLine` is the
        /// beginning of the body.
        case unsuitableJSON(String, firstLine: String)
        /// There are more pages than the limit.
        case tooManyPages(limit: Int)
        /// The body could not be written to a file.
        case cannotWrite(String)
        /// The settings of a source contradict each other, as the text describes. No request was
        /// sent.
        case unsuitableSettings(String)
        /// The request has a method, an address or a header field that HTTP does not allow, as the
        /// text describes. It names a field, but not its value. The request was not sent.
        case invalidRequest(String)
    }

    /// The address of the request.
    public let url: URL
    /// How the request failed.
    public let problem: Problem

    /// Creates an error.
    public init(url: URL, problem: Problem) {
        self.url = url
        self.problem = problem
    }
}

extension HTTPError: CustomStringConvertible, CustomDebugStringConvertible, LocalizedError {
    /// The address without secrets, and the problem without text of the response's body.
    public var description: String { "\(url.displayName): \(problem)" }

    /// The address without secrets, and the problem with text of the response's body, which may be
    /// personal data.
    public var debugDescription: String { "\(url.displayName): \(String(reflecting: problem))" }

    /// The same sentence as ``description``.
    public var errorDescription: String? { description }
}

extension HTTPError.Problem: CustomStringConvertible, CustomDebugStringConvertible {
    /// The problem, without text of the response's body.
    public var description: String {
        switch self {
        case .unreachable(let reason, _): return reason
        case .timedOut: return "timed out"
        case .tooSlow(let received, let limit):
            return "too slow: \(received) bytes of the body arrived within \(limit), and not its end"
        case .status(let status, _, let retryAfter):
            let wait = retryAfter.map { ", asks to wait \($0.components.seconds) s" } ?? ""
            let reason =
                switch status {
                case 301, 302, 303, 307, 308: ", a redirect without an address (Location)"
                case 206: ", a part of the body, although all of it was requested"
                case 202: ", a body that is not ready yet"
                case 203: ", a body that was changed on its way"
                case 201, 204, 205: ", without the requested body"
                case 416: ", because the body ends before the requested range"
                case 304: ", although no earlier response was named"
                default: ""
                }
            return "status \(status)\(reason)\(wait)"
        case .emptyBody: return "the body is empty"
        case .cutShort(let received, let expected):
            let all = expected.map { " of \($0)" } ?? ""
            return "the body was cut short after \(received)\(all) bytes"
        case .tooLarge(let limit): return "the body is longer than \(limit) bytes"
        case .notJSON(let firstLine):
            let beginning = firstLine.trimmingCharacters(in: .whitespaces).lowercased()
            let kind = beginning.hasPrefix("<?xml") ? "XML" : beginning.hasPrefix("<") ? "HTML" : "something else"
            return "the body is \(kind), not JSON"
        case .tooManyRedirects(let limit): return "more than \(limit) redirects"
        case .forbiddenAddress(let reason, _): return "leads to an address that \(reason)"
        case .forbiddenDestination(let target): return "no request may go to \(target)"
        case .repeatedPage:
            return "the page has the same objects as the one before it; the server seems to ignore its number"
        case .unsuitablePointer(let keyPath, let found):
            return "the pointer to the next page, \(keyPath), is unsuitable: \(found)"
        case .refused(let sign, _): return "the server reports an error: \(sign)"
        case .malformed(let text): return "the response is unusable: \(text)"
        case .unsuitableJSON(let reason, _): return reason
        case .pageLoop: return "the pages lead back to one that was read"
        case .tooManyPages(let limit): return "more than \(limit) pages"
        case .cannotWrite(let reason): return "cannot write the body: \(reason)"
        case .unsuitableSettings(let text): return text
        case .invalidRequest(let text): return "the request was not sent: \(text)"
        }
    }

    /// The problem with text of the response's body, which may be personal data.
    public var debugDescription: String {
        switch self {
        case .status(_, let text, _), .notJSON(let text), .forbiddenAddress(_, let text), .refused(_, let text),
            .unsuitableJSON(_, let text):
            text.isEmpty ? description : "\(description): \(text)"
        case .unreachable, .timedOut, .tooSlow, .emptyBody, .cutShort, .tooLarge, .tooManyRedirects, .pageLoop,
            .repeatedPage, .unsuitablePointer, .malformed, .tooManyPages, .cannotWrite, .unsuitableSettings,
            .invalidRequest, .forbiddenDestination:
            description
        }
    }
}

extension HTTPError: RetryableError {
    /// Whether a retry can help.
    ///
    /// True after no response, an incomplete body, and the statuses 408, 425, 429 and 5xx except
    /// 501 and 505.
    public var isRetryable: Bool { problem.isRetryable }

    /// The wait that the server requests with `Retry-After`.
    public var retryAfter: Duration? {
        if case .status(_, _, let retryAfter) = problem { retryAfter } else { nil }
    }
}

extension HTTPError.Problem {
    /// Whether a retry can help.
    var isRetryable: Bool {
        switch self {
        case .unreachable(_, let isLasting): !isLasting
        case .timedOut, .tooSlow, .emptyBody, .cutShort: true
        case .status(let status, _, let retryAfter):
            [408, 425, 429].contains(status) || status == 403 && retryAfter != nil
                || status >= 500 && ![501, 505].contains(status)
        case .tooLarge, .notJSON, .tooManyRedirects, .forbiddenAddress, .forbiddenDestination, .pageLoop, .repeatedPage,
            .unsuitablePointer, .refused, .malformed, .unsuitableJSON, .tooManyPages, .cannotWrite, .unsuitableSettings,
            .invalidRequest:
            false
        }
    }
}

extension HTTPError: AreaError {
    package var errorArea: ErrorArea { problem.errorArea }
}

extension HTTPError.Problem: AreaError {
    package var errorArea: ErrorArea {
        switch self {
        case .unsuitableJSON: .data
        case .cannotWrite: .storage
        case .unsuitableSettings, .invalidRequest: .program
        case .unreachable, .timedOut, .tooSlow, .status, .emptyBody, .cutShort, .tooLarge, .notJSON,
            .tooManyRedirects, .forbiddenAddress, .forbiddenDestination, .pageLoop, .repeatedPage, .unsuitablePointer,
            .refused, .malformed, .tooManyPages:
            .server
        }
    }
}
