import Foundation
import HTTPSource
import HTTPTransfer
import OneWaySynchronizer
import OneWayTestLimits
import StoreSync
import Testing

/// Lists whose pages are found by the usual signs.
@Suite(.endsInTime) struct AutomaticPagesTests {
    struct Way: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let keyPath: String
        let respond: @Sendable (_ page: Int, _ request: HTTPRequest) -> HTTPResponse

        /// - Parameter name: The scheme that is taken.
        init(
            _ name: String, keyPath: String = "data",
            _ respond: @escaping @Sendable (_ page: Int, _ request: HTTPRequest) -> HTTPResponse
        ) {
            (testDescription, self.keyPath, self.respond) = (name, keyPath, respond)
        }
    }

    private static func users(_ page: Int) -> String {
        usersJSON([[1, 2], [3, 4], [5]][page])
    }

    /// A response whose next page, if there is one, is in a value outside the list.
    private static func json(_ page: Int, _ next: (Int) -> String, last: String = "") -> HTTPResponse {
        .json(#"{"data":\#(users(page))\#(page < 2 ? next(page + 1) : last)}"#)
    }

    static let ways = [
        Way(".link") { page, _ in
            .json(
                #"{"data":\#(users(page))}"#,
                headers: page < 2
                    ? ["Link": "<https://api.test/users?page=\(page + 1)>; rel=next", "X-Next-Page": "9"] : [:])
        },
        Way(".link", keyPath: "") { page, _ in
            .json(users(page), headers: page < 2 ? ["Link": "<?page=\(page + 1)>; rel=\"next\""] : [:])
        },
        Way(#".linkField(keyPath: "next")"#) { page, _ in
            json(page, { #","count":5,"next":"https://api.test/users?page=\#($0)""# }, last: #","count":5,"next":null"#)
        },
        Way(#".linkField(keyPath: "links.next")"#) { page, _ in
            json(page, { #","links":{"next":{"href":"/users?page=\#($0)"}}"# })
        },
        // Laravel has an address and numbers.
        Way(#".linkField(keyPath: "next_page_url")"#) { page, _ in
            json(page, { #","next_page_url":"/users?page=\#($0)","current_page":\#($0),"last_page":3"# })
        },
        Way(##".linkField(keyPath: #"@odata\.nextLink"#)"##) { page, _ in
            json(page, { #","@odata.nextLink":"https://api.test/users?page=\#($0)""# })
        },
        Way(#".linkField(keyPath: "response.next")"#, keyPath: "response.items") { page, _ in
            .json(
                #"{"response":{"items":\#(users(page)),"next":\#(page < 2 ? "\"/users?page=\(page + 1)\"" : "null")}}"#)
        },
        Way(#".links(keyPath: "links")"#) { page, _ in
            json(page, { #","links":[{"rel":"self","href":"/"},{"rel":"next","href":"/users?page=\#($0)"}]"# })
        },
        Way(#".links(keyPath: "link", relation: "relation", address: "url")"#) { page, _ in
            json(page, { #","link":[{"relation":"next","url":"/users?page=\#($0)"}]"# })
        },
        Way(#".page(parameter: "page")"#, keyPath: "") { page, _ in
            let number = max(page, 1)
            return .json(users(number - 1), headers: ["X-Next-Page": number < 3 ? "\(number + 1)" : ""])
        },
        Way(#".page(parameter: "page")"#, keyPath: "") { page, _ in
            .json(users(max(page, 1) - 1), headers: ["X-WP-TotalPages": "3"])
        },
        Way(#".page(parameter: "page")"#) { page, _ in
            .json(#"{"page":\#(max(page, 1)),"total_pages":3,"total":5,"data":\#(users(max(page, 1) - 1))}"#)
        },
        Way(#".page(parameter: "page")"#) { page, _ in
            let number = max(page, 1)
            return .json(
                #"{"data":\#(users(number - 1)),"meta":{"next_page":\#(number < 3 ? "\(number + 1)" : "null")}}"#)
        },
        Way(#".page(parameter: "page", first: 0)"#, keyPath: "content") { page, _ in
            .json(#"{"content":\#(users(page)),"number":\#(page),"totalPages":3,"totalElements":5}"#)
        },
        Way(#".cursor(keyPath: "paging.next.after", parameter: "after")"#) { _, request in
            let page = Int(request.query("after") ?? "") ?? 0
            return json(page, { #","paging":{"next":{"after":"\#($0)"}}"# })
        },
    ]

    private static func source(_ way: Way) throws -> (HTTPJSONSource, ScriptedServer) {
        let server = ScriptedServer { request, _ in way.respond(Int(request.query("page") ?? "") ?? 0, request) }
        var source = try HTTPJSONSource.users(server, pages: .automatic)
        source.api.keyPath = way.keyPath
        return (source, server)
    }

    @Test(arguments: ways) func theOnlyWayThatFitsIsTaken(way: Way) async throws {
        let world = try await SourceWorld()
        try await world.sync(.users(ScriptedServer { _, _ in .json(usersJSON(1...6)) }))
        let (source, server) = try Self.source(way)
        let result = try await world.sync(source)
        #expect(try await world.users().keys.sorted() == [1, 2, 3, 4, 5])
        #expect(
            result.warnings == [
                "the pages were found by their usual signs; choose pages: \(way.testDescription), "
                    + "so that no other way is taken"
            ])
        // Read twice, because a row is gone.
        #expect(server.requests.count == 6)
    }

    @Test func pagesAreRequestedConditionally() async throws {
        let world = try await SourceWorld()
        let server = ScriptedServer { request, _ in
            if request.headers["If-None-Match"] != nil { return HTTPResponse(status: 304) }
            let page = Int(request.query("page") ?? "") ?? 0
            let next = page < 2 ? #""/users?page=\#(page + 1)""# : "null"
            return .json(#"{"data":\#(Self.users(page)),"next":\#(next)}"#, headers: ["ETag": "\"\(page)\""])
        }
        var source = try HTTPJSONSource.users(server, pages: .automatic)
        source.api.keyPath = "data"
        try await world.sync(source)
        #expect(try await world.sync(source).coverage == .unchanged)
    }

    /// Where no single way fits, one page is read, and nothing is deleted.
    @Test(arguments: [
        (#","next":"/a","links":{"next":"/b"}"#, #"choose pages: .linkField(keyPath: "next") or pages: .linkField("#),
        (#","has_more":true"#, "has_more says that more pages follow"),
        (#","count":95"#, "count counts 95 objects, and the response had 2"),
        (#","next_cursor":"abc""#, #".cursor(keyPath: "next_cursor", parameter: …)"#),
        (#","paging":{"next":{"after":"x"}},"next_page":2"#, " or "),
        // A cursor in Base64, which is no address.
        (#","next_cursor":"/9k=""#, #".cursor(keyPath: "next_cursor", parameter: …)"#),
        (#","page":-9223372036854775808,"total_pages":9223372036854775807,"has_more":true"#, "has_more says"),
        (#","page":9223372036854775807,"total_pages":-9223372036854775808,"has_more":true"#, "has_more says"),
    ])
    func withoutASingleWayAbsentObjectsAreKept(rest: String, said: String) async throws {
        let world = try await SourceWorld()
        try await world.sync(.users(ScriptedServer { _, _ in .json(usersJSON(1...4)) }))
        let (source, server) = try Self.source(
            Way("none") { _, _ in .json(#"{"data":\#(usersJSON([1, 2]))\#(rest)}"#) })
        let result = try await world.sync(source)
        #expect(result.counts.kept == 2)
        #expect(try await world.users().count == 4)
        #expect(result.warnings.contains { $0.contains(said) }, "\(result.warnings)")
        #expect(result.warnings.contains { $0.hasPrefix("absent objects were kept") }, "\(result.warnings)")
        #expect(server.paths.allSatisfy { $0 == "/users" })
    }

    @Test func aListOfOnePageIsWhole() async throws {
        let world = try await SourceWorld()
        try await world.sync(.users(ScriptedServer { _, _ in .json(usersJSON(1...4)) }))
        let (source, _) = try Self.source(
            Way("one") { _, _ in .json(#"{"data":\#(usersJSON([1, 2])),"next":null,"count":2,"has_more":false}"#) })
        #expect(try await world.sync(source).warnings.isEmpty)
        #expect(try await world.users().count == 2)
    }

    /// The second page of a server that counts from 0 has the number 1.
    @Test func aNumberOfPagesWithoutAFirstNumberLeadsNowhere() async throws {
        let world = try await SourceWorld()
        try await world.sync(.users(ScriptedServer { _, _ in .json(usersJSON(1...4)) }))
        let (source, server) = try Self.source(
            Way("from 0", keyPath: "") { page, _ in
                .json(usersJSON(page == 0 ? [1, 2] : page == 1 ? [3, 4] : []), headers: ["X-Total-Pages": "2"])
            })
        let result = try await world.sync(source)
        #expect(try await world.users().count == 4)
        #expect(result.warnings.contains { $0.contains("X-Total-Pages counts 2 pages") }, "\(result.warnings)")
        #expect(server.paths.allSatisfy { $0 == "/users" })
    }

    @Test(
        arguments: [
            // The last page leads to page 0.
            { page in page == 1 ? #","next_page":2"# : #","next_page":0"# },
            // Each page leads on, also behind the last one.
            { page in #","next_page":\#(page + 1)"# },
        ] as [@Sendable (Int) -> String])
    func numbersThatNeverEndEndWithAnEmptyPage(rest: @escaping @Sendable (Int) -> String) async throws {
        let world = try await SourceWorld()
        let (source, server) = try Self.source(
            Way("numbers") { page, _ in
                let number = max(page, 1)
                return .json(#"{"data":\#(usersJSON(number == 1 ? [1, 2] : number == 2 ? [3] : []))\#(rest(number))}"#)
            })
        try await world.sync(source)
        #expect(try await world.users().keys.sorted() == [1, 2, 3])
        #expect(server.requests.count <= 3)
    }

    /// A server that ignores the number of the page would never end.
    @Test func aServerThatIgnoresTheNumberIsAnError() async throws {
        let world = try await SourceWorld()
        let (source, _) = try Self.source(
            Way("ignored", keyPath: "") { _, _ in
                .json(usersJSON([1, 2]), headers: ["X-Total-Pages": "40", "X-Page": "1"])
            })
        let error = await #expect(throws: HTTPError.self) { try await world.sync(source) }
        #expect(error?.problem == .repeatedPage)
    }
}
