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
        Imitation(.elasticsearch) { request in
            guard request.method == "POST" else { return HTTPResponse(status: 405) }
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
            #expect(result.result.rejectedCount == 0)
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

    // MARK: Formats

    @Test func linesAreAList() async throws {
        let world = try await SourceWorld()
        let server = ScriptedServer { _, _ in
            .json("{\"id\":1,\"name\":\"a\"}\n\n{\"id\":2,\"name\":\"b\"}\r\n{\"id\":3,\"name\":\"c\"}")
        }
        var source = try HTTPJSONSource.users(server)
        source.format = .lines
        try await world.sync(source)
        #expect(try await world.users() == [1: "a", 2: "b", 3: "c"])
    }

    @Test func eventsAreAList() async throws {
        let world = try await SourceWorld()
        let server = ScriptedServer { _, _ in
            .json(
                """
                : list
                event: row
                data: {"id":1,
                data: "name":"a"}

                event: heartbeat
                data: now

                event: row
                data: {"id":2,"name":"b"}

                event: end
                data: [DONE]


                """)
        }
        var source = try HTTPJSONSource.users(server)
        source.format = .events(types: ["row"])
        let result = try await world.sync(source)
        #expect(server.requests[0].headers["Accept"] == "text/event-stream, application/json")
        #expect(try await world.users() == [1: "a", 2: "b"])
        #expect(result.warnings.isEmpty)
    }

    /// Lines that came without a length or chunks may lack their end, and prove nothing.
    @Test(arguments: [true, false]) func linesProveWhatIsGoneOnlyIfTheirEndIsKnown(isFramed: Bool) async throws {
        let world = try await SourceWorld()
        let server = ScriptedServer { _, index in
            var response = HTTPResponse.json(
                index == 0 ? "{\"id\":1,\"name\":\"a\"}\n{\"id\":2,\"name\":\"b\"}\n" : "{\"id\":1,\"name\":\"a\"}\n")
            response.isFramed = isFramed
            return response
        }
        var source = try HTTPJSONSource.users(server)
        source.format = .lines
        try await world.sync(source)
        let result = try await world.sync(source)
        #expect(try await world.users().count == (isFramed ? 1 : 2))
        #expect(result.result.counts.withheld == (isFramed ? 0 : 1))
    }

    /// The end of compressed lines is not known. They are read again without compression.
    @Test(arguments: [true, false]) func compressedLinesProveNothing(canBePlain: Bool) async throws {
        let world = try await SourceWorld()
        let server = ScriptedServer { request, index in
            let isPlain = canBePlain && request.headers["Accept-Encoding"] == "identity"
            return .json(
                index == 0 ? "{\"id\":1,\"name\":\"a\"}\n{\"id\":2,\"name\":\"b\"}\n" : "{\"id\":1,\"name\":\"a\"}\n",
                headers: isPlain ? [:] : ["Content-Encoding": "gzip"])
        }
        var source = try HTTPJSONSource.users(server)
        source.format = .lines
        try await world.sync(source)
        #expect(server.requests.map { $0.headers["Accept-Encoding"] } == [nil])
        let result = try await world.sync(source)
        #expect(try await world.users().count == (canBePlain ? 1 : 2))
        #expect(
            result.warnings
                == (canBePlain
                    ? []
                    : [
                        "absent objects were kept: a page was compressed (gzip), and may have ended too early"
                    ]))
    }

    // MARK: Lines and events that do not suit

    /// Syncs one body over users 1 to 4.
    private func sync(
        _ body: String, as format: HTTPJSONSource.Format, headers: HTTPHeaders = [:],
        _ change: (inout HTTPJSONSource) -> Void = { _ in }
    ) async throws -> (result: Result<RemoteSyncResult, any Error>, users: [Int64], requests: Int) {
        let world = try await SourceWorld()
        try await world.json.sync(.bytes(Array(usersJSON(1...4).utf8)), into: "User")
        let server = ScriptedServer { _, _ in .json(body, headers: headers) }
        var source = try HTTPJSONSource.users(server, retry: RetryPolicy(maxAttempts: 2, baseDelay: .zero))
        source.format = format
        change(&source)
        let result: Result<RemoteSyncResult, any Error>
        do { result = .success(try await world.sync(source)) } catch { result = .failure(error) }
        return (result, try await world.users().keys.sorted(), server.requests.count)
    }

    /// A page that has no object at all is no list without objects.
    @Test(arguments: [
        ("null", HTTPJSONSource.Format.lines), ("null\nnull\n", .lines), ("data: null\n\n", .events()),
        ("[null]", .array), ("[null, null]", .array),
    ])
    func nullsDeleteNothing(body: String, format: HTTPJSONSource.Format) async throws {
        let (result, users, _) = try await sync(body, as: format)
        #expect(users == [1, 2, 3, 4])
        #expect(try result.get().result.counts.withheld == 4)
    }

    /// A server that fails in the middle of a stream can only say so by its last line.
    @Test(arguments: [
        ("{\"id\":1}\n{\"error\":\"timed out\"}\n", HTTPJSONSource.Format.lines),
        ("{\"id\":1}\n\"timed out\"", .lines),
        ("data: {\"id\":1}\n\ndata: {\"error\":\"timed out\"}\n\n", .events()),
    ])
    func aLastLineWithoutAKeyMayBeAnError(body: String, format: HTTPJSONSource.Format) async throws {
        let (result, users, _) = try await sync(body, as: format)
        #expect(users == [1, 2, 3, 4])
        let found = try result.get().result
        #expect(found.counts.withheld == 3 && found.rejectedCount == 1)
    }

    @Test func aLineInTheMiddleWithoutAKeyIsLeftOut() async throws {
        let (result, users, _) = try await sync("{\"id\":1}\n{\"name\":\"x\"}\n{\"id\":2}\n", as: .lines)
        #expect(users == [1, 2])
        #expect(try result.get().result.rejectedCount == 1)
    }

    @Test(arguments: [
        ("{\"id\":1}\n{\"error\":\"timed out\"}\n{\"id\":2}\n", HTTPJSONSource.Format.lines),
        ("data: {\"id\":1,\"error\":\"timed out\"}\n\n", .events()),
    ])
    func eachLineIsChecked(body: String, format: HTTPJSONSource.Format) async throws {
        let (result, users, requests) = try await sync(body, as: format) { $0.check = .failing(ifSet: "error") }
        #expect(throws: (any Error).self) { try result.get() }
        if case .failure(let error) = result {
            #expect("\(error)" == "https://api.test/users: the server reports an error: timed out")
        }
        #expect(users == [1, 2, 3, 4] && requests == 1)
    }

    @Test func linesThatPassTheCheckAreAList() async throws {
        let body = "{\"id\":1,\"ok\":true}\n{\"id\":2,\"ok\":true,\"error\":\"\"}\n"
        let (result, users, _) = try await sync(body, as: .lines) {
            $0.check = .failing(ifSet: "error").or(.failing(ifUnset: "ok"))
        }
        _ = try result.get()
        #expect(users == [1, 2])
    }

    /// Servers report errors by an event of this type, as browsers do.
    @Test(
        arguments: [
            ("event: error\ndata: {\"message\":\"timed out\"}\n\n", "timed out"), ("event: error\n\n", nil),
            ("event: error\ndata: no access\n\ndata: {\"id\":2}\n\n", "no access"),
        ] as [(String, String?)])
    func anErrorEventIsAnError(end: String, text: String?) async throws {
        let body = "event: row\ndata: {\"id\":1}\n\n" + end
        for types in [["row"], []] as [Set<String>] {
            let (result, users, requests) = try await sync(body, as: .events(types: types))
            if let text {
                #expect(throws: (any Error).self) { try result.get() }
                if case .failure(let error) = result {
                    #expect("\(error)" == "https://api.test/users: the server reports an error: \(text)")
                }
                #expect(users == [1, 2, 3, 4] && requests == 1)
            } else {
                // By the specification, an event without data is none.
                #expect(users == [1])
            }
        }
        let (result, _, _) = try await sync(
            "event: error\ndata: {\"id\":1}\n\n", as: .events(types: ["error"]))
        #expect(try result.get().result.counts.unchanged == 1)
    }

    /// Lines that are no fields are ignored, but a body of nothing else is no stream.
    @Test(arguments: [
        ("Service unavailable\n\n", "Service unavailable"), ("{\"error\":\"down\"}\n\n", "the page is no list"),
        ("<html>\n\n</html>\n\n", "HTML"), ("upstream timeout: 30\r\n\r\n", "upstream timeout"),
    ])
    func aTextThatIsNoStreamDeletesNothing(body: String, text: String) async throws {
        let (result, users, requests) = try await sync(body, as: .events())
        #expect(users == [1, 2, 3, 4] && requests == 1)
        #expect(throws: (any Error).self) { try result.get() }
        if case .failure(let error) = result { #expect("\(error)".contains(text)) }
    }

    @Test(arguments: [": ok\n\n", "retry: 5\nid: 4\nevent: x\n\n", "custom: x\ndata: {\"id\":1}\n\n"])
    func aStreamWithoutObjectsIsAnEmptyList(body: String) async throws {
        let (result, users, _) = try await sync(body, as: .events())
        _ = try result.get()
        #expect(users == (body.contains("data") ? [1] : []))
    }

    /// The rest of a line may be on its way, wherever it was cut.
    @Test(arguments: ["{", "{\"id\":", "{\"id\":2", "{\"id\":2,", "{\"id\":2,\"name\":\"b\\", "{\"a\":[1", "[\"}"])
    func aLineThatIsCutIsReadAgain(rest: String) async throws {
        let (result, users, requests) = try await sync("{\"id\":1}\n\(rest)", as: .lines)
        #expect(throws: (any Error).self) { try result.get() }
        if case .failure(let error) = result { #expect("\(error)".contains("the body was cut short after")) }
        #expect(users == [1, 2, 3, 4] && requests == 2)
    }

    @Test(arguments: [
        ("{\"id\":1,\"name\":\"a}{[\\\"\"}\n{\"id\":2,\"x\":[{}]}", HTTPJSONSource.Format.lines),
        (#"{"1":{"name":"a"},"2":{}}"#, .keyed(by: "id")), ("data: {\"id\":1}\n\ndata: {\"id\":2}\n\n", .events()),
        (#"[{"id":1},{"id":2}]"#, .array),
    ])
    func aByteOrderMarkIsSkipped(body: String, format: HTTPJSONSource.Format) async throws {
        let (result, users, _) = try await sync("\u{FEFF}" + body, as: format)
        _ = try result.get()
        #expect(users == [1, 2])
    }

    /// There is nothing beside lines and events that these settings could be about.
    @Test(arguments: [HTTPJSONSource.Format.lines, .events()])
    func settingsAboutAPageSuitOnlyPages(format: HTTPJSONSource.Format) async throws {
        let changes: [(String, (inout HTTPJSONSource) -> Void)] = [
            ("next", { $0.pages = .cursor(keyPath: "next", parameter: "after").omittingLastPointer() }),
            ("next", { $0.pages = .custom(capturing: ["next"]) { _ in nil } }),
            ("done", { $0.pages = .page(parameter: "page").ending(.set(keyPath: "done")) }),
            ("total", { $0.totalKeyPath = "total" }), ("data", { $0.keyPath = "data" }),
            (
                "gone",
                {
                    $0.delta = HTTPDelta(
                        cursor: .element(keyPath: "id"), parameter: "since", tombstones: .list(keyPath: "gone"))
                }
            ),
            ("seq", { $0.delta = HTTPDelta(cursor: .document(keyPath: "seq"), parameter: "since") }),
        ]
        for (keyPath, change) in changes {
            let (result, users, requests) = try await sync("", as: format, change)
            #expect(throws: (any Error).self) { try result.get() }
            if case .failure(let error) = result {
                #expect("\(error)".contains("\(keyPath), which the format"))
            }
            #expect(users == [1, 2, 3, 4] && requests == 0)
        }
    }
}
