package import Foundation

/// A request with everything the client needs to perform it.
package struct HTTPOrder<Inspector: BodyInspector>: Sendable {
    package var request: HTTPRequest
    /// Header fields that only one origin may receive.
    let secrets: @Sendable () async throws -> HTTPHeaders
    /// The address whose origin may receive the secrets.
    let source: URL
    /// Whether a body that is not JSON is an error.
    package var expectsJSON = false
    /// The retries of a body whose rest is requested if it breaks off; nil for a body that the
    /// caller continues, or that cannot be continued.
    package var retries: RequestRetries?
    /// The maximum size of the body in bytes, if it is less than the client's limit.
    package var byteLimit = Int.max
    /// When the request must have ended, by the client's clock; nil for no limit.
    package var deadline: Duration?
    /// Whether the body must be exactly the one at the address.
    ///
    /// Its status must be 200, and it must not be compressed unless the transport detects a
    /// truncated compressed body.
    package var isExact = false
    /// Whether the response continues for as long as the server wants.
    ///
    /// Only silence ends it, and it does not count as one of the client's connections.
    package var isStream = false
    /// The longest time without any data; nil for the client's limit.
    package var silence: Duration?
    /// Creates the inspector of the body; nil if none is needed.
    package var makeInspector: @Sendable () -> Inspector?

    /// Creates an order for JSON.
    ///
    /// - Parameters:
    ///   - secrets: The header fields that only the origin of `source` may receive.
    ///   - source: The address that the user gave for this or an earlier request. Its user name and
    ///     password apply to every address of its origin.
    ///   - retries: The retries of the JSON, which count requests for its rest too.
    package init(
        json request: HTTPRequest, secrets: @escaping @Sendable () async throws -> HTTPHeaders, source: URL,
        retries: RequestRetries, makeInspector: @escaping @Sendable () -> Inspector?
    ) {
        self.init(request, secrets, source, makeInspector)
        expectsJSON = true
        deadline = retries.deadline
        // Methods other than GET have no ranges (RFC 9110, section 14.2).
        if request.method == "GET" { self.retries = retries }
    }

    private init(
        _ request: HTTPRequest, _ secrets: @escaping @Sendable () async throws -> HTTPHeaders, _ source: URL,
        _ makeInspector: @escaping @Sendable () -> Inspector?
    ) {
        self.request = request
        let authorization = source.authorization
        if authorization == HTTPHeaders() {
            self.secrets = secrets
        } else {
            self.secrets = {
                var headers = authorization
                headers.merge(try await secrets())
                return headers
            }
        }
        self.source = source
        self.makeInspector = makeInspector
    }
}

extension HTTPOrder where Inspector == NoInspector {
    /// Creates an order for a body that continues for as long as the server wants.
    package init(
        stream request: HTTPRequest, secrets: @escaping @Sendable () async throws -> HTTPHeaders, source: URL,
        silence: Duration
    ) {
        self.init(request, secrets, source, { nil })
        self.silence = silence
        isStream = true
    }
}

extension HTTPOrder where Inspector == NoInspector {
    /// Creates an order for an unchanged body, which requests that it not be compressed in transit.
    package init(plain url: URL, limit: Int, secrets: HTTPHeaders = HTTPHeaders()) {
        self.init(HTTPRequest(url, headers: ["Accept-Encoding": "identity"]), { secrets }, url, { nil })
        isExact = true
        byteLimit = limit
    }
}
