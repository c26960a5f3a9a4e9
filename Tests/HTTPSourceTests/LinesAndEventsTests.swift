import Foundation
import HTTPSource
import HTTPTransfer
import OneWaySynchronizer
import OneWayTestLimits
import StoreSync
import SyncModel
import SyncStore
import Testing

/// Newline-delimited JSON and events as lists, whose bodies have no end of their own.
@Suite(.endsInTime) struct LinesAndEventsTests {
    @Test func linesAreAList() async throws {
        let world = try await SourceWorld()
        let server = ScriptedServer { _, _ in
            .json("{\"id\":1,\"name\":\"a\"}\n\n{\"id\":2,\"name\":\"b\"}\r\n{\"id\":3,\"name\":\"c\"}")
        }
        var source = try HTTPJSONSource.users(server)
        source.api.format = .lines
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
        source.api.format = .events(types: ["row"])
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
        source.api.format = .lines
        try await world.sync(source)
        let result = try await world.sync(source)
        #expect(try await world.users().count == (isFramed ? 1 : 2))
        #expect(result.counts.kept == (isFramed ? 0 : 1))
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
        source.api.format = .lines
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

    // MARK: What does not suit

    /// Syncs one body over users 1 to 4.
    private func sync(
        _ body: String, as format: HTTPAPI.Format, headers: HTTPHeaders = [:],
        _ change: (inout HTTPAPI) -> Void = { _ in }
    ) async throws -> (result: Result<StoreSyncResult, any Error>, users: [Int64], requests: Int) {
        let world = try await SourceWorld()
        try await world.json.sync(.bytes(Array(usersJSON(1...4).utf8)), into: "User")
        let server = ScriptedServer { _, _ in .json(body, headers: headers) }
        var source = try HTTPJSONSource.users(server, retry: RetryPolicy(maxAttempts: 2, baseDelay: .zero))
        source.api.format = format
        change(&source.api)
        let result: Result<StoreSyncResult, any Error>
        do { result = .success(try await world.sync(source)) } catch { result = .failure(error) }
        return (result, try await world.users().keys.sorted(), server.requests.count)
    }

    /// A page that has no object at all is no list without objects.
    @Test(arguments: [
        ("null", HTTPAPI.Format.lines), ("null\nnull\n", .lines), ("data: null\n\n", .events()),
        ("[null]", .array), ("[null, null]", .array),
    ])
    func nullsDeleteNothing(body: String, format: HTTPAPI.Format) async throws {
        let (result, users, _) = try await sync(body, as: format)
        #expect(users == [1, 2, 3, 4])
        #expect(throws: StoreSyncError.self) { try result.get() }
    }

    /// A server that fails in the middle of a stream can only say so by its last line.
    @Test(arguments: [
        ("{\"id\":1}\n{\"error\":\"timed out\"}\n", HTTPAPI.Format.lines),
        ("{\"id\":1}\n\"timed out\"", .lines),
        ("data: {\"id\":1}\n\ndata: {\"error\":\"timed out\"}\n\n", .events()),
    ])
    func aLastLineWithoutAKeyMayBeAnError(body: String, format: HTTPAPI.Format) async throws {
        let (result, users, _) = try await sync(body, as: format)
        #expect(users == [1, 2, 3, 4])
        let found = try result.get()
        #expect(found.counts.kept == 3 && found.rejectedCount == 1)
    }

    @Test func aLineInTheMiddleWithoutAKeyIsLeftOut() async throws {
        let (result, users, _) = try await sync("{\"id\":1}\n{\"name\":\"x\"}\n{\"id\":2}\n", as: .lines)
        #expect(users == [1, 2])
        #expect(try result.get().rejectedCount == 1)
    }

    @Test(arguments: [
        ("{\"id\":1}\n{\"error\":\"timed out\"}\n{\"id\":2}\n", HTTPAPI.Format.lines),
        ("data: {\"id\":1,\"error\":\"timed out\"}\n\n", .events()),
    ])
    func eachLineIsChecked(body: String, format: HTTPAPI.Format) async throws {
        for pages in [HTTPAPI.Pages.automatic, .single] {
            let (result, users, requests) = try await sync(body, as: format) {
                $0.pages = pages
                $0.check = .failing(ifSet: "error")
            }
            #expect(throws: (any Error).self) { try result.get() }
            if case .failure(let error) = result {
                #expect(
                    String(reflecting: error)
                        == "https://api.test/users: the server reports an error: error is a text: timed out")
            }
            #expect(users == [1, 2, 3, 4] && requests == 1)
        }
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
                    #expect(
                        String(reflecting: error)
                            == "https://api.test/users: the server reports an error: an event of the type error: \(text)"
                    )
                }
                #expect(users == [1, 2, 3, 4] && requests == 1)
            } else {
                // By the specification, an event without data is none.
                #expect(users == [1])
            }
        }
        let (result, _, _) = try await sync(
            "event: error\ndata: {\"id\":1}\n\n", as: .events(types: ["error"]))
        #expect(try result.get().counts.unchanged == 1)
    }

    /// Lines that are no fields are ignored, but a body of nothing else is no stream.
    @Test(arguments: [
        ("Service unavailable\n\n", "Service unavailable"), ("{\"error\":\"down\"}\n\n", "unexpected"),
        ("<html>\n\n</html>\n\n", "HTML"), ("upstream timeout: 30\r\n\r\n", "upstream timeout"),
    ])
    func aTextThatIsNoStreamDeletesNothing(body: String, text: String) async throws {
        let (result, users, requests) = try await sync(body, as: .events())
        #expect(users == [1, 2, 3, 4] && requests == 1)
        #expect(throws: (any Error).self) { try result.get() }
        if case .failure(let error) = result { #expect(String(reflecting: error).contains(text)) }
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
        ("{\"id\":1,\"name\":\"a}{[\\\"\"}\n{\"id\":2,\"x\":[{}]}", HTTPAPI.Format.lines),
        ("data: {\"id\":1}\n\ndata: {\"id\":2}\n\n", .events()),
        (#"[{"id":1},{"id":2}]"#, .array),
    ])
    func aByteOrderMarkIsSkipped(body: String, format: HTTPAPI.Format) async throws {
        let (result, users, _) = try await sync("\u{FEFF}" + body, as: format)
        _ = try result.get()
        #expect(users == [1, 2])
    }

    /// There is nothing beside lines and events that these settings could be about.
    @Test(arguments: [HTTPAPI.Format.lines, .events()])
    func settingsAboutAPageSuitOnlyPages(format: HTTPAPI.Format) async throws {
        let changes: [(String, (inout HTTPAPI) -> Void)] = [
            ("next", { $0.pages = .cursor(keyPath: "next", parameter: "after").omittingLastPointer() }),
            ("next", { $0.pages = .custom(capturing: ["next"]) { _ in nil } }),
            ("done", { $0.pages = .page(parameter: "page").ending(.set(keyPath: "done")) }),
            ("total", { $0.totalKeyPath = "total" }), ("data", { $0.keyPath = "data" }),
            (
                "gone",
                {
                    $0.delta = HTTPAPI.Delta(
                        cursor: .element(keyPath: "id"), parameter: "since", tombstones: .list(keyPath: "gone"))
                }
            ),
            ("seq", { $0.delta = HTTPAPI.Delta(cursor: .document(keyPath: "seq"), parameter: "since") }),
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
