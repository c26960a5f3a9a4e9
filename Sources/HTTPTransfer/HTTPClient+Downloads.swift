public import Foundation
import OneWaySynchronizer
import SyncBase

extension HTTPClient {
    /// Fetches a body into memory, in one attempt.
    ///
    /// - Parameters:
    ///   - url: The address, http or https.
    ///   - limit: The maximum size in bytes, if it is less than the client's limit.
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
    /// A download that breaks off is continued where it ended (RFC 9110, section 14), as often as
    /// `retry` allows without any progress, if the server identified the body by a strong entity
    /// tag. Otherwise there is one attempt.
    ///
    /// - Parameters:
    ///   - url: The address, http or https.
    ///   - file: The file, which does not exist yet.
    ///   - headers: Header fields that only the origin of the address may see; none by default.
    /// - Returns: The number of bytes.
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
        var byteCount = 0
        var tag: String?
        var attempt = 1
        while true {
            let begin = byteCount
            do {
                var order = HTTPOrder(plain: url, limit: .max, secrets: headers)
                if let tag, byteCount > 0 {
                    order.request.headers["Range"] = "bytes=\(byteCount)-"
                    order.request.headers["If-Range"] = tag
                }
                let fetch = HTTPFetch(order, by: self)
                let head = try await fetch.head()
                if head.status == 206 {
                    guard head.headers["Content-Range"]?.hasPrefix("bytes \(byteCount)-") == true else {
                        throw HTTPError(url: url, problem: .malformed("another range than asked for"))
                    }
                } else {
                    // The whole body again, because it has changed, or because the server has no
                    // ranges.
                    try writing { try handle.truncate(atOffset: 0) }
                    byteCount = 0
                }
                tag = head.headers["ETag"].flatMap { $0.hasPrefix("W/") ? nil : $0 }
                while let piece = try await fetch.nextPiece() {
                    try writing { try handle.write(contentsOf: piece) }
                    byteCount += piece.count
                    guard byteCount <= limits.bodyByteCount else {
                        throw HTTPError(url: url, problem: .tooLarge(limit: limits.bodyByteCount))
                    }
                }
                try writing { try handle.close() }
                return byteCount
            } catch let error as HTTPError where error.canContinue && tag != nil && byteCount > 0 {
                attempt = byteCount > begin ? 1 : attempt + 1
                guard let delay = retry.delay(afterAttempt: attempt, error: error, random: random()) else {
                    throw error
                }
                try await clock.sleep(delay)
            }
        }
    }
}

extension HTTPError {
    /// Whether a download that failed so can be continued.
    fileprivate var canContinue: Bool {
        switch problem {
        case .cutShort, .timedOut, .unreachable(_, isLasting: false): true
        default: false
        }
    }
}
