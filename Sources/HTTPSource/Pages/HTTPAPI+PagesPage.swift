public import Foundation
public import HTTPTransfer
public import JSONMapper

extension HTTPAPI.Pages {
    /// A page that has been read, for the function of ``HTTPAPI/Pages/custom(capturing:next:)``.
    public struct Page: Sendable {
        /// The address of the page, after redirects.
        public var url: URL
        /// The index of the page, from 0.
        public var index: Int
        /// The number of objects.
        public var elementCount: Int
        /// The header fields of the response.
        public var headers: HTTPHeaders
        /// The captured values by their key paths, without absent values.
        public var captured: [String: JSONValue]
    }
}
