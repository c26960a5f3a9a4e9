public import Foundation

/// A GET request.
public struct HTTPRequest: Hashable, Sendable {
    /// The address, http or https.
    public var url: URL
    /// The header fields, without those that the transport adds.
    public var headers: HTTPHeaders

    /// Creates a request.
    public init(_ url: URL, headers: HTTPHeaders = HTTPHeaders()) {
        self.url = url
        self.headers = headers
    }
}
