public import Foundation
public import HTTPTransfer
public import JSONMapper
import StoreSync

/// A common API: its pages, the place of its objects, and its error reports.
///
///     let issues = HTTPJSONSource(url, api: .github) { ["Authorization": "Bearer \(token)"] }
public struct HTTPAPI: Sendable {
    /// The name for a command line, in lowercase.
    public var name: String
    /// How the server divides lists into pages.
    public var pages: HTTPPages
    /// How to request changes only; nil if the API cannot report them in a common way.
    public var delta: HTTPDelta?
    /// The key path of the objects in each page. Empty if the page is the array, or if the key path
    /// depends on the list.
    public var keyPath: String
    /// The form of the objects in a page.
    public var format: HTTPJSONSource.Format
    /// How a response with a successful status reports an error; nil if it cannot.
    public var check: HTTPJSONSource.ReplyCheck?
    /// The key path of the exact number of all objects; nil if there is none.
    public var totalKeyPath: String?
    /// A body that each request sends with POST; nil for GET requests.
    public var body: JSONValue?
    /// Header fields of each request.
    public var headers: HTTPHeaders
    /// Whether the server omits a list without objects; false by default.
    public var omitsEmptyLists = false

    /// Creates an API.
    public init(
        _ name: String, pages: HTTPPages, delta: HTTPDelta? = nil, keyPath: String = "",
        format: HTTPJSONSource.Format = .array, check: HTTPJSONSource.ReplyCheck? = nil, totalKeyPath: String? = nil,
        body: JSONValue? = nil, headers: HTTPHeaders = HTTPHeaders()
    ) {
        self.name = name
        self.pages = pages
        self.delta = delta
        self.keyPath = keyPath
        self.format = format
        self.check = check
        self.totalKeyPath = totalKeyPath
        self.body = body
        self.headers = headers
    }

