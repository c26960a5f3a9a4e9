public import Foundation
import OneWaySynchronizer
import SyncBase

extension HTTPClient {
    /// Fetches a body into memory, in one attempt.
    ///
    /// The status must be 200. The request declines compression. If the body is compressed
    /// nevertheless, as some object stores do, it is decompressed. This is an error if the
    /// transport cannot detect a truncated compressed body, as with ``URLSessionTransport``.
    ///
    /// - Parameters:
    ///   - url: The address, http or https.
    ///   - limit: The maximum size in bytes, if it is less than the client's limit; no other limit
    ///     by default.
    ///   - headers: Header fields that only the origin of the address may see; none by default.
    /// - Throws: ``HTTPError``; `CancellationError` as soon as the caller's task is cancelled.
    public func data(from url: URL, limit: Int = .max, headers: HTTPHeaders = HTTPHeaders()) async throws -> [UInt8] {
        let fetch = HTTPFetch(HTTPOrder(plain: url, limit: limit, secrets: headers), by: self)
        _ = try await fetch.head()
        var bytes: [UInt8] = []
        while let piece = try await fetch.nextPiece() { bytes += piece }
        return bytes
    }

    /// Downloads a body into a new file. After an error the file may be incomplete.
    ///
    /// The status must be 200. The request declines compression. If the body is compressed
    /// nevertheless, as some object stores do, it is decompressed. This is an error if the
    /// transport cannot detect a truncated compressed body, as with ``URLSessionTransport``.
    ///
    /// An interrupted download continues where it ended (RFC 9110, section 14) if the server
    /// identified the body with a strong entity tag and did not compress it. The continuation must
    /// have the same tag and size, and begin where the file ends; otherwise the whole body is
    /// requested again. A body of known size is complete only at this size. Without a tag there is
    /// only one attempt. An HTTP/1 body with neither a length nor chunks ends with its connection,
    /// so its truncation cannot be detected.
    ///
    /// `retry` limits the attempts for each new mebibyte. Bytes that were received before a
    /// download started over are not new, so a download always ends. The time limits of a request
    /// apply to each attempt, not to the download as a whole.
    ///
    /// - Parameters:
    ///   - url: The address, http or https.
    ///   - file: The file, which must not exist yet.
    ///   - headers: Header fields that only the origin of the address may see; none by default.
    /// - Returns: The size of the body in bytes.
    /// - Throws: ``HTTPError``; `CancellationError` as soon as the caller's task is cancelled.
    public func download(from url: URL, to file: URL, headers: HTTPHeaders = HTTPHeaders()) async throws -> Int {
        func writing<Result>(_ body: () throws -> Result) throws(HTTPError) -> Result {
            do {
                return try body()
            } catch {
                throw HTTPError(url: url, problem: .cannotWrite(error.localizedDescription))
            }
        }
        let handle = try writing {
            try Data().write(to: file, options: .withoutOverwriting)
            return try FileHandle(forWritingTo: file)
        }
        defer { try? handle.close() }
        var resumption = Resumption()
        while true {
            do {
                var order = HTTPOrder(plain: url, limit: .max, secrets: headers)
                order.request.headers.merge(resumption.headers)
                let fetch = HTTPFetch(order, by: self)
                let head = try await fetch.head()
                switch resumption.take(status: head.status, headers: head.headers) {
                case .append: break
                case .replace: try writing { try handle.truncate(atOffset: 0) }
                case .startOver: throw resumption.brokenOff(at: url)
                }
                while let piece = try await fetch.nextPiece() {
                    try writing { try handle.write(contentsOf: piece) }
                    resumption.receive(piece.count)
                    guard resumption.byteCount <= limits.bodyByteCount else {
                        throw HTTPError(url: url, problem: .tooLarge(limit: limits.bodyByteCount))
                    }
                }
                guard resumption.isWhole else { throw resumption.brokenOff(at: url) }
                try writing { try handle.close() }
                return resumption.byteCount
            } catch let error as HTTPError where error.canContinue && resumption.canGoOn {
                let attempt = resumption.fail()
                guard let delay = retry.delay(afterAttempt: attempt, error: error, random: random()) else {
                    throw error
                }
                try await clock.sleep(delay)
            }
        }
    }
}

extension Resumption {
    /// The error of a download that is interrupted now.
    fileprivate func brokenOff(at url: URL) -> HTTPError {
        HTTPError(url: url, problem: .cutShort(received: byteCount, expected: total))
    }
}

extension HTTPError {
    /// Whether a download that failed with this error can be continued.
    fileprivate var canContinue: Bool {
        switch problem {
        case .cutShort, .timedOut, .unreachable(_, isLasting: false): true
        default: false
        }
    }
}
