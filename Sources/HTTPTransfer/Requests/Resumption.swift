package import Foundation

/// The progress of a download, and the decision whether a response continues it (RFC 9110, sections
/// 14 and 15.3.7).
///
/// Bytes of two versions of a body must not be mixed in one file. A partial response therefore
/// continues a download only if it has the strong entity tag of the first response and comes from
/// the same address, begins where the download was interrupted, and states the same size of the
/// whole body. A compressed body is not continued, nor one that changed less than a second before
/// the response: servers of files derive the tag from the size and the date in seconds.
package struct Resumption: Hashable, Sendable {
    /// How a response is used.
    package enum Decision: Hashable, Sendable {
        /// Its body follows the received bytes.
        case append
        /// Its body is complete and replaces the received bytes.
        case replace
        /// Its body is not usable. The next request asks for the whole body.
        case startOver
    }

    /// The number of bytes received.
    package private(set) var byteCount = 0
    /// The size of the whole body; nil if it is not known.
    package private(set) var total: Int?
    /// The strong entity tag of the received bytes; nil if they cannot be continued.
    package private(set) var tag: BodyTag?
    /// Whether another request can help after an interruption: one for the rest, or for the whole
    /// body if it turns out that there is no rest.
    package private(set) var canGoOn = false

    /// Creates the progress of a download that has nothing yet.
    package init() {}

    /// Creates the progress of an earlier download that is continued.
    ///
    /// - Parameters:
    ///   - byteCount: The number of bytes received.
    ///   - total: The size of the whole body; nil if it is not known.
    ///   - tag: The strong entity tag of the received bytes.
    package init(byteCount: Int, total: Int?, tag: BodyTag) {
        self.byteCount = byteCount
        self.total = total
        self.tag = tag
        canGoOn = true
    }

    /// The header fields of the next request; none to request the whole body.
    package var headers: HTTPHeaders {
        guard let tag, byteCount > 0 else { return HTTPHeaders() }
        return ["Range": "bytes=\(byteCount)-", "If-Range": tag.text]
    }

    /// Whether the body is complete, if its size is known; true otherwise.
    package var isWhole: Bool { total.map { $0 == byteCount } ?? true }

    /// Processes the head of a response to a request with ``headers``, before its body.
    ///
    /// - Parameter url: The address that the response came from, after redirects.
    package mutating func take(status: Int, headers: HTTPHeaders, from url: URL) -> Decision {
        // Lengths and ranges of a compressed body refer to compressed bytes.
        let isPlain = headers.contentEncoding == nil
        let tag = headers.returnable("ETag").flatMap { text in
            text.hasPrefix("W/") || !isPlain || headers.isJustModified ? nil : BodyTag(text, at: url)
        }
        if status == 200 {
            byteCount = 0
            // A length in addition to chunks is invalid (RFC 9112, section 6.3).
            let isLength = isPlain && headers["Transfer-Encoding"] == nil
            total = isLength ? headers["Content-Length"].flatMap { Int($0) } : nil
            self.tag = tag
            return .replace
        }
        guard status == 206, let tag, tag == self.tag,
            headers["Content-Type"]?.lowercased().hasPrefix("multipart/") != true,
            let range = headers.contentRange, range.first == byteCount,
            let whole = range.total ?? total, whole == total ?? whole, range.last < whole
        else {
            self.tag = nil
            return .startOver
        }
        total = whole
        return .append
    }

    /// Records bytes that were written.
    package mutating func receive(_ count: Int) {
        byteCount += count
        if tag != nil, byteCount > 0 { canGoOn = true }
        // More bytes than the size: some of them belong to another body.
        if let total, byteCount > total { tag = nil }
    }
}

extension HTTPHeaders {
    /// Whether the body changed less than a second before the response, so that it could change
    /// again and keep its validators (RFC 9110, section 8.8.2.2).
    package var isJustModified: Bool {
        guard let modified = self["Last-Modified"].flatMap({ HTTPDate.parse($0) }),
            let date = self["Date"].flatMap({ HTTPDate.parse($0) })
        else { return false }
        return date.timeIntervalSince(modified) < 1
    }

    /// Whether `Content-Range` counts items, as in `items 0-19/95` and `0-999/2500`. The body is
    /// then a whole page of a list, not a part of a body.
    var hasRangeOfItems: Bool {
        guard let range = self["Content-Range"]?.drop(while: \.isWhitespace), !range.isEmpty else { return false }
        return !range.lowercased().hasPrefix("bytes")
    }

    /// The value of `Content-Range`, such as `bytes 50-99/100` or `bytes 50-99/*` (RFC 9110,
    /// section 14.4); nil if there is none.
    var contentRange: (first: Int, last: Int, total: Int?)? {
        let words = (self["Content-Range"] ?? "").split(separator: " ")
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let parts = words[1].split(separator: "/", omittingEmptySubsequences: false)
        let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
        guard parts.count == 2, ends.count == 2, let first = ends[0], let last = ends[1], first <= last else {
            return nil
        }
        let total = Int(parts[1])
        return total != nil || parts[1] == "*" ? (first, last, total) : nil
    }
}
