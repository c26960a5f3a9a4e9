package import Foundation

/// The head of a response, after redirects.
package struct HTTPHead: Sendable {
    /// The address that the response came from.
    package var url: URL
    package var status: Int
    package var headers: HTTPHeaders
    /// Whether a truncated body is detected (``HTTPResponse/isFramed``).
    package var isFramed: Bool
}
