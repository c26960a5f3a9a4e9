import Foundation
import HTTPSource
import HTTPTransfer
import OneWaySynchronizer
import OneWayTestLimits
import OneWayTestSupport
import StoreSync
import SyncModel
import SyncStore
import Testing

/// Feeds of JSON lines.
@Suite(.endsInTime) struct LineStreamTests {
    private let clock = ManualClock()

    private func client(_ server: ScriptedServer) -> HTTPClient {
        HTTPClient(transport: server, connectionCount: 1, clock: clock, date: { testDate }, random: { 0 })
    }

    private func url(_ query: String = "") throws -> URL {
        try #require(URL(string: "https://api.test/pods\(query)"))
    }

    /// A response with lines, in pieces of some bytes.
    private static func lines(_ text: String, by count: Int = .max) -> HTTPResponse {
        let bytes = Array(text.utf8)
        let body = AsyncThrowingStream<[UInt8], any Error> { continuation in
            for start in stride(from: 0, to: bytes.count, by: min(count, bytes.count)) {
                continuation.yield(Array(bytes[start...].prefix(count)))
            }
            continuation.finish()
        }
        return HTTPResponse(status: 200, headers: ["Content-Type": "application/json"], body: body)
    }

    private static func event(_ type: String, _ id: Int, version: Int, name: String = "a") -> String {
        let object = #"{"id":\#(id),"name":"\#(name)","metadata":{"resourceVersion":"\#(version)"}}"#
        return #"{"type":"\#(type)","object":\#(object)}"# + "\n"
    }

    /// Follows a feed through some responses, until status 204 ends it.
    private func follow(
        _ makeFeed: (HTTPClient) throws -> HTTPLineStream, pauses: Int, apply: Bool = true,
        _ respond: @escaping @Sendable (HTTPRequest, Int) throws -> HTTPResponse
    ) async throws -> (log: [String], users: [Int64: String], requests: [HTTPRequest]) {
        let world = try await SourceWorld()
        let server = ScriptedServer { request, index in
            index <= pauses - 1 ? try respond(request, index) : HTTPResponse(status: 204)
        }
        let feed = try makeFeed(client(server))
        let log = EventLog<String>()
        async let end: Void = feed.run { event in
            switch event {
            case .connected(let isContinuous): log.append("connected \(isContinuous)")
            case .changes(let changes): try await world.json.apply(changes, into: "User")
            case .gap: log.append("gap")
            case .interrupted(let error): log.append(error == nil ? "ended" : "interrupted")
            }
        }
        for _ in 0..<pauses {
            try await clock.waitForPendingDelays([.seconds(1)])
            clock.advance(by: .seconds(1))
        }
        try await end
        return (log.events, try await world.users(), server.requests)
    }

