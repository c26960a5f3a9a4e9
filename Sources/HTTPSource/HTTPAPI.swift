public import HTTPTransfer
public import JSONMapper
public import StoreSync

/// How a server divides a list into pages, and describes its objects, changes and errors.
///
/// Common APIs are static members; other ones are described by the initializer:
///
///     let issues = HTTPJSONSource(url, api: .github) { ["Authorization": "Bearer \(token)"] }
///     let orders = HTTPJSONSource(url, api: HTTPAPI(pages: .linkField(keyPath: "next"), keyPath:
///     "data"))
public struct HTTPAPI: Sendable {
    /// The name of a common API on a command line, in lowercase; empty for other ones.
    public internal(set) var name = ""
    /// How the server divides the list into pages; a single response by default.
    public var pages: HTTPAPI.Pages
    /// How to request changes only; nil, the default, if the server cannot report them.
    public var delta: HTTPAPI.Delta?
    /// The key path of the objects in each page, unless the options of a sync specify one.
    ///
    /// Empty, the default, if the page is the array, or if the key path depends on the list. It can
    /// lead into the elements, or to the members of an object; see `JSONReader.Layout`.
    public var keyPath: String
    /// The form of the objects in a page; an array by default.
    public var format: Format
    /// The element that ends each page of lines or events; nil, the default, if there is none.
    ///
    /// Without it, and without a number of all objects, such a page does not show that it is
    /// complete. It is read again before objects are deleted.
    public var endSign: EndSign?
    /// How a response with a successful status reports an error in its body; nil, the default, if
    /// it is not known.
    ///
    /// Without a check, a page with a usual sign of an error beside the list, such as `error` or a
    /// `success` that is false, keeps absent objects, and a warning names the sign.
    public var check: ReplyCheck?
    /// The key path of the number of all objects in each page; nil, the default, for the header
    /// field `X-Total-Count`, `X-Total` or `Content-Range`.
    public var totalKeyPath: String?
    /// The key path of a text that is `eq` if the number of all objects is exact, as in
    /// Elasticsearch; nil, the default, if the number is always as exact as ``isTotalExact`` says.
    public var totalRelationKeyPath: String?
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
    /// count as seen, and may repeat objects of earlier pages.
    public var isSnapshot = false
    /// The meaning of a key that an object lacks, unless the options of a sync decide;
    /// `automatic` by default.
    ///
    /// An API that omits empty values says `clear`, so that a value that was emptied does not stay.
    public var absentKeys = StoreSyncOptions.AbsentKeys.automatic
    /// The names of query parameters in links that are positions in the list, although their names
    /// suggest credentials; none by default.
    ///
    /// A bookmark keeps links only if they have no credentials. A parameter of the source's own
    /// address is always a credential if its name suggests one.
    public var positionParameters: Set<String> = []
    /// How texts about a source write a setting that would change what it reads; in Swift by
    /// default. A command-line tool writes its own options.
    package var adviceText: @Sendable (Advice) -> String = { "\($0)" }
    /// A body that each request sends with POST; nil, the default, for GET requests.
    public var body: JSONValue?
    /// Header fields of each request; none by default.
    public var headers: HTTPHeaders

    /// Creates an API.
    ///
    /// - Parameters:
    ///   - pages: How the server divides the list into pages; a single response by default.
    ///   - delta: How to request changes only; nil, the default, if the server cannot report them.
    ///   - keyPath: The key path of the objects in each page; empty by default.
    ///   - format: The form of the objects in a page; an array by default.
    ///   - check: How a response with a successful status reports an error.
    ///   - totalKeyPath: The key path of the number of all objects in each page.
    ///   - body: A body that each request sends with POST; nil, the default, for GET requests.
    ///   - headers: Header fields of each request; none by default.
    public init(
        pages: HTTPAPI.Pages = .single, delta: HTTPAPI.Delta? = nil, keyPath: String = "", format: Format = .array,
        check: ReplyCheck? = nil, totalKeyPath: String? = nil, body: JSONValue? = nil,
        headers: HTTPHeaders = HTTPHeaders()
    ) {
        self.pages = pages
        self.delta = delta
        self.keyPath = keyPath
        self.format = format
        self.check = check
        self.totalKeyPath = totalKeyPath
        self.body = body
        self.headers = headers
    }
}
