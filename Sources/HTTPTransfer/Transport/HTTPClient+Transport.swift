extension HTTPClient {
    /// Carries a request to a server and its response back.
    ///
    /// A transport does not follow redirects, retry requests or enforce limits; an ``HTTPClient``
    /// does. A client sends only requests whose method, address and header fields are valid; a
    /// network transport of this module checks this too. If ``HTTPRequest/requiresPublicAddress``
    /// is set, a client has checked the host in the address, and a network transport checks to
    /// which address it connects. ``HTTPClient/URLSessionTransport`` uses a network. Another
    /// transport can respond without one, for example in a test.
    public protocol Transport: Sendable {
        /// Sends a request.
        ///
        /// - Returns: The response, as soon as its head has arrived. The transport ends the
        ///   exchange when the last reference to the body is released, even if the body was not
        ///   read to its end.
        /// - Throws: ``HTTPError/Problem`` if there is no response; `CancellationError`.
        func send(_ request: HTTPRequest) async throws -> HTTPResponse
    }
}
