package import Foundation
public import OneWaySynchronizer
package import SyncBase

/// Sends requests within limits of size, time, redirects and pace, and returns only complete
/// bodies.
///
///     let client = HTTPClient(requestsPerSecond: 10)
///     let bytes = try await client.data(from: url)
///
/// A client needs no store: the processor of a `Synchronizer` can download its items with it.
public final class HTTPClient: Sendable {
    /// Size, time and redirect limits of a request.
    public struct Limits: Sendable, Hashable {
        /// The longest time without any data while the client waits for the server; 30 s by
        /// default.
        ///
        /// It begins anew after the process was suspended or its threads were too busy to listen.
        public var silence: Duration
        /// The longest time in which the client waits for a response, from the sending of the
        /// request to the last byte of its body; 10 min by default.
        ///
        /// A request that takes longer is repeated only where it continues after 1 MiB or more.
        public var requestDuration: Duration
        /// The maximum number of redirects; 5 by default.
        public var redirectCount: Int
        /// The maximum size of a body in bytes, decompressed; 1 GiB by default.
        public var bodyByteCount: Int
        /// The rate in bytes per second that extends `requestDuration` for large bodies; 0, the
        /// default, for no extension.
        ///
        /// The limit grows by the time that the received bytes take at this rate. A slower body is
        /// an error.
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
    /// Which failed requests of a source are repeated, and when.
    public let retry: RetryPolicy
    /// Where requests may go.
    public let destinations: Destinations
    /// The names of query parameters whose values are credentials although their names do not say
    /// so.
    public let secretParameters: Set<String>
    let transport: any HTTPClient.Transport
    let sign: (@Sendable (inout HTTPRequest) async throws -> Void)?
    let pacer: RequestPacer
    package let clock: SyncClock
    /// The time of day.
    package let date: @Sendable () -> Date
    /// Returns a number in 0 ..< 1 that chooses waits within their bounds.
    package let random: @Sendable () -> Double

    /// Creates a client.
    ///
    /// - Parameters:
    ///   - transport: The transport that carries requests; by default ``systemTransport(_:)``.
    ///   - limits: The limits of each request.
    ///   - retry: Which failed requests of a source are repeated, and when. By default, a server
    ///     may be away for 30 s, and its `Retry-After` is followed.
    ///   - destinations: Where requests may go, including redirects and links to further pages;
    ///     anywhere by default.
    ///   - requestsPerSecond: The maximum number of requests that begin per second; nil, the
    ///     default, for no limit.
    ///   - connectionCount: The maximum number of simultaneous requests, at least 1; 4 by default.
    ///   - secretParameters: The names of query parameters whose values are credentials although
    ///     their names do not say so, such as `k`; none by default. Names such as `api_key` and
    ///     `access_token` always count. Messages and bookmarks have no credential.
    ///   - sign: Adds header fields to a complete request, right before it is sent, such as a
    ///     signature; none by default. It is called for each request to the origin of the address
    ///     that the caller gave, also after redirects. Errors do not show the fields that it adds.
    public convenience init(
        transport: any HTTPClient.Transport = HTTPClient.systemTransport(), limits: Limits = Limits(),
        retry: RetryPolicy = RetryPolicy(), destinations: Destinations = .anywhere,
        requestsPerSecond: Double? = nil, connectionCount: Int = 4, secretParameters: Set<String> = [],
        sign: (@Sendable (inout HTTPRequest) async throws -> Void)? = nil
    ) {
        self.init(
            transport: transport, limits: limits, retry: retry, destinations: destinations,
            requestsPerSecond: requestsPerSecond, connectionCount: connectionCount,
            secretParameters: secretParameters, sign: sign, clock: ContinuousClock())
    }

    /// Creates a client with its own sources of time and chance.
    ///
    /// - Parameters:
    ///   - clock: The clock for waits and deadlines.
    ///   - date: Returns the time of day.
    ///   - random: Returns a number in 0 ..< 1 that chooses waits within their bounds.
    package init(
        transport: any HTTPClient.Transport = HTTPClient.systemTransport(), limits: Limits = Limits(),
        retry: RetryPolicy = RetryPolicy(), destinations: Destinations = .anywhere,
        requestsPerSecond: Double? = nil, connectionCount: Int = 4, secretParameters: Set<String> = [],
        sign: (@Sendable (inout HTTPRequest) async throws -> Void)? = nil,
        clock: some Clock<Duration>, date: @escaping @Sendable () -> Date = { Date() },
        random: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) }
    ) {
        self.transport = transport
        self.sign = sign
        self.limits = limits
        self.retry = retry
        self.destinations = destinations
        self.secretParameters = secretParameters
        self.clock = SyncClock(clock)
        self.date = date
        self.random = random
        pacer = RequestPacer(
            connectionCount: connectionCount, requestsPerSecond: requestsPerSecond, clock: self.clock)
    }

    /// Creates the network transport for this system: `HTTPClient.CurlTransport` on Linux if
    /// libcurl is available, otherwise ``HTTPClient/URLSessionTransport``.
    ///
    /// - Parameter options: How the transport connects; by default as the system says.
    public static func systemTransport(
        _ options: HTTPClient.ConnectionOptions = HTTPClient.ConnectionOptions()
    ) -> any HTTPClient.Transport {
        #if os(Linux)
        if let transport = HTTPClient.CurlTransport(options) { return transport }
        #endif
        return HTTPClient.URLSessionTransport(options)
    }
}
