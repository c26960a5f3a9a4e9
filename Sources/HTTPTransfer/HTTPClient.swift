public import Foundation
public import OneWaySynchronizer
package import SyncBase

/// Sends requests within limits of size, time, redirects and pace, and returns only complete
/// bodies.
///
///     let client = HTTPClient(requestsPerSecond: 10)
///     let bytes = try await client.data(from: url)
///
/// A client needs no store: the processor of a `Synchronizer` can download its items with one.
public final class HTTPClient: Sendable {
    /// Size, time and redirect limits of a request.
    public struct Limits: Sendable, Hashable {
        /// How long nothing at all may arrive while the server is waited for; 30 s by default.
        public var silence: Duration
        /// How long a request may take, from its sending to the last byte of its body; 10 min by
        /// default.
        public var requestDuration: Duration
        /// How many redirects are followed; 5 by default.
        public var redirectCount: Int
        /// The maximum size of a body in bytes, decompressed; 1 GiB by default.
        public var bodyByteCount: Int
        /// The bytes per second for which a body may take longer than `requestDuration`; 0, the
        /// default, for no exception. A slower body is an error.
        public var slowestByteRate: Int

        /// Creates limits.
        public init(
            silence: Duration = .seconds(30), requestDuration: Duration = .seconds(600), redirectCount: Int = 5,
            bodyByteCount: Int = 1 << 30, slowestByteRate: Int = 0
        ) {
            self.silence = silence
            self.requestDuration = requestDuration
            self.redirectCount = redirectCount
            self.bodyByteCount = bodyByteCount
            self.slowestByteRate = slowestByteRate
        }
    }

    /// The limits of each request.
    public let limits: Limits
    /// Which failed requests of a source are sent again, and when.
    public let retry: RetryPolicy
    let transport: any HTTPTransport
    package let pacer: RequestPacer
    package let clock: SyncClock
    /// The time of day.
    package let date: @Sendable () -> Date
    /// A number in 0 ..< 1, which chooses waits within their bounds.
    package let random: @Sendable () -> Double

    /// Creates a client.
    ///
    /// - Parameters:
    ///   - transport: The transport that carries requests; by default ``systemTransport()``.
    ///   - limits: The limits of each request.
    ///   - retry: Which failed requests of a source are sent again, and when. By default five
    ///     attempts with full jitter, no earlier than the server's `Retry-After`.
    ///   - requestsPerSecond: The maximum number of requests that begin per second. Nil, the
    ///     default, for any number.
    ///   - connectionCount: The maximum number of requests at once, at least 1; 4 by default.
    ///   - clock: The clock of waits and deadlines.
    ///   - date: The time of day.
    ///   - random: A number in 0 ..< 1, which chooses waits within their bounds.
    public init(
        transport: any HTTPTransport = HTTPClient.systemTransport(), limits: Limits = Limits(),
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

    /// Creates the transport over a network that suits the system best: `CurlTransport` on Linux if
    /// there is a libcurl, and ``URLSessionTransport`` elsewhere.
    public static func systemTransport() -> any HTTPTransport {
        #if os(Linux)
        if let transport = CurlTransport() { return transport }
        #endif
        return URLSessionTransport()
    }
}
