import Foundation
import HTTPTransfer
import OneWayLoopbackServer
import OneWaySynchronizer
import OneWayTestLimits
import OneWayTestSupport
import Testing

/// What the system's transport does with servers over real sockets.
@Suite(.endsInTime) struct TransportTests {
    /// A server in this process may wait long for its turn.
    private static let patient = HTTPClient.Limits(silence: .seconds(600))
    private let client = HTTPClient(limits: patient, retry: RetryPolicy(maxAttempts: 1))

    private func get(_ response: LoopbackResponse, limits: HTTPClient.Limits = patient) async throws -> [UInt8] {
        try await LoopbackHTTPServer.serving({ _ in response }) { server in
            let url = try #require(URL(string: server.baseURL + "/"))
            return try await HTTPClient(limits: limits, retry: RetryPolicy(maxAttempts: 1)).data(from: url)
        }
    }

    @Test func informationalRepliesArePassedOver() async throws {
        let reply = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
        #expect(try await get(.garbage(Array(reply.utf8))) == Array("ok".utf8))
    }

    @Test func aBodyThatIsNotReadStopsArriving() async throws {
        let written = Watched(0)
        let piece = [UInt8](repeating: 0x20, count: 1 << 16)
        let handler: LoopbackHTTPServer.Handler = { request in
            guard request.path == "/unread" else {
                return .stream { writer in for _ in 0..<1024 { try writer.write(piece) } }
            }
            return .stream { writer in
                while true {
                    try writer.write(piece)
                    written.update { $0 += piece.count }
                }
            }
        }
        try await LoopbackHTTPServer.serving(handler) { server in
            let transport = HTTPClient.systemTransport()
            let unread = try #require(URL(string: server.baseURL + "/unread"))
            let response = try await transport.send(HTTPRequest(unread))
            var iterator = response.body.makeAsyncIterator()
            _ = try await iterator.next()
            // While another body of 64 MiB arrives in full, so would this one.
            let read = try #require(URL(string: server.baseURL + "/read"))
            var byteCount = 0
            for try await bytes in try await transport.send(HTTPRequest(read)).body { byteCount += bytes.count }
            #expect(byteCount == 64 << 20)
            #expect(written.value < 32 << 20)
            withExtendedLifetime(response) {}
        }
    }

    @Test func aRedirectWithAnEndlessBodyIsFollowedOrEndsAtTheLimits() async throws {
        let handler: LoopbackHTTPServer.Handler = { request in
            guard request.path == "/" else { return .text("there") }
            return .stream(status: 302, headers: [("Location", "/there")]) { writer in
                while true { try writer.write([UInt8](repeating: 0x20, count: 1 << 16)) }
            }
        }
        try await LoopbackHTTPServer.serving(handler) { server in
            let url = try #require(URL(string: server.baseURL + "/"))
            #expect(try await client.data(from: url) == Array("there".utf8))
        }
    }

