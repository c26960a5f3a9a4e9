import Foundation
import HTTPSource
import HTTPTransfer
import JSONMapper
import OneWaySynchronizer
import OneWayTestLimits
import OneWayTestSupport
import StoreSync
import Testing

/// Servers whose pages end although they say that there is more. The store has users 1 to 4; the
/// server hands out 1 and 2.
@Suite(.endsInTime) struct CompletenessTests {
    struct Contradiction: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let api: HTTPAPI
        /// Part of the error, or of the warnings if there is no error.
        let said: String
        let isError: Bool
        let respond: @Sendable (_ index: Int) -> HTTPResponse

        /// - Parameter body: The body of each page; `USERS` stands for users 1 and 2.
        init(
            _ name: String, _ api: HTTPAPI, _ body: String, headers: HTTPHeaders = HTTPHeaders(), fails said: String
        ) {
            self.init(name, api, fails: said) { _ in .json(CompletenessTests.filled(body), headers: headers) }
        }

        init(
            _ name: String, _ api: HTTPAPI, _ body: String, headers: HTTPHeaders = HTTPHeaders(), keeps said: String
        ) {
            self.init(name, api, keeps: said) { _ in .json(CompletenessTests.filled(body), headers: headers) }
        }

        init(_ name: String, _ api: HTTPAPI, fails said: String, respond: @escaping @Sendable (Int) -> HTTPResponse) {
            (testDescription, self.api, self.said, isError, self.respond) = (name, api, said, true, respond)
        }

