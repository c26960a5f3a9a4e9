import Foundation
import HTTPSource
import HTTPTransfer
import OneWaySynchronizer
import OneWayTestLimits
import OneWayTestSupport
import StoreSync
import SyncBase
import Testing

/// Connections of event streams and long polls, and their ends.
@Suite(.endsInTime) struct FeedTests {
    private let clock = ManualClock()
    private let url = URL(string: "https://api.test/events")
    private let log = EventLog<String>()

    private func client(_ server: ScriptedServer) -> HTTPClient {
        HTTPClient(transport: server, connectionCount: 1, clock: clock, date: { testDate }, random: { 0 })
    }

    /// A response of events that ends, or stays open.
    private static func events(_ text: String, staysOpen: Bool = false) -> HTTPResponse {
        let body = AsyncThrowingStream<[UInt8], any Error> { continuation in
            if !text.isEmpty { continuation.yield(Array(text.utf8)) }
            if !staysOpen { continuation.finish() }
        }
        return HTTPResponse(status: 200, headers: ["Content-Type": "text/event-stream; charset=utf-8"], body: body)
    }

    /// Follows a feed until the log is as long as expected, and through these waits, which begin
    /// when the gate is open.
    private func follow(
        _ feed: any RemoteFeed, after gate: Gate = Gate(isOpen: true), waiting delays: [Duration], until count: Int
    ) async throws {
        let run = Task { [log] in
            try await feed.run { event in
                switch event {
                case .connected(let isContinuous): log.append("connected \(isContinuous)")
                case .changes(let changes): log.append("changes \(changes.count)")
                case .gap(let error): log.append("gap: \(error)")
                case .interrupted(let error): log.append("interrupted" + (error.map { ": \($0)" } ?? ""))
                }
            }
        }
        try await gate.pass(orEndOf: run)
        for delay in delays {
            try await clock.waitForPendingDelays([delay])
            clock.advance(by: delay)
        }
        try await log.wait { $0.count >= count }
        run.cancel()
        _ = await run.result
    }

    private func stream(_ server: ScriptedServer) throws -> HTTPEventStream {
        HTTPEventStream(try #require(url), client: client(server))
    }

    @Test func aClosedStreamIsOpenedAgainAfterThePauseOfTheServer() async throws {
        let server = ScriptedServer { _, index in
            switch index {
            case 0: Self.events("data: {}\n\n")
            case 1: Self.events("retry: 10000\nid: 7\ndata: {}\n\n")
            case 2: Self.events("retry: 0\nid\ndata: {}\n\n")
            default: Self.events("", staysOpen: true)
            }
        }
        try await follow(
            try stream(server), waiting: [.seconds(3), .seconds(10), .milliseconds(500)], until: 10)
        #expect(server.requests.map { $0.headers["Last-Event-ID"] } == [nil, nil, "7", nil])
        let connection = ["connected false", "changes 1", "interrupted"]
        #expect(log.events == connection + connection + connection + ["connected false"])
    }

    @Test func failuresMakeThePausesLonger() async throws {
        let server = ScriptedServer { _, index in
            switch index {
            case 0...4: HTTPResponse(status: 500)
            case 5: HTTPResponse(status: 503, headers: ["Retry-After": "120"])
            default: Self.events("", staysOpen: true)
            }
        }
        // At least the pause, half of the bound, or what the server asks for.
        let pauses = [3, 3, 3, 3, 4, 120].map { Duration.seconds($0) }
        try await follow(try stream(server), waiting: pauses, until: 7)
        #expect(log.events.count == 7)
        #expect(log.events[0] == "interrupted: https://api.test/events: status 500")
    }

    @Test func afterAnEventThePausesBeginAnew() async throws {
        let server = ScriptedServer { _, index in
            index == 5 ? Self.events("data: {}\n\n") : HTTPResponse(status: 500)
        }
        let stream = try stream(server)
        let run = Task { try await stream.run { _ in } }
        for pause in [3, 3, 3, 3, 4, 3].map({ Duration.seconds($0) }) {
            try await clock.waitForPendingDelays([pause])
            clock.advance(by: pause)
        }
        // It would be the sixth failure in a row.
        try await clock.waitForPendingDelays([.seconds(3)], [.seconds(8)])
        #expect(clock.pendingDelays == [.seconds(3)])
        run.cancel()
        _ = await run.result
    }

    /// The silence begins after the last bytes.
    @Test func silenceEndsAConnection() async throws {
        let isSilent = Gate()
        let server = ScriptedServer { _, _ in
            let isAlive = Locked(true)
            let body = AsyncThrowingStream<[UInt8], any Error> {
                if isAlive.withLock({ exchange(&$0, with: false) }) { return Array(": alive\n\n".utf8) }
                isSilent.open()
                try await Gate().pass()
                return nil
            }
            return HTTPResponse(status: 200, headers: ["Content-Type": "text/event-stream"], body: body)
        }
        try await follow(try stream(server), after: isSilent, waiting: [.seconds(90), .seconds(3)], until: 3)
        #expect(
            log.events == ["connected false", "interrupted: https://api.test/events: timed out", "connected false"])
    }

