import Foundation
import HTTPSource
import HTTPTransfer
import JSONMapper
import OneWaySynchronizer
import OneWayTestLimits
import StoreSync
import SyncStore
import OneWayTestSupport
import Testing

@Suite(.endsInTime) struct PagesTests {
    /// A server with 25 users, ten to a page, and what it was asked.
    private func read(
        _ pages: HTTPAPI.Pages, keyPath: String = "data", _ respond: @escaping @Sendable (HTTPRequest) -> HTTPResponse
    ) async throws -> [String] {
        let server = ScriptedServer { request, _ in respond(request) }
        let world = try await SourceWorld()
        let result = try await world.sync(
            .users(server, pages: pages, query: "?sort=id"), StoreSyncOptions(keyPath: keyPath))
        #expect(try await world.users().count == 25)
        #expect(result.counts.inserted == 25)
        #expect(result.pageCount == server.requests.count)
        return server.paths
    }

    private static func ids(_ page: Int) -> Range<Int> { min(page * 10, 25)..<min(page * 10 + 10, 25) }

    @Test(arguments: [
        "</users?p=2>; rel=\"next\"", "<?p=2>;rel=next", "<https://api.test/users?p=2> ; rel=\"last NEXT\"",
        "<?p=2>; rel='next'", "<?p=2>; rel=prev next",
    ])
    func linksInTheHeadAreFollowed(link: String) async throws {
        let paths = try await read(.link, keyPath: "") { request in
            let page = (Int(request.query("p") ?? "1") ?? 1) - 1
            let next = link.replacing("p=2", with: "p=\(page + 2)")
            let links = "</users?p=0>; rel=\"first\"; title=\"a, <b>; rel=next\", \(next)"
            return .json(usersJSON(Self.ids(page)), headers: page < 2 ? ["link": links] : ["Link": "</>; rel=prev"])
        }
        #expect(paths == ["/users?sort=id", "/users?p=2", "/users?p=3"])
    }

