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
    private static let nextLink: HTTPHeaders = ["Link": "</users?page=2>; rel=\"next\""]

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
            "a link is not followed", list(.single), #"{"data":USERS}"#, headers: nextLink,
            keeps: "the Link field of the last page leads to a next one, which was not read: choose pages: .link"),
    ]

    @Test(arguments: contradictions + signsBesideStatedPages)
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

    private static func source(
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
            "a short page is not the last", list(numbered.ending(.shortPage, .unset(keyPath: "more"))), keeps: ""
        ) {
            .json(#"{"data":\#(usersJSON([[1, 2], [1], [2, 1]][$0 % 3])),"more":\#($0 % 3 < 2)}"#)
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

    // MARK: Errors beside the list

    /// A member that may report an error, with the beginning of what is said about it.
    struct Report: Sendable {
        let member: String
        let said: String

        init(_ member: String, _ said: String) {
            (self.member, self.said) = (member, said)
        }
    }

    static let reports: [Report] = [
        Report(#""error":"s3cret""#, "page 1 may report an error: error is a text"),
        Report(#""error":{"code":"s3cret"}"#, "page 1 may report an error: error is an object"),
        Report(#""error":500"#, "page 1 may report an error: error is a number"),
        Report(#""error":true"#, "page 1 may report an error: error is true"),
        Report(#""errors":["s3cret"]"#, "page 1 may report an error: errors is an array"),
        Report(#""success":false,"message":"s3cret""#, "page 1 may report an error: success is false"),
        Report(#""ok":false"#, "page 1 may report an error: ok is false"),
        Report(#""status":"error""#, "page 1 may report an error: status is error"),
        Report(#""status":"FAILED""#, "page 1 may report an error: status is failed"),
        Report(#""partial":true"#, "page 1 may be incomplete: partial is true"),
        Report(#""timed_out":true"#, "page 1 may be incomplete: timed_out is true"),
        Report(#""incomplete":true"#, "page 1 may be incomplete: incomplete is true"),
        Report(#""incomplete_results":true"#, "page 1 may be incomplete: incomplete_results is true"),
    ]

    /// Syncs an API after the store has got users 1 to 4.
    private func sync(
        _ api: HTTPAPI, into world: SourceWorld, _ respond: @escaping @Sendable (Int) -> HTTPResponse
    ) async throws -> StoreSyncResult {
        try await world.sync(.users(ScriptedServer { _, _ in .json(usersJSON(1...4)) }))
        return try await world.sync(try Self.source(api, respond))
    }

    @Test(arguments: reports.indices, [true, false])
    func anErrorBesideTheListKeepsAbsentObjects(index: Int, isBefore: Bool) async throws {
        let (member, said) = (Self.reports[index].member, Self.reports[index].said)
        let world = try await SourceWorld()
        let body = isBefore ? #"{\#(member),"data":[]}"# : #"{"data":[],\#(member)}"#
        let result = try await sync(Self.list(.single), into: world) { _ in .json(body) }
        #expect(result.counts.kept == 4)
        #expect(result.warnings.contains { $0.hasPrefix("absent objects were kept: \(said) (HTTPAPI.check") })
        // The reason stands in that sentence, not also by itself.
        #expect(result.warnings.count { $0.contains(said) } == 1)
        #expect(!"\(result.warnings)".contains("s3cret"))
        #expect(try await world.users().count == 4)
    }

    /// Directly beside a list, and at the root of the document.
    @Test(arguments: [
        (#"{"data":{"users":[],"error":"x"}}"#, "data.error is a text"),
        (#"{"data":{"users":[]},"error":"x"}"#, "error is a text"),
    ])
    func anErrorAroundADeepListKeepsAbsentObjects(body: String, said: String) async throws {
        let world = try await SourceWorld()
        let result = try await sync(HTTPAPI(keyPath: "data.users"), into: world) { _ in .json(body) }
        #expect(result.warnings.contains { $0.contains(": page 1 may report an error: \(said)") })
        #expect(try await world.users().count == 4)
    }

    static let schemes: [HTTPAPI.Pages] = [
        .link, .linkField(keyPath: "next"), .cursor(keyPath: "next", parameter: "after"), .automatic, numbered,
        .offset(parameter: "skip"), .lastElement(keyPath: "id", parameter: "after"),
    ]

    @Test(arguments: schemes.indices) func anErrorOnALaterPageKeepsAbsentObjects(scheme: Int) async throws {
        let world = try await SourceWorld()
        let result = try await sync(Self.list(Self.schemes[scheme]), into: world) { index in
            index % 2 == 0
                ? .json(Self.filled(#"{"data":USERS,"next":"/users?page=2"}"#), headers: Self.nextLink)
                : .json(#"{"error":"database is down","data":[],"next":null}"#)
        }
        #expect(result.counts.kept == 2)
        #expect(result.warnings.contains { $0.contains(": page 2 may report an error: error is a text") })
        #expect(try await world.users().count == 4)
    }

    @Test(arguments: [
        #""error":null"#, #""error":false"#, #""error":"" "#, #""error":{}"#, #""error":0"#, #""errors":[]"#,
        #""ok":true"#, #""success":true,"status":"success""#, #""status":500"#, #""status":"ok""#,
        #""partial":false,"timed_out":false,"incomplete":false,"incomplete_results":false"#,
        // Not beside the list.
        #""meta":{"error":"x","ok":false}"#,
    ])
    func otherMembersBesideTheListAreNoDoubt(member: String) async throws {
        let world = try await SourceWorld()
        let user = #"{"id":1,"name":"user 1","error":"x","ok":false,"status":"error","partial":true}"#
        let body = #"{"data":[\#(user)],\#(member)}"#
        let result = try await sync(Self.list(.single), into: world) { _ in .json(body) }
        #expect(result.warnings.isEmpty)
        #expect(try await world.users().count == 1)
    }

    /// A list may have the name of a sign, and so may the members that are its objects.
    @Test(arguments: [
        ("errors", #"{"errors":[{"id":1,"name":"a"}]}"#), ("status.ok", #"{"status":{"ok":[{"id":1,"name":"a"}]}}"#),
        ("data{key}", #"{"data":{"error":{"id":1,"name":"a"}}}"#), ("{key}", #"{"error":{"id":1,"name":"a"}}"#),
    ])
    func theListItselfIsNoDoubt(keyPath: String, body: String) async throws {
        let world = try await SourceWorld()
        let result = try await sync(HTTPAPI(keyPath: keyPath), into: world) { _ in .json(body) }
        #expect(result.warnings.isEmpty)
        #expect(try await world.users().count == 1)
    }

    /// A check states what an error is, and a sign of the last page what a value means.
    @Test(arguments: [true, false]) func aStatedMeaningReplacesTheSigns(isChecked: Bool) async throws {
        let world = try await SourceWorld()
        var api = Self.list(Self.numbered.ending(.unset(keyPath: isChecked ? "more" : "incomplete")))
        if isChecked { api.check = .failing(ifSet: "fault") }
        let result = try await sync(api, into: world) { index in
            let isFirst = index % 2 == 0
            let users = usersJSON(isFirst ? [1, 2] : [2, 1])
            return .json(#"{"data":\#(users),"more":\#(isFirst),"incomplete":\#(isFirst)}"#)
        }
        #expect(result.warnings.isEmpty)
        #expect(try await world.users().count == 2)
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