    @Test func aStreamOutlivesTheDurationOfARequestAndTakesNoConnection() async throws {
        let server = ScriptedServer { request, _ in
            guard request.url.path == "/events" else { return .json("[]") }
            let body = AsyncThrowingStream<[UInt8], any Error> { continuation in continuation.yield([0x3A, 0x0A]) }
            return HTTPResponse(status: 200, headers: ["Content-Type": "text/event-stream"], body: body)
        }
        var stream = try stream(server)
        stream.silence = .seconds(86_400)
        let run = Task { [stream, log] in
            try await stream.run { event in if case .connected = event { log.append("connected") } }
        }
        try await log.wait(for: "connected")
        clock.advance(by: .seconds(3_600))
        // The only connection of the client is free.
        _ = try await stream.client.data(from: try #require(URL(string: "https://api.test/other")))
        #expect(log.events == ["connected"])
        run.cancel()
        _ = await run.result
    }

    @Test(arguments: [204, 200, 404]) func anAnswerThatIsNoStreamEndsTheFeed(status: Int) async throws {
        let server = ScriptedServer { _, _ in
            HTTPResponse(status: status, headers: ["Content-Type": "application/json"], bytes: Array("[]".utf8))
        }
        let stream = try stream(server)
        do {
            try await stream.run { _ in }
            #expect(status == 204)
        } catch {
            #expect(
                "\(error)"
                    == (status == 404
                        ? "https://api.test/events: status 404"
                        : "https://api.test/events: the response is unusable: "
                            + "status 200 and application/json instead of text/event-stream"))
        }
        #expect(server.requests.count == 1)
    }

