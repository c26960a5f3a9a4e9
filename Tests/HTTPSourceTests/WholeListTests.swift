import Foundation
import HTTPSource
import HTTPTransfer
import OneWayTestLimits
import StoreSync
import SyncBase
import SyncModel
import SyncStore
import Testing

/// What proves that a list is whole, and what follows if nothing does.
@Suite(.endsInTime) struct WholeListTests {
    private static let data = StoreSyncOptions(keyPath: "data")

    // MARK: Cursors

    /// A list in pages of two, from which a row goes after some requests of the first page.
    private static func shrinking(
        _ ids: ClosedRange<Int>, afterReadings readings: Range<Int>, counts: Bool = false
    ) -> ScriptedServer {
        let list = Locked(Array(ids))
        let readingCount = Locked(0)
        return ScriptedServer { request, _ in
            let page = Int(request.query("page") ?? "") ?? 1
            let shown = list.withLock { Array($0.dropFirst((page - 1) * 2).prefix(2)) }
            let count = list.withLock(\.count)
            if page == 1 {
                let reading = readingCount.withLock { count in
                    defer { count += 1 }
                    return count
                }
                if readings.contains(reading) { _ = list.withLock { $0.removeFirst() } }
            }
            let rows = shown.map { #"{"id":\#($0),"name":"user \#($0)","at":"2026-01-01T00:00:\#(59 - $0)Z"}"# }
            return .json(#"{"data":[\#(rows.joined(separator: ","))]\#(counts ? ",\"count\":\(count)" : "")}"#)
        }
    }

    private static func delta(cursor: HTTPAPI.Delta.Cursor = .element(keyPath: "at")) -> HTTPAPI.Delta {
        HTTPAPI.Delta(cursor: cursor, parameter: "since", overlap: .zero, fullPassInterval: nil)
    }

    @Test func aCursorIsKeptOnlyAfterEqualReadings() async throws {
        let world = try await SourceWorld()
        // Row 3 moves to the first page, which has been read.
        let server = Self.shrinking(1...6, afterReadings: 0..<1)
        let source = try HTTPJSONSource.users(server, pages: .page(parameter: "page"), delta: Self.delta())
        let result = try await world.sync(source, Self.data)
        #expect(try await world.users().keys.sorted() == [2, 3, 4, 5, 6])
        #expect(result.proof == .equalReadings)
        #expect(try await world.sync(source, Self.data).coverage == .changes)
    }

    @Test func aListThatKeepsMovingHasNoCursor() async throws {
        let world = try await SourceWorld()
        let server = Self.shrinking(1...20, afterReadings: 0..<5, counts: true)
        let source = try HTTPJSONSource.users(
            server, pages: .page(parameter: "page"), delta: Self.delta(cursor: .document(keyPath: "count")))
        let options = StoreSyncOptions(operations: [.insert, .update], keyPath: "data")
        let result = try await world.sync(source, options)
        #expect(result.proof == nil)
        #expect(result.warnings.contains { $0.contains("the next sync reads the whole list again") })
        #expect(try await world.bookmark("cursor") == .null)
        #expect(try await world.sync(source, options).coverage == .everything)
    }

    /// What is on the first page has certainly been seen, and later changes are asked for again.
    @Test func aListInTheOrderOfItsChangesContinuesAfterItsFirstPage() async throws {
        let world = try await SourceWorld()
        let readingCount = Locked(0)
        let server = ScriptedServer { request, _ in
            let page = Int(request.query("page") ?? "") ?? 1
            if page == 1 { readingCount.withLock { $0 += 1 } }
            // Row 3 is on no page until the list has stopped moving.
            let last = request.query("since") == nil ? 9 + readingCount.withLock(\.self) : 3
            let ids = page == 1 ? [1, 2] : page == 2 ? [last] : []
            let rows = ids.map { id in
                let text = id < 10 ? "0\(id)" : "\(id)"
                return #"{"id":\#(id),"name":"user \#(id)","at":"2026-01-01T00:00:\#(text)Z"}"#
            }
            return .json(#"{"data":[\#(rows.joined(separator: ","))]}"#)
        }
        let source = try HTTPJSONSource.users(server, pages: .page(parameter: "page"), delta: Self.delta())
        try await world.sync(source, Self.data)
        #expect(try await world.bookmark("cursor") == .string("2026-01-01T00:00:02Z"))
        try await world.sync(source, Self.data)
        #expect(try await world.users()[3] == "user 3")
    }

    // MARK: Lines and events

    private static func lines(_ ids: some Sequence<Int>) -> String {
        ids.map { "{\"id\":\($0),\"name\":\"user \($0)\"}\n" }.joined()
    }

    /// An HTTP/1.0 hop behind a proxy ends a broken body as if it were whole.
    @Test func linesThatWereCutAtALineDeleteNothing() async throws {
        let world = try await SourceWorld()
        let server = ScriptedServer { _, index in .json(Self.lines(index == 1 ? 1...3 : 1...4)) }
        var source = try HTTPJSONSource.users(server)
        source.api.format = .lines
        #expect(try await world.sync(source).proof == nil)
        let result = try await world.sync(source)
        #expect(try await world.users().count == 4)
        #expect(result.counts.kept == 0)
        #expect(server.requests.count == 3)
    }

    @Test func equalReadingsOfLinesProveWhatIsGone() async throws {
        let world = try await SourceWorld()
        let server = ScriptedServer { _, index in .json(Self.lines(index == 0 ? 1...4 : 1...3)) }
        var source = try HTTPJSONSource.users(server)
        source.api.format = .lines
        try await world.sync(source)
        #expect(try await world.sync(source).proof == .equalReadings)
        #expect(try await world.users().count == 3)
        #expect(server.requests.count == 3)
    }

    @Test func theCountOfLinesProvesWhatIsGone() async throws {
        let world = try await SourceWorld()
        let server = ScriptedServer { _, index in
            .json(Self.lines(index == 0 ? 1...4 : 1...3), headers: ["X-Total-Count": index == 0 ? "4" : "3"])
        }
        var source = try HTTPJSONSource.users(server)
        source.api.format = .lines
        try await world.sync(source)
        #expect(try await world.sync(source).proof == .count)
        #expect(try await world.users().count == 3)
        #expect(server.requests.count == 2)
    }

    @Test(arguments: [true, false]) func theLastEventProvesWhatIsGone(isSent: Bool) async throws {
        let world = try await SourceWorld()
        let server = ScriptedServer { _, index in
            let rows = (index == 0 ? 1...4 : 1...3).map { "data: {\"id\":\($0),\"name\":\"user \($0)\"}\n\n" }
            return .json(rows.joined() + (isSent ? "event: done\ndata: {}\n\n" : ""))
        }
        var source = try HTTPJSONSource.users(server)
        source.api.format = .events(types: ["message"])
        source.api.endSign = .event(type: "done")
        try await world.sync(source)
        let result = try await world.sync(source)
        #expect(result.proof == (isSent ? .endSign : nil))
        #expect(try await world.users().count == (isSent ? 3 : 4))
        #expect(result.warnings.isEmpty == isSent)
    }

    @Test(arguments: [true, false]) func theLastLineProvesWhatIsGone(isSent: Bool) async throws {
        let world = try await SourceWorld()
        let server = ScriptedServer { _, index in
            .json(Self.lines(index == 0 ? 1...4 : 1...3) + (isSent ? "{\"done\": true, \"n\": 3}\n" : ""))
        }
        var source = try HTTPJSONSource.users(server)
        source.api.format = .lines
        source.api.endSign = .line(keyPath: "done")
        try await world.sync(source)
        let result = try await world.sync(source)
        #expect(result.proof == (isSent ? .endSign : nil))
        #expect(result.rejectedCount == 0)
        #expect(try await world.users().count == (isSent ? 3 : 4))
    }

    // MARK: Counts

    /// A proxy mixed a page of an old state with pages of the current state.
    @Test func countsThatDifferBetweenPagesAreADoubt() async throws {
        let world = try await SourceWorld()
        try await world.sync(.users(ScriptedServer { _, _ in .json(usersJSON(1...4)) }))
        let server = ScriptedServer { request, _ in
            request.query("page") == "2"
                ? .json(#"{"data":\#(usersJSON([3])),"count":3,"next":null}"#)
                : .json(#"{"data":\#(usersJSON([1, 2])),"count":4,"next":"/users?page=2"}"#)
        }
        var source = try HTTPJSONSource.users(server, pages: .linkField(keyPath: "next"))
        source.api.totalKeyPath = "count"
        let result = try await world.sync(source, Self.data)
        #expect(try await world.users().count == 4)
        #expect(result.warnings == ["absent objects were kept: the server counts 4 objects on page 1 and 3 on page 2"])
    }

    /// A reply may say that it is the first of several pages, or the only one.
    @Test(arguments: [1, 2]) func aPageThatIsNotTheLastIsADoubt(pageCount: Int) async throws {
        let world = try await SourceWorld()
        try await world.sync(.users(ScriptedServer { _, _ in .json(usersJSON(1...4)) }))
        let server = ScriptedServer { _, _ in
            .json(#"{"data":\#(usersJSON(1...3)),"page":1,"total_pages":\#(pageCount)}"#)
        }
        let result = try await world.sync(.users(server), Self.data)
        #expect(result.warnings.isEmpty == (pageCount == 1))
        #expect(try await world.users().count == (pageCount == 1 ? 3 : 4))
    }

    /// A list in one reply is also counted by names that the API does not state.
    @Test func anotherCountOfTheWholeListIsADoubt() async throws {
        let world = try await SourceWorld()
        try await world.sync(.users(ScriptedServer { _, _ in .json(usersJSON(1...4)) }))
        let server = ScriptedServer { _, _ in .json(#"{"data":\#(usersJSON(1...3)),"count":3,"total":4}"#) }
        var source = try HTTPJSONSource.users(server)
        source.api.totalKeyPath = "count"
        let result = try await world.sync(source, Self.data)
        #expect(try await world.users().count == 4)
        #expect(result.warnings.count { $0.contains("total counts 4 objects, and the response had 3") } == 1)
    }

    @Test func countsThatDifferBetweenReadingsAreADoubt() async throws {
        let world = try await SourceWorld()
        try await world.sync(.users(ScriptedServer { _, _ in .json(usersJSON(1...4)) }))
        let server = ScriptedServer { request, index in
            let count = index < 2 ? 3 : 2
            return request.query("page") == "2"
                ? .json(usersJSON([2]), headers: ["X-Total-Count": "\(count)"])
                : .json(
                    usersJSON([1]), headers: ["X-Total-Count": "\(count)", "Link": "</users?page=2>; rel=next"])
        }
        try await world.sync(.users(server, pages: .link))
        #expect(server.requests.count == 6)
        #expect(try await world.users().count == 2)
    }

    // MARK: Validators

    @Test(arguments: [0, 1]) func aValidatorYoungerThanASecondProvesNothing(age: Int) async throws {
        let world = try await SourceWorld()
        // A file's tag consists of its date and its size, and the file changes within the second.
        let server = ScriptedServer { request, index in
            let headers: HTTPHeaders = [
                "ETag": "\"a-1\"", "Last-Modified": "Thu, 01 Jan 2026 12:00:00 GMT",
                "Date": "Thu, 01 Jan 2026 12:00:0\(age) GMT",
            ]
            if request.headers["If-None-Match"] != nil { return HTTPResponse(status: 304, headers: headers) }
            return .json(usersJSON([1], suffix: "\(index)"), headers: headers)
        }
        try await world.sync(.users(server))
        #expect(try await world.sync(.users(server)).coverage == (age == 0 ? .everything : .unchanged))
        #expect(try await world.users() == [1: age == 0 ? "user 11" : "user 10"])
    }
}
