import Foundation
import HTTPSource
import HTTPTransfer
import JSONMapper
import OneWaySynchronizer
import OneWayTestSupport
import StoreSync
import SyncModel
import SyncStore
import Testing

/// Imitations of common APIs, read by the line that the documentation shows.
@Suite(.timeLimit(.minutes(30))) struct APITests {
    struct Imitation: CustomTestStringConvertible, Sendable {
        let api: HTTPAPI
        var keyPath = ""
        /// Answers with page 0, 1 or 2 of five users.
        let respond: @Sendable (HTTPRequest) throws -> HTTPResponse

        var testDescription: String { api.name }

        init(
            _ api: HTTPAPI, _ keyPath: String = "", _ respond: @escaping @Sendable (HTTPRequest) throws -> HTTPResponse
        ) {
            self.api = api
            self.keyPath = keyPath
            self.respond = respond
        }
    }

    /// Pages of two users each: 1 and 2, 3 and 4, 5.
    private static func users(_ page: Int) -> String { usersJSON([[1, 2], [3, 4], [5]][page]) }

    private static func body(_ request: HTTPRequest, _ key: String...) throws -> JSONValue? {
        var value: JSONValue? = try JSONValue(parsing: String(decoding: request.body ?? [], as: UTF8.self))
        for part in key { value = value?[part] }
        return value
    }

    private static func linked(_ request: HTTPRequest) -> HTTPResponse {
        let page = Int(request.query("page") ?? "1") ?? 1
        let link = "<https://api.test/users?page=\(page + 1)>; rel=\"next\""
        return .json(users(page - 1), headers: page < 3 ? ["Link": link] : [:])
    }

    static let imitations: [Imitation] = [
        Imitation(.github, "", linked), Imitation(.gitlab, "", linked), Imitation(.mastodon, "", linked),
        Imitation(.shopify, "users") { request in
            let page = Int(request.query("page_info") ?? "0") ?? 0
            let link = "<https://api.test/users?page_info=\(page + 1)>; rel=\"next\""
            return .json(#"{"users":\#(users(page))}"#, headers: page < 2 ? ["Link": link] : [:])
        },
        Imitation(.stripe) { request in
            let page = (Int(request.query("starting_after") ?? "0") ?? 0) / 2
            return .json(#"{"object":"list","data":\#(users(page)),"has_more":\#(page < 2)}"#)
        },
        Imitation(.slack, "members") { request in
            let page = Int(request.query("cursor") ?? "0") ?? 0
            let next = page < 2 ? "\(page + 1)" : ""
            return .json(#"{"ok":true,"members":\#(users(page)),"response_metadata":{"next_cursor":"\#(next)"}}"#)
        },
        Imitation(.odata) { request in
            let page = Int(request.query("$skiptoken") ?? "0") ?? 0
            let next =
                page < 2
                ? #""@odata.nextLink":"https://api.test/users?$skiptoken=\#(page + 1)""#
                : #""@odata.deltaLink":"https://api.test/users?$deltatoken=x""#
            if request.query("$deltatoken") != nil {
                return .json(
                    #"{"value":[{"id":5,"@removed":{"reason":"deleted"}}],"@odata.deltaLink":"https://api.test/users?$deltatoken=y"}"#
                )
            }
            return .json(#"{"@odata.context":"c","value":\#(users(page)),\#(next)}"#)
        },
        Imitation(.jsonapi) { request in
            let page = Int(request.query("page[number]") ?? "0") ?? 0
            let next = page < 2 ? #""next":{"href":"/users?page[number]=\#(page + 1)"}"# : #""next":null"#
            return .json(#"{"data":\#(users(page)),"links":{\#(next)}}"#)
        },
        Imitation(.salesforce) { request in
            let page = Int(request.url.path.split(separator: "-").last ?? "") ?? 0
            let next = page < 2 ? #","nextRecordsUrl":"/services/data/query/01g-\#(page + 1)""# : ""
            return .json(#"{"totalSize":5,"done":\#(page == 2),"records":\#(users(page))\#(next)}"#)
        },
        Imitation(.elasticsearch(sortedBy: "id")) { request in
            guard try body(request, "sort")?[0]?["id"] != nil, try body(request, "track_total_hits") == .bool(true),
                request.method == "POST"
            else { return HTTPResponse(status: 405) }
            var page = 0
            if case .array(let after) = try body(request, "search_after"), case .integer(let last) = after.first {
                page = Int(last) / 2 + (last == 5 ? 1 : 0)
            }
            guard page < 3 else { return .json(#"{"hits":{"hits":[]}}"#) }
            let hits = [[1, 2], [3, 4], [5]][page].map { #"{"id":\#($0),"name":"user \#($0)","sort":[\#($0)]}"# }
            return .json(#"{"hits":{"total":{"value":5},"hits":[\#(hits.joined(separator: ","))]}}"#)
        },
        Imitation(.wordpress) { request in
            let page = Int(request.query("page") ?? "0") ?? 0
            guard page <= 3, request.query("per_page") == "100" else { return HTTPResponse(status: 400) }
            return .json(users(page - 1), headers: ["X-WP-TotalPages": "3"])
        },
        Imitation(.drf) { request in
            let page = Int(request.query("page") ?? "1") ?? 1
            let next = page < 3 ? #""https://api.test/users?page=\#(page + 1)""# : "null"
            return .json(#"{"count":5,"next":\#(next),"previous":null,"results":\#(users(page - 1))}"#)
        },
        Imitation(.hubspot) { request in
            let page = Int(request.query("after") ?? "0") ?? 0
            let paging = page < 2 ? #","paging":{"next":{"after":"\#(page + 1)","link":"x"}}"# : ""
            return .json(#"{"results":\#(users(page))\#(paging)}"#)
        },
        Imitation(.couchdb) { request in
            guard request.query("since") == nil else {
                return .json(#"{"results":[{"id":5,"seq":"9-x","deleted":true}],"last_seq":"9-x","pending":0}"#)
            }
            return .json(#"{"results":\#(usersJSON(1...5)),"last_seq":"5-x","pending":0}"#)
        },
        Imitation(.google) { request in
            guard request.query("syncToken") == nil else {
                return .json(#"{"items":[{"id":5,"status":"cancelled"}],"nextSyncToken":"t2"}"#)
            }
            let page = Int(request.query("pageToken") ?? "0") ?? 0
            let next = page < 2 ? #""nextPageToken":"\#(page + 1)""# : #""nextSyncToken":"t1""#
            return .json(#"{"items":\#(users(page)),\#(next)}"#)
        },
        Imitation(.firebase) { _ in
            .json(
                #" {"1": {"name":"user 1"},"2":{ "name": "user } 2"}, "3":{"name":"u\"3","x":{"y":[1,{}]}},"4":{},"5":{"name":null}}"#
            )
        },
        Imitation(.airtable) { request in
            let page = Int(request.query("offset") ?? "0") ?? 0
            let next = page < 2 ? #","offset":"\#(page + 1)""# : ""
            return .json(#"{"records":\#(users(page))\#(next)}"#)
        },
        Imitation(.notion) { request in
            guard request.method == "POST" else { return HTTPResponse(status: 405) }
            var page = 0
            if case .string(let cursor) = try body(request, "start_cursor") { page = Int(cursor) ?? 0 }
            let next = page < 2 ? #""\#(page + 1)""# : "null"
            return .json(#"{"results":\#(users(page)),"next_cursor":\#(next),"has_more":\#(page < 2)}"#)
        },
        Imitation(.graphQL("query($after: String) { users }", connection: "users")) { request in
            guard request.method == "POST" else { return HTTPResponse(status: 405) }
            var page = 0
            if case .string(let cursor) = try body(request, "variables", "after") { page = Int(cursor) ?? 0 }
            let info = #"{"endCursor":"\#(page + 1)","hasNextPage":\#(page < 2)}"#
            return .json(#"{"data":{"users":{"nodes":\#(users(page)),"pageInfo":\#(info)}}}"#)
        },
    ]

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
        try await world.sync(source)
        let count = server.requests.count
        let result = try await world.sync(source)
        #expect(result.coverage == .changes)
        #expect(server.requests.count == count + 1)
        #expect(try await world.json.store.count(StoreQuery("User")) == 4)
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
            #expect(error.map { "\($0)" }?.contains("invalid_auth") == true)
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
        ("nul", "no list"),
        (#""none""#, "no list"), ("nothing", ""), (#"{"error":"Permission denied"}"#, "Permission denied"),
    ])
    func whatIsNoCollectionIsAnError(body: String, said: String) async throws {
        let world = try await SourceWorld()
        let (source, _) = try source(Imitation(.firebase) { _ in .json(body) })
        let error = await #expect(throws: HTTPError.self) { try await world.sync(source) }
        #expect(error.map { "\($0)".contains(said) || said.isEmpty } == true, "\(String(describing: error))")
    }

    // MARK: Slack

    @Test(arguments: [
        (#"{"ok":true,"members":[{"id":1}]}"#, "the key path must lead to the list"),
        (#"{"ok":false,"error":"bad"}"#, "the server reports an error: bad"),
        (#"{"ok":false}"#, "the server reports an error: ok is false"),
    ])
    func anAPIWithoutAKeyPathSaysWhatIsWrong(body: String, said: String) async throws {
        let world = try await SourceWorld()
        let (source, _) = try source(Imitation(.slack) { _ in .json(body) })
        let error = await #expect(throws: HTTPError.self) { try await world.sync(source) }
        #expect(error.map { "\($0)".contains(said) } == true, "\(String(describing: error))")
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
}
