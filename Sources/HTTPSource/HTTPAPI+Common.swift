import HTTPTransfer
import JSONMapper
import StoreSync

// As the services describe their APIs; the guide "Common APIs" names each description. The size of
// a page is the largest that all lists of the service accept, or what the service recommends.

extension HTTPAPI {
    /// Airtable: `records`, with an `offset` for the next page. Fields without a value are absent
    /// (Web API, "List records").
    public static let airtable = HTTPAPI(
        pages: .cursor(keyPath: "offset", parameter: "offset").omittingLastPointer(), keyPath: "records"
    ).omittingEmptyValues().named("airtable")

    /// Asana: data, with `next_page.offset`.
    ///
    /// The search of tasks (`tasks/search`) has no pages, and returns at most 100 tasks.
    public static let asana = HTTPAPI(
        pages: .cursor(keyPath: "next_page.offset", parameter: "offset").omittingLastPointer()
            .requesting(100, by: "limit"),
        keyPath: "data"
    ).named("asana")

    /// Azure DevOps: values, with a continuation token in a header field.
    ///
    /// Lists with `$top` and `$skip`, such as pull requests, have no such field. They need
    /// `.offset(parameter: "$skip")`.
    public static let azureDevOps = HTTPAPI(
        pages: .cursor(header: "x-ms-continuationtoken", parameter: "continuationToken"), keyPath: "value"
    ).named("azuredevops")

    /// Bitbucket Cloud: values, with the address of the next page.
    ///
    /// Some lists accept 100 objects per page. Pull requests accept 50.
    public static let bitbucket = HTTPAPI(
        pages: .linkField(keyPath: "next").omittingLastPointer().requesting(50, by: "pagelen"), keyPath: "values",
        totalKeyPath: "size"
    ).named("bitbucket")

    /// Confluence Cloud, version 2: results, with `_links.next`.
    public static let confluence = HTTPAPI(
        pages: .linkField(keyPath: "_links.next").omittingLastPointer().requesting(250, by: "limit"),
        keyPath: "results"
    ).named("confluence")

    /// Contentful's delivery API: items, with a number of objects to skip. Fields without a value
    /// are absent.
    ///
    /// The `errors` of a list name links to entries that are not published. They are no error.
    public static let contentful = HTTPAPI(
        pages: .offset(parameter: "skip", size: HTTPAPI.Pages.Size(parameter: "limit", count: 1000))
            .ending(.total(keyPath: "total")),
        keyPath: "items", check: .failing(ifText: "message")
    ).omittingEmptyValues().named("contentful")

    /// Contentful's sync API, with links to the next page and to the next changes.
    ///
    /// The address ends with `/sync?initial=true`. With `type=Entry` or `type=Asset`, the changes
    /// lack deletions, which only a full pass finds.
    public static let contentfulSync = HTTPAPI(
        pages: .linkField(keyPath: "nextPageUrl").omittingLastPointer(),
        delta: HTTPAPI.Delta(
            // Deleted entries and deleted assets have different types.
            cursor: .address(keyPath: "nextSyncUrl"), tombstones: .flag(keyPath: "sys.deletedAt")),
        keyPath: "items"
    ).omittingEmptyValues().named("contentfulsync")

    /// CouchDB's `_changes`, starting after the last sequence.
    ///
    /// The feed is a single response, or has pages if the address has a `limit`. With
    /// `include_docs=true`, the key path `results[].doc` leads to the documents.
    public static let couchdb = HTTPAPI(
        pages: .cursor(keyPath: "last_seq", parameter: "since").ending(.unset(keyPath: "pending"))
            .omittingLastPointer(),
        delta: HTTPAPI.Delta(cursor: .document(keyPath: "last_seq"), tombstones: .flag(keyPath: "deleted")),
        keyPath: "results"
    ).omittingEmptyValues().named("couchdb").with {
        // A document that changes while the pages are read moves behind them.
        $0.delta?.coversFullPass = true
        // The flag of a document.
        $0.delta?.innerTombstones = .flag(keyPath: "_deleted")
    }

    /// Datasette: the rows of a table in the order of its primary key, with `next_url`.
    ///
    /// The address may have `_size=max` for larger pages; before version 1.0, it needs
    /// `_shape=objects`. For a view, or with `_sort`, set ``isSnapshot`` to false, because pages
    /// then follow values that can change. A query whose rows were truncated is an error.
    public static let datasette = HTTPAPI(
        pages: .linkField(keyPath: "next_url").omittingLastPointer(), keyPath: "rows",
        check: .failing(ifSet: "truncated")
    ).named("datasette").with { $0.isSnapshot = true }

