import Foundation
import HTTPSource
import HTTPTransfer
import JSONMapper
import OneWaySynchronizer
import OneWayTestLimits
import OneWayTestSupport
import StoreSync
import SyncStore
import Testing

/// Servers and key paths by which rows could be lost without a word.
@Suite(.endsInTime) struct SilentLossTests {
    private static let data = StoreSyncOptions(keyPath: "data")

    /// A server of two pages, whose first page has the given pointer.
    private static func server(pointer: String) -> ScriptedServer {
        ScriptedServer { request, _ in
            request.url.query?.contains("p=2") == true
                ? .json(#"{"data":\#(usersJSON([3, 4])),"links":{"next":null},"links.next":null}"#)
                : .json(#"{"data":\#(usersJSON([1, 2])),\#(pointer)}"#)
        }
    }

    // MARK: Pointers

    @Test(arguments: [
        #""links":{"next":7}"#, #""links":{"next":true}"#, #""links":{"next":{"meta":1}}"#,
        #""links":{"next":["?p=2"]}"#,
    ])
    func aPointerOfTheWrongKindIsAnError(pointer: String) async throws {
        let world = try await SourceWorld()
        let error = await #expect(throws: HTTPError.self) {
            try await world.sync(
                .users(Self.server(pointer: pointer), pages: .linkField(keyPath: "links.next")), Self.data)
        }
        guard case .unsuitablePointer("links.next", _) = error?.problem else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(try await world.users().isEmpty)
    }

    @Test(arguments: [#""links":{"next":{"a":1}}"#, #""links":{"next":["x"]}"#, #""links":{"next":true}"#])
    func aCursorOfTheWrongKindIsAnError(pointer: String) async throws {
        let world = try await SourceWorld()
        await #expect(throws: HTTPError.self) {
            try await world.sync(
                .users(Self.server(pointer: pointer), pages: .cursor(keyPath: "links.next", parameter: "p")), Self.data)
        }
    }

    @Test func anObjectWithAnAddressIsALink() async throws {
        let world = try await SourceWorld()
        let server = Self.server(pointer: #""links":{"next":{"href":"/users?p=2","meta":{"count":2}}}"#)
        try await world.sync(.users(server, pages: .linkField(keyPath: "links.next")), Self.data)
        #expect(try await world.users().count == 4)
    }

    @Test func aDotInAKeyCanBeEscaped() async throws {
        let world = try await SourceWorld()
        let server = Self.server(pointer: #""links.next":"/users?p=2""#)
        let result = try await world.sync(.users(server, pages: .linkField(keyPath: #"links\.next"#)), Self.data)
        #expect(try await world.users().count == 4)
        #expect(result.warnings.isEmpty)
    }

    @Test func aPointerThatIsOnNoPageIsReported() async throws {
        let world = try await SourceWorld()
        let server = Self.server(pointer: #""links":{"next":"/users?p=2"}"#)
        let result = try await world.sync(.users(server, pages: .linkField(keyPath: "links.nxt")), Self.data)
        #expect(result.warnings.count == 2 && result.warnings.last?.contains("links.nxt") == true)
        let quiet = try await world.sync(
            .users(server, pages: .linkField(keyPath: "links.nxt").omittingLastPointer()), Self.data)
        #expect(quiet.warnings.count == 1 && quiet.warnings.first?.hasPrefix("links.next leads to a next page") == true)
    }

    @Test(arguments: [
        "garbage", "/users?p=2; rel=\"next\"", "</users?p=2> rel=\"next\"", "</users?p=2; rel=\"next\"",
        "</users?q=a>b&p=2>; rel=\"next\"", "</users?p=2>; rel=\"ne", "</users?p=2>; re", "</users?p=2",
        "</users?p=2; rel=\"next\", </users?p=9>; rel=\"last\"", "</users>; rel=prev\"",
        "</users>; rel=\"prev\"; title=\"a, </users?p=2>; rel=next",
    ])
    func aLinkFieldThatCannotBeReadIsNotTheLastPage(link: String) async throws {
        let world = try await SourceWorld()
        try await world.sync(.users(ScriptedServer { _, _ in .json(usersJSON(1...4)) }))
        let server = ScriptedServer { _, _ in .json(usersJSON([1, 2]), headers: ["Link": link]) }
        let error = await #expect(throws: HTTPError.self) { try await world.sync(.users(server, pages: .link)) }
        guard case .unsuitablePointer("Link", _) = error?.problem else {
            Issue.record("\(String(describing: error))")
            return
        }
        // Where the field is not followed, it leaves in doubt whether the list is complete.
        let result = try await world.sync(.users(server))
        #expect(result.counts.kept == 2)
        #expect(result.warnings.contains { $0.hasPrefix("absent objects were kept: the Link field") })
        #expect(try await world.users().count == 4)
    }

    @Test(arguments: [
        "", ",", "</users>; rel=\"prev\",", "</users>; rel='first last'; title=a b;, </users>; rel=prev",
        "</users>; rel=https://api.test/next", "</style.css>; rel=preload; as=style; nopush",
        "</users>; rel=\"first\" </users>; rel=\"last\"",
    ])
    func aLinkFieldWithoutANextPageIsTheLast(link: String) async throws {
        let world = try await SourceWorld()
        try await world.sync(.users(ScriptedServer { _, _ in .json(usersJSON(1...4)) }))
        let server = ScriptedServer { _, _ in .json(usersJSON([1, 2]), headers: ["Link": link]) }
        let result = try await world.sync(.users(server, pages: .link))
        #expect(result.warnings.isEmpty)
        #expect(try await world.users().count == 2)
    }

    // MARK: Addresses

    @Test(arguments: [
        ("/users?filter%5Bid%5D=1&p=[2]&x=%3D", "/users?filter%5Bid%5D=1&p=%5B2%5D&x=%3D"),
        ("/users?q=a b&x=%3D", "/users?q=a%20b&x=%3D"), ("/ü?x=%3D", "/%C3%BC?x=%3D"), ("?p=100%", "/users?p=100%25"),
        ("../a/./b/../c?x=%2F", "/a/c?x=%2F"), ("//other.test/x?y=%C3%BC ü", "https://other.test/x?y=%C3%BC%20%C3%BC"),
        // Delimiters with an accent.
        ("/a/\u{301}b/../c?\u{301}=1#\u{301}", "/a/c?%CC%81=1#%CC%81"),
        ("//other.test/\u{301}@api.test/", "https://other.test/%CC%81@api.test/"),
    ])
    func validEscapesOfALinkStayAsTheyAre(link: String, address: String) throws {
        let base = try #require(URL(string: "https://api.test/users"))
        let expected = address.hasPrefix("/") ? "https://api.test" + address : address
        #expect(try base.following(link).absoluteString == expected)
    }

    @Test(arguments: ["http://[::1]/x", "http://[::1]:8080/x?y=%3D", "https://user@host.test:1/", "http://a:65535/"])
    func addressesAreTakenAsTheyAre(text: String) throws {
        #expect(try HTTPAddress.parse(text).absoluteString == text)
        #expect(try HTTPAddress.parse(text).isHTTP)
    }

    @Test(arguments: [
        ("http:/x", "no host"), ("http:x", "no host"), ("/x", "http://"), ("ftp://x/", "ftp"), ("http://", "no host"),
        ("http://a:b/", "not valid"), ("http://a:65536/", "not valid"), ("http://[::1/", "not valid"),
        ("http://a b/", "not valid"),
    ])
    func whatIsNoAddressGetsASentence(text: String, words: String) {
        let error = #expect(throws: HTTPAddressError.self) { try HTTPAddress.parse(text) }
        #expect(error.map { "\($0)".contains(words) } == true, "\(String(describing: error))")
    }

    @Test func anEscapeInANextLinkIsSentAsItIs() async throws {
        let world = try await SourceWorld()
        let server = ScriptedServer { request, _ in
            guard request.url.query != nil else {
                return .json(usersJSON([1, 2]), headers: ["Link": "</users?c=a%3D&f[x]=ü>; rel=next"])
            }
            return request.url.absoluteString.hasSuffix("?c=a%3D&f%5Bx%5D=%C3%BC") ? .json(usersJSON([3])) : .json("[]")
        }
        try await world.sync(.users(server, pages: .link))
        #expect(try await world.users().count == 3)
    }

    // MARK: Proof

    /// Two pages; object 2 moves from the second to the first, which a cache hides.
    private static func cached(_ headers: @escaping @Sendable (_ isFirst: Bool) -> HTTPHeaders) -> ScriptedServer {
        ScriptedServer { request, index in
            let isFirst = request.query("p") == nil
            var fields = headers(isFirst)
            if isFirst { fields["Link"] = "<?p=2>; rel=next" }
            if index < 2 { return .json(usersJSON(isFirst ? [1] : [2, 3]), headers: fields) }
            return .json(usersJSON(isFirst ? [1] : [3]), headers: fields)
        }
    }

    @Test func rereadPagesBypassCaches() async throws {
        let world = try await SourceWorld()
        let server = Self.cached { _ in [:] }
        try await world.sync(.users(server, pages: .link))
        try await world.sync(.users(server, pages: .link))
        #expect(server.requests.map { $0.headers["Cache-Control"] } == [nil, nil, nil, nil, "no-cache", "no-cache"])
    }

    @Test(arguments: [0, 1]) func anAnswerFromACacheIsNoProof(kind: Int) async throws {
        let world = try await SourceWorld()
        let server = Self.cached { isFirst in
            switch kind {
            case 0: isFirst ? ["Age": "30"] : [:]
            default:
                ["Date": isFirst ? "Thu, 01 Jan 2026 11:59:00 GMT" : "Thu, 01 Jan 2026 12:00:00 GMT"]
            }
        }
        try await world.sync(.users(server, pages: .link))
        let result = try await world.sync(.users(server, pages: .link))
        #expect(try await world.users().keys.sorted() == [1, 2, 3])
        #expect(result.counts.kept == 1)
        #expect(result.warnings.count == 1)
    }

    @Test(arguments: [202, 203]) func aStatusThatPromisesLessIsNoProof(status: Int) async throws {
        let world = try await SourceWorld()
        let server = ScriptedServer { _, index in
            index == 0
                ? .json(usersJSON([1, 2])) : HTTPResponse(status: status, bytes: Array(usersJSON([1]).utf8))
        }
        try await world.sync(.users(server))
        let result = try await world.sync(.users(server))
        #expect(try await world.users().count == 2)
        #expect(result.counts.kept == 1)
    }

    // MARK: Bookmarks

    @Test func headersThatSteerAreLookedAtAlthoughThePagesAreUnchanged() async throws {
        let world = try await SourceWorld()
        let pageCount = Watched(1)
        let server = ScriptedServer { request, _ in
            let page = Int(request.query("p") ?? "1") ?? 1
            let tag = "\"\(page)\""
            if request.headers["If-None-Match"] == tag { return HTTPResponse(status: 304, headers: ["ETag": tag]) }
            return .json(usersJSON([page]), headers: ["ETag": tag, "X-Pages": "\(pageCount.value)"])
        }
        let custom = HTTPAPI.Pages.custom { info in
            guard let count = info.headers["X-Pages"].flatMap({ Int($0) }), info.index + 1 < count else { return nil }
            return URL(string: "https://api.test/users?p=\(info.index + 2)")
        }
        for pages in [custom, .page(parameter: "p").ending(.pageCount(header: "X-Pages"))] {
            let world = try await SourceWorld()
            pageCount.update { $0 = 1 }
            try await world.sync(.users(server, pages: pages))
            #expect(try await world.sync(.users(server, pages: pages)).coverage == .unchanged)
            pageCount.update { $0 = 2 }
            try await world.sync(.users(server, pages: pages))
            #expect(try await world.users().count == 2)
        }
        _ = world
    }

    @Test func aBookmarkBelongsToATenant() async throws {
        let world = try await SourceWorld()
        let server = ScriptedServer { request, _ in
            let tenant = request.headers["X-Tenant"] == "b" ? 2 : 1
            if request.headers["If-None-Match"] != nil { return HTTPResponse(status: 304) }
            return .json(usersJSON([tenant]), headers: ["ETag": "\"1\""])
        }
        for (tenant, users) in [("a", [Int64(1)]), ("b", [2])] {
            var source = try HTTPJSONSource.users(server, headers: { ["X-Tenant": tenant] })
            source.bookmarkHeaders = ["x-tenant"]
            try await world.sync(source)
            #expect(try await world.users().keys.sorted() == users)
        }
    }

    /// A parameter of links is a position if the API says so, and a credential otherwise.
    @Test(arguments: ["_token", "token", "sig"], [true, false])
    func thePositionInALinkIsNoCredential(name: String, isPosition: Bool) async throws {
        let world = try await SourceWorld()
        let server = ScriptedServer { request, _ in
            if request.headers["If-None-Match"] != nil { return HTTPResponse(status: 304) }
            let isFirst = request.query(name) == nil
            return .json(
                usersJSON(isFirst ? [1] : [2]),
                headers: isFirst ? ["ETag": "\"1\"", "Link": "<?\(name)=p2>; rel=next"] : ["ETag": "\"2\""])
        }
        let url = try #require(URL(string: "https://api.test/users"))
        var source = HTTPJSONSource(url, api: HTTPAPI(pages: .link), client: HTTPClient(transport: server))
        #expect(source.api.positionParameters.isEmpty && HTTPAPI.kinto.positionParameters == ["_token"])
        source.api.positionParameters = isPosition ? [name] : []
        try await world.sync(source)
        let coverage = try await world.sync(source).coverage
        #expect((coverage == .unchanged) == isPosition)
        // The head of the last page is asked for without a condition.
        #expect(server.requests.count == (isPosition ? 5 : 4))
    }

    /// What the client declares a credential is one, whatever the API says.
    @Test(arguments: [true, false]) func aDeclaredCredentialIsNoPosition(isDeclared: Bool) async throws {
        let world = try await SourceWorld()
        let server = ScriptedServer { request, _ in
            if request.headers["If-None-Match"] != nil { return HTTPResponse(status: 304) }
            let isFirst = request.query("k") == nil
            return .json(
                usersJSON(isFirst ? [1] : [2]),
                headers: isFirst ? ["ETag": "\"1\"", "Link": "<?k=p2>; rel=next"] : ["ETag": "\"2\""])
        }
        let url = try #require(URL(string: "https://api.test/users"))
        let client = HTTPClient(transport: server, secretParameters: isDeclared ? ["k"] : [])
        var source = HTTPJSONSource(url, api: HTTPAPI(pages: .link), client: client)
        source.api.positionParameters = ["k"]
        try await world.sync(source)
        #expect((try await world.sync(source).coverage == .unchanged) != isDeclared)
    }

    @Test func aCredentialOfAnAddressIsNotKept() async throws {
        let world = try await SourceWorld()
        let server = ScriptedServer { request, _ in
            if request.headers["If-None-Match"] != nil {
                return HTTPResponse(status: request.query("access_token") == "s3cret" ? 304 : 401)
            }
            let isFirst = request.query("p") == nil
            let link = "<https://api.test/users?access_token=s3cret&p=2>; rel=next"
            return .json(
                usersJSON(isFirst ? [1] : [2]), headers: isFirst ? ["ETag": "\"1\"", "Link": link] : ["ETag": "\"2\""])
        }
        let source = try HTTPJSONSource.users(server, pages: .link, query: "?access_token=s3cret")
        try await world.sync(source)
        for attribute in ["name", "cursor", "pages"] {
            let kept = "\(String(describing: try await world.bookmark(attribute)))"
            #expect(!kept.contains("s3cret"), "\(attribute)")
        }
        #expect(try await world.sync(source).coverage == .unchanged)
    }

    /// A link with a user, or with a credential in its path, is not kept; a fragment is left out.
    @Test(arguments: [
        ("https://svc:hunter2secret@api.test/users?p=2", false), ("https://hunter2secret@api.test/users?p=2", false),
        ("https://api.test/users;jsessionid=hunter2secret?p=2", false),
        ("https://api.test/a;v=1;token=hunter2secret/users?p=2", false),
        ("https://api.test/users?p=2#access_token=hunter2secret", true),
        ("https://api.test/a;v=1/users;x?p=2&q=/a;b?c@d", true),
    ])
    func noCredentialOfALinkIsKept(link: String, isKept: Bool) async throws {
        let world = try await SourceWorld()
        let server = ScriptedServer { request, _ in
            if request.headers["If-None-Match"] != nil { return HTTPResponse(status: 304) }
            let isFirst = request.query("p") == nil
            return .json(
                #"{"data":\#(usersJSON(isFirst ? [1] : [2])),"next":\#(isFirst ? "\"\(link)\"" : "null")}"#,
                headers: ["ETag": isFirst ? "\"1\"" : "\"2\""])
        }
        let source = try HTTPJSONSource.users(server, pages: .linkField(keyPath: "next"))
        try await world.sync(source, Self.data)
        #expect(try await world.users().count == 2)
        let pages = try await world.bookmark("pages")
        let kept = String(describing: pages)
        #expect(!kept.contains("hunter2secret"))
        let coverage = try await world.sync(source, Self.data).coverage
        #expect((coverage == .unchanged) == isKept)
        if isKept { #expect(server.paths.last == server.paths[1]) }
    }

    @Test func aCredentialInThePathOfAnAddressIsRestored() async throws {
        let world = try await SourceWorld()
        let server = ScriptedServer { request, _ in
            if request.headers["If-None-Match"] != nil {
                return HTTPResponse(status: request.url.absoluteString.contains(";jsessionid=s3cret") ? 304 : 401)
            }
            let isFirst = request.query("p") == nil
            let link = "<https://api.test/users;jsessionid=s3cret?p=2>; rel=next"
            return .json(
                usersJSON(isFirst ? [1] : [2]), headers: isFirst ? ["ETag": "\"1\"", "Link": link] : ["ETag": "\"2\""])
        }
        let source = try HTTPJSONSource.users(server, pages: .link, query: ";jsessionid=s3cret")
        try await world.sync(source)
        let pages = try await world.bookmark("pages")
        let kept = String(describing: pages)
        #expect(kept.contains("p=2") && !kept.contains("s3cret"))
        #expect(try await world.sync(source).coverage == .unchanged)
    }

    // MARK: Ends

    @Test(arguments: [false, true]) func aPageOfTombstonesIsNotTheLast(isOffset: Bool) async throws {
        let world = try await SourceWorld()
        let server = ScriptedServer { request, _ in
            // The one tombstone of the first page is before the second page.
            let page = isOffset ? String((Int(request.query("skip") ?? "0") ?? 0) + 1) : request.query("page")
            return switch (page, request.query("since")) {
            case ("1", nil): .json(#"{"data":[{"id":1,"name":"a","at":1},{"id":2,"name":"b","at":2}]}"#)
            case ("1", _): .json(#"{"data":[],"gone":[1]}"#)
            case ("2", .some): .json(#"{"data":[{"id":3,"name":"c","at":3}]}"#)
            default: .json(#"{"data":[]}"#)
            }
        }
        let delta = HTTPAPI.Delta(
            cursor: .element(keyPath: "at"), parameter: "since", tombstones: .list(keyPath: "gone"))
        let pages: HTTPAPI.Pages = isOffset ? .offset(parameter: "skip") : .page(parameter: "page")
        let source = try HTTPJSONSource.users(server, pages: pages, delta: delta)
        try await world.sync(source, Self.data)
        try await world.sync(source, Self.data)
        #expect(try await world.users().keys.sorted() == [2, 3])
    }

    @Test(arguments: [false, true]) func aServerThatIgnoresThePageIsNoticed(isOffset: Bool) async throws {
        let world = try await SourceWorld()
        let server = ScriptedServer { _, _ in .json(usersJSON([1, 2, 3])) }
        let error = await #expect(throws: HTTPError.self) {
            try await world.sync(
                .users(server, pages: isOffset ? .offset(parameter: "skip") : .page(parameter: "page")))
        }
        #expect(error?.problem == .repeatedPage)
        #expect(server.requests.count == 2)
        #expect(try await world.users().isEmpty)
    }

    /// Servers whose pages never end, and have the same objects again and again.
    static let circles: [(pages: HTTPAPI.Pages, body: @Sendable (_ index: Int) -> String)] = [
        (.page(parameter: "page"), { #"{"data":[{"id":1,"name":"a","now":\#($0)}]}"# }),
        (.page(parameter: "page"), { #"{"data":\#(usersJSON($0 % 2 == 0 ? [1, 2] : [3, 4]))}"# }),
        (.cursor(keyPath: "next", parameter: "after"), { #"{"data":\#(usersJSON([1])),"next":\#($0)}"# }),
    ]

    @Test(arguments: circles.indices) func pagesOfTheSameObjectsEnd(circle: Int) async throws {
        let world = try await SourceWorld()
        let (pages, body) = Self.circles[circle]
        let server = ScriptedServer { _, index in .json(body(index)) }
        let error = await #expect(throws: StoreSyncError.self) {
            try await world.sync(.users(server, pages: pages), Self.data)
        }
        #expect(error == .repeatedPages(entity: "User", count: 30))
        #expect(server.requests.count < 40)
        #expect(try await world.users().isEmpty)
    }

    /// A few pages of the same objects, pages without objects, and a log of changes of the same
    /// objects do not make a circle.
    @Test(arguments: [true, false]) func pagesMayRepeatObjects(isLog: Bool) async throws {
        let world = try await SourceWorld()
        let server = ScriptedServer { request, _ in
            let page = Int(request.query("after") ?? "0") ?? 0
            let log = Array(repeating: 1, count: page + 1) + Array(2...7)
            let ids = isLog ? log : page < 25 ? [1, 2] : page < 45 ? [] : [page]
            return .json(#"{"data":\#(usersJSON(ids)),"next":\#(page < 49 ? "\(page + 1)" : "null")}"#)
        }
        try await world.sync(.users(server, pages: .cursor(keyPath: "next", parameter: "after")), Self.data)
        #expect(try await world.users().count == 7)
    }
}