    @Test func anEventWithoutEndIsAGapAndAnotherConnection() async throws {
        let server = ScriptedServer { _, index in
            Self.events(index == 0 ? "data: " + String(repeating: "x", count: 100_000) : "", staysOpen: true)
        }
        var stream = try stream(server)
        stream.eventByteCount = 1_000
        stream.gapTypes = ["reset"]
        try await follow(stream, waiting: [.seconds(3)], until: 4)
        #expect(
            log.events.prefix(2) == [
                "connected false", "gap: https://api.test/events: the body is longer than 1000 bytes",
            ])
    }

    /// An event that reports missed changes, one that cannot be read, and one that is too large.
    @Test(arguments: [
        "event: reset\ndata: now", "event: broken\ndata: now", "data: \(String(repeating: " ", count: 100)){}",
    ])
    func anEventCanReportAGap(event: String) async throws {
        let server = ScriptedServer { _, _ in
            Self.events("data: {}\n\n\(event)\n\ndata: {}\n\n")
        }
        var stream = try stream(server)
        stream.gapTypes = ["reset"]
        stream.eventByteCount = 50
        stream.reading = { event in
            guard event.type != "broken" else { throw CocoaError(.coderReadCorrupt) }
            return .objects(.bytes(event.data))
        }
        try await follow(stream, waiting: [], until: 4)
        #expect(log.events[1] == "changes 1" && log.events[2].hasPrefix("gap: ") && log.events[3] == "changes 1")
    }

    // MARK: Long polls

    private func poll(_ server: ScriptedServer) throws -> HTTPLongPoll {
        HTTPLongPoll(
            try #require(url), cursorKeyPath: "seq", parameter: "since", initialCursor: "now", keyPath: "results",
            client: client(server))
    }

    @Test func aPollGoesOnFromItsCursor() async throws {
        let server = ScriptedServer { _, index in
            switch index {
            case 0: .json(#"{"results":[{"id":1}],"seq":"1-a"}"#)
            case 1: HTTPResponse(status: 204)
            case 2: HTTPResponse(status: 500)
            case 3: .json(#"{"results":[],"seq":5}"#)
            case 4: HTTPResponse(status: 410)
            default: .json(#"{"results":[{"id":1}],"seq":6}"#)
            }
        }
        try await follow(
            try poll(server), waiting: Array(repeating: .seconds(1), count: 5), until: 7)
        #expect(
            server.paths == ["now", "1-a", "1-a", "1-a", "5", "now"].map { "/events?since=\($0)" })
        #expect(
            log.events == [
                "connected false", "changes 1", "interrupted: https://api.test/events?since=…: status 500",
                "connected true", "interrupted: https://api.test/events?since=5: status 410",
                "connected false", "changes 1",
            ])
    }

    /// A second poll from "now" would miss what happened in between.
    @Test func aPollThatBeginsAnewIsAGap() async throws {
        let server = ScriptedServer { _, index in
            index < 2 ? HTTPResponse(status: 204) : .json(#"{"results":[{"id":1}],"seq":"1"}"#)
        }
        try await follow(try poll(server), waiting: [.seconds(1), .seconds(1), .seconds(1)], until: 5)
        #expect(Array(server.paths.prefix(4)) == ["now", "now", "now", "1"].map { "/events?since=\($0)" })
        #expect(
            log.events.prefix(5) == [
                "connected false", "connected false", "connected false", "changes 1", "changes 1",
            ])
    }

    @Test func aHeaderFieldCanBeTheCursor() async throws {
        let server = ScriptedServer { _, index in
            switch index {
            case 0: HTTPResponse(status: 204, headers: ["X-Index": "3"])
            case 1: .json(#"[{"id":1}]"#, headers: ["X-Index": "4"])
            default: HTTPResponse(status: 204, headers: ["X-Index": "4"])
            }
        }
        var poll = try poll(server)
        (poll.cursorHeader, poll.keyPath) = ("X-Index", "")
        try await follow(poll, waiting: [.seconds(1), .seconds(1), .seconds(1)], until: 2)
        #expect(Array(server.paths.prefix(3)) == ["now", "3", "4"].map { "/events?since=\($0)" })
        #expect(log.events == ["connected false", "changes 1"])
    }

    /// Deletions are listed beside the objects.
    @Test(arguments: [
        (#"{"results":[],"seq":1}"#, 0), (#"{"results":[],"gone":[],"seq":1}"#, 0),
        (#"{"results":[],"gone":[7],"seq":1}"#, 1), (#"{"results":[{"id":1}],"gone":[],"seq":1}"#, 1),
        // What is no list is reported by the store.
        (#"{"seq":1}"#, 1), (#"{"results":[],"gone":7,"seq":1}"#, 1),
    ])
    func anEmptyResponseIsNoChange(json: String, count: Int) async throws {
        let server = ScriptedServer { _, _ in .json(json) }
        var poll = try poll(server)
        poll.tombstones = .list(keyPath: "gone")
        try await follow(poll, waiting: [.seconds(1)], until: 1)
        #expect(log.events.contains("changes 1") == (count == 1))
    }

    @Test(arguments: [#"{"results":[]}"#, #"{"results":[],"seq":{}}"#, "x"])
    func aResponseWithoutCursorEndsThePoll(json: String) async throws {
        let server = ScriptedServer { _, _ in .json(json) }
        let poll = try poll(server)
        await #expect(throws: HTTPError.self) { try await poll.run { _ in } }
    }

    @Test func aResponseIsBounded() async throws {
        let server = ScriptedServer { _, _ in .json(String(repeating: " ", count: 1_001)) }
        var poll = try poll(server)
        poll.byteCount = 1_000
        let asked = try #require(URL(string: "https://api.test/events?since=now"))
        let run = Task { [poll] in try await poll.run { _ in } }
        await #expect(throws: HTTPError(url: asked, problem: .tooLarge(limit: 1_000))) { try await run.value }
    }
}
