import Foundation
import HTTPSource
import HTTPTransfer
import OneWaySynchronizer
import StoreSync
import OneWayTestSupport
import Testing

// Bodies that break off, and requests for their rest.
extension RetryTests {
    /// A response with a page whose body breaks off after some bytes.
    private static func broken(
        _ page: String, after count: Int, headers: HTTPHeaders = ["ETag": "\"1\""]
    ) -> HTTPResponse {
        let body = AsyncThrowingStream<[UInt8], any Error> { continuation in
            continuation.yield(Array(page.utf8.prefix(count)))
            continuation.finish(throwing: HTTPError.Problem.cutShort(received: count, expected: page.utf8.count))
        }
        return HTTPResponse(status: 200, headers: headers, body: body)
    }

    /// The part of a page that a request asks for.
    private static func part(of page: String, for request: HTTPRequest, count: Int = .max) -> HTTPResponse {
        let range = request.headers["Range"] ?? ""
        let first = Int(range.drop { !$0.isNumber }.dropLast()) ?? 0
        let rest = Array(Array(page.utf8).dropFirst(first).prefix(count))
        let field = "bytes \(first)-\(first + rest.count - 1)/\(page.utf8.count)"
        return HTTPResponse(status: 206, headers: ["ETag": "\"1\"", "Content-Range": field], bytes: rest)
    }

    @Test func aPageThatBreaksOffContinues() async throws {
        let page = usersJSON(1...40)
        let server = ScriptedServer { request, index in
            switch index {
            case 0: Self.broken(page, after: 100)
            case 1: throw HTTPError.Problem.unreachable("cannot connect", isLasting: false)
            case 2: HTTPResponse(status: 503)
            case 3: Self.part(of: page, for: request, count: 50)
            default: Self.part(of: page, for: request)
            }
        }
        let source = try HTTPJSONSource.users(server, retry: RetryPolicy(), clock: clock)
        // Failures are counted until there is progress of a mebibyte.
        let waits = (0..<4).map { Duration.milliseconds(250 << $0) }
        // The end of the silence does not come closer, because the client waits on its own account.
        let result = try await sync(source, through: waits.map { [$0, .seconds(30) + .milliseconds(250) - $0] })
        #expect(result.counts.inserted == 40)
        #expect(result.pageCount == 1)
        let ranges = server.requests.map { $0.headers["Range"] }
        #expect(ranges == [nil, "bytes=100-", "bytes=100-", "bytes=100-", "bytes=150-"])
        #expect(server.requests.dropFirst().allSatisfy { $0.headers["If-Range"] == "\"1\"" })
        #expect(server.requests.last?.headers["Accept-Encoding"] == "identity")
    }

    /// Two versions of a page are not mixed: the whole page is requested again.
    @Test(arguments: 0..<7) func onlyTheRestOfTheSamePageContinuesIt(kind: Int) async throws {
        let page = usersJSON(1...40)
        let begun: HTTPHeaders =
            switch kind {
            case 0: [:]
            case 1: ["ETag": "W/\"1\""]
            case 2: ["ETag": "\"1\"", "Content-Encoding": "gzip"]
            case 3:
                [
                    "ETag": "\"1\"", "Date": "Thu, 01 Jan 2026 12:00:00 GMT",
                    "Last-Modified": "Thu, 01 Jan 2026 12:00:00 GMT",
                ]
            default: ["ETag": "\"1\""]
            }
        let server = ScriptedServer { request, index in
            if index == 0 { return Self.broken(page, after: 100, headers: begun) }
            guard request.headers["Range"] != nil else { return .json(usersJSON(1...3)) }
            switch kind {
            case 4: return .json(usersJSON(1...3), headers: ["ETag": "\"2\""])
            case 5: return HTTPResponse(status: 416)
            default:
                return HTTPResponse(
                    status: 206, headers: ["ETag": "\"2\"", "Content-Range": "bytes 100-109/110"],
                    bytes: Array("0123456789".utf8))
            }
        }
        let source = try HTTPJSONSource.users(server, retry: RetryPolicy(), clock: clock)
        let continuation: [[Duration]] = kind < 4 ? [] : [[.milliseconds(250), .seconds(30)]]
        // A request for the rest is an attempt for the page.
        let last = Duration.milliseconds(kind < 4 ? 250 : 500)
        let result = try await sync(source, through: continuation + [[last]])
        #expect(result.counts.inserted == 3)
        #expect(server.requests.count == (kind < 4 ? 2 : 3))
    }