    #if os(Linux)
    /// What the transport does not take, with the beginnings of the sentences about it.
    @Test(arguments: [
        ("101 Switching Protocols\r\nUpgrade: h2c", "", "status 101, a change of the protocol"),
        ("200 OK\r\nContent-Encoding: br", "[]", "the body is compressed (br), which cannot be read"),
    ])
    func aReplyThatTheTransportDoesNotTakeIsNamed(head: String, body: String, says: String) async throws {
        let reply = Array("HTTP/1.1 \(head)\r\n\r\n\(body)".utf8)
        try await LoopbackHTTPServer.serving({ _ in .garbage(reply) }) { server in
            let url = try #require(URL(string: server.baseURL + "/"))
            let problem = await #expect(throws: HTTPError.Problem.self) {
                for try await _ in try await HTTPClient.systemTransport().send(HTTPRequest(url)).body {}
            }
            guard case .malformed(let text) = problem else {
                Issue.record("got \(String(describing: problem))")
                return
            }
            #expect(text.hasPrefix(says))
        }
    }

    /// Some versions of libcurl refuse such lines themselves.
    @Test(arguments: ["X-A: b\r\nLink", " X-A: b"]) func aLineThatIsNoFieldIsRefused(lines: String) async throws {
        let reply = Array("HTTP/1.1 200 OK\r\n\(lines)\r\nContent-Length: 2\r\n\r\n[]".utf8)
        try await LoopbackHTTPServer.serving({ _ in .garbage(reply) }) { server in
            let url = try #require(URL(string: server.baseURL + "/"))
            await #expect(throws: HTTPError.Problem.self) {
                try await HTTPClient.systemTransport().send(HTTPRequest(url))
            }
        }
    }

    /// A line that begins with a blank continues the field before it.
    @Test func theLinesOfAFoldedFieldAreJoined() async throws {
        let link = "Link: </style.css>; rel=preload,\r\n </list?page=2>;\r\n\trel=next\r\n \r\nX-A: b"
        let reply = Array("HTTP/1.1 200 OK\r\n\(link)\r\nContent-Length: 2\r\n\r\n[]".utf8)
        try await LoopbackHTTPServer.serving({ _ in .garbage(reply) }) { server in
            let url = try #require(URL(string: server.baseURL + "/"))
            let headers = try await HTTPClient.systemTransport().send(HTTPRequest(url)).headers
            #expect(headers["Link"] == "</style.css>; rel=preload, </list?page=2>; rel=next")
            #expect(headers["X-A"] == "b" && headers["Content-Length"] == "2")
        }
    }

    /// What arrived of a body, and the error at its end.
    private struct Received: Sendable {
        var body = ""
        var problem: HTTPError.Problem?
    }

    /// Reads a chunked body, `ok`, with fields after it.
    private func received(trailers: String) async throws -> Received {
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        let reply = Array("\(head)2\r\nok\r\n0\r\n\(trailers)".utf8)
        return try await LoopbackHTTPServer.serving({ _ in .garbage(reply) }) { server in
            let url = try #require(URL(string: server.baseURL + "/"))
            let response = try await HTTPClient.systemTransport().send(HTTPRequest(url))
            #expect(response.headers["X-A"] == nil && response.headers["Content-Length"] == nil)
            var received = Received()
            do {
                for try await piece in response.body { received.body += String(decoding: piece, as: UTF8.self) }
            } catch let problem as HTTPError.Problem {
                received.problem = problem
            }
            return received
        }
    }

    @Test func fieldsAfterTheBodyHaveALimit() async throws {
        let field = "X-A: " + String(repeating: "a", count: 1000) + "\r\n"
        let few = try await received(trailers: String(repeating: field, count: 200) + "\r\n")
        #expect(few.body == "ok" && few.problem == nil)
        // The client gives up long before their end.
        let many = try await received(trailers: String(repeating: field, count: 8000))
        #expect(many.problem == .malformed("the fields after the body are longer than 307200 bytes"))
    }

    @Test func fieldsAfterTheBodyDoNotStateItsLength() async throws {
        let cut = try await received(trailers: "Content-Length: 99\r\nX-A: b\r\n")
        #expect(cut.problem == .cutShort(received: 2, expected: nil))
    }

    /// libcurl connects every name in `localhost` to the same machine.
    @Test(arguments: ["bücher", "BÜCHER", "bu\u{308}cher", "xn--bcher-kva"], [true, false])
    func anInternationalHostIsAskedFor(name: String, isOfFoundation: Bool) async throws {
        try await LoopbackHTTPServer.serving({ .text($0.header("host") ?? "-") }) { server in
            let text = "http://\(name).localhost:\(server.port)/a?b=%C3%BC"
            let url = isOfFoundation ? try #require(URL(string: text)) : try HTTPAddress.parse(text)
            let body = try await client.data(from: url)
            #expect(String(decoding: body, as: UTF8.self) == "xn--bcher-kva.localhost:\(server.port)")
        }
    }

    @Test func aHostThatCannotBeAskedForIsALastingError() async throws {
        let url = try #require(URL(string: "http://b%C3%BCcher.localhost/"))
        let error = await #expect(throws: HTTPError.self) { try await client.data(from: url) }
        #expect(error?.isRetryable == false)
        #expect(error?.description.contains("the address cannot be requested") == true)
    }
    #endif

    @Test func aDownloadThatBreaksOffIsContinued() async throws {
        let content = Array((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        let ranges = EventLog<String>()
        let handler: LoopbackHTTPServer.Handler = { request in
            ranges.append(request.header("range") ?? "-")
            guard let range = request.header("range"), let start = Int(range.dropFirst(6).dropLast()) else {
                return .stream(headers: [("ETag", "\"1\"")], byteCount: content.count) { writer in
                    try writer.write(Array(content[..<120_000]))
                }
            }
            return .bytes(
                Array(content[start...]), status: 206,
                headers: [("ETag", "\"1\""), ("Content-Range", "bytes \(start)-199999/200000")])
        }
        let folder = try TemporaryDirectory()
        try await LoopbackHTTPServer.serving(handler) { server in
            let url = try #require(URL(string: server.baseURL + "/"))
            let client = HTTPClient(retry: RetryPolicy(maxAttempts: 3, baseDelay: .milliseconds(1)))
            let file = folder.url.appending(path: "file")
            #expect(try await client.download(from: url, to: file) == content.count)
            #expect(try Array(Data(contentsOf: file)) == content)
            #expect(ranges.events.count == 2)
        }
    }

    // MARK: Both transports

    enum Kind: String, CaseIterable, Sendable {
        case system, session

        var transport: any HTTPClient.Transport {
            switch self {
            case .system: HTTPClient.systemTransport()
            case .session: HTTPClient.URLSessionTransport()
            }
        }

        var client: HTTPClient { HTTPClient(transport: transport, retry: RetryPolicy(maxAttempts: 1)) }
    }

    @Test(arguments: Kind.allCases) func requestsAndRepliesKeepTheirParts(kind: Kind) async throws {
        let handler: LoopbackHTTPServer.Handler = { request in
            let body = "\(request.method) \(request.path) \(request.header("x-a") ?? "-")"
            return .text(body, status: 201, headers: [("X-B", "c"), ("ETag", "\"1\"")])
        }
        try await LoopbackHTTPServer.serving(handler) { server in
            let url = try #require(URL(string: server.baseURL + "/a?b=1"))
            var request = HTTPRequest(url)
            request.method = "POST"
            request.headers = ["X-A": "d"]
            request.body = Array("body".utf8)
            let response = try await kind.transport.send(request)
            #expect(response.status == 201 && response.headers["X-B"] == "c" && response.headers["ETag"] == "\"1\"")
            var bytes: [UInt8] = []
            for try await piece in response.body { bytes += piece }
            #expect(String(decoding: bytes, as: UTF8.self).hasPrefix("POST /a"))
            #expect(String(decoding: bytes, as: UTF8.self).hasSuffix(" d"))
        }
    }

    /// A transport may use one handle and one connection for several requests.
    @Test(arguments: Kind.allCases) func aRequestHasNothingOfTheOneBeforeIt(kind: Kind) async throws {
        let handler: LoopbackHTTPServer.Handler = { request in
            if request.path == "/closing" { return .closing }
            let fields = ["x-a", "content-type", "content-length"].map { request.header($0) ?? "-" }
            let text = ([request.method] + fields).joined(separator: " ")
            return .text(request.method == "HEAD" ? "" : text, headers: [("X-Text", text)])
        }
        try await LoopbackHTTPServer.serving(handler) { server in
            let transport = kind.transport
            let url = try #require(URL(string: server.baseURL + "/"))
            func answer(_ method: String, _ headers: HTTPHeaders = [:], body: String? = nil) async throws -> String {
                var request = HTTPRequest(url, headers: headers)
                request.method = method
                request.body = body.map { Array($0.utf8) }
                let response = try await transport.send(request)
                var bytes: [UInt8] = []
                for try await piece in response.body { bytes += piece }
                let text = response.headers["X-Text"] ?? ""
                #expect(String(decoding: bytes, as: UTF8.self) == (method == "HEAD" ? "" : text))
                return text
            }
            for _ in 0..<3 {
                #expect(try await answer("HEAD", ["X-A": "1"]) == "HEAD 1 - -")
                #expect(try await answer("GET") == "GET - - -")
                #expect(try await answer("POST", ["Content-Type": "a/b"], body: "body") == "POST - a/b 4")
                #expect(try await answer("GET", ["X-A": "2"]) == "GET 2 - -")
                #expect(try await answer("HEAD") == "HEAD - - -")
                await #expect(throws: HTTPError.Problem.self) {
                    try await transport.send(HTTPRequest(url.appending(path: "closing")))
                }
            }
        }
    }

    /// A server that restarts closes its connections.
    @Test(arguments: Kind.allCases) func aRequestWithoutAReplyMayBeTriedAgain(kind: Kind) async throws {
        try await LoopbackHTTPServer.serving({ _ in .closing }) { server in
            let url = try #require(URL(string: server.baseURL + "/"))
            let error = await #expect(throws: HTTPError.self) { try await kind.client.data(from: url) }
            #expect(error?.isRetryable == true)
        }
    }

    /// A body whose length is announced is whole with exactly that many bytes. Without a body, or
    /// compressed, the length says nothing.
    @Test(arguments: Kind.allCases) func aBodyHasTheAnnouncedLengthOrIsCutShort(kind: Kind) async throws {
        let handler: LoopbackHTTPServer.Handler = { request in
            switch request.path {
            case "/whole": .bytes(Array("12345".utf8))
            case "/empty": .bytes([])
            case "/short": .cutShort(Array("1234".utf8), promising: 5)
            case "/chunks": .stream { writer in for byte in 0..<5 { try writer.write([0x30 + UInt8(byte)]) } }
            case "/halfChunks": .cutShortChunked(Array("1234".utf8))
            case "/gzip": .gzippedJSON(#"[{"id":1},{"id":2},{"id":3},{"id":4}]"#)
            case "/none": .status(204)
            case "/closed": .garbage(Array("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nabc".utf8))
            case "/last": .garbage(Array("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 3\r\n\r\nabc".utf8))
            default: .status(500)
            }
        }
        try await LoopbackHTTPServer.serving(handler) { server in
            func read(_ path: String) async throws -> (body: String, isFramed: Bool) {
                let url = try #require(URL(string: server.baseURL + path))
                var bytes: [UInt8] = []
                let response = try await kind.transport.send(HTTPRequest(url))
                for try await piece in response.body { bytes += piece }
                return (String(decoding: bytes, as: UTF8.self), response.isFramed)
            }
            let whole = [
                "/whole": "12345", "/empty": "", "/chunks": "01234", "/none": "", "/closed": "abc", "/last": "abc",
                "/gzip": #"[{"id":1},{"id":2},{"id":3},{"id":4}]"#,
            ]
            for (path, expected) in whole {
                let (body, isFramed) = try await read(path)
                #expect(body == expected, "\(path)")
                // Where only the connection ends, the body may have been longer.
                if ["/whole", "/chunks", "/last", "/closed"].contains(path) {
                    #expect(isFramed == (path != "/closed"), "\(path)")
                }
            }
            for path in ["/short", "/halfChunks"] {
                await #expect(throws: HTTPError.Problem.self, "\(path)") { _ = try await read(path) }
            }
        }
    }

    @Test(arguments: Kind.allCases) func aRedirectIsReturnedAndTheClientFollowsIt(kind: Kind) async throws {
        let handler: LoopbackHTTPServer.Handler = { request in
            switch request.path {
            case "/a/b/": .status(302, headers: [("Location", "..")])
            case "/a/": .text("up")
            default: .status(404)
            }
        }
        try await LoopbackHTTPServer.serving(handler) { server in
            let url = try #require(URL(string: server.baseURL + "/a/b/"))
            #expect(try await kind.transport.send(HTTPRequest(url)).status == 302)
            #expect(try await kind.client.data(from: url) == Array("up".utf8))
        }
    }

    /// The body ends for the reader, and the server sees the connection close.
    @Test(arguments: Kind.allCases) func aCancelClosesTheConnection(kind: Kind) async throws {
        let isClosed = Watched(false)
        let isArriving = Gate()
        let handler: LoopbackHTTPServer.Handler = { _ in
            .stream { writer in
                defer { isClosed.update { $0 = true } }
                while true {
                    try writer.write([UInt8](repeating: 0x20, count: 1 << 12))
                    // A session on Linux reads as long as there is something to read: without a
                    // pause it would not notice the cancel, and take the threads of all tests.
                    try writer.pause(milliseconds: 1)
                }
            }
        }
        try await LoopbackHTTPServer.serving(handler) { server in
            let url = try #require(URL(string: server.baseURL + "/"))
            let reading = Task {
                for try await _ in try await kind.transport.send(HTTPRequest(url)).body {
                    isArriving.open()
                    try Task.checkCancellation()
                }
            }
            try await isArriving.pass(orEndOf: reading)
            reading.cancel()
            await #expect(throws: CancellationError.self) { try await reading.value }
            try await isClosed.wait { $0 }
        }
    }

    /// The reader need not cancel anything.
    @Test(arguments: Kind.allCases) func aReplyThatIsDroppedClosesTheConnection(kind: Kind) async throws {
        let areWhole = EventLog<Bool>()
        let handler: LoopbackHTTPServer.Handler = { _ in
            .stream { writer in
                do {
                    // Ends, so that a connection that stays open is noticed.
                    for _ in 0..<30_000 {
                        try writer.write([UInt8](repeating: 0x20, count: 1 << 10))
                        try writer.pause(milliseconds: 1)
                    }
                    areWhole.append(true)
                } catch {
                    areWhole.append(false)
                    throw error
                }
            }
        }
        try await LoopbackHTTPServer.serving(handler) { server in
            let url = try #require(URL(string: server.baseURL + "/"))
            let transport = kind.transport
            let status = try await transport.send(HTTPRequest(url)).status
            #expect(status == 200)
            try await areWhole.wait { !$0.isEmpty }
            #expect(areWhole.events == [false])
        }
    }

    /// Each reply has only its own fields, however many informational ones came before it.
    @Test(arguments: [
        "HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 103 Early Hints\r\nX-A: early\r\n\r\n",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nX-A: early\r\nX-C: 1\r\n\r\n", "",
    ])
    func fieldsOfInformationalRepliesAreNotThoseOfTheReply(before: String) async throws {
        let reply = before + "HTTP/1.1 200 OK\r\nX-B: own\r\nContent-Length: 2\r\n\r\nok"
        try await LoopbackHTTPServer.serving({ _ in .garbage(Array(reply.utf8)) }) { server in
            let url = try #require(URL(string: server.baseURL + "/"))
            let response = try await HTTPClient.systemTransport().send(HTTPRequest(url))
            #expect(response.status == 200 && response.headers["X-B"] == "own")
            #expect(response.headers["X-A"] == nil && response.headers["X-C"] == nil)
            var bytes: [UInt8] = []
            for try await piece in response.body { bytes += piece }
            #expect(bytes == Array("ok".utf8))
        }
    }
}
