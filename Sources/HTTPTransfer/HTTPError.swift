public import Foundation
public import OneWaySynchronizer

/// The failure of one request.
///
/// The description is one line that names the address without its secrets.
public struct HTTPError: Error, Sendable, Equatable {
    /// The ways in which a request can fail.
    public enum Problem: Error, Sendable, Equatable {
        /// No response arrived, for the reason in the text. `isLasting` is true if a retry cannot
        /// help, as with an untrusted certificate.
        case unreachable(String, isLasting: Bool)
        /// No data arrived for too long, or the request as a whole took too long.
        case timedOut
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
        /// A redirect or a link to the next page is not http or https, or leaves https.
        case forbiddenAddress(String)
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
        /// The response is a success, but its body reports an error with this text.
        case refused(String)
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

extension HTTPError: CustomStringConvertible {
    /// The address without secrets, and the problem.
    public var description: String {
        let name = url.displayName
        switch problem {
        case .unreachable(let reason, _): return "\(name): \(reason)"
        case .timedOut: return "\(name): timed out"
        case .status(let status, let firstLine, let retryAfter):
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
            return "\(name): status \(status)\(reason)\(wait)" + (firstLine.isEmpty ? "" : ": \(firstLine)")
        case .emptyBody: return "\(name): the body is empty"
        case .cutShort(let received, let expected):
            let all = expected.map { " of \($0)" } ?? ""
            return "\(name): the body was cut short after \(received)\(all) bytes"
        case .tooLarge(let limit): return "\(name): the body is longer than \(limit) bytes"
        case .notJSON(let firstLine):
            let beginning = firstLine.trimmingCharacters(in: .whitespaces).lowercased()
            let kind = beginning.hasPrefix("<?xml") ? "XML" : beginning.hasPrefix("<") ? "HTML" : "something else"
            return "\(name): the body is \(kind), not JSON: \(firstLine)"
        case .tooManyRedirects(let limit): return "\(name): more than \(limit) redirects"
        case .forbiddenAddress(let target):
            return "\(name): leads to \(target)"
        case .forbiddenDestination(let target): return "\(name): no request may go to \(target)"
        case .repeatedPage:
            return "\(name): the page has the same objects as the one before it; the server seems to ignore its number"
        case .unsuitablePointer(let keyPath, let found):
            return "\(name): the pointer to the next page, \(keyPath), is unsuitable: \(found)"
        case .refused(let text): return "\(name): the server reports an error: \(text)"
        case .malformed(let text): return "\(name): the response is unusable: \(text)"
        case .unsuitableJSON(let reason, let firstLine): return "\(name): \(reason): \(firstLine)"
        case .pageLoop: return "\(name): the pages lead back to one that was read"
        case .tooManyPages(let limit): return "\(name): more than \(limit) pages"
        case .cannotWrite(let reason): return "\(name): cannot write the body: \(reason)"
        case .unsuitableSettings(let text): return "\(name): \(text)"
        case .invalidRequest(let text): return "\(name): the request was not sent: \(text)"
        }
    }
}

extension HTTPError: RetryableError {
    /// Whether a retry can help.
    ///
    /// True after no response, an incomplete body, and the statuses 408, 425, 429 and 5xx except
    /// 501 and 505.
    public var isRetryable: Bool {
        switch problem {
        case .unreachable(_, let isLasting): !isLasting
        case .timedOut, .emptyBody, .cutShort: true
        case .status(let status, _, _):
            [408, 425, 429].contains(status) || status == 403 && retryAfter != nil
                || status >= 500 && ![501, 505].contains(status)
        case .tooLarge, .notJSON, .tooManyRedirects, .forbiddenAddress, .forbiddenDestination, .pageLoop, .repeatedPage,
            .unsuitablePointer, .refused, .malformed, .unsuitableJSON, .tooManyPages, .cannotWrite, .unsuitableSettings,
            .invalidRequest:
            false
        }
    }

    /// The wait that the server requests with `Retry-After`.
    public var retryAfter: Duration? {
        if case .status(_, _, let retryAfter) = problem { retryAfter } else { nil }
    }
}

extension HTTPError: LocalizedError {
    /// The same sentence as ``description``.
    public var errorDescription: String? { description }
}