    @Test(arguments: [1, 7, .max]) func aWatchOfKubernetesContinues(byteCount: Int) async throws {
        let found = try await follow({ .kubernetes(try url("?limit=5"), client: $0) }, pauses: 2) { _, index in
            index == 0
                ? Self.lines(
                    Self.event("ADDED", 1, version: 5) + Self.event("ADDED", 2, version: 6)
                        + Self.event("MODIFIED", 1, version: 7, name: "b") + Self.event("DELETED", 2, version: 8)
                        + Self.event("BOOKMARK", 0, version: 20) + #"{"type":"ADDED","obj"#, by: byteCount)
                : Self.lines(Self.event("ADDED", 3, version: 21), by: byteCount)
        }
        #expect(found.log == ["connected false", "ended", "connected true", "ended"])
        #expect(found.users == [1: "b", 3: "a"])
        #expect(found.requests.map { $0.query("resourceVersion") } == [nil, "20", "21"])
        #expect(found.requests.allSatisfy { $0.query("watch") == "true" && $0.query("allowWatchBookmarks") == "true" })
    }

    /// The next pass lists the objects anew.
    @Test(arguments: [true, false]) func aVersionThatIsTooOldIsAGap(isLine: Bool) async throws {
        let found = try await follow({ .kubernetes(try url(), client: $0) }, pauses: 3) { _, index in
            switch index {
            case 0: Self.lines(Self.event("ADDED", 1, version: 5))
            case 1 where isLine:
                Self.lines(
                    #"{"type":"ERROR","object":{"kind":"Status","code":410}}"# + "\n"
                        + Self.event("ADDED", 9, version: 9))
            case 1: HTTPResponse(status: 410)
            default: Self.lines(Self.event("ADDED", 2, version: 30))
            }
        }
        let middle = isLine ? ["connected true", "gap", "interrupted"] : ["interrupted"]
        #expect(found.log == ["connected false", "ended"] + middle + ["connected false", "ended"])
        #expect(found.users == [1: "a", 2: "a"])
        #expect(found.requests.map { $0.query("resourceVersion") } == [nil, "5", nil, "30"])
    }

    @Test func changesOfCouchDBAreFollowed() async throws {
        let found = try await follow({ .couchdb(try url(), client: $0) }, pauses: 2) { _, index in
            index == 0
                ? Self.lines(
                    #"{"seq":"1-a","id":1,"name":"a","changes":[]}"# + "\n\n"
                        + #"{"seq":"2-b","id":2,"name":"b","changes":[]}"# + "\n\n")
                : Self.lines(
                    #"{"seq":"3-c","id":1,"changes":[],"deleted":true}"# + "\n" + #"{"last_seq":"3-c","pending":0}"#
                        + "\n")
        }
        #expect(found.users == [2: "b"])
        #expect(found.requests.map { $0.query("since") } == ["now", "2-b", "3-c"])
        #expect(found.requests.allSatisfy { $0.query("feed") == "continuous" })
    }

    @Test(arguments: [
        "{\"type\":\n", "7 7\n", String(repeating: "x", count: 2_000) + "\n", "<html>\n",
        // Without the version, or with one that is none.
        "{\"type\":\"ADDED\",\"object\":{\"id\":7}}\n",
        "{\"type\":\"ADDED\",\"object\":{\"id\":7,\"metadata\":{\"resourceVersion\":[1]}}}\n",
    ])
    func aLineThatCannotBeReadIsAGap(line: String) async throws {
        let found = try await follow(
            { client in
                var feed = try HTTPLineStream.kubernetes(url(), client: client)
                feed.lineByteCount = 1_000
                return feed
            }, pauses: 1
        ) { _, _ in
            Self.lines(Self.event("ADDED", 1, version: 5) + line + Self.event("ADDED", 2, version: 6), by: 50)
        }
        #expect(found.log == ["connected false", "gap", "interrupted"])
        #expect(found.users == [1: "a"])
        #expect(found.requests.map { $0.query("resourceVersion") } == [nil, nil])
    }

    /// Otherwise, each connection would request a pass.
    @Test func aServerThatSendsOnlyErrorsIsAskedLessAndLessOften() async throws {
        let server = ScriptedServer { _, _ in Self.lines(#"{"type":"ERROR","object":{"code":403}}"# + "\n") }
        let feed = try HTTPLineStream.kubernetes(url(), client: client(server))
        let run = Task { try await feed.run { _ in } }
        // Half of 0.5 s, doubled each time, and at least the pause of a second.
        for seconds in [1, 1, 1, 2, 4, 8] {
            try await clock.waitForPendingDelays([.seconds(seconds)])
            clock.advance(by: .seconds(seconds))
        }
        run.cancel()
        await #expect(throws: CancellationError.self) { try await run.value }
    }

    @Test func aCursorWithoutAParameterIsAnError() async throws {
        var feed = try HTTPLineStream(url(), client: client(ScriptedServer { _, _ in Self.lines("{}\n") }))
        feed.cursorKeyPath = "seq"
        let error = await #expect(throws: HTTPError.self) { try await feed.run { _ in } }
        #expect(error?.problem == .unsuitableSettings("the cursor of the lines has no parameter"))
    }

    @Test func linesCanBeObjects() async throws {
        let found = try await follow({ HTTPLineStream(try url(), client: $0) }, pauses: 1) { _, _ in
            Self.lines("{\"id\":1,\"name\":\"a\"}\n{\"id\":2,\"name\":\"b\"}\n")
        }
        #expect(found.users == [1: "a", 2: "b"])
        #expect(found.log == ["connected false", "ended"])
    }
}
