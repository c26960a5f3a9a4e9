public import Foundation

/// Carries one request to a server and its response back: no redirects, no retries, no limits, which are an ``HTTPClient``'s business.
///
/// ``URLSessionTransport`` is the one that goes over a network; another can answer without one, in a test for example.
public protocol HTTPTransport: Sendable {
    /// Sends a GET request.
    ///
    /// - Returns: The response, as soon as its head has come. Whoever does not read its body to the end lets go of it, and the transport ends the
    ///   exchange then.
    /// - Throws: ``HTTPError/Problem`` where there is no response; `CancellationError`.
    func send(_ request: HTTPRequest) async throws -> HTTPResponse
}

/// A GET request.
public struct HTTPRequest: Hashable, Sendable {
    /// The address, http or https.
    public var url: URL
    /// The header fields beside those that the transport adds.
    public var headers: HTTPHeaders

    /// Makes a request.
    public init(_ url: URL, headers: HTTPHeaders = HTTPHeaders()) {
        self.url = url
        self.headers = headers
    }
}

/// A response: its head, and a body that arrives while it is read.
public struct HTTPResponse: Sendable {
    /// The pieces of a body, of any size. It throws ``HTTPError/Problem`` where the body ends too early.
    public typealias Body = any AsyncSequence<[UInt8], any Error> & Sendable

    /// The status code, 100 to 599.
    public var status: Int
    /// The header fields.
    public var headers: HTTPHeaders
    /// The body, decompressed; read at most once.
    public var body: Body

    /// Makes a response with a body that arrives over time.
    public init(status: Int, headers: HTTPHeaders = HTTPHeaders(), body: Body) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// Makes a response with a body that is there already.
    public init(status: Int, headers: HTTPHeaders = HTTPHeaders(), bytes: [UInt8] = []) {
        let body = AsyncThrowingStream<[UInt8], any Error> { continuation in
            if !bytes.isEmpty { continuation.yield(bytes) }
            continuation.finish()
        }
        self.init(status: status, headers: headers, body: body)
    }
}
