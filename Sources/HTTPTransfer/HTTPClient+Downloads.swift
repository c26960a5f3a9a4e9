public import Foundation
import OneWaySynchronizer
import SyncBase

extension HTTPClient {
    /// Fetches a body, or a range of its bytes, into memory, in one attempt.
    ///
    /// The status must be 200, or 206 for a range. The request declines compression. If the body is
    /// compressed nevertheless, as some object stores do, it is decompressed. This is an error if
    /// the transport cannot detect a truncated compressed body, as with
    /// ``HTTPClient/URLSessionTransport``.
    ///
    /// A range ends with the body if it reaches beyond the body's end: `500..<Int.max` is
    /// everything from byte 500. A range that begins at or behind the end is an error with the
    /// status 416. If the server ignores ranges, the bytes before the range are received and
    /// dropped.
    ///
    /// - Parameters:
    ///   - url: The address, http or https.
    ///   - range: The bytes to fetch, counted from 0; nil, the default, for the whole body.
    ///   - limit: The maximum size in bytes, if it is less than the client's limit; no other limit
    ///     by default.
    ///   - headers: Header fields that only the origin of the address may see; none by default.
    /// - Throws: ``HTTPError``; `CancellationError` as soon as the caller's task is cancelled.
    public func data(
        from url: URL, range: Range<Int>? = nil, limit: Int = .max, headers: HTTPHeaders = HTTPHeaders()
    ) async throws -> [UInt8] {
        guard let range else {
            let fetch = HTTPFetch(HTTPOrder(plain: url, limit: limit, secrets: headers), by: self)
            _ = try await fetch.head()
            var bytes: [UInt8] = []
            while let piece = try await fetch.nextPiece() { bytes += piece }
            return bytes
        }
        guard range.lowerBound >= 0 else {
            throw HTTPError(url: url, problem: .invalidRequest("the range begins before the body"))
        }
        if range.isEmpty { return [] }
        return try await bytes(in: range, of: url, limit: limit, headers: headers)
    }

    private func bytes(
        in range: Range<Int>, of url: URL, limit: Int, headers: HTTPHeaders
    ) async throws -> [UInt8] {
        var order = HTTPOrder(plain: url, limit: limit, secrets: headers)
        let last = range.upperBound == .max ? "" : String(range.upperBound - 1)
        order.request.headers["Range"] = "bytes=\(range.lowerBound)-\(last)"
        let fetch = HTTPFetch(order, by: self)
        let head = try await fetch.head()
        let count: Int
        var surplus = 0
        switch head.status {
        case 206:
            guard let found = head.headers.contentRange, head.headers.contentEncoding == nil,
                found.first == range.lowerBound, found.last < range.upperBound,
                found.total.map({ found.last == min(range.upperBound, $0) - 1 }) ?? true
            else {
                throw HTTPError(url: url, problem: .malformed("the part of the body is not the requested one"))
            }
            count = found.last - found.first + 1
        case 416: throw HTTPError(url: url, problem: .status(416, firstLine: "", retryAfter: nil))
        default:
            surplus = range.lowerBound
            count = range.count
        }
        var bytes: [UInt8] = []
        while bytes.count < count, let piece = try await fetch.nextPiece() {
            bytes += piece.dropFirst(surplus).prefix(count - bytes.count)
            surplus -= min(surplus, piece.count)
        }
        if head.status == 206, bytes.count < count {
            throw HTTPError(url: url, problem: .cutShort(received: bytes.count, expected: count))
        }
        if bytes.isEmpty { throw HTTPError(url: url, problem: .status(416, firstLine: "", retryAfter: nil)) }
        return bytes
    }

    /// Downloads a body into a new file. After an error the file may be incomplete.
    ///
    /// The status must be 200. The request declines compression. If the body is compressed
    /// nevertheless, as some object stores do, it is decompressed. This is an error if the
    /// transport cannot detect a truncated compressed body, as with
    /// ``HTTPClient/URLSessionTransport``.
    ///
    /// An interrupted download continues where it ended (RFC 9110, section 14) if the server
    /// identified the body with a strong entity tag and did not compress it. The continuation must
    /// have the same tag and size, come from the same address after redirects, apart from a
    /// signature, and begin where the file ends; otherwise the whole body is requested again. A
    /// body of known size is complete only at this size. Without a tag there is only one attempt.
    /// An HTTP/1 body with neither a length nor chunks ends with its connection, so its truncation
    /// cannot be detected.
    ///
    /// `retry` limits the attempts for each new mebibyte. Bytes that were received before a
    /// download started over are not new, so a download always ends. If the server requests a wait
    /// (`Retry-After`), all requests of the client wait; a wait longer than
    /// `retry.maxRequestedDelay` is an error. The time limits of a request apply to each attempt,
    /// not to the download as a whole.
    ///
    /// - Parameters:
    ///   - url: The address, http or https.
    ///   - file: The file, which must not exist yet.
    ///   - headers: Header fields that only the origin of the address may see; none by default.
    /// - Returns: The size of the body in bytes.
    /// - Throws: ``HTTPError``; `CancellationError` as soon as the caller's task is cancelled.
    public func download(from url: URL, to file: URL, headers: HTTPHeaders = HTTPHeaders()) async throws -> Int {
        let sink = try FileSink(file, of: url)
        let resumption = Resumption()
        guard
            case .whole(let byteCount, _) = try await download(url, into: sink, resuming: resumption, headers: headers)
        else {
            // Only a conditional request has this end.
            throw HTTPError(url: url, problem: .status(304, firstLine: "", retryAfter: nil))
        }
        try sink.close()
        return byteCount
    }

