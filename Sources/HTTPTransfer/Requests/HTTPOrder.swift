package import Foundation

/// A request, with everything the client must know to perform it.
package struct HTTPOrder<Inspector: BodyInspector>: Sendable {
    package var request: HTTPRequest
    /// Header fields that only one origin may see.
    package var secrets: @Sendable () async throws -> HTTPHeaders = { HTTPHeaders() }
    /// The origin that may see the secrets.
    package var origin = ""
    /// Whether a body that is not JSON is an error.
    package var expectsJSON = false
    /// The maximum size of the body in bytes, if it is less than the client's limit.
    package var byteLimit = Int.max
    /// When the request must have ended, by the client's clock; nil for never.
    package var deadline: Duration?
    /// Whether the body must be the very one at the address: of status 200, and not compressed by a
    /// transport that does not notice when it ends too early.
    package var isExact = false
    /// Whether the response goes on for as long as the server likes.
    ///
    /// Only silence ends it, and it takes none of the client's connections.
    package var isStream = false
    /// How long nothing at all may arrive; nil for the client's limit.
    package var silence: Duration?
    /// Creates the inspector of the body; nil if nobody examines it.
    package var makeInspector: @Sendable () -> Inspector?

    /// Creates an order of JSON.
    ///
    /// - Parameters:
    ///   - secrets: The header fields that only the origin of `source` may see.
    ///   - source: The address that the user gave, of this or an earlier request. Its user's name
    ///     and password are for every address of its origin.
    package init(
        json request: HTTPRequest, secrets: @escaping @Sendable () async throws -> HTTPHeaders, source: URL,
        deadline: Duration?, makeInspector: @escaping @Sendable () -> Inspector?
    ) {
        self.init(request, secrets, source, makeInspector)
        self.expectsJSON = true
        self.deadline = deadline
    }

    private init(
        _ request: HTTPRequest, _ secrets: @escaping @Sendable () async throws -> HTTPHeaders, _ source: URL,
        _ makeInspector: @escaping @Sendable () -> Inspector?
    ) {
        self.request = request
        self.secrets = {
            var headers = source.authorization
            headers.merge(try await secrets())
            return headers
        }
        self.origin = source.origin
        self.makeInspector = makeInspector
    }
}

extension HTTPOrder where Inspector == NoInspector {
    /// Creates an order of a body that goes on for as long as the server likes.
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
    /// Creates an order of a body as it is, which asks that it be not compressed on its way.
    package init(plain url: URL, limit: Int, secrets: HTTPHeaders = HTTPHeaders()) {
        self.init(HTTPRequest(url, headers: ["Accept-Encoding": "identity"]), { secrets }, url, { nil })
        isExact = true
        byteLimit = limit
    }
}