    @Test func aBodyThatBreaksOffEndsWithThePass() async throws {
        let page = usersJSON(1...40)
        let server = ScriptedServer { _, index in
            guard index == 0 else { throw HTTPError.Problem.unreachable("cannot connect", isLasting: false) }
            return Self.broken(page, after: 100)
        }
        let source = try HTTPJSONSource.users(server, retry: RetryPolicy(), clock: clock, timeout: .seconds(1))
        let error = await #expect(throws: HTTPError.self) {
            try await sync(
                source, through: [[.milliseconds(250), .seconds(1)], [.milliseconds(500), .milliseconds(750)]])
        }
        #expect(error?.problem == .unreachable("cannot connect", isLasting: false))
    }

    // MARK: One rule

    /// Requests for the rest of a page are attempts for that page.
    @Test(arguments: [true, false]) func attemptsForAPageDoNotMultiply(isBusy: Bool) async throws {
        let page = usersJSON(1...40)
        let server = ScriptedServer { request, _ in
            guard request.headers["Range"] != nil else { return Self.broken(page, after: 100) }
            return isBusy ? HTTPResponse(status: 503) : .json(usersJSON([1]), headers: ["ETag": "\"2\""])
        }
        let source = try HTTPJSONSource.users(server, retry: RetryPolicy(maxAttempts: 4), clock: clock)
        let waits = (0..<3).map { Duration.milliseconds(250 << $0) }
        // While a page waits for its rest, its time continues.
        let silences = [Duration.seconds(30), .milliseconds(29_750), .milliseconds(29_250)]
        let error = await #expect(throws: HTTPError.self) {
            try await sync(
                source,
                through: isBusy
                    ? zip(waits, silences).map { [$0, $1] }
                    : [[waits[0], .seconds(30)], [waits[1]], [waits[2], .seconds(30)]])
        }
        #expect(server.requests.count == 4)
        if isBusy { #expect(error?.problem == .status(503, firstLine: "", retryAfter: nil)) }
    }

    @Test func theRestOfAPageIsNotWaitedForBeyondTheLimit() async throws {
        let server = ScriptedServer { request, _ in
            guard request.headers["Range"] != nil else { return Self.broken(usersJSON(1...40), after: 100) }
            return HTTPResponse(status: 503, headers: ["Retry-After": "61"])
        }
        let source = try HTTPJSONSource.users(server, retry: RetryPolicy(), clock: clock)
        let error = await #expect(throws: HTTPError.self) {
            try await sync(source, through: [[.milliseconds(250), .seconds(30)]])
        }
        #expect(error?.problem == .status(503, firstLine: "", retryAfter: .seconds(61)))
        #expect(server.requests.count == 2)
    }

    /// A busy server holds back every request of the client.
    @Test func aWaitForTheRestHoldsOtherRequestsBack() async throws {
        let page = usersJSON(1...40)
        let server = ScriptedServer { request, index in
            switch index {
            case 0: Self.broken(page, after: 100)
            case 1: HTTPResponse(status: 503, headers: ["Retry-After": "7"])
            default: request.headers["Range"] == nil ? .json("[]") : Self.part(of: page, for: request)
            }
        }
        let source = try HTTPJSONSource.users(server, retry: RetryPolicy(), clock: clock)
        let world = try await SourceWorld()
        async let result = world.sync(source)
        try await clock.waitForPendingDelays([.milliseconds(250), .seconds(30)])
        clock.advance(by: .milliseconds(250))
        try await clock.waitForPendingDelays([.seconds(7), .milliseconds(29_750)])
        async let other = source.client.data(from: source.url)
        try await clock.waitForPendingDelays([.seconds(7), .seconds(7), .milliseconds(29_750)])
        #expect(server.requests.count == 2)
        clock.advance(by: .seconds(7))
        #expect(try await other == Array("[]".utf8))
        #expect(try await result.counts.inserted == 40)
    }

    @Test func requestsForTheRestKeepTheirDistance() async throws {
        let page = usersJSON(1...40)
        let server = ScriptedServer { request, index in
            index == 0 ? Self.broken(page, after: 100) : Self.part(of: page, for: request)
        }
        let url = try #require(URL(string: "https://api.test/users"))
        let client = HTTPClient(
            transport: server, retry: RetryPolicy(baseDelay: .milliseconds(200)), requestsPerSecond: 1, clock: clock,
            random: { 0 })
        let result = try await sync(
            .url(url, client: client),
            through: [[.milliseconds(100), .seconds(30)], [.milliseconds(900), .milliseconds(29_900)]])
        #expect(result.counts.inserted == 40)
    }

    /// A token that was refreshed between the parts of a page is as secret as the new one.
    @Test func allTokensOfAPageStaySecret() async throws {
        let page = #"[{"id":1,"name":"old-token-1234"},{"id":2,"name":"b"}, oops]"#
        let server = ScriptedServer { request, index in
            index == 0 ? Self.broken(page, after: 36) : Self.part(of: page, for: request)
        }
        let tokens = Watched(["new-token-1234", "old-token-1234"])
        let source = try HTTPJSONSource.users(
            server, retry: RetryPolicy(), clock: clock,
            headers: { ["Authorization": "Bearer \(tokens.update { $0.popLast() ?? "" })"] })
        let error = await #expect(throws: HTTPError.self) {
            try await sync(source, through: [[.milliseconds(250), .seconds(30)]])
        }
        let sent = server.requests.map { $0.headers["Authorization"] }
        #expect(sent == ["Bearer old-token-1234", "Bearer new-token-1234"])
        let text = String(reflecting: try #require(error))
        #expect(text.contains("[redacted]"))
        #expect(!text.contains("old-token-1234"))
    }

    /// Only the time in which the server is waited for counts.
    @Test func aWaitForTheRestIsNoTimeOfTheRequest() async throws {
        let content = usersJSON(1...40)
        let server = ScriptedServer { request, index in
            switch index {
            case 0: Self.broken(content, after: 100)
            case 1: HTTPResponse(status: 503, headers: ["Retry-After": "40"])
            default: Self.part(of: content, for: request)
            }
        }
        let limits = HTTPClient.Limits(requestDuration: .seconds(20))
        let source = try HTTPJSONSource.users(server, retry: RetryPolicy(), limits: limits, clock: clock)
        // The wait for the rest, and the next look at the time of the request.
        let result = try await sync(
            source,
            through: [
                [.milliseconds(250), .seconds(20)], [.milliseconds(19_750), .seconds(40)],
                [.seconds(20), .milliseconds(20_250)], [.milliseconds(250), .seconds(20)],
            ])
        #expect(result.counts.inserted == 40)
    }

    /// Downloads wait as pages do.
    @Test(arguments: ["7", "61"]) func aDownloadWaitsAsTheServerSays(field: String) async throws {
        let content = usersJSON(1...40)
        let server = ScriptedServer { request, index in
            switch index {
            case 0: Self.broken(content, after: 100)
            case 1: HTTPResponse(status: 503, headers: ["Retry-After": field])
            default: Self.part(of: content, for: request)
            }
        }
        let client = try HTTPJSONSource.users(server, retry: RetryPolicy(), clock: clock).client
        let url = try #require(URL(string: "https://api.test/file"))
        let folder = try TemporaryDirectory()
        let file = folder.url.appending(path: "file")
        let download = Task { try await client.download(from: url, to: file) }
        try await clock.waitForPendingDelays([.milliseconds(250)])
        clock.advance(by: .milliseconds(250))
        if field == "7" {
            try await clock.waitForPendingDelays([.seconds(7)])
            clock.advance(by: .seconds(7))
            #expect(try await download.value == content.utf8.count)
            #expect(try Data(contentsOf: file) == Data(content.utf8))
        } else {
            let error = await #expect(throws: HTTPError.self) { try await download.value }
            #expect(error?.problem == .status(503, firstLine: "", retryAfter: .seconds(61)))
            #expect(server.requests.count == 2)
        }
    }
}
