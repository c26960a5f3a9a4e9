public import Foundation
public import HTTPTransfer
public import JSONMapper
public import StoreSync
import SyncBase

/// A list of JSON objects on an HTTP server, as a source of a store.
///
///     let changes = HTTPDelta(cursor: .element(keyPath: "updated_at"), parameter: "since")
///     let users = HTTPJSONSource(url, pages: .link, delta: changes)
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
    /// The form of the objects in a page.
    public enum Format: Hashable, Sendable {
        /// The elements of an array.
        case array
        /// One object per line (newline-delimited JSON).
        ///
        /// There are no values outside the lines, so a source with a key path of a page fails. A
        /// check examines each line.
        case lines
        /// The values of an object, whose keys become a field of each, as in Firebase.
        ///
        /// If the name is `id`, a field `id` that differs from the key is renamed `own_id`. A value
        /// that is not an object becomes the field `value`. An array is read as an object whose
        /// keys are the indices of its elements, without null elements. Null is read as an empty
        /// list.
        case keyed(by: String)
        /// The data of server-sent events, in a stream that ends.
        ///
        /// Only events of these types count; all for an empty set. An event of the type `error` is
        /// an error unless it is listed here. For key paths of a page and checks, see ``lines``.
        /// For an endless stream, use an ``HTTPEventStream``.
        case events(types: Set<String> = [])

        /// Whether only the end of the body shows where a page ends.
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

    /// The element that ends a page of lines or events. It is not an object of the list.
    public enum EndSign: Hashable, Sendable {
        /// The last line, in which the value at the key path is not null, false, 0 or empty.
        case line(keyPath: String)
        /// An event of a type, such as `done`.
        case event(type: String)
    }

    /// The address of the first page, without the parameters that `pages` and `delta` add.
    public var url: URL
    /// How the server divides the list into pages.
    public var pages: HTTPPages
    /// How to request changes only; nil, the default, if the server cannot report them.
    public var delta: HTTPDelta?
    /// The key path of the objects in each page, unless the options of a sync specify one; empty by
    /// default.
    public var keyPath = ""
    /// The form of the objects in a page; an array by default.
    public var format = Format.array
    /// The element that ends each page of lines or events; nil, the default, if there is none.
    ///
    /// Without it, and without a number of all objects, such a page does not show that it is
    /// complete. It is read again before objects are deleted.
    public var endSign: EndSign?
    /// A body that each request sends with POST; nil, the default, for GET requests.
    public var body: JSONValue?
    /// How a response with a successful status reports an error in its body; nil, the default, if
    /// it cannot.
    public var check: HTTPJSONSource.ReplyCheck?
    /// The key path of the number of all objects in each page; nil, the default, for the header
    /// field `X-Total-Count`, `X-Total` or `Content-Range`.
    public var totalKeyPath: String?
    /// Whether the stated number of all objects is exact, or at least not too high; true by
    /// default.
    ///
    /// If the pages have fewer objects than stated, absent objects are kept. Set it to false if the
    /// number is an estimate, which then serves only to report progress.
    public var isTotalExact = true
    /// Whether the server omits a list without objects; false by default.
    ///
    /// A page without its list is then empty if it has the value that leads to the next page or to
    /// the next changes. Any other page without its list is an error.
    public var omitsEmptyLists = false
    /// Whether all pages show the same state, however long reading takes; false by default.
    ///
    /// Set it to true if the server's cursors belong to a snapshot, or follow a key that never
    /// changes. The pages are then not read a second time before objects are deleted or changes
    /// count as seen.
    public var isSnapshot: Bool
    /// The maximum number of pages; 100,000 by default.
    public var maximumPageCount: Int
    /// The longest duration of a pass, to the end of its last page; nil, the default, for no limit.
    public var timeout: Duration?
    /// The names of header fields that determine the set of objects, such as a tenant's. A bookmark
    /// becomes invalid when one of their values changes. Empty by default.
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
    ///   - pages: How the server divides the list into pages; a single response by default.
    ///   - delta: How to request changes only; nil, the default, if the server cannot report them.
    ///   - totalKeyPath: The key path of the number of all objects in each page.
    ///   - isSnapshot: Whether all pages show the same state; false by default.
    ///   - maximumPageCount: The maximum number of pages; 100,000 by default.
    ///   - timeout: The longest duration of a pass; nil, the default, for no limit.
    ///   - name: The name under which bookmarks are stored; by default the address without user and
    ///     query values.
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

    /// The name under which bookmarks are stored.
    public var name: String {
        givenName ?? url.displayName
    }

    /// The settings on which bookmarks depend: address, pages, changes, format, key path, body and
    /// ``bookmarkHeaders``.
    ///
    /// - Throws: The error of ``headers``.
    public var fingerprint: String {
        get async throws {
            var parts = [
                url.absoluteString, pages.fingerprint, delta?.fingerprint ?? "", format.fingerprint, keyPath,
                endSign.map { "\($0)" } ?? "",
                body.map { "\($0)" } ?? "",
            ]
            if !bookmarkHeaders.isEmpty {
                let fields = try await headers()
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
