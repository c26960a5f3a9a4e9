public import Foundation
public import HTTPTransfer
public import StoreSync

extension RemoteSource where Self == HTTPJSONSource {
    /// A list of JSON objects on an HTTP server.
    ///
    ///     try await store.sync(User.self, from: .url(url, pages: .link))
    ///
    /// - Parameters:
    ///   - url: The address of the first page, http or https.
    ///   - pages: How the server divides the list into pages; a single response by default.
    ///   - keyPath: The key path of the objects in each page. Empty, the default, if the page is
    ///     the array.
    ///   - client: The client that sends requests.
    ///   - headers: The header fields of each request, such as an access token; none by default.
    ///     For fields that change, such as a token that expires, create an ``HTTPJSONSource``.
    public static func url(
        _ url: URL, pages: HTTPAPI.Pages = .single, keyPath: String = "", client: HTTPClient = HTTPClient(),
        headers: HTTPHeaders = HTTPHeaders()
    ) -> HTTPJSONSource {
        .url(url, api: HTTPAPI(pages: pages, keyPath: keyPath), client: client, headers: headers)
    }

    /// A list of JSON objects of a common API.
    ///
    ///     try await store.sync(Issue.self, from: .url(url, api: .github))
    ///
    /// - Parameters:
    ///   - url: The address of the list, http or https.
    ///   - api: The API.
    ///   - client: The client that sends requests.
    ///   - headers: The header fields of each request, such as an access token; none by default.
    ///     For fields that change, such as a token that expires, create an ``HTTPJSONSource``.
    public static func url(
        _ url: URL, api: HTTPAPI, client: HTTPClient = HTTPClient(),
        headers: HTTPHeaders = HTTPHeaders()
    ) -> HTTPJSONSource {
        HTTPJSONSource(url, api: api, client: client) { headers }
    }
}
