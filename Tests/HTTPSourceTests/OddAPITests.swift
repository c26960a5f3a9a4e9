import Foundation
import HTTPSource
import HTTPTransfer
import OneWayLoopbackServer
import OneWaySynchronizer
import OneWayTestLimits
import OneWayTestSupport
import StoreSync
import Testing

/// Servers whose pages are right, or wrong, in an unusual way, over real sockets. The store has
/// users 1 to 4. The list has users 1 and 2.
@Suite(.endsInTime) struct OddAPITests {
    struct Odd: CustomTestStringConvertible, Sendable {
        /// What a sync does.
        enum Outcome: Sendable {
            /// Users 3 and 4 are deleted.
            case deletes
            /// Nothing is deleted, and the warnings have these words.
            case keeps(String)
            /// Nothing is changed, and the error has these words.
            case fails(String)
        }

        let testDescription: String
        let pages: HTTPAPI.Pages
        let keyPath: String
        let outcome: Outcome
        let respond: @Sendable (_ page: String?, _ request: LoopbackRequest) -> LoopbackResponse

        init(
            _ name: String, _ pages: HTTPAPI.Pages, at keyPath: String = "data", _ outcome: Outcome,
            _ respond: @escaping @Sendable (_ page: String?, _ request: LoopbackRequest) -> LoopbackResponse
        ) {
            (testDescription, self.pages, self.keyPath, self.outcome) = (name, pages, keyPath, outcome)
            self.respond = respond
        }
    }

    private static let first = #""data":[{"id":1,"name":"user 1"}]"#
    private static let second = #""data":[{"id":2,"name":"user 2"}]"#
    private static let both = #""data":[{"id":1,"name":"user 1"},{"id":2,"name":"user 2"}]"#
    private static let numbered = HTTPAPI.Pages.page(parameter: "page")
    private static let cursor = HTTPAPI.Pages.cursor(keyPath: "next", parameter: "page")

    static let odds: [Odd] = [
        // The way to the next page
        Odd("a cursor that ends with an empty page", cursor, .deletes) { page, _ in
            .json(page == nil ? "{\(both),\"next\":\"x\"}" : #"{"data":[],"next":null}"#)
        },
        Odd("a cursor with every reserved character", cursor, .deletes) { page, _ in
            let cursor = "a+b/c==&d=é %2B#"
            switch page {
            case nil: return .json("{\(first),\"next\":\"\(cursor)\"}")
            case cursor: return .json("{\(second),\"next\":\"\"}")
            default: return .status(400)
            }
        },
        Odd("a cursor that stays", cursor, .fails("the pages lead back to one that was read")) { _, _ in
            .json("{\(both),\"next\":\"x\"}")
        },
        Odd("an address without its path", .linkField(keyPath: "next"), .deletes) { page, _ in
            .json(page == nil ? "{\(first),\"next\":\"?page=2\"}" : "{\(second),\"next\":false}")
        },
        Odd("an address without its host's name", .linkField(keyPath: "next"), .deletes) { page, request in
            let host = request.header("host") ?? ""
            return .json(page == nil ? "{\(first),\"next\":\"//\(host)/list?page=2\"}" : "{\(second),\"next\":null}")
        },
        Odd("links in two fields of a head", .link, at: "", .deletes) { page, _ in
            let links = [("Link", "</list?page=1>; rel=\"first\""), ("Link", "</list?page=2>; rel=\"next\"")]
            return .json(usersJSON([page == nil ? 1 : 2]), headers: page == nil ? links : [])
        },
        Odd("a redirect back to the first page", .link, .fails("the pages lead back to one that was read")) { page, _ in
            page == nil
                ? .json("{\(both)}", headers: [("Link", "</list?page=2>; rel=next")])
                : .status(302, headers: [("Location", "/list")])
        },
        // The page after the last one
        Odd("no content after the last page", numbered.ending(.status([204])), .deletes) { page, _ in
            page == "1" ? .json("{\(both)}") : .status(204)
        },
        Odd("no content, which nobody stated", numbered, .fails("status 204, without the requested body")) { page, _ in
            page == "1" ? .json("{\(both)}") : .status(204)
        },
        Odd("a page for people after the last page", numbered, .fails("the body is HTML, not JSON")) { page, _ in
            page == "1" ? .json("{\(both)}") : .text("<html>Log in</html>", type: "text/html")
        },
        Odd("a redirect to a page for people", numbered, .fails("the body is HTML, not JSON")) { page, request in
            if request.path == "/login" { return .text("<html>Log in</html>", type: "text/html") }
            return page == "1" ? .json("{\(both)}") : .status(302, headers: [("Location", "/login")])
        },
        Odd("nothing after the last page", numbered, .fails("the body is empty")) { page, _ in
            .json(page == "1" ? "{\(both)}" : "")
        },
        Odd("an empty object after the last page", numbered, .fails("data is no list")) { page, _ in
            .json(page == "1" ? "{\(both)}" : #"{"data":{}}"#)
        },
        // Numbers and flags as text
        Odd("a total as text", .single, .keeps("total counts 4 objects, and the response had 2")) { _, _ in
            .json("{\(both),\"total\":\"4\"}")
        },
        Odd("a stated total as text", numbered.ending(.total(keyPath: "total")), .deletes) { _, _ in
            .json("{\(both),\"total\":\"2\"}")
        },
        Odd("a number of pages as text", numbered, .keeps("last_page counts 3 pages, and 2 were read")) { page, _ in
            .json(#"{\#(page == "1" ? both : #""data":[]"#),"current_page":"\#(page ?? "")","last_page":"3"}"#)
        },
        Odd("a flag as a number", .single, .keeps("has_more says that more pages follow")) { _, _ in
            .json("{\(both),\"has_more\":1}")
        },
        Odd("a flag as text", cursor, .fails("although has_more says that more pages follow")) { _, _ in
            .json("{\(both),\"next\":null,\"has_more\":\"true\"}")
        },
    ]

    @Test(arguments: odds) func onlyWhatIsGoneIsDeleted(odd: Odd) async throws {
        let handler: LoopbackHTTPServer.Handler = { request in
            request.path == "/good" ? .json(usersJSON(1...4)) : odd.respond(request.query("page"), request)
        }
        try await LoopbackHTTPServer.serving(handler) { server in
            let world = try await SourceWorld()
            try await world.sync(HTTPJSONSource(try #require(URL(string: "\(server.baseURL)/good"))))
            let client = HTTPClient(retry: RetryPolicy(maxAttempts: 2, baseDelay: .milliseconds(1)))
            let url = try #require(URL(string: "\(server.baseURL)/list"))
            let source = HTTPJSONSource(url, api: HTTPAPI(pages: odd.pages, keyPath: odd.keyPath), client: client)
            do {
                let warnings = try await world.sync(source).warnings.joined(separator: "\n")
                switch odd.outcome {
                case .deletes: #expect(warnings == "")
                case .keeps(let words):
                    #expect(warnings.contains("absent objects were kept") && warnings.contains(words), "\(warnings)")
                case .fails: Issue.record("no error; \(warnings)")
                }
            } catch {
                guard case .fails(let words) = odd.outcome else { throw error }
                #expect("\(error)".contains(words), "\(error)")
            }
            let isDeleted = if case .deletes = odd.outcome { true } else { false }
            #expect(try await world.users().keys.sorted() == (isDeleted ? [1, 2] : [1, 2, 3, 4]))
        }
    }
}
