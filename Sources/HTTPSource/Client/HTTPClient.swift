import SyncBase
public import Foundation
public import OneWaySynchronizer

/// Fetches over HTTP: so many requests at once and a second, each bounded in size, in time and in redirects, and never a body that is not whole.
public final class HTTPClient: Sendable {
    /// What the client puts up with.
    public struct Limits: Sendable, Hashable {
        /// How long nothing at all may arrive while something is waited for; 30 s by default.
        public var silence: Duration
        /// How long a request may take, from its sending to the last byte of its body; 10 min by default.
        public var requestDuration: Duration
        /// How many redirects are followed; 5 by default.
        public var redirectCount: Int
        /// The longest body, decompressed, in bytes; 1 GiB by default.
        public var bodyByteCount: Int

        /// Makes limits; what is left out keeps its default.
        public init(
            silence: Duration = .seconds(30), requestDuration: Duration = .seconds(600), redirectCount: Int = 5,
            bodyByteCount: Int = 1 << 30
        ) {
            self.silence = silence
            self.requestDuration = requestDuration
            self.redirectCount = redirectCount
            self.bodyByteCount = bodyByteCount
        }
    }

    /// What the client puts up with.
    public let limits: Limits
    /// Which failed requests of a source are made again, and when.
    public let retry: RetryPolicy
    let transport: any HTTPTransport
    let pacer: RequestPacer
    let clock: SyncClock
    /// The time of day.
    let date: @Sendable () -> Date
    /// A number in 0 ..< 1, which chooses waits within their bounds.
    let random: @Sendable () -> Double

    /// Makes a client.
    ///
    /// - Parameters:
    ///   - transport: What carries requests.
    ///   - limits: What the client puts up with.
    ///   - retry: Which failed requests of a source are made again, and when; five attempts by default, with full jitter, as long after as the server
    ///     says.
    ///   - requestsPerSecond: How many requests may begin within a second; nil, the default, for any number.
    ///   - connectionCount: How many requests may run at once; 4 by default, at least 1.
    ///   - clock: What waits and deadlines go by.
    ///   - date: The time of day.
    ///   - random: A number in 0 ..< 1, which chooses waits within their bounds.
    public init(
        transport: any HTTPTransport = URLSessionTransport(), limits: Limits = Limits(),
        retry: RetryPolicy = RetryPolicy(maxAttempts: 5), requestsPerSecond: Double? = nil, connectionCount: Int = 4,
        clock: some Clock<Duration> = ContinuousClock(), date: @escaping @Sendable () -> Date = { Date() },
        random: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) }
    ) {
        self.transport = transport
        self.limits = limits
        self.retry = retry
        self.clock = SyncClock(clock)
        self.date = date
        self.random = random
        pacer = RequestPacer(
            connectionCount: connectionCount, requestsPerSecond: requestsPerSecond, clock: self.clock)
    }

    /// Fetches a body into memory, in one attempt.
    ///
    /// - Parameters:
    ///   - url: Its address, http or https.
    ///   - limit: How many bytes it may have, if that is less than the client's limit.
    /// - Throws: ``HTTPError``; `CancellationError` as soon as the caller's task is cancelled.
    public func data(from url: URL, limit: Int = .max) async throws -> [UInt8] {
        let fetch = HTTPFetch(.plain(url, limit: limit), by: self)
        _ = try await fetch.head()
        var bytes: [UInt8] = []
        while let piece = try await fetch.nextPiece() { bytes += piece }
        return bytes
    }

    /// Fetches a body into a file, which must not exist yet, in one attempt; after an error the file may be there, half written.
    ///
    /// - Returns: The number of bytes.
    /// - Throws: ``HTTPError``; `CancellationError` as soon as the caller's task is cancelled.
    public func download(from url: URL, to file: URL) async throws -> Int {
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
        let fetch = HTTPFetch(.plain(url, limit: .max), by: self)
        _ = try await fetch.head()
        var byteCount = 0
        while let piece = try await fetch.nextPiece() {
            try writing { try handle.write(contentsOf: piece) }
            byteCount += piece.count
        }
        try writing { try handle.close() }
        return byteCount
    }
}