    /// Downloads a body into a sink, as ``download(from:to:headers:)`` does.
    ///
    /// - Parameters:
    ///   - url: The address, http or https.
    ///   - sink: Receives the body.
    ///   - resumption: What the sink already has.
    ///   - condition: The condition of a request for a sink that has nothing; none by default.
    ///   - headers: Header fields that only the origin of the address may see.
    ///   - limit: The maximum size in bytes, if it is less than the client's limit.
    ///   - ownEncodings: The encodings in which the body is received as it is; none by default.
    ///   - isRepeated: Whether the caller makes further attempts. This one then continues only
    ///     after each new mebibyte, and requests the whole body once if a part has no continuation;
    ///     false by default.
    package func download(
        _ url: URL, into sink: some DownloadSink, resuming resumption: Resumption,
        condition: DownloadCondition? = nil, headers: HTTPHeaders, limit: Int = .max,
        ownEncodings: Set<String> = [], isRepeated: Bool = false
    ) async throws -> DownloadEnd {
        var (resumption, condition) = (resumption, condition)
        var hasStartedOver = false
        let retries = RequestRetries(by: self, byteCount: resumption.byteCount)
        let limit = min(limit, limits.bodyByteCount)
        while true {
            do {
                var order = HTTPOrder(plain: url, limit: .max, secrets: headers)
                order.request.ownEncodings = ownEncodings
                let continuation = resumption.headers
                order.request.headers.merge(
                    continuation == HTTPHeaders() ? condition?.headers ?? HTTPHeaders() : continuation)
                let fetch = HTTPFetch(order, by: self)
                let head = try await fetch.head()
                if head.status == 304, let asked = condition {
                    if asked.isAbout(head.url) { return .notModified }
                    // Another body has an equal tag or date.
                    condition = nil
                    continue
                }
                if case .startOver = resumption.take(status: head.status, headers: head.headers, from: head.url) {
                    // The caller's next attempt would ask for the same continuation.
                    if isRepeated, !hasStartedOver {
                        hasStartedOver = true
                        continue
                    }
                    throw resumption.brokenOff(at: url)
                }
                if let total = resumption.total, total > limit {
                    throw HTTPError(url: url, problem: .tooLarge(limit: limit))
                }
                try sink.begin(resumption)
                while let piece = try await fetch.nextPiece() {
                    resumption.receive(piece.count)
                    guard resumption.byteCount <= limit else {
                        throw HTTPError(url: url, problem: .tooLarge(limit: limit))
                    }
                    try sink.write(piece, resumption)
                }
                guard resumption.isWhole else { throw resumption.brokenOff(at: url) }
                return .whole(byteCount: resumption.byteCount, head)
            } catch let error as HTTPError where resumption.canGoOn {
                try await retries.wait(after: error, byteCount: resumption.byteCount, needsProgress: isRepeated)
            }
        }
    }

    /// Requests the head of a response, in one attempt.
    ///
    /// - Parameters:
    ///   - url: The address, http or https.
    ///   - method: The method; by default one whose response has no body. A body is not received.
    ///   - condition: The header fields of a conditional request. The status can then be 304.
    ///   - headers: Header fields that only the origin of the address may see.
    package func head(
        of url: URL, by method: String = "HEAD", condition: HTTPHeaders, headers: HTTPHeaders
    ) async throws -> HTTPHead {
        var order = HTTPOrder(plain: url, limit: .max, secrets: headers)
        order.request.method = method
        order.request.headers.merge(condition)
        return try await HTTPFetch(order, by: self).head()
    }
}

/// The condition of a request for a body of which the caller has a version (RFC 9110, section 13).
package struct DownloadCondition: Sendable {
    /// The header fields.
    package let headers: HTTPHeaders
    /// The ``ContentAddress/mark(of:)`` of the address that the version came from, after redirects.
    private let address: String

    package init(_ headers: HTTPHeaders, at address: String) {
        self.headers = headers
        self.address = address
    }

    /// Whether a response from an address is about the same body. Tags and dates of bodies at other
    /// addresses can be equal.
    package func isAbout(_ url: URL) -> Bool { address == ContentAddress.mark(of: url) }
}

/// How a download ended.
package enum DownloadEnd: Sendable {
    /// The sink has the whole body, and the last response had this head.
    case whole(byteCount: Int, HTTPHead)
    /// The condition of the request was not met (status 304).
    case notModified
}

/// Receives the body of a download.
package protocol DownloadSink: Sendable {
    /// Called before the body of each response, which begins at `resumption.byteCount`. Bytes from
    /// there on are dropped.
    func begin(_ resumption: Resumption) throws

    /// Appends a piece of the body.
    ///
    /// - Parameter resumption: What the sink has with this piece.
    func write(_ piece: [UInt8], _ resumption: Resumption) throws
}

/// A new file that receives a download.
private struct FileSink: DownloadSink {
    let url: URL
    let handle: FileHandle

    init(_ file: URL, of url: URL) throws {
        self.url = url
        do {
            try Data().write(to: file, options: .withoutOverwriting)
            handle = try FileHandle(forWritingTo: file)
        } catch {
            throw HTTPError(url: url, problem: .cannotWrite(error.localizedDescription))
        }
    }

    func begin(_ resumption: Resumption) throws {
        try attempt { try handle.truncate(atOffset: UInt64(resumption.byteCount)) }
    }

    func write(_ piece: [UInt8], _ resumption: Resumption) throws {
        try attempt { try handle.write(contentsOf: piece) }
    }

    func close() throws {
        try attempt { try handle.close() }
    }

    private func attempt(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch {
            throw HTTPError(url: url, problem: .cannotWrite(error.localizedDescription))
        }
    }
}

extension Resumption {
    /// The error of a download that is interrupted now.
    fileprivate func brokenOff(at url: URL) -> HTTPError {
        HTTPError(url: url, problem: .cutShort(received: byteCount, expected: total))
    }
}
