public import Foundation
public import HTTPTransfer
public import JSONMapper
public import StoreSync
import SyncBase

/// A list of JSON objects on an HTTP server, as a source of a store.
///
///     let changes = HTTPDelta(cursor: .element(keyPath: "updated_at"), parameter: "since")
///     let users = HTTPJSONSource(url, pages: .link, delta: changes)
///     let result = try await store.sync(from: users, into: "User")
///
/// A page is mapped while the next one arrives. If the server sends entity tags or dates of change,
/// pages are asked for conditionally. If all pages are unchanged, nothing is done. Requests that
/// fail in a way that may pass are sent again according to the client's `retry`, even if a body
/// ended early. Any other failure ends the sync, which then has done nothing.
///
/// An object is deleted only if the pages prove its absence. Responses from a cache prove nothing:
/// a proxy or CDN between must not answer requests with `Cache-Control: no-cache` from its cache,
/// or must mark such answers by `Age` or by their original `Date`. Absent objects are kept, and
/// reported, while responses are marked so.
public struct HTTPJSONSource: RemoteSource {
    /// How the objects are written in a page.
    public enum Format: Hashable, Sendable {
        /// As an array.
        case array
        /// One per line (newline-delimited JSON).
        ///
        /// There is nothing beside the lines: key paths of a page suit no source of them. A check
        /// examines each line.
        case lines
        /// As the values of an object, whose keys become a field of each, as in Firebase.
        ///
        /// A field of the same name that differs from the key is called `own_id`, if the name is
        /// `id`. An array stands for an object whose keys are the indices of its elements, without
        /// those that are null. Null stands for no objects.
        case keyed(by: String)
        /// As the data of server-sent events, in a stream that ends.
        ///
        /// Only events of these types count; all for an empty set. An event of the type `error` is
        /// an error unless it is named here. Key paths of a page and checks are as for ``lines``. A
        /// source that goes on for ever is an ``HTTPEventStream``.
        case events(types: Set<String> = [])

        /// Whether the end of a page can be told only by the end of its body.
        var isOpenEnded: Bool {
            switch self {
            case .lines, .events: true
            case .array, .keyed: false
            }
        }

        /// The part of a source's fingerprint that depends on the format.
        var fingerprint: String {
            switch self {
            case .events(let types): "events \(types.sorted())"
            case .array, .lines, .keyed: "\(self)"
            }
        }
    }

    /// The address of the first page, without what `pages` and `delta` add to it.
    public var url: URL
    /// How the list is handed out.
    public var pages: HTTPPages
    /// How the server is asked for its changes only; nil, the default, if it cannot report them.
    public var delta: HTTPDelta?
    /// The key path of the objects in each page, unless the options of a sync name one; empty by
    /// default.
    public var keyPath = ""
    /// How the objects are written in a page; an array by default.
    public var format = Format.array
    /// A body that each request sends by POST. Nil, the default, to send GET requests.
    public var body: JSONValue?
    /// How a response with a successful status reports an error in its body; nil, the default, if
    /// it cannot.
    public var check: HTTPJSONSource.ReplyCheck?
    /// The key path of the number of all objects in each page; nil, the default, for the header
    /// field `X-Total-Count`.
    public var totalKeyPath: String?
    /// Whether the number of all objects is exact, or at least no more than there are; true by
    /// default.
    ///
    /// If the pages have fewer objects than that, absent objects are kept. False if the number is
    /// an estimate, which is then for progress only.
    public var isTotalExact = true
    /// Whether the server leaves out a list without objects; false by default.
    ///
    /// A page without its list is then empty if it has the value that leads to the next page or to
    /// the next changes. Any other page without its list is an error.
    public var omitsEmptyLists = false
    /// Whether all pages are of one state, however long they are read; false by default.
    ///
    /// It is true if the server's cursors belong to a snapshot, or follow a key that never changes.
    /// Nothing is then read a second time before objects are deleted or changes count as seen.
    public var isSnapshot: Bool
    /// The maximum number of pages; 100,000 by default.
    public var maximumPageCount: Int
    /// How long a pass may take, from its beginning to the end of the last page; nil, the default,
    /// for no limit.
    public var timeout: Duration?
    /// The names of header fields that decide which objects there are, such as that of a tenant. A
    /// bookmark is void once the value of one of them differs. Empty by default.
    public var bookmarkHeaders: [String] = []
    /// The header fields of each request, such as an access token.
    ///
    /// They are sent only to the origin of the address, and are never logged.
    public var headers: @Sendable () async throws -> HTTPHeaders
    /// The client that sends requests.
    public let client: HTTPClient

    private let givenName: String?

    /// Creates a source.
    ///
    /// - Parameters:
    ///   - url: The address of the first page, http or https.
    ///   - pages: How the list is handed out; in one response by default.
    ///   - delta: How the server is asked for its changes only; nil, the default, if it cannot
    ///     report them.
    ///   - totalKeyPath: The key path of the number of all objects in each page.
    ///   - isSnapshot: Whether all pages are of one state.
    ///   - maximumPageCount: The maximum number of pages.
    ///   - timeout: How long a pass may take.
    ///   - name: The name that bookmarks are kept under; by default the address without a user and
    ///     without the values of its query.
    ///   - client: The client that sends requests.
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

    /// The name that bookmarks are kept under.
    public var name: String {
        givenName ?? url.displayName
    }

    /// The address, how pages and changes are asked for, and the values of ``bookmarkHeaders``.
    public var fingerprint: String {
        get async throws {
            var parts = [
                url.absoluteString, pages.fingerprint, delta?.fingerprint ?? "", format.fingerprint, keyPath,
                body.map { "\($0)" } ?? "",
            ]
            if !bookmarkHeaders.isEmpty {
                let fields = try await headers()
                parts += bookmarkHeaders.map { "\($0.lowercased()): \(fields[$0] ?? "")" }
            }
            return parts.joined(separator: "\n")
        }
    }

    /// Asks for the first page, or whether all pages of the last pass are unchanged.
    public func begin(after bookmark: SyncBookmark?, keyPath: String) async throws -> RemoteAnswer {
        let pass = try HTTPPass(self, after: bookmark, keyPath: keyPath)
        return try await pass.begin() ? .changed(pass) : .unchanged(try await pass.end().bookmark)
    }
}
