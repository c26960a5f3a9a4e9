import Foundation
import HTTPSource
import HTTPTransfer
import JSONMapper
import OneWaySynchronizer
import OneWayTestLimits
import StoreSync
import OneWayTestSupport
import Testing

@Suite(.endsInTime) struct RetryTests {
    let clock = ManualClock()

    /// Fails the first requests in some way, and answers the next one.
    func server(failing count: Int = 1, _ fail: @escaping @Sendable () throws -> HTTPResponse) -> ScriptedServer {
        ScriptedServer { _, index in index < count ? try fail() : .json(usersJSON([1])) }
    }

    /// Syncs while a clock is moved through exactly these waits.
    func sync(_ source: HTTPJSONSource, waiting delays: [Duration]) async throws -> StoreSyncResult {
        try await sync(source, through: delays.map { [$0] })
    }

    /// Syncs while a clock is moved to the first of exactly these ends of waits, again and again.
    func sync(_ source: HTTPJSONSource, through pending: [[Duration]]) async throws -> StoreSyncResult {
        let world = try await SourceWorld()
        async let result = world.sync(source)
        for delays in pending {
            try await clock.waitForPendingDelays(delays)
            clock.advance(by: delays.min() ?? .zero)
        }
        return try await result
    }

    static let cut = AsyncThrowingStream<[UInt8], any Error> { continuation in
        continuation.finish(throwing: HTTPError.Problem.cutShort(received: 0, expected: 10))
    }

    @Test(arguments: [408, 425, 429, 500, 502, 503, 504])
    func whatMayPassIsTriedAgainAfterAWait(status: Int) async throws {
        // The shortest waits: half of 0.5 s, 1 s, 2 s.
        let server = server(failing: 3) { HTTPResponse(status: status) }
        let source = try HTTPJSONSource.users(server, retry: RetryPolicy(maxAttempts: 4), clock: clock)
        let delays: [Duration] = [.milliseconds(250), .milliseconds(500), .seconds(1)]
        #expect(try await sync(source, waiting: delays).counts.inserted == 1)
        #expect(server.requests.count == 4)
    }

    @Test(arguments: [
        ("7", Duration.seconds(7)), ("Thu, 01 Jan 2026 12:00:09 GMT", .seconds(9)), ("60", .seconds(60)),
        ("soon", .milliseconds(250)),
        // At once means after the base delay.
        ("0", .milliseconds(500)), ("Thu, 01 Jan 2026 11:00:00 GMT", .milliseconds(500)),
    ])
    func theServerSaysHowLongToWait(field: String, delay: Duration) async throws {
        for status in [429, 503] {
            let server = server { HTTPResponse(status: status, headers: ["Retry-After": field]) }
            let source = try HTTPJSONSource.users(server, retry: RetryPolicy(), clock: clock)
            _ = try await sync(source, waiting: [delay])
            #expect(server.requests.count == 2)
        }
    }

