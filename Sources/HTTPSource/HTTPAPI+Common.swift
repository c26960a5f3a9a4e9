import HTTPTransfer
public import JSONMapper
import StoreSync

extension HTTPAPI {
    /// Airtable: `records`, with an `offset` for the next page.
    public static let airtable = HTTPAPI(
        pages: .cursor(keyPath: "offset", parameter: "offset").omittingLastPointer(), keyPath: "records"
    ).named("airtable")
    /// CouchDB's `_changes`, starting after the last sequence.
    public static let couchdb = HTTPAPI(
        pages: .single,
        delta: HTTPDelta(
            cursor: .document(keyPath: "last_seq"), parameter: "since", tombstones: .flag(keyPath: "deleted")),
        keyPath: "results"
    ).named("couchdb")
    /// Django REST framework: `results`, with the address of the next page.
    public static let drf = HTTPAPI(pages: .linkField(keyPath: "next"), keyPath: "results", totalKeyPath: "count")
        .named("drf")
    /// Firebase Realtime Database: an object whose keys are the identifiers.
    public static let firebase = HTTPAPI(pages: .single, format: .keyed(by: "id"), check: .failing(ifText: "error"))
        .named("firebase")
    /// GitHub: the `Link` field leads to the next page.
    public static let github = HTTPAPI(pages: .link, headers: ["Accept": "application/vnd.github+json"]).named("github")
    /// GitLab: the `Link` field leads to the next page.
    public static let gitlab = HTTPAPI(pages: .link).named("gitlab")
    /// Google's APIs: items, page tokens and sync tokens.
    public static let google: HTTPAPI = {
        var api = HTTPAPI(
            pages: .cursor(keyPath: "nextPageToken", parameter: "pageToken").omittingLastPointer(),
            delta: HTTPDelta(
                cursor: .document(keyPath: "nextSyncToken"), parameter: "syncToken",
                tombstones: .field(keyPath: "status", equals: "cancelled")),
            keyPath: "items"
        ).named("google")
        api.omitsEmptyLists = true
        api.delta?.coversFullPass = true
        return api
    }()
    /// HubSpot: results, with `paging.next.after`.
    public static let hubspot = HTTPAPI(
        pages: .cursor(keyPath: "paging.next.after", parameter: "after").omittingLastPointer(),
        keyPath: "results"
    ).named("hubspot")
    /// JSON:API: data, with `links.next`.
    public static let jsonapi = HTTPAPI(
        pages: .linkField(keyPath: "links.next").omittingLastPointer(), keyPath: "data",
        headers: ["Accept": "application/vnd.api+json"]
    ).named("jsonapi")
    /// Mastodon: the `Link` field leads to the next page.
    public static let mastodon = HTTPAPI(pages: .link).named("mastodon")
    /// Notion: results with POST, and `next_cursor`.
    public static let notion = HTTPAPI(
        pages: .cursor(keyPath: "next_cursor", bodyKeyPath: "start_cursor").ending(.unset(keyPath: "has_more")),
        keyPath: "results", check: .failing(ifAbsent: "has_more"), body: .object([:])
    ).named("notion")
    /// OData and Microsoft Graph: values, with links to the next page and to the next changes.
    public static let odata = HTTPAPI(
        pages: .linkField(keyPath: #"@odata\.nextLink"#).omittingLastPointer(),
        delta: HTTPDelta(
            cursor: .address(keyPath: #"@odata\.deltaLink"#), tombstones: .flag(keyPath: "@removed")),
        keyPath: "value"
    ).named("odata")
    /// Salesforce queries: records, with `nextRecordsUrl`.
    public static let salesforce = HTTPAPI(
        pages: .linkField(keyPath: "nextRecordsUrl").ending(.set(keyPath: "done")).omittingLastPointer(),
        keyPath: "records", totalKeyPath: "totalSize"
    ).named("salesforce")
    /// Shopify: the `Link` field leads to the next page. The key path is the list's name.
    public static let shopify = HTTPAPI(pages: .link).named("shopify")
    /// Slack: cursors, and errors with status 200. The key path is the list's name.
    public static let slack = HTTPAPI(
        pages: .cursor(keyPath: "response_metadata.next_cursor", parameter: "cursor").omittingLastPointer(),
        check: .failing(ifUnset: "ok", message: "error")
    ).named("slack")
    /// Stripe: data, starting after the last object's identifier.
    public static let stripe = HTTPAPI(
        pages: .lastElement(keyPath: "id", parameter: "starting_after").ending(.unset(keyPath: "has_more")),
        keyPath: "data", check: .failing(ifAbsent: "has_more")
    ).named("stripe")
    /// WordPress: numbered pages, with the number of pages in `X-WP-TotalPages`.
    public static let wordpress = HTTPAPI(
        pages: .page(parameter: "page", size: HTTPPages.Size(parameter: "per_page", count: 100))
            .ending(.pageCount(header: "X-WP-TotalPages"), .status([400, 404]))
    ).named("wordpress")

    /// Elasticsearch and OpenSearch: hits in the order of a field, by `search_after`.
    ///
    /// Every hit must have the field, and no two hits the same value, because `search_after`
    /// continues behind a value. The number of all hits is compared with the hits that were read.
    ///
    /// - Parameter key: A field with doc values, such as a keyword with a copy of the identifier.
    public static func elasticsearch(sortedBy key: String) -> HTTPAPI {
        HTTPAPI(
            pages: .lastElement(keyPath: "sort", bodyKeyPath: "search_after"), keyPath: "hits.hits",
            check: .failing(ifSet: "timed_out").or(.failing(ifSet: "_shards.failed")), totalKeyPath: "hits.total.value",
            body: .object([
                "size": .integer(1000), "sort": .array([.object([key: .string("asc")])]),
                "track_total_hits": .bool(true),
            ])
        ).named("elasticsearch")
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
            pages: .cursor(keyPath: "\(path).pageInfo.endCursor", bodyKeyPath: "variables.after")
                .ending(.unset(keyPath: "\(path).pageInfo.hasNextPage")),
            keyPath: "\(path).nodes",
            check: .failing(ifSet: "errors").or(.failing(ifAbsent: "\(path).pageInfo.hasNextPage")),
            body: .object(["query": .string(query), "variables": .object(variables)])
        ).named("graphql")
    }

    /// Returns the API that a text names, as on a command line; nil if there is none.
    ///
    /// Elasticsearch is named with the field that sorts the hits: `elasticsearch:id`.
    public static func common(_ text: String) -> HTTPAPI? {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2 else { return all.first { $0.name == text } }
        return parts[0] == "elasticsearch" && !parts[1].isEmpty ? .elasticsearch(sortedBy: parts[1]) : nil
    }

    private func named(_ name: String) -> HTTPAPI {
        var api = self
        api.name = name
        return api
    }

    /// The APIs that need only a name, sorted by name.
    public static let all: [HTTPAPI] = [
        airtable, couchdb, drf, firebase, github, gitlab, google, hubspot, jsonapi, mastodon, notion,
        odata, salesforce, shopify, slack, stripe, wordpress,
    ]
}
