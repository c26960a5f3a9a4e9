import Foundation
import HTTPSource
import HTTPTransfer
import JSONMapper
import OneWaySynchronizer
import OneWayTestLimits
import StoreSync
import SyncModel
import SyncStore
import OneWayTestSupport
import Testing

@Suite(.endsInTime) struct ConditionalTests {
    /// Answers 304 to a request that knows the tag of its page.
    private static func answer(
        _ request: HTTPRequest, _ tag: String, _ json: String, next: String? = nil, previous: String? = nil
    ) -> HTTPResponse {
        var headers: HTTPHeaders = ["ETag": tag]
        headers["Link"] = next.map { "<\($0)>; rel=next" } ?? previous.map { "<\($0)>; rel=prev" }
        if request.headers["If-None-Match"] == tag { return HTTPResponse(status: 304, headers: headers) }
        return .json(json, headers: headers)
    }

    @Test(arguments: [#""a""#, #"W/"a""#]) func nothingIsDoneAboutWhatIsUnchanged(tag: String) async throws {
        let store = CountingStore()
        let server = ScriptedServer { request, _ in Self.answer(request, tag, usersJSON(1...3)) }
        let world = try await SourceWorld { store.of($0) }
        let first = try await world.sync(.users(server))
        #expect(first.coverage == .everything)
        #expect(store.transactionCount == 1)
        let second = try await world.sync(.users(server))
        #expect(second.countsByEntity.isEmpty)
        #expect(second.coverage == .unchanged)
        #expect(store.transactionCount == 1)
        #expect(try await world.users().count == 3)
        #expect(server.requests[1].headers["If-None-Match"] == tag)
    }

    /// A condition that the server refuses says nothing about the list.
    @Test(arguments: [400, 404, 412, 431, 501]) func aListIsReadAfterARefusedCondition(status: Int) async throws {
        let server = ScriptedServer { request, _ in
            request.headers["If-None-Match"] == nil
                ? .json(usersJSON(1...3), headers: ["ETag": #""a""#]) : HTTPResponse(status: status)
        }
        let world = try await SourceWorld()
        try await world.sync(.users(server))
        let again = try await world.sync(.users(server))
        #expect(again.coverage == .everything && again.isUnchanged)
        #expect(server.requests.map { $0.headers["If-None-Match"] } == [nil, #""a""#, nil])
    }

    /// The last page is gone, and those before it have the same text as before.
    @Test func pagesAreReadAfterOneThatIsGone() async throws {
        let isShorter = Watched(false)
        let server = ScriptedServer { request, _ in
            let page = Int(request.url.query()?.split(separator: "=").last ?? "1") ?? 1
            guard page <= (isShorter.value ? 2 : 3) else { return HTTPResponse(status: 404) }
            return Self.answer(request, "\"\(page)\"", usersJSON([page]))
        }
        let world = try await SourceWorld()
        let pages = HTTPAPI.Pages.page(parameter: "page").ending(.status([404]))
        try await world.sync(.users(server, pages: pages))
        #expect(try await world.users().count == 3)
        isShorter.update { $0 = true }
        try await world.sync(.users(server, pages: pages))
        #expect(try await world.users().keys.sorted() == [1, 2])
    }

    /// A server that is away is not asked a second time without the condition.
    @Test func aFailureThatMayPassEndsTheSync() async throws {
        let server = ScriptedServer { request, _ in
            request.headers["If-None-Match"] == nil
                ? .json(usersJSON(1...3), headers: ["ETag": #""a""#]) : HTTPResponse(status: 503)
        }
        let world = try await SourceWorld()
        try await world.sync(.users(server))
        await #expect(throws: HTTPError.self) { try await world.sync(.users(server)) }
        #expect(server.requests.last?.headers["If-None-Match"] == #""a""#)
    }

    @Test func aTagIsKeptOnlyWithItsData() async throws {
        let server = ScriptedServer { request, index in
            Self.answer(request, #""a""#, index == 0 ? "[{\"id\":1},{" : usersJSON([1]))
        }
        let world = try await SourceWorld()
        await #expect(throws: (any Error).self) { try await world.sync(.users(server)) }
        #expect(try await world.bookmark("pages") == nil)
        try await world.sync(.users(server))
        #expect(server.requests[1].headers["If-None-Match"] == nil)
        #expect(try await world.users().count == 1)
    }

    @Test func anotherTagWithTheSameContentWritesNoObject() async throws {
        let server = ScriptedServer { request, index in Self.answer(request, "\"\(index)\"", usersJSON(1...3)) }
        let world = try await SourceWorld()
        try await world.sync(.users(server))
        let again = try await world.sync(.users(server))
        #expect(again.isUnchanged)
        #expect(try await world.sync(.users(server)).coverage == .everything)
        #expect(server.requests.map { $0.headers["If-None-Match"] } == [nil, "\"0\"", "\"1\""])
    }

    @Test func allPagesMustBeUnchanged() async throws {
        let isChanged = Watched(false)
        let server = ScriptedServer { request, _ in
            switch request.query("p") {
            case nil: Self.answer(request, "1", usersJSON([1, 2]), next: "?p=2")
            case "2":
                isChanged.value
                    ? Self.answer(request, "2b", usersJSON([3, 5]), next: "?p=3")
                    : Self.answer(request, "2", usersJSON([3, 4]), next: "?p=3")
            default: Self.answer(request, "3", usersJSON([6]))
            }
        }
        let world = try await SourceWorld()
        try await world.sync(.users(server, pages: .link))
        #expect(try await world.sync(.users(server, pages: .link)).coverage == .unchanged)
        // The last page's 304 has no Link field that says that it is still the last: it is looked
        // at.
        #expect(server.requests.count == 3 + 4)
        isChanged.update { $0 = true }
        let result = try await world.sync(.users(server, pages: .link))
        #expect(result.coverage == .everything)
        #expect(try await world.users().keys.sorted() == [1, 2, 3, 5, 6])
        #expect(try await world.sync(.users(server, pages: .link)).coverage == .unchanged)
    }

    /// The pages are unchanged, but no longer the same ones.
    @Test func aPageThatWasTakenOutIsNoticed() async throws {
        let isOut = Watched(false)
        let server = ScriptedServer { request, _ in
            switch request.query("p") {
            case nil: Self.answer(request, "1", usersJSON([1, 2]), next: isOut.value ? "?p=3" : "?p=2")
            case "2": Self.answer(request, "2", usersJSON([3, 4]), next: "?p=3")
            default: Self.answer(request, "3", usersJSON([6]), previous: "?p=2")
            }
        }
        let world = try await SourceWorld()
        try await world.sync(.users(server, pages: .link))
        #expect(try await world.sync(.users(server, pages: .link)).coverage == .unchanged)
        isOut.update { $0 = true }
        #expect(try await world.sync(.users(server, pages: .link)).coverage == .everything)
        #expect(try await world.users().keys.sorted() == [1, 2, 6])
    }

    @Test func aPageThatWasAddedBehindTheLastIsFound() async throws {
        let hasGrown = Watched(false)
        let server = ScriptedServer { request, _ in
            request.query("p") == nil
                ? Self.answer(request, "1", usersJSON([1, 2]), next: hasGrown.value ? "?p=2" : nil)
                : Self.answer(request, "2", usersJSON([3]))
        }
        let world = try await SourceWorld()
        try await world.sync(.users(server, pages: .link))
        hasGrown.update { $0 = true }
        try await world.sync(.users(server, pages: .link))
        #expect(try await world.users().keys.sorted() == [1, 2, 3])
    }

    /// Pages of two users whose end is a status, the parameter that leads to the next page, and the
    /// first user of the page for each value of it.
    static let endedByStatus: [(pages: HTTPAPI.Pages, parameter: String, start: @Sendable (Int?) -> Int)] = [
        (.page(parameter: "page"), "page", { (($0 ?? 1) - 1) * 2 }),
        (.offset(parameter: "offset"), "offset", { $0 ?? 0 }),
        (.lastElement(keyPath: "id", parameter: "after"), "after", { ($0 ?? -1) + 1 }),
    ]

    /// The pages that were read have no sign of a page after them.
    @Test(arguments: endedByStatus.indices) func aPageBehindAnEndThatWasAStatusIsFound(index: Int) async throws {
        let (pages, parameter, start) = Self.endedByStatus[index]
        let count = Watched(4)
        let server = ScriptedServer { request, _ in
            let first = start(request.query(parameter).flatMap { Int($0) })
            let end = min(first + 2, count.value)
            guard first < end else { return HTTPResponse(status: 404) }
            return Self.answer(request, "\"\(first)-\(end)\"", usersJSON(first..<end))
        }
        let world = try await SourceWorld()
        let source = try HTTPJSONSource.users(server, pages: pages.ending(.status([404])))
        try await world.sync(source)
        #expect(server.requests.count == 3)
        #expect(try await world.sync(source).coverage == .unchanged)
        // Two pages with their tags; then the last one without, and the page after it.
        #expect(server.requests.count == 3 + 4)
        count.update { $0 = 5 }
        #expect(try await world.sync(source).coverage == .everything)
        #expect(try await world.users().keys.sorted() == [0, 1, 2, 3, 4])
        #expect(try await world.sync(source).coverage == .unchanged)
    }

    @Test(arguments: [
        ("Thu, 01 Jan 2026 11:59:59 GMT", "Thu, 01 Jan 2026 12:00:00 GMT", true),
        // It could change again within the second, and keep its date.
        ("Thu, 01 Jan 2026 12:00:00 GMT", "Thu, 01 Jan 2026 12:00:00 GMT", false),
        ("yesterday", "Thu, 01 Jan 2026 12:00:00 GMT", false),
    ])
    func aDateOfChangeIsUsedOnceItIsSure(modified: String, date: String, isUsed: Bool) async throws {
        let server = ScriptedServer { request, _ in
            request.headers["If-Modified-Since"] == modified
                ? HTTPResponse(status: 304)
                : .json(usersJSON([1]), headers: ["Last-Modified": modified, "Date": date])
        }
        let world = try await SourceWorld()
        try await world.sync(.users(server))
        #expect(try await world.sync(.users(server)).coverage == (isUsed ? .unchanged : .everything))
    }

    @Test func aBookmarkIsVoidOnceTheQuestionIsAnother() async throws {
        let server = ScriptedServer { request, _ in Self.answer(request, "a", usersJSON([1])) }
        let world = try await SourceWorld()
        try await world.sync(.users(server))
        try await world.sync(.users(server, query: "?x=1"))
        try await world.sync(.users(server), StoreSyncOptions(scope: PropertyPath("id") > 5))
        try await world.json.sync(from: HTTPJSONSource.users(server), into: "User", usesBookmark: false)
        try await world.sync(.users(server))
        try await world.json.store.erase()
        try await world.sync(.users(server))
        #expect(
            server.requests.map { $0.headers["If-None-Match"] == "a" } == [false, false, false, false, true, false])
    }

    /// A tag of changes is sent only with the request for the same changes.
    @Test func changesAreAskedForConditionally() async throws {
        let server = ScriptedServer { request, _ in
            Self.answer(request, request.query("since").map { "since \($0)" } ?? "all", usersJSON([1]))
        }
        let delta = HTTPAPI.Delta(cursor: .element(keyPath: "id"), parameter: "since")
        let world = try await SourceWorld()
        for _ in 0..<3 { try await world.sync(.users(server, delta: delta)) }
        #expect(server.requests.map { $0.query("since") } == [nil, "1", "1"])
        #expect(server.requests.map { $0.headers["If-None-Match"] } == [nil, nil, "since 1"])
    }

    /// A change that was stored wrongly is corrected, although the list itself is unchanged.
    @Test func aListIsReadAgainAfterAChange() async throws {
        let world = try await SourceWorld()
        let server = ScriptedServer { request, _ in
            request.headers["If-None-Match"] == "\"1\""
                ? HTTPResponse(status: 304) : .json(usersJSON([1]), headers: ["ETag": "\"1\""])
        }
        try await world.sync(.users(server))
        #expect(try await world.sync(.users(server)).coverage == .unchanged)
        // Nothing changes.
        try await world.json.apply([.objects(.bytes(Array(usersJSON([1]).utf8)))], into: "User")
        #expect(try await world.sync(.users(server)).coverage == .unchanged)
        try await world.json.apply([.objects(.bytes(Array(#"{"id":1,"name":"wrong"}"#.utf8)))], into: "User")
        #expect(try await world.sync(.users(server)).coverage == .everything)
        #expect(try await world.users() == [1: "user 1"])
    }

    @Test func a304ThatNobodyAskedForIsAnError() async throws {
        let server = ScriptedServer { _, _ in HTTPResponse(status: 304) }
        let world = try await SourceWorld()
        let error = await #expect(throws: HTTPError.self) { try await world.sync(.users(server)) }
        #expect(error?.problem == .status(304, firstLine: "", retryAfter: nil))
    }

    @Test func whatWasKeptIsLookedAtAgain() async throws {
        let server = ScriptedServer { request, index in
            index == 0 ? .json(usersJSON([1, 2, 3, 4])) : Self.answer(request, "b", usersJSON([1]))
        }
        let world = try await SourceWorld()
        try await world.sync(.users(server))
        let limit = RemovalLimit(count: 1, action: .keep)
        let held = try await world.sync(.users(server), StoreSyncOptions(removalLimit: limit))
        #expect(held.counts.kept == 3)
        let result = try await world.sync(.users(server))
        #expect(result.counts.deleted == 3)
    }

    @Test func aPlanChangesNothingAndKeepsNoBookmark() async throws {
        let server = ScriptedServer { request, _ in Self.answer(request, "a", usersJSON(1...3)) }
        let world = try await SourceWorld()
        let plan = try await world.json.plan(from: HTTPJSONSource.users(server), into: "User")
        #expect(plan.counts.inserted == 3)
        #expect(try await world.users().isEmpty)
        #expect(try await world.bookmark("name") == nil)
        #expect(try await world.sync(.users(server)) == plan)
    }
}

/// Counts transactions.
private final class CountingStore: Sendable {
    private let count = Watched(0)
    var transactionCount: Int { count.value }

    func of(_ model: DataModel) -> any Store { Counted(base: MemoryStore(exactly: model), count: count) }

    private struct Counted: Store {
        let base: MemoryStore
        let count: Watched<Int>
        var model: DataModel { base.model }

        func transaction<Result: Sendable>(
            _ body: @Sendable (any StoreTransaction) async throws -> Result
        ) async throws -> Result {
            count.update { $0 += 1 }
            return try await base.transaction(body)
        }

        func read<Result: Sendable>(_ body: @Sendable (any StoreReader) async throws -> Result) async throws -> Result {
            try await base.read(body)
        }
    }
}
