public import Foundation
public import HTTPTransfer
public import JSONMapper

/// What is known of a page once it has been read.
public struct HTTPPageInfo: Sendable {
    /// Its address, after redirects.
    public var url: URL
    /// Its place, from 0.
    public var index: Int
    /// How many objects it has.
    public var elementCount: Int
    /// The header fields of the response.
    public var headers: HTTPHeaders
    /// The values that were asked for, by their key paths; what was not there is absent.
    public var captured: [String: JSONValue]
}
