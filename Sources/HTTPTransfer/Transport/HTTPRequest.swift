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
    /// Whether the request may be sent only to an address of the public Internet; false by default.
    ///
    /// A client sets it as its ``HTTPClient/Destinations`` require.
    public var requiresPublicAddress = false
    /// The encodings, in lowercase, that belong to the content, such as gzip for a file `a.gz`: a
    /// body in one of them is not decompressed. Only libcurl's transport can leave it compressed.
    package var ownEncodings: Set<String> = []

    /// Creates a GET request.
    public init(_ url: URL, headers: HTTPHeaders = HTTPHeaders()) {
        self.url = url
        self.headers = headers
    }

    /// Checks that the request has one meaning only, whatever its texts are made of: the method and
    /// the names of fields are tokens, values end where they seem to, and the address is ASCII
    /// without blanks (RFC 9110, section 5; RFC 3986, section 2).
    ///
    /// - Throws: ``HTTPError/Problem/invalidRequest(_:)``. It names a field, but not its value.
    func validate() throws(HTTPError.Problem) {
        guard HTTPHeaders.isName(method) else {
            throw .invalidRequest("the method \"\(PrintableText.line(method))\" is not a token")
        }
        guard url.absoluteString.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw .invalidRequest("the address has a character that an address cannot contain")
        }
        for (name, value) in headers.fields {
            guard HTTPHeaders.isName(name) else {
                throw .invalidRequest("\"\(PrintableText.line(name))\" is not a name of a field")
            }
            guard HTTPHeaders.isValue(value) else {
                throw .invalidRequest(
                    "the value of the field \(PrintableText.line(name)) has a line end, another control character, "
                        + "or a blank at an end")
            }
        }
    }
}
