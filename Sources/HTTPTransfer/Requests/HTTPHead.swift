package import Foundation

/// The head of a response, after redirects.
package struct HTTPHead: Sendable {
    /// The address that sent it.
    package var url: URL
    package var status: Int
    package var headers: HTTPHeaders
    /// Whether a body that ends too early is noticed (``HTTPResponse/isFramed``).
    package var isFramed = true
}
