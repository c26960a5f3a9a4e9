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
}
