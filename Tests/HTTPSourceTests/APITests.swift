import Foundation
import HTTPSource
import HTTPTransfer
import JSONMapper
import OneWaySynchronizer
import OneWayTestLimits
import OneWayTestSupport
import StoreSync
import SyncModel
import SyncStore
import Testing

/// Imitations of common APIs, read by the line that the documentation shows.
@Suite(.endsInTime) struct APITests {
    private func source(_ imitation: Imitation) throws -> (HTTPJSONSource, ScriptedServer) {
        let server = ScriptedServer { request, _ in try imitation.respond(request) }
        let url = try #require(URL(string: "https://api.test/users"))
        let client = HTTPClient(
            transport: server, retry: RetryPolicy(maxAttempts: 1), clock: ManualClock(), date: { testDate })
        return (HTTPJSONSource(url, api: imitation.api, client: client), server)
    }

    @Test(arguments: imitations) func allPagesOfACommonAPIAreRead(imitation: Imitation) async throws {
        let world = try await SourceWorld()
        let (source, server) = try source(imitation)
        let result = try await world.sync(source, StoreSyncOptions(keyPath: imitation.keyPath))
        #expect(try await world.json.store.count(StoreQuery("User")) == 5, "\(server.paths)")
        #expect(result.warnings.isEmpty)
    }

    @Test(arguments: imitations.filter { $0.api.delta != nil }) func theNextSyncReadsTheChanges(imitation: Imitation)
        async throws
    {
        let world = try await SourceWorld()
        let (source, server) = try source(imitation)
        let options = StoreSyncOptions(keyPath: imitation.keyPath)
        try await world.sync(source, options)
        let count = server.requests.count
        let result = try await world.sync(source, options)
        #expect(result.coverage == .changes)
        #expect(server.requests.count == count + 1)
        #expect(try await world.json.store.count(StoreQuery("User")) == 4)
    }

    /// The changes after a cursor of these APIs include what changes while its pages are read.
    @Test func someCursorsCoverTheReadingOfTheirPages() {
        let covering = HTTPAPI.all.filter { $0.delta?.coversFullPass == true }
        #expect(covering.map(\.name) == ["couchdb", "dropbox", "google", "googlecontacts"])
    }

    /// Pages of one moment prove what is gone, and are not read again.
    @Test(arguments: imitations.filter { ["datasette", "drfcursor", "kubernetes", "stripe"].contains($0.api.name) })
    func thePagesOfASnapshotAreReadOnce(imitation: Imitation) async throws {
        var counts: [Int] = []
        for absent in [[], [100]] {
            let world = try await SourceWorld()
            try await world.sync(try HTTPJSONSource.users(ScriptedServer { _, _ in .json(usersJSON(absent)) }))
            let (source, server) = try source(imitation)
            try await world.sync(source, StoreSyncOptions(keyPath: imitation.keyPath))
            #expect(try await world.json.store.count(StoreQuery("User")) == 5)
            counts.append(server.requests.count)
        }
        #expect(counts[0] == counts[1] && counts[0] > 1)
    }