        init(_ name: String, _ api: HTTPAPI, keeps said: String, respond: @escaping @Sendable (Int) -> HTTPResponse) {
            (testDescription, self.api, self.said, isError, self.respond) = (name, api, said, false, respond)
        }
    }

    static func filled(_ body: String) -> String {
        body.replacing("USERS", with: usersJSON([1, 2]))
    }

    static func list(_ pages: HTTPAPI.Pages) -> HTTPAPI {
        HTTPAPI(pages: pages, keyPath: "data")
    }

    static let numbered = HTTPAPI.Pages.page(parameter: "page")
    private static let fourPages: HTTPHeaders = ["X-WP-TotalPages": "4"]
    static let nextLink: HTTPHeaders = ["Link": "</users?page=2>; rel=\"next\""]

    static let contradictions: [Contradiction] = [
        // Common APIs
        Contradiction(
            "Notion has more and no cursor", .notion, #"{"results":USERS,"has_more":true,"next_cursor":null}"#,
            fails: "next_cursor, is unsuitable: null, although has_more says that more pages follow"),
        Contradiction(
            "Notion does not say whether it has more", .notion, #"{"results":USERS,"next_cursor":"2"}"#,
            fails: "has_more is absent"),
        Contradiction(
            "Notion has more is null", .notion, #"{"results":USERS,"has_more":null,"next_cursor":"2"}"#,
            fails: "has_more is null"),
        Contradiction("Stripe has more, and an empty page", .stripe, fails: "id, is unsuitable: the page is empty") {
            .json(#"{"data":\#($0 == 0 ? usersJSON([1, 2]) : "[]"),"has_more":true}"#)
        },
        Contradiction(
            "Stripe does not say whether it has more", .stripe, #"{"data":USERS}"#, fails: "has_more is absent"),
        Contradiction(
            "Salesforce is not done and leads nowhere", .salesforce,
            #"{"totalSize":4,"done":false,"records":USERS}"#,
            fails: "nextRecordsUrl, is unsuitable: absent, although done says that more pages follow"),
        Contradiction(
            "Salesforce counts more", .salesforce, #"{"totalSize":4,"done":true,"records":USERS}"#,
            keeps: "the source counts 4 objects, and its pages had 2"),
        Contradiction(
            "Django counts more", .drf, #"{"count":4,"next":null,"results":USERS}"#,
            keeps: "the source counts 4 objects, and its pages had 2"),
        Contradiction("Django does not lead on", .drf, #"{"results":USERS}"#, keeps: "next, which leads"),
        Contradiction(
            "Elasticsearch took too long", .elasticsearch(sortedBy: "id"), #"{"timed_out":true,"hits":{"hits":USERS}}"#,
            fails: "timed_out is true"),
        Contradiction(
            "Elasticsearch lacks a shard", .elasticsearch(sortedBy: "id"),
            #"{"_shards":{"failed":1},"hits":{"hits":[]}}"#,
            fails: "_shards.failed is a number: 1"),
        Contradiction(
            "GraphQL has more and no cursor", .graphQL("q", connection: "users"),
            #"{"data":{"users":{"nodes":USERS,"pageInfo":{"hasNextPage":true,"endCursor":null}}}}"#,
            fails: "endCursor, is unsuitable: null, although"),
        Contradiction(
            "GraphQL was not asked whether it has more", .graphQL("q", connection: "users"),
            #"{"data":{"users":{"nodes":USERS,"pageInfo":{"endCursor":null}}}}"#, fails: "hasNextPage is absent"),
        Contradiction("WordPress has pages left, and an empty one", .wordpress, keeps: "page 2 is empty") {
            .json($0 % 4 == 0 ? usersJSON([1, 2]) : "[]", headers: fourPages)
        },
        Contradiction("WordPress has pages left, and refuses one", .wordpress, fails: "status 404") {
            $0 == 0 ? .json(usersJSON([1, 2]), headers: fourPages) : HTTPResponse(status: 404)
        },
        // Other pages
        Contradiction(
            "a link field lacks a page", list(.link.ending(.unset(keyPath: "more"))),
            #"{"data":USERS,"more":true}"#, fails: "Link, is unsuitable: absent, although more says"),
        Contradiction(
            "a function ends too early", list(.custom { _ in nil }.ending(.set(keyPath: "done"))),
            #"{"data":USERS,"done":false}"#, fails: "although done says that more pages follow"),
        Contradiction(
            "one of two signs says that more follow",
            list(numbered.ending(.set(keyPath: "done"), .pageCount(header: "X-WP-TotalPages"))),
            #"{"data":USERS,"done":true}"#, headers: fourPages,
            keeps: "page 1 is said to be the last, although X-WP-TotalPages says that more follow"),
        Contradiction(
            "the total is not reached", list(.offset(parameter: "o").ending(.total(keyPath: "n"))), keeps: "4"
        ) { .json(#"{"data":\#($0 % 2 == 0 ? usersJSON([1, 2]) : "[]"),"n":4}"#) },
        Contradiction(
            "the total shrinks in each reading", .drf,
            keeps: "the server counts 4 objects on page 1 and 2 on page 2"
        ) {
            $0 % 2 == 0
                ? .json(#"{"count":4,"next":"/list?p=2","results":\#(usersJSON([1]))}"#)
                : .json(#"{"count":2,"next":null,"results":\#(usersJSON([2]))}"#)
        },
        Contradiction(
            "hits with the same sort value are skipped", .elasticsearch(sortedBy: "id"),
            keeps: "the source counts 4 objects, and its pages had 2"
        ) {
            let hits = [1, 2].map { #"{"id":\#($0),"name":"user \#($0)","sort":[0]}"# }.joined(separator: ",")
            return .json(#"{"hits":{"total":{"value":4,"relation":"eq"},"hits":[\#($0 % 2 == 0 ? hits : "")]}}"#)
        },
        Contradiction(
            "the field of the total counts more, in lowercase as in HTTP/2", list(.single), #"{"data":USERS}"#,
            headers: ["x-total-count": "4"], keeps: "the source counts 4 objects, and its pages had 2"),
        Contradiction(
            "the sign of the end is on no page",
            list(.cursor(keyPath: "next", parameter: "after").ending(.unset(keyPath: "more"))),
            #"{"data":USERS,"next":"2"}"#, keeps: "more, which leads to the next page, was on no page"),
        Contradiction(
            "a single response has an address of a next page", list(.single), #"{"data":USERS,"next":"/list?page=2"}"#,
            keeps: ".linkField(keyPath: \"next\")"),
        Contradiction(
            "a single response has links to a next page", list(.single),
            #"{"data":USERS,"links":{"next":{"href":"https://api.test/x"}}}"#,
            keeps: ".linkField(keyPath: \"links.next\")"),
        Contradiction(
            "a single response has a cursor of a next page", list(.single),
            #"{"data":USERS,"meta":{"next_cursor":"abc"}}"#,
            keeps: ".cursor(keyPath: \"meta.next_cursor\""),
        Contradiction(
            "a single response has a flag of more pages", list(.single), #"{"data":USERS,"has_more":true}"#,
            keeps: "has_more says that more pages follow"),
        Contradiction(
            "a single response has a higher count", list(.single), #"{"data":USERS,"count":95}"#,
            keeps: "count counts 95 objects, and the response had 2"),
        Contradiction(
            "the head of a single response has the number of a next page", list(.single), #"{"data":USERS}"#,
            headers: ["X-Next-Page": "2"], keeps: "X-Next-Page leads to a next page"),
        Contradiction(
            "the head of a single response has a number of pages", list(.single), #"{"data":USERS}"#,
            headers: ["X-Total-Pages": "5"], keeps: "X-Total-Pages counts 5 pages"),
        Contradiction(
            "the head of a single response has a range", list(.single), #"{"data":USERS}"#,
            headers: ["Content-Range": "items 0-1/95"],
            keeps:
                "the source counts 95 objects, and its pages had 2: state how the next page is found, such as pages: .page"
        ),
        Contradiction(
            "the head of a single response has a total", list(.single), #"{"data":USERS}"#,
            headers: ["X-Total-Count": "95"],
            keeps:
                "the source counts 95 objects, and its pages had 2: state how the next page is found, such as pages: .page"
        ),
        Contradiction(
            "the status of a single response is that of a part", list(.single),
            keeps: "status 206 says that the page is a part of the list"
        ) { _ in
            HTTPResponse(
                status: 206, headers: ["Content-Range": "items 0-1/*"],
                bytes: Array(filled(#"{"data":USERS}"#).utf8))
        },
        Contradiction(
            "a link is not followed", list(.single), #"{"data":USERS}"#, headers: nextLink,
            keeps: "the Link field of the last page leads to a next one, which was not read: choose pages: .link"),
    ]

    @Test(arguments: contradictions + signsBesideStatedPages + signsByOtherNames)
    func contradictionsPreventDeletionsAndAreReported(contradiction: Contradiction) async throws {
        let world = try await SourceWorld()
        try await world.sync(.users(ScriptedServer { _, _ in .json(usersJSON(1...4)) }))
        let source = try Self.source(contradiction.api, contradiction.respond)
        var said = ""
        do {
            let result = try await world.sync(source)
            #expect(!contradiction.isError)
            #expect(result.counts.kept == 2)
            said = result.warnings.joined(separator: "\n")
            #expect(said.contains("absent objects were kept"))
        } catch {
            #expect(contradiction.isError)
            said = String(reflecting: error)
        }
        #expect(said.contains(contradiction.said), "\(said)")
        #expect(try await world.users().count == 4)
    }

    static func source(
        _ api: HTTPAPI, _ respond: @escaping @Sendable (Int) -> HTTPResponse
    ) throws -> HTTPJSONSource {
        let client = HTTPClient(
            transport: ScriptedServer { _, index in respond(index) }, retry: RetryPolicy(maxAttempts: 1),
            clock: ManualClock(), date: { testDate })
        return HTTPJSONSource(try #require(URL(string: "https://api.test/list")), api: api, client: client)
    }

    /// Servers that are right, each in its own way.
    static let agreements: [Contradiction] = [
        Contradiction(
            "the only page lacks the pointer", list(.cursor(keyPath: "n", parameter: "c").omittingLastPointer()),
            #"{"data":USERS}"#, keeps: ""),
        Contradiction("the last page lacks the pointer", list(.cursor(keyPath: "n", parameter: "c")), keeps: "") {
            .json($0 % 2 == 0 ? #"{"data":\#(usersJSON([1])),"n":2}"# : #"{"data":\#(usersJSON([2]))}"#)
        },
        Contradiction(
            "Slack's cursor is empty", .slack, #"{"ok":true,"data":USERS,"response_metadata":{}}"#, keeps: ""),
        Contradiction(
            "a single response counts itself", list(.single),
            #"{"data":USERS,"count":2,"next":null,"has_more":false,"total":2,"links":{"next":""}}"#,
            headers: ["X-Total": "2", "X-Next-Page": "", "X-Total-Pages": "1", "Content-Range": "0-1/2"], keeps: ""),
        Contradiction(
            "Elasticsearch counts at least so many", .elasticsearch(sortedBy: "id"), keeps: ""
        ) {
            let hits =
                $0 % 2 == 0 ? #"[{"id":1,"name":"user 1","sort":[1]},{"id":2,"name":"user 2","sort":[2]}]"# : "[]"
            return .json(#"{"hits":{"total":{"value":3,"relation":"gte"},"hits":\#(hits)}}"#)
        },
        Contradiction(
            "Contentful names links to entries that are not published", .contentful,
            #"{"total":2,"items":USERS,"errors":[{"sys":{"type":"error","id":"notResolvable"}}]}"#, keeps: ""),
        Contradiction("WordPress does not count", .wordpress, keeps: "") {
            $0 % 2 == 0 ? .json(usersJSON([1, 2])) : HTTPResponse(status: 400)
        },
        Contradiction(
            "the last page has a position for later",
            list(.cursor(keyPath: "next_cursor", parameter: "c").ending(.unset(keyPath: "has_more"))),
            #"{"data":USERS,"has_more":false,"next_cursor":"x","links":{"next":"/list?c=x"}}"#, keeps: ""),
        Contradiction(
            "each page has a position", list(.linkField(keyPath: "paging.next").omittingLastPointer()),
            #"{"data":USERS,"paging":{"cursors":{"after":"x"}}}"#, keeps: ""),
        Contradiction(
            "GitLab names the only page", .gitlab, "USERS",
            headers: ["Link": "</l?page=1&per_page=100>; rel=\"first\", </l?page=1&per_page=100>; rel=\"last\""],
            keeps: ""),
        Contradiction("stated pages count themselves", list(numbered), keeps: "") {
            .json(
                #"{"data":\#($0 % 2 == 0 ? usersJSON([1, 2]) : "[]"),"count":2,"total":2,"page":1,"pages":1}"#,
                headers: ["X-Total-Pages": "1", "X-Next-Page": ""])
        },
        Contradiction(
            "values of usual names that say nothing of pages", list(.single),
            #"{"data":USERS,"last":2,"done":0,"is_last":null,"IsLastPage":true,"moreItems":false,"NextPageLink":null}"#,
            keeps: ""),
        Contradiction(
            "the elements have fields of usual names", list(.single),
            #"{"data":[{"id":1,"name":"user 1","last":false,"total":9},{"id":2,"name":"user 2","hasMore":true}]}"#,
            keeps: ""),
        Contradiction(
            "the members that are the objects have usual names", HTTPAPI(keyPath: "{name:id}"),
            #"{"has_more":1,"count":2}"#, keeps: ""),
        Contradiction(
            "an API states itself what a flag means", list(.custom(capturing: ["done"]) { _ in nil }),
            #"{"data":USERS,"done":false}"#, keeps: ""),
        Contradiction(
            "a token is on the last page, too", list(.linkField(keyPath: "next")),
            #"{"data":USERS,"next":null,"continuationToken":"x"}"#, keeps: ""),
        Contradiction(
            "a short page is not the last", list(numbered.ending(.shortPage, .unset(keyPath: "more"))), keeps: ""
        ) {
            .json(#"{"data":\#(usersJSON([[1, 1], [2], []][$0 % 3])),"more":\#($0 % 3 < 2)}"#)
        },
    ]

    @Test(arguments: agreements) func whatIsGoneIsDeleted(agreement: Contradiction) async throws {
        let world = try await SourceWorld()
        try await world.sync(.users(ScriptedServer { _, _ in .json(usersJSON(1...4)) }))
        let source = try Self.source(agreement.api, agreement.respond)
        let keyPath = agreement.api.name == "slack" ? "data" : ""
        let result = try await world.sync(source, StoreSyncOptions(keyPath: keyPath))
        #expect(result.warnings.isEmpty)
        #expect(try await world.users().keys.sorted() == [1, 2])
    }

    /// Syncs an API after the store has got users 1 to 4.
    func sync(
        _ api: HTTPAPI, into world: SourceWorld, _ respond: @escaping @Sendable (Int) -> HTTPResponse
    ) async throws -> StoreSyncResult {
        try await world.sync(.users(ScriptedServer { _, _ in .json(usersJSON(1...4)) }))
        return try await world.sync(try Self.source(api, respond))
    }

    @Test func aBundleWithoutEntriesThatCountsObjectsDeletesNone() async throws {
        let world = try await SourceWorld()
        let result = try await sync(.fhir, into: world) { _ in
            .json(#"{"resourceType":"Bundle","total":4,"link":[{"relation":"self","url":"/list"}]}"#)
        }
        #expect(result.counts.kept == 4)
        let warning = "absent objects were kept: total counts 4 objects, and the response had 0: "
        #expect(result.warnings.count == 1 && result.warnings[0].hasPrefix(warning))
    }

    @Test func aCountOfAllObjectsBesideChangesIsNoDoubt() async throws {
        let world = try await SourceWorld()
        let source = try Self.source(
            HTTPAPI(
                pages: .linkField(keyPath: "next"),
                delta: HTTPAPI.Delta(cursor: .element(keyPath: "id"), parameter: "since"), keyPath: "data")
        ) { .json(#"{"count":2,"next":null,"data":\#(usersJSON($0 == 0 ? [1, 2] : [2]))}"#) }
        try await world.sync(source)
        let result = try await world.sync(source)
        #expect(result.coverage == .changes)
        #expect(result.warnings.isEmpty)
    }

    @Test func missingObjectsAreReportedEvenIfNoneIsAbsent() async throws {
        let world = try await SourceWorld()
        let source = try Self.source(.drf) { _ in .json(Self.filled(#"{"count":4,"next":null,"results":USERS}"#)) }
        let result = try await world.sync(source)
        let warning = "objects may be missing: the source counts 4 objects, and its pages had 2: "
        #expect(result.warnings.count == 1 && result.warnings[0].hasPrefix(warning))
    }

    /// Two readings of pages without a unique order agree, although an object is on none of them.
    @Test func anObjectOnTwoPagesDoesNotCountTwice() async throws {
        let world = try await SourceWorld()
        let source = try Self.source(.drf) { index in
            let (ids, next) = index % 2 == 0 ? ([1, 2], #""/list?p=2""#) : ([2, 3], "null")
            return .json(#"{"count":4,"next":\#(next),"results":\#(usersJSON(ids))}"#)
        }
        let said = "the source counts 4 objects, and its pages had 3 different ones"
        #expect(try await world.sync(source).warnings == ["objects may be missing: \(said)"])
        try await world.sync(.users(ScriptedServer { _, _ in .json(usersJSON(1...4)) }))
        let result = try await world.sync(source)
        #expect(result.warnings == ["absent objects were kept: \(said)"])
        #expect(try await world.users().count == 4)
    }

    @Test func anEstimatedTotalIsNoDoubt() async throws {
        let world = try await SourceWorld()
        try await world.sync(.users(ScriptedServer { _, _ in .json(usersJSON(1...4)) }))
        var source = try Self.source(.drf) { _ in .json(Self.filled(#"{"count":4,"next":null,"results":USERS}"#)) }
        source.api.isTotalExact = false
        try await world.sync(source)
        #expect(try await world.users().count == 2)
    }
}
