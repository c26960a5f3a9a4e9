import Foundation
import HTTPTransfer
import OneWayLoopbackServer
import OneWayTestLimits
import OneWayTestSupport
import Testing

@Suite(.endsInTime) struct HTTPClientTests {
    /// Asks a server that answers everything in one way, and returns the problem that the client
    /// names.
    private func problem(
        limits: HTTPClient.Limits = HTTPClient.Limits(), path: String = "/list.json",
        _ handler: @escaping LoopbackHTTPServer.Handler
    ) async throws -> HTTPError.Problem? {
        try await LoopbackHTTPServer.serving(handler) { server in
            let client = HTTPClient(limits: limits)
            let url = try #require(URL(string: server.baseURL + path))
            do {
                _ = try await client.data(from: url)
                return nil
            } catch let error as HTTPError {
                #expect(error.url == url)
                #expect(error.description.hasPrefix(url.absoluteString))
                return error.problem
            }
        }
    }

    @Test func aWholeBodyIsReturned() async throws {
        try await LoopbackHTTPServer.serving({ _ in .text("hello") }) { server in
            let client = HTTPClient()
            let body = try await client.data(from: try #require(URL(string: server.baseURL + "/a")))
            #expect(String(decoding: body, as: UTF8.self) == "hello")
        }
    }

    @Test func aBodyIsStreamedToItsFile() async throws {
        let piece = [UInt8](repeating: 7, count: 100_000)
        try await LoopbackHTTPServer.serving({ _ in
            .stream { writer in for _ in 0..<20 { try writer.write(piece) } }
        }) { server in
            let client = HTTPClient()
            let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
            defer { try? FileManager.default.removeItem(at: file) }
            let count = try await client.download(from: try #require(URL(string: server.baseURL + "/a")), to: file)
            #expect(count == 2_000_000)
            #expect(try Data(contentsOf: file).count == 2_000_000)
        }
    }

    @Test func aRefusedConnectionIsNamed() async throws {
        let refusal = try LoopbackRefusal()
        let client = HTTPClient()
        let url = try #require(URL(string: refusal.baseURL + "/list.json"))
        await #expect(throws: HTTPError(url: url, problem: .unreachable("cannot connect", isLasting: false))) {
            try await client.data(from: url)
        }
        withExtendedLifetime(refusal) {}
    }

    @Test(arguments: [404, 410, 500, 503, 201, 202, 203, 206, 304])
    func anotherStatusIsAnErrorWithTheFirstLineOfTheBody(status: Int) async throws {
        let problem = try await problem { _ in .text("no \u{1B}[2J luck\nand more", status: status) }
        let line = status == 304 ? "" : "no ?[2J luck"
        #expect(problem == .status(status, firstLine: line, retryAfter: nil))
    }

    /// Only a 304 is an answer to a condition; any other status means what it means without one.
    @Test(arguments: [(200, true), (304, true), (404, false), (500, false)])
    func aConditionalRequestMayBeAnswered304(status: Int, isAnswer: Bool) async throws {
        let server = ScriptedServer { _, _ in HTTPResponse(status: status) }
        let url = try #require(URL(string: "https://api.test/file"))
        let client = HTTPClient(transport: server)
        func answer() async throws -> Int {
            try await client.head(of: url, condition: ["If-None-Match": "\"1\""], headers: [:]).status
        }
        if isAnswer {
            let found = try await answer()
            #expect(found == status)
        } else {
            let error = await #expect(throws: HTTPError.self) { try await answer() }
            #expect(error?.problem == .status(status, firstLine: "", retryAfter: nil))
        }
        #expect(server.requests.map { $0.headers["If-None-Match"] } == ["\"1\""])
    }

    @Test(arguments: ["br", "zstd", "gzip, br"])
    func aBodyThatIsCompressedAgainstItsRequestIsAnError(encoding: String) async throws {
        let encodings = EventLog<String>()
        let problem = try await problem { request in
            encodings.append(request.header("accept-encoding") ?? "-")
            return .bytes(LoopbackGzip.wrapped([1, 2, 3]), headers: [("Content-Encoding", encoding)])
        }
        guard case .malformed(let text) = problem else {
            Issue.record("got \(String(describing: problem))")
            return
        }
        #expect(text.hasPrefix("the body is compressed (\(encoding))"))
        #expect(encodings.events == ["identity"])
        #expect(try await self.problem { _ in .bytes([1], headers: [("Content-Encoding", "identity")]) } == nil)
    }

    @Test func retryAfterIsRead() async throws {
        let problem = try await problem { _ in .status(429, headers: [("Retry-After", "17")]) }
        #expect(problem == .status(429, firstLine: "", retryAfter: .seconds(17)))
    }

    @Test func aBodyCutShortIsAnError() async throws {
        let problem = try await problem { _ in .cutShort(Array("half".utf8), promising: 100) }
        #expect(problem == .cutShort(received: 4, expected: 100))
    }

    @Test func aChunkedBodyCutShortIsAnError() async throws {
        let problem = try await problem { _ in .cutShortChunked(Array("half".utf8)) }
        #expect(problem == .cutShort(received: 4, expected: nil))
    }

    @Test func aBodyWithoutEndIsStoppedAtTheLimit() async throws {
        var limits = HTTPClient.Limits()
        limits.bodyByteCount = 100_000
        #expect(try await problem(limits: limits) { _ in .endless() } == .tooLarge(limit: 100_000))
    }

    @Test(arguments: [9, 10, 11], [true, false])
    func aBodyMayBeAsLongAsTheLimit(byteCount: Int, isLengthStated: Bool) async throws {
        var limits = HTTPClient.Limits()
        limits.bodyByteCount = 10
        let body = [UInt8](repeating: 0x30, count: byteCount)
        let problem = try await problem(limits: limits) { _ in
            isLengthStated ? .bytes(body) : .stream { try $0.write(body) }
        }
        #expect(problem == (byteCount > 10 ? .tooLarge(limit: 10) : nil))
    }

    @Test func aBodyThatPromisesTooMuchIsNotEvenRead() async throws {
        var limits = HTTPClient.Limits()
        limits.bodyByteCount = 1_000
        let problem = try await problem(limits: limits) { _ in
            .stream(byteCount: 1_001) { try $0.hang() }
        }
        #expect(problem == .tooLarge(limit: 1_000))
    }

    @Test func anErrorBodyWithoutEndIsCutAtItsFirstLine() async throws {
        let problem = try await problem { _ in .endless(status: 500, of: Array("oops\n".utf8)) }
        #expect(problem == .status(500, firstLine: "oops", retryAfter: nil))
    }

    @Test func aServerThatSaysNothingTimesOut() async throws {
        var limits = HTTPClient.Limits()
        limits.silence = .seconds(1)
        #expect(try await problem(limits: limits) { _ in .hanging } == .timedOut)
    }

    @Test func aServerThatFallsSilentTimesOut() async throws {
        var limits = HTTPClient.Limits()
        limits.silence = .seconds(1)
        let problem = try await problem(limits: limits) { _ in
            .stream(byteCount: 10) { writer in
                try writer.write(Array("half".utf8))
                try writer.hang()
            }
        }
        #expect(problem == .timedOut)
    }

    @Test func aConnectionThatClosesWithoutAReplyIsAnError() async throws {
        let problem = try await problem { _ in .closing }
        guard case .unreachable(_, isLasting: false) = problem else {
            Issue.record("got \(String(describing: problem))")
            return
        }
    }

    @Test func garbageIsAnError() async throws {
        let problem = try await problem { _ in .garbage(Array("SSH-2.0-OpenSSH\r\n".utf8)) }
        guard case .malformed = problem else {
            Issue.record("got \(String(describing: problem))")
            return
        }
    }

    @Test func aRedirectIsFollowedToItsEnd() async throws {
        let problem = try await problem { request in
            request.path == "/end" ? .text("there") : .status(302, headers: [("Location", "/end")])
        }
        #expect(problem == nil)
    }

    /// A server writes addresses of its own without the user and the password of the client.
    @Test func theUserOfAnAddressIsSentToItsOriginAndNowhereElse() async throws {
        let seen = EventLog<String>()
        @Sendable func record(_ request: LoopbackRequest) {
            seen.append(request.path + " " + (request.header("authorization") ?? "-"))
        }
        try await LoopbackHTTPServer.serving({ request in
            record(request)
            return .text("there")
        }) { other in
            try await LoopbackHTTPServer.serving({ request in
                record(request)
                let host = request.header("host") ?? ""
                return request.path == "/a"
                    ? .status(302, headers: [("Location", "http://\(host)/b")])
                    : .status(302, headers: [("Location", other.baseURL + "/c")])
            }) { server in
                let address = server.baseURL.replacing("http://", with: "http://me%40home:s%3Acret@")
                _ = try await HTTPClient().data(from: try #require(URL(string: address + "/a")))
            }
        }
        let basic = "Basic " + Data("me@home:s:cret".utf8).base64EncodedString()
        #expect(seen.events == ["/a \(basic)", "/b \(basic)", "/c -"])
    }

    @Test func aFieldOfTheCallerGoesBeforeTheUserOfTheAddress() async throws {
        try await LoopbackHTTPServer.serving({ .text($0.header("authorization") ?? "-") }) { server in
            let address = server.baseURL.replacing("http://", with: "http://me:secret@")
            let url = try #require(URL(string: address + "/a"))
            let body = try await HTTPClient().data(from: url, headers: ["Authorization": "Bearer 1"])
            #expect(String(decoding: body, as: UTF8.self) == "Bearer 1")
        }
    }

    @Test func redirectsInACircleEnd() async throws {
        let problem = try await problem { _ in .status(302, headers: [("Location", "/list.json")]) }
        #expect(problem == .tooManyRedirects(limit: 5))
    }

    @Test func aRedirectToAnotherProtocolIsRefused() async throws {
        let problem = try await problem { _ in .status(302, headers: [("Location", "ftp://127.0.0.1/secret")]) }
        #expect(
            problem == .forbiddenAddress("has another scheme than http and https", target: "ftp://127.0.0.1/secret"))
    }

    @Test func aCancelEndsARequestAtOnce() async throws {
        let (arrivals, arrived) = AsyncStream.makeStream(of: Void.self)
        try await LoopbackHTTPServer.serving({ _ in
            arrived.yield()
            return .hanging
        }) { server in
            let client = HTTPClient()
            let url = try #require(URL(string: server.baseURL + "/a"))
            let request = Task { try await client.data(from: url) }
            for await _ in arrivals { break }
            request.cancel()
            await #expect(throws: CancellationError.self) { try await request.value }
        }
    }

    @Test func aCancelledTaskSendsNothing() async throws {
        try await LoopbackHTTPServer.serving({ _ in
            Issue.record("a request was sent")
            return .status(500)
        }) { server in
            let client = HTTPClient()
            let url = try #require(URL(string: server.baseURL + "/a"))
            let gate = Gate()
            let request = Task {
                await gate.passUncancelled()
                return try await client.data(from: url)
            }
            request.cancel()
            gate.open()
            await #expect(throws: CancellationError.self) { try await request.value }
        }
    }

    @Test func aCancelAmidRedirectsIsHarmless() async throws {
        try await LoopbackHTTPServer.serving({ _ in .status(302, headers: [("Location", "/on")]) }) { server in
            var limits = HTTPClient.Limits()
            limits.redirectCount = 1_000
            let client = HTTPClient(limits: limits)
            let url = try #require(URL(string: server.baseURL + "/a"))
            for _ in 0..<50 {
                let request = Task { try await client.data(from: url) }
                await Task.yield()
                request.cancel()
                // On Linux the system gives up by itself after some twenty.
                await #expect(throws: (any Error).self) { try await request.value }
            }
        }
    }
}
