import Foundation
import HTTPSource
import HTTPTransfer
import OneWayLoopbackServer
import OneWaySynchronizer
import OneWayTestLimits
import OneWayTestSupport
import StoreSync
import SyncBase
import Testing

/// How many objects a page has, and how its bytes arrive, makes no difference.
@Suite(.endsInTime) struct ArrivedPagesTests {
    private static let ids = Array(1...11)

    private static func body(_ ids: some Sequence<Int>) -> [UInt8] { Array(usersJSON(ids, suffix: " ü\\n").utf8) }

    private static let expected = Dictionary(uniqueKeysWithValues: ids.map { (Int64($0), "user \($0) ü\n") })

    /// A reply whose body arrives in pieces.
    private static func reply(_ body: [UInt8], _ arrival: Arrival, headers: HTTPHeaders) -> HTTPResponse {
        let pieces = arrival.pieces(of: body).filter { !$0.isEmpty }
        return HTTPResponse(
            status: 200, headers: headers,
            body: AsyncThrowingStream<[UInt8], any Error> { continuation in
                for piece in pieces { continuation.yield(piece) }
                continuation.finish()
            })
    }

    private static func server(pageRowCount: Int, _ arrival: Arrival) -> ScriptedServer {
        ScriptedServer { request, _ in
            let first = (request.query("p").flatMap { Int($0) } ?? 0) * pageRowCount
            let page = Self.ids[min(first, Self.ids.count)..<min(first + pageRowCount, Self.ids.count)]
            let next = first / pageRowCount + 1
            let hasMore = next * pageRowCount < Self.ids.count
            let headers: HTTPHeaders = hasMore ? ["Link": "<?p=\(next)>; rel=next"] : [:]
            return Self.reply(Self.body(page), arrival, headers: headers)
        }
    }

    @Test(arguments: Axes.pageRowCounts) func pagesOfAnySizeInAnyPieces(rowCount: Int) async throws {
        let byteCount = Self.body(Self.ids.prefix(rowCount)).count
        for arrival in Axes.pieceByteCounts.map(Arrival.pieces)
            + Axes.cuts(of: byteCount, maximumCount: 8).map(Arrival.cut)
        {
            let world = try await SourceWorld()
            // The last page has fewer bytes than the others.
            let server = ScriptedServer { [server = Self.server(pageRowCount: rowCount, .pieces(1 << 20))] request, _ in
                let whole = try await server.send(request)
                var body: [UInt8] = []
                for try await piece in whole.body { body += piece }
                var fitting = arrival
                if case .cut(let offset) = arrival { fitting = .cut(min(offset, body.count)) }
                return Self.reply(body, fitting, headers: whole.headers)
            }
            let source = try HTTPJSONSource.users(server, pages: .link)
            let result = try await world.sync(source)
            #expect(result.counts.inserted == Self.ids.count, "\(arrival)")
            #expect(try await world.users() == Self.expected, "\(arrival)")
            #expect(try await world.sync(source).isUnchanged, "\(arrival)")
            #expect(result.warnings == [], "\(arrival)")
        }
    }

    /// The other formats, whose bodies are converted piece by piece.
    @Test(arguments: ["lines", "keyed", "events"]) func bodiesOfOtherFormatsInAnyPieces(format: String) async throws {
        let users = Self.ids.map { #"{"id":\#($0),"name":"user \#($0) ü\n"}"# }
        let body: String
        switch format {
        case "lines": body = users.joined(separator: "\n") + "\n"
        case "events": body = users.map { "data: \($0)\n\n" }.joined()
        default: body = "{" + Self.ids.map { #""\#($0)":{"name":"user \#($0) ü\n"}"# }.joined(separator: ",") + "}"
        }
        let bytes = Array(body.utf8)
        for arrival in Axes.pieceByteCounts.map(Arrival.pieces) + Axes.cuts(of: bytes.count).map(Arrival.cut) {
            let world = try await SourceWorld()
            var source = try HTTPJSONSource.users(ScriptedServer { _, _ in Self.reply(bytes, arrival, headers: [:]) })
            switch format {
            case "lines": source.api.format = .lines
            case "events": source.api.format = .events(types: [])
            default: source.api.keyPath = "{id}"
            }
            try await world.sync(source)
            #expect(try await world.users() == Self.expected, "\(arrival)")
        }
    }

    /// Reads of any size from a network, in chunks that the server sends one by one.
    @Test(arguments: TransportTests.Kind.allCases) func chunksOfAnySizeOverASocket(kind: TransportTests.Kind)
        async throws
    {
        let body = Self.body(Self.ids)
        let handler: LoopbackHTTPServer.Handler = { request in
            let size = Int(request.path.dropFirst()) ?? 1
            return .stream { writer in
                for piece in Arrival.pieces(size).pieces(of: body) { try writer.write(piece) }
            }
        }
        try await LoopbackHTTPServer.serving(handler) { server in
            for size in Axes.pieceByteCounts {
                let url = try #require(URL(string: server.baseURL + "/\(size)"))
                #expect(try await kind.client.data(from: url) == body, "\(size)")
                let world = try await SourceWorld()
                try await world.sync(HTTPJSONSource(url, client: kind.client))
                #expect(try await world.users() == Self.expected, "\(size)")
            }
        }
    }

    /// Cancelled at any request, or at any piece of a body, a sync has changed nothing or
    /// everything, and the next one completes it.
    @Test(arguments: [1, 3, 50]) func aSyncCancelledAnywhereIsWholeOrNothing(rowCount: Int) async throws {
        // Far more places than there are: the loop ends with the first one that is not reached.
        for place in 0..<10_000 {
            let world = try await SourceWorld()
            let count = Locked(0)
            let cancel = Locked<(@Sendable () -> Void)?>(nil)
            let mayBegin = Gate()
            @Sendable func pass() {
                let isHere = count.withLock { count in
                    defer { count += 1 }
                    return count == place
                }
                if isHere { cancel.value?() }
            }
            let inner = Self.server(pageRowCount: rowCount, .pieces(64))
            let server = ScriptedServer { request, _ in
                try await mayBegin.pass()
                pass()
                let reply = try await inner.send(request)
                return HTTPResponse(
                    status: 200, headers: reply.headers,
                    body: reply.body.map { piece in
                        pass()
                        return piece
                    })
            }
            let source = try HTTPJSONSource.users(server, pages: .link)
            let sync = Task { try await world.sync(source) }
            cancel.value = { sync.cancel() }
            mayBegin.open()
            let result = await sync.result
            let users = try await world.users()
            switch result {
            case .success: #expect(users == Self.expected, "\(place)")
            case .failure(let error):
                #expect(error is CancellationError, "\(place): \(error)")
                #expect(users == [:], "\(place)")
            }
            try await world.sync(.users(inner, pages: .link))
            #expect(try await world.users() == Self.expected, "\(place)")
            if count.value <= place { return }
        }
        Issue.record("the sync never ended before it was cancelled")
    }
}
