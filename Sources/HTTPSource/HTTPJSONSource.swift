public import Foundation
public import HTTPTransfer
public import StoreSync

/// A list of JSON objects that an HTTP server has, as a source of a store:
///
///     let users = HTTPJSONSource(url, pages: .link, delta: HTTPDelta(cursor: .element(keyPath: "updated_at"), parameter: "since"))
///     let result = try await store.sync(from: users, into: "User")
///
/// A page is mapped while the next one arrives. Pages are asked for conditionally where the server
/// gave entity tags or dates of change: if all are as they were, nothing is done at all. Requests
/// that fail in a way that may pass are made again, as the client's `retry` says, also where the
/// body was cut short in the middle. Whatever else fails ends the sync, which then has done
/// nothing.
public struct HTTPJSONSource: RemoteSource {
    /// The address of the first page, without what `pages` and `delta` add to it.
    public var url: URL
    /// How the list is handed out.
    public var pages: HTTPPages
    /// How the server is asked for what has changed alone; nil, the default, if it cannot tell.
    public var delta: HTTPDelta?
    /// Where each page says how many objects there are in all, for progress; nil, the default, for
    /// the field `X-Total-Count` of the head.
    public var totalKeyPath: String?
    /// Whether all pages are of one state, however long they are read: the server's cursors are of
    /// a snapshot, or go by a key that never changes. Where that is so, nothing is read a second
    /// time before objects are deleted or changes count as seen. False by default.
    public var isSnapshot: Bool
    /// How many pages there may be; 100,000 by default.
    public var maximumPageCount: Int
    /// How long a run may take, from its begin to the end of the last page; nil, the default, for
    /// as long as it likes.
    public var timeout: Duration?
    /// The header fields of each request, such as an access token; sent to the address's own origin
    /// alone, and never logged.
    public var headers: @Sendable () async throws -> HTTPHeaders
    /// What fetches.
    public let client: HTTPClient

    private let givenName: String?

    /// Makes a source.
    ///
    /// - Parameters:
    ///   - url: The address of the first page, http or https.
    ///   - pages: How the list is handed out; in one response by default.
    ///   - delta: How the server is asked for what has changed alone; nil, the default, if it
    ///     cannot tell.
    ///   - totalKeyPath: Where each page says how many objects there are in all.
    ///   - isSnapshot: Whether all pages are of one state.
    ///   - maximumPageCount: How many pages there may be.
    ///   - timeout: How long a run may take.
    ///   - name: What bookmarks are kept under; by default the address, without a user and the
    ///     values of its query.
    ///   - client: What fetches.
    ///   - headers: The header fields of each request; none by default.
    public init(
        _ url: URL, pages: HTTPPages = .single, delta: HTTPDelta? = nil, totalKeyPath: String? = nil,
        isSnapshot: Bool = false, maximumPageCount: Int = 100_000, timeout: Duration? = nil, name: String? = nil,
        client: HTTPClient = HTTPClient(),
        headers: @escaping @Sendable () async throws -> HTTPHeaders = { HTTPHeaders() }
    ) {
        self.url = url
        self.pages = pages
        self.delta = delta
        self.totalKeyPath = totalKeyPath
        self.isSnapshot = isSnapshot
        self.maximumPageCount = maximumPageCount
        self.timeout = timeout
        self.headers = headers
        self.client = client
        givenName = name
    }

    /// What bookmarks are kept under.
    public var name: String {
        givenName ?? url.displayName
    }

    /// The address, and how pages and changes are asked for.
    public var fingerprint: String {
        "\(url.absoluteString)\n\(pages.fingerprint)\n\(delta?.fingerprint ?? "")"
    }

    /// Asks for the first page, or for all pages there were if they can be told unchanged.
    public func begin(after bookmark: SyncBookmark?, keyPath: String) async throws -> RemoteAnswer {
        let run = HTTPPass(self, after: bookmark, keyPath: keyPath)
        return try await run.begin() ? .changed(run) : .unchanged(try await run.end().bookmark)
    }
}