    /// Discourse: the topics of a list, with the address of more.
    public static let discourse = HTTPAPI(
        pages: .linkField(keyPath: "topic_list.more_topics_url").omittingLastPointer()
            .requesting(100, by: "per_page"),
        keyPath: "topic_list.topics"
    ).named("discourse")

    /// Django REST framework: `results`, with the address of the next page and the number of all
    /// objects.
    public static let drf = HTTPAPI(pages: .linkField(keyPath: "next"), keyPath: "results", totalKeyPath: "count")
        .named("drf")

    /// Django REST framework with `CursorPagination`, whose pages follow a key that does not
    /// change.
    public static let drfCursor = HTTPAPI(pages: .linkField(keyPath: "next"), keyPath: "results")
        .named("drfcursor").with { $0.isSnapshot = true }

    /// Dropbox's `list_folder`: entries, and `list_folder/continue` with a cursor, also for
    /// changes.
    ///
    /// The body is that of the whole folder unless it is replaced. Identify entries by
    /// `path_lower`: a deleted entry has no other key. A folder that is deleted does not name its
    /// contents, which the next full pass removes.
    public static let dropbox = HTTPAPI(
        pages: .cursor(keyPath: "cursor", bodyKeyPath: "cursor").ending(.unset(keyPath: "has_more"))
            .continuing(at: "list_folder/continue"),
        delta: HTTPAPI.Delta(
            cursor: .document(keyPath: "cursor"), tombstones: .field(keyPath: #"\.tag"#, equals: "deleted"),
            // The error `reset`.
            isTooOld: hasStatus([409])),
        keyPath: "entries", check: .failing(ifAbsent: "has_more"),
        body: .object(["path": .string(""), "recursive": .bool(true), "limit": .integer(2000)])
    ).omittingEmptyValues().named("dropbox").with { $0.delta?.coversFullPass = true }

    /// FHIR: the resources of a bundle, with a link to the next page. Elements without a value are
    /// absent (release 5, "JSON representation").
    public static let fhir = HTTPAPI(
        pages: .links(keyPath: "link", relation: "relation", address: "url"), keyPath: "entry[].resource",
        headers: ["Accept": "application/fhir+json"]
    ).omittingEmptyValues().named("fhir").with { $0.omitsEmptyLists = true }

    /// Firebase Realtime Database: an object whose keys are the identifiers. It has no null values.
    public static let firebase = HTTPAPI(
        pages: .single, keyPath: "{id:value}", check: .failing(ifText: "error")
    ).omittingEmptyValues().named("firebase")

    /// GitHub: the `Link` field leads to the next page.
    ///
    /// A list within an object, such as the `items` of a search, has a key path and a number of all
    /// objects. A search that ran out of time is an error, and one with more than 1000 results
    /// deletes nothing.
    public static let github = HTTPAPI(
        pages: .link.requesting(100, by: "per_page"), check: .failing(ifSet: "incomplete_results"),
        totalKeyPath: "total_count", headers: ["Accept": "application/vnd.github+json"]
    ).named("github")

    /// GitLab: the `Link` field leads to the next page.
    public static let gitlab = HTTPAPI(pages: .link.requesting(100, by: "per_page")).named("gitlab")

    /// Google's APIs: items, page tokens and sync tokens. Deletions are those of calendar events.
    ///
    /// The services report a sync token that has expired with status 410, 404 or 400. The calendars
    /// of a user are deleted by a flag: set the tombstones of ``delta`` to
    /// `.flag(keyPath: "deleted")`.
    public static let google = HTTPAPI(
        pages: .cursor(keyPath: "nextPageToken", parameter: "pageToken").omittingLastPointer(),
        delta: HTTPAPI.Delta(
            cursor: .document(keyPath: "nextSyncToken"), parameter: "syncToken",
            tombstones: .field(keyPath: "status", equals: "cancelled"), isTooOld: hasStatus([400, 404, 410])),
        keyPath: "items"
    ).omittingEmptyValues().named("google").with {
        $0.omitsEmptyLists = true
        $0.delta?.coversFullPass = true
    }

    /// Google's People API: connections, with the tokens of ``google``.
    ///
    /// The address needs `requestSyncToken=true`, or else each sync reads everything. Identify
    /// people by `resourceName`.
    public static let googleContacts = google.named("googlecontacts").with {
        $0.pages = $0.pages.requesting(1000, by: "pageSize")
        $0.delta?.tombstones = .flag(keyPath: "metadata.deleted")
        $0.keyPath = "connections"
    }

    /// HubSpot: results, with `paging.next.after`.
    public static let hubspot = HTTPAPI(
        pages: .cursor(keyPath: "paging.next.after", parameter: "after").omittingLastPointer()
            .requesting(100, by: "limit"),
        keyPath: "results"
    ).named("hubspot")

    /// Jira Cloud's search by JQL: issues, with `nextPageToken`.
    ///
    /// The address names the `fields`; by default, an issue has only its identifier.
    public static let jira = HTTPAPI(
        pages: .cursor(keyPath: "nextPageToken", parameter: "nextPageToken").ending(.set(keyPath: "isLast"))
            .omittingLastPointer().requesting(100, by: "maxResults"),
        keyPath: "issues"
    ).named("jira")

    /// JSON:API: data with included resources, and `links.next`. A document with `errors` is an
    /// error.
    public static let jsonapi = HTTPAPI(
        pages: .linkField(keyPath: "links.next").omittingLastPointer(), keyPath: "data", format: .jsonAPI,
        check: .failing(ifFilled: "errors"), headers: ["Accept": "application/vnd.api+json"]
    ).named("jsonapi")

    /// Kinto: data, with the address of the next page in `Next-Page`, and changes since a
    /// timestamp.
    public static let kinto = HTTPAPI(
        pages: .link(header: "Next-Page"),
        delta: HTTPAPI.Delta(
            cursor: .element(keyPath: "last_modified"), parameter: "_since", tombstones: .flag(keyPath: "deleted")),
        keyPath: "data"
    ).omittingEmptyValues().named("kinto").with { $0.positionParameters.insert("_token") }

    /// Kubernetes: the items of a list, read from one snapshot.
    public static let kubernetes = HTTPAPI(
        pages: .cursor(keyPath: "metadata.continue", parameter: "continue").omittingLastPointer()
            .requesting(500, by: "limit"),
        keyPath: "items"
    ).omittingEmptyValues().named("kubernetes").with { $0.isSnapshot = true }

    /// Mastodon: the `Link` field leads to the next page.
    public static let mastodon = HTTPAPI(pages: .link.requesting(80, by: "limit")).named("mastodon")

    /// MediaWiki's action API: the key path is that of the list, such as `query.allpages`.
    public static let mediawiki = HTTPAPI(
        pages: .parameters(keyPath: "continue").omittingLastPointer(), check: .failing(ifSet: "error")
    ).named("mediawiki")

    /// Notion's queries: results with POST, and `next_cursor`.
    ///
    /// The address is that of a data source (`data_sources/…/query`). For that of a database, the
    /// header fields need `Notion-Version: 2022-06-28`. A query that was cut off after 10,000
    /// results is an error.
    public static let notion = HTTPAPI(
        pages: .cursor(keyPath: "next_cursor", bodyKeyPath: "start_cursor").ending(.unset(keyPath: "has_more")),
        keyPath: "results", check: notionCheck, body: .object(["page_size": .integer(100)]), headers: notionHeaders
    ).named("notion")

    /// Notion's lists that are read with GET, such as users and the children of a block.
    public static let notionList = HTTPAPI(
        pages: .cursor(keyPath: "next_cursor", parameter: "start_cursor").ending(.unset(keyPath: "has_more"))
            .requesting(100, by: "page_size"),
        keyPath: "results", check: notionCheck, headers: notionHeaders
    ).named("notionlist")

    /// A list that reached the limit of results says that nothing follows.
    private static let notionCheck = HTTPAPI.ReplyCheck.failing(ifAbsent: "has_more")
        .or(.failing(ifSet: "request_status.incomplete_reason"))
    private static let notionHeaders: HTTPHeaders = ["Notion-Version": "2026-03-11"]

    /// OData and Microsoft Graph: values, with links to the next page and to the next changes.
    ///
    /// A changed object may have only the properties that changed, so absent keys are kept. The
    /// services report a link to changes that has expired with status 410, 404 or 400.
    public static let odata = HTTPAPI(
        pages: .linkField(keyPath: #"@odata\.nextLink"#).omittingLastPointer(),
        delta: HTTPAPI.Delta(
            cursor: .address(keyPath: #"@odata\.deltaLink"#), tombstones: .flag(keyPath: "@removed"),
            isTooOld: hasStatus([400, 404, 410])),
        keyPath: "value"
    ).named("odata").with { $0.absentKeys = .keep }

    /// PostgREST and Supabase: an array, with the number of all rows in `Content-Range`.
    ///
    /// The address should have an `order`, because rows have none by default.
    public static let postgrest = HTTPAPI(
        pages: .offset(parameter: "offset", size: HTTPAPI.Pages.Size(parameter: "limit", count: 1000))
            .ending(.status([416])),
        headers: ["Prefer": "count=exact"]
    ).named("postgrest")

    /// Salesforce queries: records, with `nextRecordsUrl`.
    public static let salesforce = HTTPAPI(
        pages: .linkField(keyPath: "nextRecordsUrl").ending(.set(keyPath: "done")).omittingLastPointer(),
        keyPath: "records", totalKeyPath: "totalSize"
    ).named("salesforce")

    /// Shopify: the `Link` field leads to the next page. The key path is the list's name.
    public static let shopify = HTTPAPI(pages: .link.requesting(250, by: "limit")).named("shopify")

    /// Slack: cursors, and errors with status 200. The key path is the list's name.
    ///
    /// A list of numbered pages, such as that of `files.list`, deletes nothing if it has more than
    /// one page.
    public static let slack = HTTPAPI(
        pages: .cursor(keyPath: "response_metadata.next_cursor", parameter: "cursor").omittingLastPointer()
            .requesting(200, by: "limit"),
        check: .failing(ifUnset: "ok", message: "error"), totalKeyPath: "paging.total"
    ).named("slack")

    /// STAC and OGC API Features: features, with links by relation.
    public static let stac = HTTPAPI(
        pages: .links(keyPath: "links").requesting(100, by: "limit"), keyPath: "features",
        headers: ["Accept": "application/geo+json, application/json"]
    ).named("stac").with {
        // The specification of STAC API, item search, has `token` in its links to the next page.
        $0.positionParameters.insert("token")
    }

    /// Strapi: data, with numbered pages.
    public static let strapi = HTTPAPI(
        pages: .page(
            parameter: "pagination[page]", size: HTTPAPI.Pages.Size(parameter: "pagination[pageSize]", count: 100)
        ).ending(.total(keyPath: "meta.pagination.total")),
        keyPath: "data"
    ).named("strapi")

    /// Stripe: data, starting after the last object's identifier.
    public static let stripe = HTTPAPI(
        pages: .lastElement(keyPath: "id", parameter: "starting_after").ending(.unset(keyPath: "has_more"))
            .requesting(100, by: "limit"),
        keyPath: "data", check: .failing(ifAbsent: "has_more")
    ).named("stripe").with { $0.isSnapshot = true }

    /// Twilio's API 2010-04-01: the address of the next page. The key path is the list's name.
    ///
    /// Other APIs of Twilio have it at `meta.next_page_url`.
    public static let twilio = HTTPAPI(
        pages: .linkField(keyPath: "next_page_uri").requesting(1000, by: "PageSize")
    ).named("twilio")

    /// WordPress: numbered pages, with the number of pages in `X-WP-TotalPages`.
    public static let wordpress = HTTPAPI(
        pages: .page(parameter: "page", size: HTTPAPI.Pages.Size(parameter: "per_page", count: 100))
            .ending(.pageCount(header: "X-WP-TotalPages"), .status([400, 404]))
    ).named("wordpress")

    /// Zendesk: cursors. The key path is the list's name.
    public static let zendesk = HTTPAPI(
        pages: .cursor(keyPath: "meta.after_cursor", parameter: "page[after]").ending(.unset(keyPath: "meta.has_more"))
            .requesting(100, by: "page[size]"),
        check: .failing(ifAbsent: "meta.has_more")
    ).named("zendesk")

    /// An API whose objects lack the keys of empty values.
    private func omittingEmptyValues() -> HTTPAPI {
        with { $0.absentKeys = .clear }
    }

    /// The API with other properties.
    func with(_ change: (inout HTTPAPI) -> Void) -> HTTPAPI {
        var api = self
        change(&api)
        return api
    }

    /// Whether an error is a response with one of these statuses.
    private static func hasStatus(_ statuses: Set<Int>) -> @Sendable (HTTPError) -> Bool {
        { error in
            if case .status(let status, _, _) = error.problem { statuses.contains(status) } else { false }
        }
    }

    /// The API with a name of its own.
    func named(_ name: String) -> HTTPAPI {
        with { $0.name = name }
    }
}