    @Test func anErrorBesideStatus200IsAnError() async throws {
        let replies: [(HTTPAPI, String)] = [
            (.slack, #"{"ok":false,"error":"invalid_auth"}"#),
            (.graphQL("q", connection: "users"), #"{"errors":[{"message":"invalid_auth"}],"data":null}"#),
            (
                .graphQL("q", connection: "users"),
                #"{"data":{"users":{"nodes":[],"pageInfo":{}}},"errors":[{"message":"invalid_auth"}]}"#
            ),
        ]
        for (api, reply) in replies {
            let world = try await SourceWorld()
            let (source, _) = try source(Imitation(api) { _ in .json(reply) })
            let error = await #expect(throws: HTTPError.self) {
                try await world.sync(source, StoreSyncOptions(keyPath: api.name == "slack" ? "members" : ""))
            }
            #expect(error.map { String(reflecting: $0) }?.contains("invalid_auth") == true)
        }
    }

    /// A cursor for the whole list has no order.
    @Test func theLatestTokenOfGoogleIsKept() async throws {
        let world = try await SourceWorld()
        let (source, server) = try source(
            Imitation(.google) { request in
                let next = [nil: "c", "c": "b", "b": "a"][request.query("syncToken")] ?? "z"
                return .json(#"{"items":\#(usersJSON([1])),"nextSyncToken":"\#(next)"}"#)
            })
        for _ in 0..<4 { try await world.sync(source) }
        #expect(server.requests.map { $0.query("syncToken") } == [nil, "c", "b", "a"])
    }

    /// The services of Google and Microsoft report an expired token with different statuses.
    @Test(arguments: [HTTPAPI.google, .odata], [400, 404, 410])
    func anExpiredTokenReadsEverything(api: HTTPAPI, status: Int) async throws {
        let world = try await SourceWorld()
        let (source, _) = try source(
            Imitation(api) { request in
                guard request.query("syncToken") == nil, request.query("$deltatoken") == nil else {
                    return HTTPResponse(status: status)
                }
                return .json(
                    #"{"\#(api.keyPath)":\#(usersJSON(1...3)),"nextSyncToken":"t1","#
                        + #""@odata.deltaLink":"https://api.test/users?$deltatoken=t1"}"#)
            })
        try await world.sync(source)
        let result = try await world.sync(source)
        #expect(result.coverage == .everything)
        #expect(try await world.json.store.count(StoreQuery("User")) == 3)
    }

    /// A list that says itself that it was cut off, beside an end that looks like any other.
    @Test(arguments: [
        (
            HTTPAPI.notion, "results",
            #""has_more":false,"next_cursor":null,"request_status":{"type":"incomplete","#
                + #""incomplete_reason":"query_result_limit_reached"}"#, "query_result_limit_reached"
        ),
        (
            .notionList, "results",
            #""has_more":false,"next_cursor":null,"request_status":{"type":"incomplete","#
                + #""incomplete_reason":"query_result_limit_reached"}"#, "query_result_limit_reached"
        ),
        (.datasette, "rows", #""ok":true,"truncated":true"#, "truncated is true"),
        (.github, "items", #""total_count":2,"incomplete_results":true"#, "incomplete_results is true"),
    ])
    func aListThatWasCutOffIsAnError(api: HTTPAPI, keyPath: String, rest: String, said: String) async throws {
        let world = try await SourceWorld()
        try await world.sync(.users(ScriptedServer { _, _ in .json(usersJSON(1...4)) }))
        let (source, _) = try source(Imitation(api) { _ in .json(#"{"\#(keyPath)":\#(usersJSON(1...2)),\#(rest)}"#) })
        let error = await #expect(throws: HTTPError.self) {
            try await world.sync(source, StoreSyncOptions(keyPath: keyPath))
        }
        #expect(error.map { String(reflecting: $0).contains(said) } == true, "\(String(describing: error))")
        #expect(try await world.users().count == 4)
    }

    /// A list that counts more objects than its pages can lead to.
    @Test(arguments: [
        (HTTPAPI.github, "items", #""total_count":1500,"incomplete_results":false"#),
        (.slack, "files", #""ok":true,"paging":{"count":2,"total":4,"page":1,"pages":2}"#),
    ])
    func aListWithMoreThanItsPagesDeletesNothing(api: HTTPAPI, keyPath: String, rest: String) async throws {
        let world = try await SourceWorld()
        try await world.sync(.users(ScriptedServer { _, _ in .json(usersJSON(1...4)) }))
        let (source, _) = try source(Imitation(api) { _ in .json(#"{"\#(keyPath)":\#(usersJSON(1...2)),\#(rest)}"#) })
        let result = try await world.sync(source, StoreSyncOptions(keyPath: keyPath))
        #expect(!result.warnings.isEmpty)
        #expect(try await world.users().count == 4)
    }

    @Test func issuesThatAreNotTheLastLeadOn() async throws {
        let world = try await SourceWorld()
        let (source, _) = try source(
            Imitation(.jira) { _ in .json(#"{"issues":\#(usersJSON(1...2)),"isLast":false}"#) })
        let error = await #expect(throws: HTTPError.self) { try await world.sync(source) }
        #expect(error.map { "\($0)" }?.contains("isLast says that more pages follow") == true)
    }

    @Test func aLinkWithoutAnAddressIsAnError() async throws {
        let world = try await SourceWorld()
        let (source, _) = try source(
            Imitation(.stac) { _ in .json(#"{"features":\#(usersJSON(1...2)),"links":[{"rel":"next"}]}"#) })
        let error = await #expect(throws: HTTPError.self) { try await world.sync(source) }
        #expect(error.map { "\($0)" }?.contains("links.href") == true)
        #expect(try await world.json.store.count(StoreQuery("User")) == 0)
    }

    /// A proxy that ends TLS lets some servers write links that begin with `http:`.
    @Test(arguments: [
        ("http://api.test/users?page=2", "https://api.test/users?page=2"),
        ("http://api.test:80/users?page=2", "https://api.test/users?page=2"),
        ("http://other.test/users?page=2", nil), ("ftp://api.test/users", nil),
    ])
    func aLinkStaysOnHTTPSIfItMay(link: String, followed: String?) async throws {
        for mayUpgrade in [true, false] {
            let world = try await SourceWorld()
            let pages = HTTPAPI.Pages.linkField(keyPath: "next")
            let api = HTTPAPI(pages: mayUpgrade ? pages.upgradingLinks() : pages, keyPath: "results")
            let (source, server) = try source(
                Imitation(api) { request in
                    let isFirst = request.query("page") == nil
                    return .json(
                        #"{"results":\#(Self.users(isFirst ? 0 : 2)),"next":\#(isFirst ? "\"\(link)\"" : "null")}"#)
                })
            guard mayUpgrade, let followed else {
                await #expect(throws: HTTPError.self) { try await world.sync(source) }
                #expect(try await world.json.store.count(StoreQuery("User")) == 0)
                continue
            }
            try await world.sync(source)
            #expect(server.requests.contains { $0.url.absoluteString == followed })
        }
    }

    // MARK: Firebase

    /// Firebase writes integer keys without large gaps as an array, and no objects as null.
    @Test(arguments: [
        (#"[null,{"name":"a"}, {} ,null,{"name":"e","id":"own"}]"#, [1, 2, 4]),
        (#" [ {"name":"a"},{"name":[1,{"x":"]"}]}]"#, [0, 1]), ("[]", []), ("[null]", []), (" null ", []),
        (#"{"1":{"id":"x","name":"a"},"2":{"name":"b","id" : "x" },"3":{}}"#, [1, 2, 3]), ("{}", []),
        (#"{"1":{"id":"1"},"2":{"name":"b","id" : 2 ,"x":{"id":7}},"3":{"id":{"id":[3]}, "name":"c"}}"#, [1, 2, 3]),
    ])
    func keysIdentifyTheChildren(body: String, ids: [Int64]) async throws {
        for size in [1, 1_000] {
            let world = try await SourceWorld()
            try await world.sync(.users(ScriptedServer { _, _ in .json(usersJSON(1...5)) }))
            let pieces = AsyncStream<[UInt8]> { continuation in
                let bytes = Array(body.utf8)
                for start in stride(from: 0, to: bytes.count, by: size) {
                    continuation.yield(Array(bytes[start..<min(start + size, bytes.count)]))
                }
                continuation.finish()
            }
            let (source, _) = try source(Imitation(.firebase) { _ in HTTPResponse(status: 200, body: pieces) })
            let result = try await world.sync(source)
            #expect(result.rejectedCount == 0)
            let stored = try await world.json.store.records(StoreQuery("User")).map { $0.record["id"] }
            #expect(Set(stored) == Set(ids.map { .int($0) }), "\(body)")
        }
    }

    @Test(arguments: [
        ("[1", "cut short"), ("[nul]", "neither true, false nor null"), ("[null,]", ""), ("[,]", ""),
        ("nul", "cut short"),
        (#""none""#, "no list"), ("nothing", ""), (#"{"error":"Permission denied"}"#, "Permission denied"),
    ])
    func whatIsNoCollectionIsAnError(body: String, said: String) async throws {
        let world = try await SourceWorld()
        let (source, _) = try source(Imitation(.firebase) { _ in .json(body) })
        let error = await #expect(throws: HTTPError.self) { try await world.sync(source) }
        #expect(
            error.map { String(reflecting: $0).contains(said) || said.isEmpty } == true, "\(String(describing: error))")
    }

    // MARK: Slack

    @Test(arguments: [
        (#"{"ok":true,"members":[{"id":1}]}"#, "the key path must lead to the list"),
        (#"{"ok":false,"error":"bad"}"#, "the server reports an error: ok is false: bad"),
        (#"{"ok":false}"#, "the server reports an error: ok is false"),
    ])
    func anAPIWithoutAKeyPathSaysWhatIsWrong(body: String, said: String) async throws {
        let world = try await SourceWorld()
        let (source, _) = try source(Imitation(.slack) { _ in .json(body) })
        let error = await #expect(throws: HTTPError.self) { try await world.sync(source) }
        #expect(error.map { String(reflecting: $0).contains(said) } == true, "\(String(describing: error))")
    }

    // MARK: Google

    @Test func aPageWithoutItsListIsEmptyIfATokenIsThere() async throws {
        let world = try await SourceWorld()
        let (source, server) = try source(
            Imitation(.google) { request in
                switch (request.query("syncToken"), request.query("pageToken")) {
                case (nil, nil): .json(#"{"items":\#(usersJSON([1])),"nextPageToken":"a"}"#)
                case (nil, "a"?): .json(#"{"nextPageToken":"b"}"#)
                case (nil, _): .json(#"{"items":\#(usersJSON([2])),"nextSyncToken":"t1"}"#)
                case ("t1"?, nil): .json(#"{"nextSyncToken":"t2"}"#)
                case ("t2"?, nil): .json(#"{"items":[{"id":1,"status":"cancelled"}],"nextSyncToken":"t3"}"#)
                default: .json(#"{"error":"no list, and no token"}"#)
                }
            })
        try await world.sync(source)
        #expect(try await world.users().keys.sorted() == [1, 2])
        let nothing = try await world.sync(source)
        #expect(nothing.coverage == .changes && nothing.pageCount == 1)
        try await world.sync(source)
        #expect(try await world.users().keys.sorted() == [2])
        let error = await #expect(throws: HTTPError.self) { try await world.sync(source) }
        #expect(error.map { "\($0)".contains("there is nothing at items") } == true)
        #expect(server.requests.count == 6)
    }

    @Test func aPageThatOnlyDeletesNeedsNoList() async throws {
        let world = try await SourceWorld()
        var api = HTTPAPI.google
        api.delta?.tombstones = .list(keyPath: "gone")
        let (source, _) = try source(
            Imitation(api) { request in
                request.query("syncToken") == nil
                    ? .json(#"{"items":\#(usersJSON(1...3)),"nextSyncToken":"t1"}"#)
                    : .json(#"{"gone":[1,3],"nextSyncToken":"t2"}"#)
            })
        try await world.sync(source)
        try await world.sync(source)
        #expect(try await world.users().keys.sorted() == [2])
    }
}
