import Foundation
import HTTPSource
import HTTPTransfer
import JSONMapper
import OneWayLoopbackServer
import OneWaySynchronizer
import OneWayTestSupport
import StoreSync
import SyncBase
import SyncModel
import SyncStore
import Testing

/// A feed of a test: hands over its events one by one.
private final class ScriptedFeed: RemoteFeed {
    private let stream: AsyncStream<RemoteFeedEvent>
    private let continuation: AsyncStream<RemoteFeedEvent>.Continuation
    private let failure: (any Error)?
    /// How many events have been received in full, and how often the feed was begun.
    let receivedCount = Watched(0)
    let runCount = Watched(0)

    /// - Parameter failure: Ends every run but the first one at once.
    init(failing failure: (any Error)? = nil) {
        (stream, continuation) = AsyncStream.makeStream()
        self.failure = failure
    }

    func send(_ event: RemoteFeedEvent) { continuation.yield(event) }

    func run(_ receive: @escaping @Sendable (RemoteFeedEvent) async throws -> Void) async throws {
        let count = runCount.update { count in
            count += 1
            return count
        }
        if let failure, count > 1 { throw failure }
        for await event in stream {
            try await receive(event)
            receivedCount.update { $0 += 1 }
            if let failure { throw failure }
        }
        try Task.checkCancellation()
    }
}

