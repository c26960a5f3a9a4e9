public import Foundation
public import HTTPTransfer
public import StoreSync
import SyncBase

/// A list of JSON objects on an HTTP server, as a source of a store.
///
///     let changes = HTTPAPI.Delta(cursor: .element(keyPath: "updated_at"), parameter: "since")
///     let users = HTTPJSONSource(url, api: HTTPAPI(pages: .link, delta: changes))
///     let result = try await store.sync(User.self, from: users)
///
/// A page is mapped while the next one arrives. If the server sends entity tags or modification
/// dates, pages are requested conditionally. If no page has changed, the sync does nothing.
/// Requests that fail temporarily are repeated according to the client's `retry`, even if a body
/// ended early. Any other failure ends the sync, which then has changed nothing.
///
/// An object is deleted only if the pages prove its absence. Cached responses prove nothing: a
/// proxy or CDN must not answer requests with `Cache-Control: no-cache` from its cache, or must
/// mark such responses with `Age` or with their original `Date`. While responses are marked in this
/// way, absent objects are kept and reported.
public struct HTTPJSONSource: RemoteSource {
    /// The address of the first page, without the parameters that ``api`` adds.
    public var url: URL
    /// How the server divides and describes the list.
    public var api: HTTPAPI
    /// The maximum number of pages; 100,000 by default.
    public var maximumPageCount = 100_000
    /// The longest duration of a pass, to the end of its last page; nil, the default, for no limit.
    public var timeout: Duration?
    /// The names of header fields that determine the set of objects, such as a tenant's. A bookmark
    /// becomes invalid when one of their values changes. Empty by default.
    public var bookmarkHeaders: [String] = []
    /// The header fields of each request, such as an access token.
    ///
    /// They are sent only to the origin of the address, in addition to those of ``api``, and are
    /// never logged.
    public var headers: @Sendable () async throws -> HTTPHeaders
    /// The client that sends requests.
    public let client: HTTPClient

    private let givenName: String?

    /// Creates a source.
    ///
    /// - Parameters:
    ///   - url: The address of the first page, http or https.
    ///   - api: How the server divides and describes the list; a single response that is an array
    ///     by default.
    ///   - name: The name under which bookmarks are stored; by default the address without user and
    ///     query values.
    ///   - client: The client that sends requests.
    ///   - headers: The header fields of each request; none by default.
    public init(
        _ url: URL, api: HTTPAPI = HTTPAPI(), name: String? = nil, client: HTTPClient = HTTPClient(),
        headers: @escaping @Sendable () async throws -> HTTPHeaders = { HTTPHeaders() }
    ) {
        self.url = url
        self.api = api
        self.headers = headers
        self.client = client
        givenName = name
    }

    /// The name under which bookmarks are stored.
    public var name: String {
        givenName ?? url.displayName
    }

    /// The key path of the objects in each page, from ``api``.
    public var keyPath: String { api.keyPath }

    /// The meaning of a key that an object lacks, from ``api``.
    public var absentKeys: StoreSyncOptions.AbsentKeys { api.absentKeys }

    /// The header fields of the API and of the source.
    func allHeaders() async throws -> HTTPHeaders {
        var all = api.headers
        all.merge(try await headers())
        return all
    }

    /// The settings on which bookmarks depend: address, pages, changes, format, key path, body and
    /// ``bookmarkHeaders``.
    ///
    /// - Throws: The error of ``headers``.
    public var fingerprint: String {
        get async throws {
            var parts = [
                url.absoluteString, api.pages.fingerprint, api.delta?.fingerprint ?? "", api.format.fingerprint,
                api.keyPath, api.endSign.map { "\($0)" } ?? "", api.body.map { "\($0)" } ?? "",
            ]
            if !bookmarkHeaders.isEmpty {
                let fields = try await allHeaders()
                parts += bookmarkHeaders.map { "\($0.lowercased()): \(fields[$0] ?? "")" }
            }
            return parts.joined(separator: "\n")
        }
    }

    /// Requests the first page, or checks that all pages of the last pass are unchanged.
    ///
    /// - Throws: `HTTPError`; the error of ``headers``; `CancellationError` if the task is
    ///   cancelled.
    public func begin(after bookmark: SyncBookmark?, keyPath: String) async throws -> RemoteAnswer {
        let pass = try HTTPPass(self, after: bookmark, keyPath: keyPath)
        return try await pass.begin() ? .changed(pass) : .unchanged(try await pass.end().bookmark)
    }
}