    @Test func linksInTheBodyAreFollowed() async throws {
        let paths = try await read(.linkField(keyPath: "links.next")) { request in
            let page = Int(request.query("p") ?? "0") ?? 0
            let next = page < 2 ? #""users?p=\#(page + 1)""# : "null"
            return .json(#"{"data":\#(usersJSON(Self.ids(page))),"links":{"next":\#(next)}}"#)
        }
        #expect(paths == ["/users?sort=id", "/users?p=1", "/users?p=2"])
    }

    @Test(arguments: [true, false], [#""""#, "null", "false"])
    func cursorsAreTakenFromBeforeAndBehindTheObjects(isBefore: Bool, last: String) async throws {
        let paths = try await read(.cursor(keyPath: "meta.next", parameter: "after")) { request in
            let page = request.query("after").flatMap { Int($0.dropFirst(2)) } ?? 0
            let meta = #""meta":{"next":\#(page < 2 ? #""+/\#(page + 1)""# : last)}"#
            let data = #""data":\#(usersJSON(Self.ids(page)))"#
            return .json("{" + (isBefore ? [meta, data] : [data, meta]).joined(separator: ",") + "}")
        }
        #expect(paths == ["/users?sort=id", "/users?sort=id&after=%2B%2F1", "/users?sort=id&after=%2B%2F2"])
    }

    @Test func numberedPagesEndWithAnEmptyOne() async throws {
        let pages = HTTPAPI.Pages.page(
            parameter: "page", first: 1, size: HTTPAPI.Pages.Size(parameter: "per", count: 10))
        let paths = try await read(pages, keyPath: "") { request in
            .json(usersJSON(Self.ids(min((Int(request.query("page") ?? "") ?? 0) - 1, 3))))
        }
        #expect(paths.first == "/users?sort=id&per=10&page=1")
        #expect(paths.count == 4)
    }

    @Test func anOffsetGoesOnWhereTheServerStopped() async throws {
        // Ten are asked for, seven are given: none may be skipped.
        let pages = HTTPAPI.Pages.offset(parameter: "skip", size: HTTPAPI.Pages.Size(parameter: "limit", count: 10))
        let paths = try await read(pages, keyPath: "") { request in
            let skip = Int(request.query("skip") ?? "") ?? 0
            return .json(usersJSON(skip..<max(skip, min(skip + 7, 25))))
        }
        #expect(paths.map { $0.split(separator: "=").last } == ["0", "7", "14", "21", "25"])
    }

    @Test func aFunctionSaysWhereTheNextPageIs() async throws {
        let pages = HTTPAPI.Pages.custom(capturing: ["more", "at"]) { info in
            guard info.captured["more"] == .bool(true), case .integer(let at) = info.captured["at"] else { return nil }
            return URL(string: "/users/\(info.index)/\(info.elementCount)/\(at)", relativeTo: info.url)
        }
        let paths = try await read(pages) { request in
            let page = request.url.path.split(separator: "/").last.flatMap { Int($0) } ?? 0
            return .json(#"{"more":\#(page < 2),"at":\#(page + 1),"data":\#(usersJSON(Self.ids(page)))}"#)
        }
        #expect(paths == ["/users?sort=id", "/users/0/10/1", "/users/1/10/2"])
    }

    /// A pointer to the next page that is an object of parameters.
    @Test(arguments: ["{}", "null", "absent"]) func anEmptyObjectOfParametersEndsThePages(last: String) async throws {
        let paths = try await read(.parameters(keyPath: "continue")) { request in
            let page = Int(request.query("from") ?? "0") ?? 0
            let pointer = page < 2 ? #"{"from":\#(page + 1)}"# : last
            let member = pointer == "absent" ? "" : #""continue":\#(pointer),"#
            return .json("{\(member)\"data\":\(usersJSON(Self.ids(page)))}")
        }
        #expect(paths.count == 3)
    }

    @Test(arguments: [true, false]) func theTotalIsToldOnTheWay(isHeader: Bool) async throws {
        let server = ScriptedServer { request, index in
            let next = index < 2 ? "?p=\(index)" : ""
            return .json(
                #"{"data":\#(usersJSON([index])),"meta":{"count":3,"next":"\#(next)"}}"#,
                headers: isHeader ? ["X-Total-Count": "3"] : [:])
        }
        let world = try await SourceWorld()
        var source = try HTTPJSONSource.users(server, pages: .linkField(keyPath: "meta.next"))
        if !isHeader { source.api.totalKeyPath = "meta.count" }
        let seen = Watched<[StoreSyncOptions.Progress]>([])
        try await world.json.sync(
            from: source, into: "User", options: StoreSyncOptions(keyPath: "data"),
            progress: { progress in seen.update { $0.append(progress) } })
        #expect(seen.value.last?.pageCount == 3)
        #expect(seen.value.last?.elementCount == 3)
        #expect(seen.value.last?.totalElementCount == 3)
        #expect(seen.value.map(\.elementCount) == seen.value.map(\.elementCount).sorted())
    }

    // MARK: Pages without end

    @Test(arguments: [2, 3, 4]) func aListMayHaveAsManyPagesAsTheLimit(pageCount: Int) async throws {
        let server = ScriptedServer { request, _ in
            let page = Int(request.query("p") ?? "1") ?? 1
            let headers: HTTPHeaders = page < pageCount ? ["Link": "</users?p=\(page + 1)>; rel=next"] : [:]
            return .json(usersJSON([page]), headers: headers)
        }
        let world = try await SourceWorld()
        var source = try HTTPJSONSource.users(server, pages: .link)
        source.maximumPageCount = 3
        do {
            #expect(try await world.sync(source).pageCount == pageCount && pageCount <= 3)
        } catch let error as HTTPError {
            #expect(error.problem == .tooManyPages(limit: 3) && pageCount == 4)
        }
    }

    @Test(arguments: ["1", "0"]) func pagesThatLeadBackAreAnError(target: String) async throws {
        let server = ScriptedServer { request, _ in
            let page = Int(request.query("p") ?? "0") ?? 0
            let next = page < 3 ? "/users?p=\(page + 1)" : target == "0" ? "/users" : "/users?p=1"
            return .json(usersJSON([page]), headers: ["Link": "<\(next)>; rel=next"])
        }
        let world = try await SourceWorld()
        let error = await #expect(throws: HTTPError.self) { try await world.sync(.users(server, pages: .link)) }
        #expect(error?.problem == .pageLoop)
        #expect(server.requests.count == 4)
        #expect(try await world.users().isEmpty)
    }

    @Test func pagesWithoutEndAreAnError() async throws {
        let server = ScriptedServer { _, index in .json(#"{"data":[],"next":\#(index + 1)}"#) }
        let world = try await SourceWorld()
        let error = await #expect(throws: HTTPError.self) {
            try await world.sync(
                .users(server, pages: .cursor(keyPath: "next", parameter: "c")), StoreSyncOptions(keyPath: "data"))
        }
        #expect(error?.problem == .tooManyPages(limit: 50))
        #expect(server.requests.count < 53)
    }

    // MARK: Objects between pages

    @Test func anObjectOfSeveralPagesIsOneAndTheLastCounts() async throws {
        let server = ScriptedServer { request, _ in
            let isFirst = request.query("p") == nil
            return .json(
                usersJSON(isFirst ? [3, 1] : [2, 1], suffix: isFirst ? "a" : "b"),
                headers: isFirst ? ["Link": "<?p=2>; rel=next"] : [:])
        }
        let world = try await SourceWorld()
        let result = try await world.sync(.users(server, pages: .link))
        #expect(try await world.users() == [1: "user 1b", 2: "user 2b", 3: "user 3a"])
        #expect(result.counts.inserted == 3)
    }

    /// Twenty-one pages of a thousand, which must all be there after a second sync as well.
    @Test func whatIsOnOtherPagesIsNotDeleted() async throws {
        let server = ScriptedServer { request, _ in
            let page = Int(request.query("p") ?? "0") ?? 0
            let next: HTTPHeaders = page < 20 ? ["Link": "<?p=\(page + 1)>; rel=next"] : [:]
            return .json(usersJSON(page * 1000..<page * 1000 + 1000), headers: next)
        }
        let world = try await SourceWorld()
        try await world.sync(.users(server, pages: .link))
        let again = try await world.sync(.users(server, pages: .link))
        #expect(again.isUnchanged)
        #expect(try await world.json.store.count(StoreQuery("User")) == 21_000)
    }

    @Test func whatIsGoneIsDeletedOnceThePagesAreTheSameTwice() async throws {
        let server = ScriptedServer { request, index in
            let gone = index < 2 ? [] : [2, 3]
            let isFirst = request.query("p") == nil
            return .json(
                usersJSON((isFirst ? [1, 2] : [3, 4]).filter { !gone.contains($0) }),
                headers: isFirst ? ["Link": "<?p=2>; rel=next"] : [:])
        }
        let world = try await SourceWorld()
        try await world.sync(.users(server, pages: .link))
        let result = try await world.sync(.users(server, pages: .link))
        #expect(try await world.users().keys.sorted() == [1, 4])
        #expect(result.counts.deleted == 2)
        #expect(result.pageCount == 4)
        #expect(server.requests.count == 6)
    }

    /// A user is deleted from the first page between the two requests: the last of the second page
    /// moves to the first, where nobody looks.
    @Test func anObjectThatMovesBetweenPagesIsNotDeleted() async throws {
        let server = ScriptedServer { request, index in
            let users = index < 3 ? [1, 2, 3, 4] : [1, 3, 4]
            let isFirst = request.query("p") == nil
            return .json(
                usersJSON(isFirst ? users.prefix(2) : users.dropFirst(2)),
                headers: isFirst ? ["Link": "<?p=2>; rel=next"] : [:])
        }
        let world = try await SourceWorld()
        try await world.sync(.users(server, pages: .link))
        let result = try await world.sync(.users(server, pages: .link))
        #expect(try await world.users().keys.sorted() == [1, 3, 4])
        #expect(result.counts.deleted == 1)
        #expect(result.counts.kept == 0)
        // The third time told the same as the second.
        #expect(result.pageCount == 6)
    }

    @Test func whatIsNeverSureIsKept() async throws {
        let server = ScriptedServer { request, index in
            let isFirst = request.query("p") == nil
            return .json(
                usersJSON(isFirst ? [1, 100 + index] : [200 + index]),
                headers: isFirst ? ["Link": "<?p=2>; rel=next"] : [:])
        }
        let world = try await SourceWorld()
        try await world.sync(.users(server, pages: .link))
        let result = try await world.sync(.users(server, pages: .link))
        #expect(result.counts.deleted == 0)
        #expect(result.counts.kept == 6)
        #expect(try await world.users().keys.contains(100))
        #expect(try await world.bookmark("fingerprint") == nil)
    }

    @Test func theFirstAddressCanBeRelative() async throws {
        let server = ScriptedServer { request, _ in
            .json(#"{"next":\#(request.query("after") == nil ? "1" : "null"),"data":\#(usersJSON([1]))}"#)
        }
        let url = try #require(URL(string: "users", relativeTo: URL(string: "https://api.test/v1/")))
        let api = HTTPAPI(pages: .cursor(keyPath: "next", parameter: "after"), keyPath: "data")
        try await SourceWorld().sync(HTTPJSONSource(url, api: api, client: HTTPClient(transport: server)))
        #expect(server.paths == ["/v1/users", "/v1/users?after=1"])
    }

    @Test func pagesOfOneStateAreReadOnce() async throws {
        let server = ScriptedServer { request, index in
            let isFirst = request.query("p") == nil
            return .json(
                usersJSON(isFirst ? [1] : [index]), headers: isFirst ? ["Link": "<?p=2>; rel=next"] : [:])
        }
        let world = try await SourceWorld()
        var source = try HTTPJSONSource.users(server, pages: .link)
        source.api.isSnapshot = true
        try await world.sync(source)
        try await world.sync(source)
        #expect(try await world.users().keys.sorted() == [1, 3])
        #expect(server.requests.count == 4)
    }
}
