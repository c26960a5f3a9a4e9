import Foundation
import HTTPSource
import HTTPTransfer
import OneWayLoopbackServer
import OneWaySynchronizer
import OneWayTestLimits
import OneWayTestSupport
import StoreSync
import SyncModel
import SyncStore
import Testing

/// Lists whose changes are streams of events.
@Suite(.endsInTime) struct LiveEventsTests {
    private static let hourly = SyncSchedule(interval: .seconds(3600), jitter: 0)

    /// What happened since the last connection is in no event.
    @Test func theEndOfAFeedIsAGap() async throws {
        let world = try await SourceWorld()
        let server = ScriptedServer { request, index in
            request.url.path == "/events" ? HTTPResponse(status: 204) : .json(usersJSON(0...index))
        }
        let clock = ManualClock()
        let client = HTTPClient(transport: server, clock: clock, date: { testDate })
        let events = HTTPEventStream(try #require(URL(string: "https://api.test/events")), client: client)
        let live = LiveSync(
            world.json.store, [LiveSync.List("User", from: try HTTPJSONSource.users(server))], feed: events,
            schedule: Self.hourly, clock: clock)
        let run = Task { try await live.service.run() }
        try await clock.waitForPendingDelays([.seconds(60), .seconds(3600)])
        #expect(live.health.hasEnded && !live.health.isConnected && live.health.gapCount == 1)
        live.service.requestStop()
        try await run.value
    }

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
                world.json.store, "User", from: HTTPJSONSource(url, client: client), feed: feed, schedule: Self.hourly)
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

    func run(_ receive: @escaping @Sendable (RemoteChange.Event) async throws -> Void) async throws {
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
