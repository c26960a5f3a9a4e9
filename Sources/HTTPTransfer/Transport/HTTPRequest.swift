public import Foundation

/// An HTTP request.
public struct HTTPRequest: Hashable, Sendable {
    /// The address, http or https.
    public var url: URL
    /// The method, in uppercase; `GET` by default.
    public var method = "GET"
    /// The header fields, without those that the transport adds.
    public var headers: HTTPHeaders
    /// The body; nil, the default, for none.
    public var body: [UInt8]?

    /// Creates a GET request.
    public init(_ url: URL, headers: HTTPHeaders = HTTPHeaders()) {
        self.url = url
        self.headers = headers
    }
}