@Suite(.timeLimit(.minutes(30))) struct LiveSyncTests {
    private let clock = ManualClock()
    private static let hourly = SyncSchedule(interval: .seconds(3600), jitter: 0)

    private func change(_ id: Int, _ name: String) -> RemoteChange {
        .objects(.bytes(Array(#"{"id":\#(id),"name":"\#(name)"}"#.utf8)))
    }

    private func live(
        _ world: SourceWorld, _ server: ScriptedServer, _ feed: (any RemoteFeed)? = nil,
        lease: (any SyncLease)? = nil
    ) throws -> LiveSync {
        LiveSync(
            world.json, from: try HTTPJSONSource.users(server), into: "User", feed: feed, schedule: Self.hourly,
            lease: lease,
            clock: clock)
    }

    /// Runs a service during a function.
    private func running(_ live: LiveSync, _ body: () async throws -> Void) async throws {
        let run = Task { try await live.service.run() }
        do { try await body() } catch {
            run.cancel()
            throw error
        }
        live.service.requestStop()
        try await run.value
    }

    @Test func changesAreAppliedBetweenPasses() async throws {
        let world = try await SourceWorld()
        let server = ScriptedServer { _, _ in .json(usersJSON(1...3)) }
        let feed = ScriptedFeed()
        let live = try live(world, server, feed)
        try await running(live) {
            // The first pass has ended.
            try await clock.waitForSleepers()
            feed.send(.connected(isContinuous: true))
            feed.send(.changes([change(1, "a"), .removals(.bytes(Array("2".utf8)))]))
            try await feed.receivedCount.wait { $0 == 2 }
            #expect(try await world.users() == [1: "a", 3: "user 3"])
            #expect(live.health.isConnected && live.health.changeCount == 2 && live.health.gapCount == 0)
            #expect(server.requests.count == 1)
            try await live.apply([change(7, "webhook")])
            #expect(try await world.users()[7] == "webhook")
        }
        #expect(!live.health.isConnected)
        await #expect(throws: LiveSync.Refusal.notActive) { try await live.apply([change(8, "late")]) }
        #expect(try await world.users()[8] == nil)
    }

    /// Would store what the page said before the change if the pass and the change did not take
    /// turns.
    @Test func aPassDoesNotUndoAChangeThatCameMeanwhile() async throws {
        let world = try await SourceWorld()
        let answer = Gate()
        let server = ScriptedServer { _, _ in
            try await answer.pass()
            return .json(usersJSON([1]))
        }
        let feed = ScriptedFeed()
        let live = try live(world, server, feed)
        try await running(live) {
            try await answer.waitForArrivals()
            // The server has read its page, and changes.
            feed.send(.changes([change(1, "newer")]))
            async let webhook = live.apply([change(2, "new")])
            try await feed.runCount.wait { $0 == 1 }
            for _ in 0..<100 { await Task.yield() }
            #expect(feed.receivedCount.value == 0)
            answer.open()
            try await feed.receivedCount.wait { $0 == 1 }
            _ = try await webhook
            #expect(try await world.users() == [1: "newer", 2: "new"])
        }
    }

    @Test func aGapAsksForAPassButNotForOneAfterAnother() async throws {
        let world = try await SourceWorld()
        let server = ScriptedServer { _, index in .json(usersJSON(0...index)) }
        let feed = ScriptedFeed()
        try await running(try live(world, server, feed)) {
            try await clock.waitForPendingDelays([.seconds(3600)])
            for _ in 0..<5 { feed.send(.connected(isContinuous: false)) }
            try await feed.receivedCount.wait { $0 == 5 }
            // A minute after the beginning of the pass before.
            try await clock.waitForPendingDelays([.seconds(60), .seconds(3600)])
            #expect(server.requests.count == 1)
            clock.advance(by: .seconds(60))
            try await clock.waitForPendingDelays([.seconds(3600)])
            #expect(server.requests.count == 2)
            clock.advance(by: .seconds(100))
            feed.send(.gap(TestError("missed")))
            try await feed.receivedCount.wait { $0 == 6 }
            try await clock.waitForPendingDelays([.seconds(3600)])
            #expect(server.requests.count == 3)
            #expect(try await world.users().count == 3)
        }
    }

    @Test func aChangeThatCannotBeAppliedKeepsNoOtherBack() async throws {
        let world = try await SourceWorld()
        let server = ScriptedServer { _, _ in .json(usersJSON([1])) }
        let feed = ScriptedFeed()
        let live = try live(world, server, feed)
        try await running(live) {
            try await clock.waitForPendingDelays([.seconds(3600)])
            feed.send(.changes([change(2, "b"), .objects(.bytes(Array("{".utf8))), change(3, "c")]))
            try await feed.receivedCount.wait { $0 == 1 }
            #expect(try await world.users() == [1: "user 1", 2: "b", 3: "c"])
            #expect(live.health.changeCount == 2 && live.health.failureCount == 1)
            #expect(live.health.lastError is JSONError)
            // A pass brings what could not be applied.
            try await clock.waitForPendingDelays([.seconds(60), .seconds(3600)])
            await #expect(throws: JSONError.self) { try await live.apply([.objects(.bytes(Array("[".utf8)))]) }
        }
    }

    @Test func aFeedThatFailsIsBegunAgainAfterTheNextPass() async throws {
        let world = try await SourceWorld()
        let server = ScriptedServer { _, _ in .json(usersJSON([1])) }
        let feed = ScriptedFeed(failing: TestError("the token has expired"))
        let live = try live(world, server, feed)
        try await running(live) {
            try await clock.waitForPendingDelays([.seconds(3600)])
            feed.send(.connected(isContinuous: true))
            try await feed.receivedCount.wait { $0 == 1 }
            live.service.trigger()
            try await feed.runCount.wait { $0 == 2 }
            #expect(live.health.lastError as? TestError == TestError("the token has expired"))
            live.service.trigger()
            try await feed.runCount.wait { $0 == 3 }
        }
    }

    /// A pass that fails brings nothing of what was missed.
    @Test func aGapIsRememberedUntilAPassSucceeds() async throws {
        let world = try await SourceWorld()
        let server = ScriptedServer { _, index in
            index == 1 ? HTTPResponse(status: 404) : .json(usersJSON(0...index))
        }
        let feed = ScriptedFeed()
        try await running(try live(world, server, feed)) {
            try await clock.waitForPendingDelays([.seconds(3600)])
            clock.advance(by: .seconds(100))
            feed.send(.gap(TestError("missed")))
            try await feed.receivedCount.wait { $0 == 1 }
            // The pass after the gap fails, and is made up for.
            try await clock.waitForPendingDelays([.seconds(60), .seconds(3600)])
            #expect(server.requests.count == 2)
            clock.advance(by: .seconds(60))
            try await clock.waitForPendingDelays([.seconds(3600)])
            #expect(server.requests.count == 3)
            #expect(try await world.users().count == 3)
        }
    }

    /// What happened since the last connection is in no event.
    @Test func theEndOfAFeedIsAGap() async throws {
        let world = try await SourceWorld()
        let server = ScriptedServer { request, index in
            request.url.path == "/events" ? HTTPResponse(status: 204) : .json(usersJSON(0...index))
        }
        let client = HTTPClient(transport: server, clock: clock, date: { testDate })
        let events = HTTPEventStream(try #require(URL(string: "https://api.test/events")), client: client)
        let live = try live(world, server, events)
        try await running(live) {
            try await clock.waitForPendingDelays([.seconds(60), .seconds(3600)])
            #expect(live.health.hasEnded && !live.health.isConnected && live.health.gapCount == 1)
        }
    }

    @Test func onlyTheHolderOfTheLeaseTakesChanges() async throws {
        let world = try await SourceWorld()
        let server = ScriptedServer { _, _ in .json(usersJSON([1])) }
        let feed = ScriptedFeed()
        let lease = ScriptedLease(clock: clock)
        let other = SyncLeaseHolder()
        lease.seize(by: other)
        let live = try live(world, server, feed, lease: lease)
        try await running(live) {
            try await lease.log.wait(for: .refused)
            await #expect(throws: LiveSync.Refusal.notActive) { try await live.apply([change(1, "a")]) }
            #expect(feed.runCount.value == 0)
            lease.giveUp()
            try await clock.waitForSleepers()
            clock.advance(by: .seconds(60))
            try await feed.runCount.wait { $0 == 1 }
            feed.send(.changes([change(2, "b")]))
            try await feed.receivedCount.wait { $0 == 1 }
            #expect(live.health.changeCount == 1)
            // A change is confirmed by the lease before it is committed.
            #expect(lease.log.events.contains(.renewed))
        }
        #expect(lease.log.events.last == .released)
    }

    @Test func aStopEndsTheFeed() async throws {
        let world = try await SourceWorld()
        let server = ScriptedServer { _, _ in .json(usersJSON([1])) }
        let feed = ScriptedFeed()
        try await running(try live(world, server, feed)) { try await feed.runCount.wait { $0 == 1 } }
    }

    // MARK: Over real sockets

    /// A source that is a list and a stream of its changes.
    @Test func aListAndItsEventsLiveTogether() async throws {
        let users = Watched<[Int: String]>([1: "a", 2: "b"])
        let go = try LoopbackGate()
        let lastIDs = EventLog<String>()
        let handler: LoopbackHTTPServer.Handler = { request in
            if request.path == "/users" {
                let list = users.value.sorted { $0.key < $1.key }.map { #"{"id":\#($0.key),"name":"\#($0.value)"}"# }
                return .json("[\(list.joined(separator: ","))]")
            }
            let lastID = request.header("last-event-id")
            lastIDs.append(lastID ?? "-")
            return .stream(headers: [("Content-Type", "text/event-stream")]) { writer in
                func write(_ text: String) throws { try writer.write(Array(text.utf8)) }
                if lastID == nil {
                    try write(
                        "retry: 1\n\n: hello\n\nid: 1\nevent: changed\ndata: {\"id\":1,\ndata: \"name\":\"A\"}\n\n")
                    try write(
                        "id: 2\nevent: deleted\ndata: 2\n\nid: 3\nevent: changed\ndata: \(String(repeating: "x", count: 5_000))\n\n"
                    )
                    try write("id: 4\nevent: other\ndata: nothing\n\nid: 5\nevent: changed\ndata: {\"id\":3")
                    throw LoopbackInterruption.disconnected
                }
                try writer.wait(at: go)
                try write("id: 6\nevent: changed\ndata: {\"id\":3,\"name\":\"c\"}\n\n")
                try writer.hang()
            }
        }
        try await LoopbackHTTPServer.serving(handler) { server in
            let world = try await SourceWorld()
            let client = HTTPClient(retry: RetryPolicy(baseDelay: .milliseconds(1)))
            let url = try #require(URL(string: server.baseURL + "/users"))
            var events = HTTPEventStream(
                try #require(URL(string: server.baseURL + "/events")),
                reading: HTTPEventStream.Event.objects(types: ["changed"], removals: ["deleted"]), client: client)
            events.isResumable = true
            events.eventByteCount = 1_000
            let feed = ReportingFeed(feed: events)
            let live = LiveSync(
                world.json, from: HTTPJSONSource(url, client: client), into: "User", feed: feed,
                schedule: Self.hourly)
            let run = Task { try await live.service.run() }
            try await feed.log.wait(for: "interrupted")
            go.open()
            try await feed.log.wait(for: "change", count: 3)
            #expect(try await world.users()[3] == "c")
            live.service.requestStop()
            try await run.value
            #expect(
                feed.log.events == [
                    "connected false", "change", "change", "gap", "interrupted", "connected true", "change",
                ])
            #expect(lastIDs.events == ["-", "4"])
            #expect(live.health.gapCount == 2)
        }
    }
}

/// A feed that logs what has been received.
private struct ReportingFeed: RemoteFeed {
    let feed: HTTPEventStream
    let log = EventLog<String>()

    func run(_ receive: @escaping @Sendable (RemoteFeedEvent) async throws -> Void) async throws {
        try await feed.run { event in
            try await receive(event)
            switch event {
            case .connected(let isContinuous): log.append("connected \(isContinuous)")
            // How many come at once depends on the pieces in which the bytes arrive.
            case .changes(let changes): for _ in changes { log.append("change") }
            case .gap: log.append("gap")
            case .interrupted: log.append("interrupted")
            }
        }
    }
}
