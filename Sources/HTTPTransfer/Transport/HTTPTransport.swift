/// Carries a request to a server and its response back.
///
/// A transport does not redirect, retry or limit anything; an ``HTTPClient`` does.
/// ``URLSessionTransport`` goes over a network. Another transport can answer without one, for
/// example in a test.
public protocol HTTPTransport: Sendable {
    /// Sends a request.
    ///
    /// - Returns: The response, as soon as its head has arrived. The transport ends the exchange
    ///   when the last reference to the body is gone, even if the body was not read to its end.
    /// - Throws: ``HTTPError/Problem`` if there is no response; `CancellationError`.
    func send(_ request: HTTPRequest) async throws -> HTTPResponse
}
