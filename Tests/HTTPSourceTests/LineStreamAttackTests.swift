import Foundation
import HTTPSource
import HTTPTransfer
import OneWaySynchronizer
import OneWayTestLimits
import OneWayTestSupport
import StoreSync
import SyncBase
import Testing

/// Streams of lines that break off anywhere and repeat themselves, against what their lines say.
@Suite(.endsInTime) struct LineStreamAttackTests {
    enum Kind: String, CaseIterable {
        case kubernetes, couchdb
    }

    /// A line of the server's log.
    private struct Line {
        let number: Int
        let id: Int
        /// Nil for an object that is gone.
        let name: String?

        init(_ number: Int, id: Int, name: String?) {
            self.number = number
            self.id = id
            self.name = name
        }

        init(_ number: Int, using random: inout SeededRandom) {
            self.number = number
            id = Int.random(in: 1...4, using: &random)
            name = Int.random(in: 0..<4, using: &random) == 0 ? nil : "ä\(Int.random(in: 0..<100, using: &random))"
        }

        func text(_ kind: Kind) -> String {
            switch kind {
            case .kubernetes:
                let type = name == nil ? "DELETED" : "MODIFIED"
                let metadata = #""metadata":{"resourceVersion":"\#(number)"}"#
                return #"{"type":"\#(type)","object":{"id":\#(id),"name":"\#(name ?? "")",\#(metadata)}}"#
            case .couchdb:
                let rest = name.map { #""name":"\#($0)""# } ?? #""deleted":true"#
                return #"{"seq":"\#(number)-x","id":\#(id),"changes":[],\#(rest)}"#
            }
        }
    }

    /// Sends the lines after a cursor, often not all of them, and some of them again.
    private final class Server: HTTPClient.Transport {
        private let kind: Kind
        private let lines: [Line]
        private let random: Locked<SeededRandom>

        init(_ kind: Kind, _ lines: [Line], seed: UInt64) {
            self.kind = kind
            self.lines = lines
            random = Locked(SeededRandom(seed: seed))
        }

        func send(_ request: HTTPRequest) async throws -> HTTPResponse {
            let cursor = request.query(kind == .kubernetes ? "resourceVersion" : "since") ?? ""
            let latest = Int(cursor.prefix { $0.isNumber }) ?? 0
            guard latest < lines.count else { return HTTPResponse(status: 204) }
            return random.withLock { random in
                func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }
                if chance(10) { return HTTPResponse(status: 503) }
                let first = max(0, latest - (chance(20) ? Int.random(in: 1...3, using: &random) : 0))
                var text = ""
                for line in lines[first...] {
                    if chance(10) { text += "\r\n" }
                    if chance(10), kind == .kubernetes {
                        let metadata = #""metadata":{"resourceVersion":"\#(line.number - 1)"}"#
                        text += #"{"type":"BOOKMARK","object":{\#(metadata)}}"# + "\n"
                    }
                    text += line.text(kind) + (chance(30) ? "\r\n" : "\n")
                }
                let isCut = chance(80)
                var rest = Array(text.utf8)[...]
                if isCut { rest = rest.prefix(Int.random(in: 0...min(rest.count, 600), using: &random)) }
                var pieces: [[UInt8]] = []
                while !rest.isEmpty {
                    pieces.append(Array(rest.prefix(Int.random(in: 1...200, using: &random))))
                    rest = rest.dropFirst(pieces[pieces.count - 1].count)
                }
                let isNoticed = isCut && chance(50)
                let body = AsyncThrowingStream<[UInt8], any Error> { [pieces] continuation in
                    for piece in pieces { continuation.yield(piece) }
                    continuation.finish(
                        throwing: isNoticed ? HTTPError.Problem.cutShort(received: 0, expected: nil) : nil)
                }
                return HTTPResponse(status: 200, body: body)
            }
        }
    }

    @Test(arguments: Kind.allCases) func everyLineIsAppliedWhereverAConnectionEnds(kind: Kind) async throws {
        for seed in seeds(20, thorough: 300) {
            var random = SeededRandom(seed: seed)
            let lines = (1...40).map { Line($0, using: &random) }
            let expected = lines.reduce(into: [Int64: String]()) { $0[Int64($1.id)] = $1.name }
            let url = try #require(URL(string: "https://api.test/changes"))
            let client = HTTPClient(transport: Server(kind, lines, seed: seed), retry: RetryPolicy(baseDelay: .zero))
            var feed =
                kind == .kubernetes ? HTTPLineStream.kubernetes(url, client: client) : .couchdb(url, client: client)
            feed.pause = .zero
            let world = try await SourceWorld()
            let log = EventLog<String>()
            try await feed.run { event in
                switch event {
                case .changes(let changes): try await world.json.apply(changes, into: "User")
                case .gap(let error): log.append("\(error)")
                case .connected, .interrupted: break
                }
            }
            #expect(try await world.users() == expected, "seed \(seed)")
            #expect(log.events == [], "seed \(seed)")
        }
    }