    @Test func eachRetryIsReported() async throws {
        let server = server(failing: 2) { throw HTTPError.Problem.unreachable("no such host", isLasting: false) }
        let source = try HTTPJSONSource.users(server, retry: RetryPolicy(maxAttempts: 3), clock: clock)
        let retries = EventLog<String>()
        _ = try await RetryPolicy.Retry.observed(by: { retries.append("\($0)") }) {
            try await sync(source, waiting: [.milliseconds(250), .milliseconds(500)])
        }
        #expect(
            retries.events == [
                "attempt 1 of 3 failed, next in 0.25 seconds: https://api.test/users: no such host",
                "attempt 2 of 3 failed, next in 0.5 seconds: https://api.test/users: no such host",
            ])
    }

    /// A pass holds the write lock of its store, which must not wait for a day.
    @Test(arguments: ["61", "86400", "99999999999999999999", "Fri, 02 Jan 2026 12:00:00 GMT"])
    func aWaitBeyondTheLimitIsAnErrorAtOnce(field: String) async throws {
        let server = server { HTTPResponse(status: 503, headers: ["Retry-After": field]) }
        let source = try HTTPJSONSource.users(server, retry: RetryPolicy(), clock: clock)
        await #expect(throws: HTTPError.self) { try await sync(source, waiting: []) }
        #expect(server.requests.count == 1)
    }

    /// A policy that outlasts an outage accepts that the server announces one as long.
    @Test(arguments: [(599, true), (600, true), (601, false)])
    func aWaitMayBeAsLongAsTheOutage(seconds: Int, isGranted: Bool) async throws {
        let server = server { HTTPResponse(status: 503, headers: ["Retry-After": "\(seconds)"]) }
        let policy = RetryPolicy(outlasting: .seconds(600))
        let source = try HTTPJSONSource.users(server, retry: policy, clock: clock)
        if isGranted {
            _ = try await sync(source, waiting: [.seconds(seconds)])
        } else {
            await #expect(throws: HTTPError.self) { try await sync(source, waiting: []) }
        }
        #expect(server.requests.count == (isGranted ? 2 : 1))
    }

    @Test(arguments: [
        (403, ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1767268811"], Duration.seconds(11)),
        (429, ["RateLimit-Remaining": "0", "RateLimit-Reset": "12"], .seconds(12)),
        (403, ["Retry-After": "13"], .seconds(13)),
    ])
    func rateLimitsAreWaitedFor(status: Int, fields: [String: String], delay: Duration) async throws {
        let headers = HTTPHeaders(fields.map { (name: $0.key, value: $0.value) })
        let server = server { HTTPResponse(status: status, headers: headers) }
        let source = try HTTPJSONSource.users(server, retry: RetryPolicy(), clock: clock)
        _ = try await sync(source, waiting: [delay])
        #expect(server.requests.count == 2)
    }

    /// A date counts from the server's own clock, which may be hours off.
    @Test(arguments: [
        ("Thu, 01 Jan 2026 10:00:05 GMT", "Thu, 01 Jan 2026 10:00:00 GMT", [Duration.seconds(5)]),
        ("Thu, 01 Jan 2026 10:00:05 GMT", "Thu, 01 Jan 2026 11:00:00 GMT", [.milliseconds(500)]),
    ])
    func aDateCountsFromTheServersClock(field: String, date: String, delays: [Duration]) async throws {
        let server = server { HTTPResponse(status: 503, headers: ["Retry-After": field, "Date": date]) }
        let source = try HTTPJSONSource.users(server, retry: RetryPolicy(), clock: clock)
        _ = try await sync(source, waiting: delays)
    }

    @Test(arguments: [400, 401, 404, 409, 410, 422, 501, 505])
    func whatWillNotPassIsNotTriedAgain(status: Int) async throws {
        let server = server { HTTPResponse(status: status, headers: ["Retry-After": "1"]) }
        let source = try HTTPJSONSource.users(server, retry: RetryPolicy(), clock: clock)
        await #expect(throws: HTTPError.self) { try await sync(source, waiting: []) }
        #expect(server.requests.count == 1)
    }

    @Test(arguments: 0..<3) func aFailureOnTheWayIsTriedAgain(kind: Int) async throws {
        let server = server {
            switch kind {
            case 0: throw HTTPError.Problem.unreachable("cannot connect", isLasting: false)
            case 1: throw HTTPError.Problem.timedOut
            default: HTTPResponse(status: 200, body: Self.cut)
            }
        }
        let source = try HTTPJSONSource.users(server, retry: RetryPolicy(), clock: clock)
        _ = try await sync(source, waiting: [.milliseconds(250)])
        #expect(server.requests.count == 2)
    }

    @Test func attemptsAreCountedForEachPage() async throws {
        let server = ScriptedServer { request, index in
            index % 3 < 2
                ? HTTPResponse(status: 500)
                : .json("[]", headers: index < 8 ? ["Link": "<?\(index)>; rel=next"] : [:])
        }
        let source = try HTTPJSONSource.users(server, pages: .link, retry: RetryPolicy(maxAttempts: 3), clock: clock)
        _ = try await sync(
            source, waiting: Array(repeating: [.milliseconds(250), .milliseconds(500)], count: 3).flatMap { $0 })
        #expect(server.requests.count == 9)
    }

    /// What a page had before it was cut is there, and told once.
    @Test(arguments: [true, false]) func aPageThatIsCutIsReadAgain(isNoticed: Bool) async throws {
        let page = #"[{"id":1,"name":"a"},{"id":"x"},{"id":2,"name":"b"}]"#
        let server = ScriptedServer { request, index in
            guard index == 1 else {
                return .json(
                    request.query("p") == nil ? usersJSON([9]) : page,
                    headers: request.query("p") == nil ? ["Link": "<?p=2>; rel=next"] : [:])
            }
            let body = AsyncThrowingStream<[UInt8], any Error> { continuation in
                continuation.yield(Array(page.utf8.prefix(40)))
                continuation.finish(throwing: isNoticed ? HTTPError.Problem.cutShort(received: 40, expected: 60) : nil)
            }
            return HTTPResponse(status: 200, body: body)
        }
        let source = try HTTPJSONSource.users(server, pages: .link, retry: RetryPolicy(), clock: clock)
        let result = try await sync(source, waiting: [.milliseconds(250)])
        #expect(result.counts.inserted == 3)
        #expect(result.rejectedCount == 1)
        #expect(result.rejected.count == 1)
        #expect(server.requests.count == 3)
    }

    // MARK: Outages

    /// The shortest waits of the default policy are 0.25 s, doubled each time.
    @Test func byDefaultAServerMayBeAwayForThirtySeconds() async throws {
        let clock = clock
        let server = ScriptedServer { _, _ in
            guard clock.now.offset >= .seconds(30) else {
                throw HTTPError.Problem.unreachable("cannot connect", isLasting: false)
            }
            return .json(usersJSON([1]))
        }
        let source = try HTTPJSONSource.users(server, retry: RetryPolicy(), clock: clock)
        let result = try await sync(source, waiting: (0..<7).map { .milliseconds(250 << $0) })
        #expect(result.counts.inserted == 1)
    }

    // MARK: Pace

    @Test func requestsKeepTheirDistance() async throws {
        let clock = clock
        let times = Watched<[Duration]>([])
        let server = ScriptedServer { _, index in
            times.update { $0.append(clock.now.offset) }
            return .json(usersJSON([index]), headers: index < 3 ? ["Link": "<?\(index)>; rel=next"] : [:])
        }
        let url = try #require(URL(string: "https://api.test/users"))
        let client = HTTPClient(transport: server, requestsPerSecond: 4, clock: clock)
        let result = try await sync(
            .url(url, pages: .link, client: client), waiting: Array(repeating: .milliseconds(250), count: 3))
        #expect(result.pageCount == 4)
        #expect(times.value == [.zero, .milliseconds(250), .milliseconds(500), .milliseconds(750)])
    }

    @Test(arguments: [1, 2]) func noMoreConnectionsThanAllowed(count: Int) async throws {
        let running = Watched((now: 0, most: 0))
        let server = ScriptedServer { _, index in
            running.update { $0 = (now: $0.now + 1, most: max($0.most, $0.now + 1)) }
            let pieces = Watched(["[", "]"])
            let body = AsyncThrowingStream<[UInt8], any Error> {
                // The first body ends when there are as many as may be.
                if index == 0 { try await running.wait { $0.most == count } }
                let piece = pieces.update { $0.isEmpty ? nil : $0.removeFirst() }
                if piece == nil { running.update { $0.now -= 1 } }
                return piece.map { Array($0.utf8) }
            }
            return HTTPResponse(status: 200, headers: index < 20 ? ["Link": "<?\(index)>; rel=next"] : [:], body: body)
        }
        let url = try #require(URL(string: "https://api.test/users"))
        let client = HTTPClient(transport: server, connectionCount: count)
        let world = try await SourceWorld()
        let result = try await world.sync(.url(url, pages: .link, client: client))
        #expect(result.pageCount == 21)
        #expect(running.value.most == count)
    }

    // MARK: Time

    @Test func silenceEndsARequest() async throws {
        let gate = Gate()
        let server = ScriptedServer { _, _ in
            try await gate.pass()
            return .json("[]")
        }
        let source = try HTTPJSONSource.users(server, clock: clock)
        let error = await #expect(throws: HTTPError.self) { try await sync(source, waiting: [.seconds(30)]) }
        #expect(error?.problem == .timedOut)
    }

    /// The machine slept for five minutes, and the server's reply is still on its way.
    @Test func aTimeInWhichTheProcessDidNotRunIsNoSilence() async throws {
        let gate = Gate()
        let server = ScriptedServer { _, _ in
            try await gate.pass()
            return .json(usersJSON([1]))
        }
        let world = try await SourceWorld()
        let source = try HTTPJSONSource.users(server, clock: clock)
        async let result = world.sync(source)
        try await clock.waitForPendingDelays([.seconds(30)])
        clock.advance(by: .seconds(300))
        try await clock.waitForPendingDelays([.seconds(30)])
        gate.open()
        #expect(try await result.counts.inserted == 1)
    }

    @Test func aBodyThatDripsHasItsTimeToo() async throws {
        let clock = clock
        let server = ScriptedServer { _, _ in
            let body = AsyncThrowingStream<[UInt8], any Error> {
                try await clock.sleep(for: .seconds(20))
                return [0x20]
            }
            return HTTPResponse(status: 200, body: body)
        }
        let source = try HTTPJSONSource.users(
            server, retry: RetryPolicy(), limits: HTTPClient.Limits(requestDuration: .seconds(90)), clock: clock)
        let world = try await SourceWorld()
        let sync = Task { try await world.sync(source) }
        for time in stride(from: 0, to: 90, by: 10) {
            // The next byte, and the end of the silence or of the request.
            let delays = time == 0 ? [20, 30] : [10, 20]
            try await clock.waitForPendingDelays(delays.map { .seconds($0) })
            clock.advance(by: .seconds(10))
        }
        let error = await #expect(throws: HTTPError.self) { try await sync.value }
        #expect(error?.problem == .tooSlow(received: 4, limit: .seconds(90)))
    }

    @Test func aRunHasItsTime() async throws {
        let server = ScriptedServer { _, _ in HTTPResponse(status: 503, headers: ["Retry-After": "40"]) }
        let source = try HTTPJSONSource.users(
            server, retry: RetryPolicy(maxAttempts: 100), clock: clock, timeout: .seconds(100))
        let error = await #expect(throws: HTTPError.self) {
            try await sync(source, waiting: [.seconds(40), .seconds(40)])
        }
        // The third wait would go beyond it.
        #expect(error?.problem == .status(503, firstLine: "", retryAfter: .seconds(40)))
        #expect(server.requests.count == 3)
    }

    @Test func aCancelledSyncEndsAtOnce() async throws {
        let gate = Gate()
        let server = ScriptedServer { _, index in
            if index == 1 { try await gate.pass() }
            return .json(usersJSON([index]), headers: ["Link": "<?\(index)>; rel=next"])
        }
        let world = try await SourceWorld()
        let source = try HTTPJSONSource.users(server, pages: .link, clock: clock)
        let sync = Task { try await world.sync(source) }
        try await gate.waitForArrivals(orEndOf: sync)
        sync.cancel()
        await #expect(throws: CancellationError.self) { try await sync.value }
        #expect(try await world.users().isEmpty)
    }
}