    /// Airtable: `records`, with an `offset` for the next page.
    public static let airtable = HTTPAPI(
        "airtable", pages: .cursor(keyPath: "offset", parameter: "offset").omittingLastPointer(), keyPath: "records")
    /// CouchDB's `_changes`, starting after the last sequence.
    public static let couchdb = HTTPAPI(
        "couchdb", pages: .single,
        delta: HTTPDelta(
            cursor: .document(keyPath: "last_seq"), parameter: "since", tombstones: .flag(keyPath: "deleted")),
        keyPath: "results")
    /// Django REST framework: `results`, with the address of the next page.
    public static let drf = HTTPAPI(
        "drf", pages: .linkField(keyPath: "next"), keyPath: "results", totalKeyPath: "count")
    /// Firebase Realtime Database: an object whose keys are the identifiers.
    public static let firebase = HTTPAPI(
        "firebase", pages: .single, format: .keyed(by: "id"), check: .failing(ifText: "error"))
    /// GitHub: the `Link` field leads to the next page.
    public static let github = HTTPAPI("github", pages: .link, headers: ["Accept": "application/vnd.github+json"])
    /// GitLab: the `Link` field leads to the next page.
    public static let gitlab = HTTPAPI("gitlab", pages: .link)
    /// Google's APIs: items, page tokens and sync tokens.
    public static let google: HTTPAPI = {
        var api = HTTPAPI(
            "google", pages: .cursor(keyPath: "nextPageToken", parameter: "pageToken").omittingLastPointer(),
            delta: HTTPDelta(
                cursor: .document(keyPath: "nextSyncToken"), parameter: "syncToken",
                tombstones: .field(keyPath: "status", equals: "cancelled")),
            keyPath: "items")
        api.omitsEmptyLists = true
        api.delta?.coversFullPass = true
        return api
    }()
    /// HubSpot: results, with `paging.next.after`.
    public static let hubspot = HTTPAPI(
        "hubspot", pages: .cursor(keyPath: "paging.next.after", parameter: "after").omittingLastPointer(),
        keyPath: "results")
    /// JSON:API: data, with `links.next`.
    public static let jsonapi = HTTPAPI(
        "jsonapi", pages: .linkField(keyPath: "links.next").omittingLastPointer(), keyPath: "data",
        headers: ["Accept": "application/vnd.api+json"])
    /// Mastodon: the `Link` field leads to the next page.
    public static let mastodon = HTTPAPI("mastodon", pages: .link)
    /// Notion: results with POST, and `next_cursor`.
    public static let notion = HTTPAPI(
        "notion",
        pages: .cursor(keyPath: "next_cursor", bodyKeyPath: "start_cursor").ending(.unset(keyPath: "has_more")),
        keyPath: "results", check: .failing(ifAbsent: "has_more"), body: .object([:]))
    /// OData and Microsoft Graph: values, with links to the next page and to the next changes.
    public static let odata = HTTPAPI(
        "odata", pages: .linkField(keyPath: #"@odata\.nextLink"#).omittingLastPointer(),
        delta: HTTPDelta(
            cursor: .address(keyPath: #"@odata\.deltaLink"#), tombstones: .flag(keyPath: "@removed")),
        keyPath: "value")
    /// Salesforce queries: records, with `nextRecordsUrl`.
    public static let salesforce = HTTPAPI(
        "salesforce", pages: .linkField(keyPath: "nextRecordsUrl").ending(.set(keyPath: "done")).omittingLastPointer(),
        keyPath: "records", totalKeyPath: "totalSize")
    /// Shopify: the `Link` field leads to the next page. The key path is the list's name.
    public static let shopify = HTTPAPI("shopify", pages: .link)
    /// Slack: cursors, and errors with status 200. The key path is the list's name.
    public static let slack = HTTPAPI(
        "slack", pages: .cursor(keyPath: "response_metadata.next_cursor", parameter: "cursor").omittingLastPointer(),
        check: .failing(ifUnset: "ok", message: "error"))
    /// Stripe: data, starting after the last object's identifier.
    public static let stripe = HTTPAPI(
        "stripe",
        pages: .lastElement(keyPath: "id", parameter: "starting_after").ending(.unset(keyPath: "has_more")),
        keyPath: "data", check: .failing(ifAbsent: "has_more"))
    /// WordPress: numbered pages, with the number of pages in `X-WP-TotalPages`.
    public static let wordpress = HTTPAPI(
        "wordpress",
        pages: .page(parameter: "page", size: HTTPPages.Size(parameter: "per_page", count: 100))
            .ending(.pageCount(header: "X-WP-TotalPages"), .status([400, 404])))

    /// Elasticsearch and OpenSearch: hits in the order of a field, by `search_after`.
    ///
    /// Every hit must have the field, and no two hits the same value, because `search_after`
    /// continues behind a value. The number of all hits is compared with the hits that were read.
    ///
    /// - Parameter key: A field with doc values, such as a keyword with a copy of the identifier.
    public static func elasticsearch(sortedBy key: String) -> HTTPAPI {
        HTTPAPI(
            "elasticsearch", pages: .lastElement(keyPath: "sort", bodyKeyPath: "search_after"), keyPath: "hits.hits",
            check: .failing(ifSet: "timed_out").or(.failing(ifSet: "_shards.failed")), totalKeyPath: "hits.total.value",
            body: .object([
                "size": .integer(1000), "sort": .array([.object([key: .string("asc")])]),
                "track_total_hits": .bool(true),
            ]))
    }

    /// A connection of a GraphQL API (Relay's specification): its nodes, with `pageInfo`.
    ///
    /// The query must have a variable `$after`, and request `nodes`, `pageInfo.endCursor` and
    /// `pageInfo.hasNextPage`.
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - connection: The key path of the connection below `data`, such as `viewer.repositories`.
    ///   - variables: Other variables of the query; none by default.
    public static func graphQL(
        _ query: String, connection: String, variables: JSONObject = JSONObject()
    ) -> HTTPAPI {
        let path = "data.\(connection)"
        return HTTPAPI(
            "graphql",
            pages: .cursor(keyPath: "\(path).pageInfo.endCursor", bodyKeyPath: "variables.after")
                .ending(.unset(keyPath: "\(path).pageInfo.hasNextPage")),
            keyPath: "\(path).nodes",
            check: .failing(ifSet: "errors").or(.failing(ifAbsent: "\(path).pageInfo.hasNextPage")),
            body: .object(["query": .string(query), "variables": .object(variables)]))
    }

    /// Returns the API that a text names, as on a command line; nil if there is none.
    ///
    /// Elasticsearch is named with the field that sorts the hits: `elasticsearch:id`.
    public static func named(_ text: String) -> HTTPAPI? {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2 else { return all.first { $0.name == text } }
        return parts[0] == "elasticsearch" && !parts[1].isEmpty ? .elasticsearch(sortedBy: parts[1]) : nil
    }

    /// The APIs that need only a name, sorted by name.
    public static let all: [HTTPAPI] = [
        airtable, couchdb, drf, firebase, github, gitlab, google, hubspot, jsonapi, mastodon, notion,
        odata, salesforce, shopify, slack, stripe, wordpress,
    ]
}

extension HTTPJSONSource {
    /// Creates a source of a common API.
    ///
    /// - Parameters:
    ///   - url: The address of the list, http or https.
    ///   - api: The API.
    ///   - name: The name under which bookmarks are stored; by default the address without user and
    ///     query values.
    ///   - client: The client that sends requests.
    ///   - headers: The header fields of each request; none by default.
    public init(
        _ url: URL, api: HTTPAPI, name: String? = nil, client: HTTPClient = HTTPClient(),
        headers: @escaping @Sendable () async throws -> HTTPHeaders = { HTTPHeaders() }
    ) {
        let fixed = api.headers
        self.init(url, pages: api.pages, delta: api.delta, totalKeyPath: api.totalKeyPath, name: name, client: client) {
            var all = fixed
            all.merge(try await headers())
            return all
        }
        keyPath = api.keyPath
        format = api.format
        omitsEmptyLists = api.omitsEmptyLists
        check = api.check
        body = api.body
    }
}