    // MARK: With a list

    /// A list that changes while it is watched. The watch breaks off and loses its history.
    private final class WatchedList: HTTPClient.Transport {
        private struct State: Sendable {
            var random: SeededRandom
            var users: [Int: String] = [:]
            var lines: [Line] = []
            /// The number of the last line that the server forgot.
            var forgotten = 0
            var watchCount = 0
            /// Whether a watch began without a cursor, and no list was requested since then.
            var isListDue = true
        }

        private let state: Locked<State>
        /// The number of watches that are told that the feed has ended.
        let endCount = Watched(0)

        init(seed: UInt64) {
            state = Locked(State(random: SeededRandom(seed: seed)))
        }

        /// The users after all changes.
        var users: [Int64: String] {
            state.withLock { $0.users.reduce(into: [:]) { $0[Int64($1.key)] = $1.value } }
        }

        func send(_ request: HTTPRequest) async throws -> HTTPResponse {
            let isList = request.url.path == "/users"
            let response = state.withLock { state in
                isList ? Self.list(&state) : Self.watch(after: request.query("resourceVersion"), &state)
            }
            if response.status == 204 { endCount.update { $0 += 1 } }
            return response
        }

        private static func list(_ state: inout State) -> HTTPResponse {
            state.isListDue = false
            let users = state.users.sorted { $0.key < $1.key }.map { #"{"id":\#($0.key),"name":"\#($0.value)"}"# }
            return .json("[\(users.joined(separator: ","))]")
        }

        private static func change(_ state: inout State) {
            let line = Line(state.lines.count + 1, using: &state.random)
            state.lines.append(line)
            state.users[line.id] = line.name
        }

        private static func watch(after cursor: String?, _ state: inout State) -> HTTPResponse {
            state.watchCount += 1
            let isCalm = state.watchCount > 40
            // A watch without a cursor begins now.
            let first = cursor.flatMap { Int($0) } ?? state.lines.count
            if cursor == nil { state.isListDue = true }
            if isCalm, let last = state.lines.last, last.number == first, last.id == 9 {
                return HTTPResponse(status: 204)
            }
            if !isCalm {
                for _ in 0..<Int.random(in: 0...3, using: &state.random) { change(&state) }
                if Int.random(in: 0..<8, using: &state.random) == 0 { state.forgotten = state.lines.count }
            }
            // Whoever asks for no past misses none.
            guard cursor == nil || first >= state.forgotten else {
                guard Bool.random(using: &state.random) else { return HTTPResponse(status: 410) }
                return HTTPResponse(
                    status: 200, bytes: Array((#"{"type":"ERROR","object":{"code":410}}"# + "\n").utf8))
            }
            if isCalm, !state.isListDue {
                // The last line comes after the list that includes what the watch missed.
                if state.lines.last?.id != 9 { state.lines.append(Line(state.lines.count + 1, id: 9, name: "end")) }
                state.users[9] = "end"
            }
            var text = cursor == nil ? bookmark(first) : ""
            text += state.lines.dropFirst(first).map { $0.text(.kubernetes) + "\n" }.joined()
            var bytes = Array(text.utf8)
            if !isCalm { bytes = Array(bytes.prefix(Int.random(in: 0...(bytes.count + 50), using: &state.random))) }
            return HTTPResponse(status: 200, bytes: bytes)
        }

        private static func bookmark(_ number: Int) -> String {
            #"{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"\#(number)"}}}"# + "\n"
        }
    }

    @Test func aListAndItsWatchEndAsTheServer() async throws {
        for seed in seeds(5, thorough: 100) {
            let server = WatchedList(seed: seed)
            let client = HTTPClient(transport: server, retry: RetryPolicy(baseDelay: .zero))
            let url = try #require(URL(string: "https://api.test/watch"))
            var feed = HTTPLineStream.kubernetes(url, client: client)
            feed.pause = .zero
            let list = try #require(URL(string: "https://api.test/users"))
            let world = try await SourceWorld()
            let live = LiveSync(
                world.json.store, "User", from: HTTPJSONSource(list, client: client), feed: feed,
                schedule: SyncSchedule(interval: .seconds(3600), jitter: 0, failureDelay: .milliseconds(1)))
            let run = Task { try await live.service.run() }
            try await server.endCount.wait { $0 > 0 }
            live.service.requestStop()
            try await run.value
            #expect(try await world.users() == server.users, "seed \(seed)")
            #expect(live.health.failureCount == 0, "seed \(seed)")
        }
    }
}
