import Foundation
import HTTPSource
import HTTPTransfer
import JSONMapper
import OneWayTestLimits
import OneWayTestSupport
import Testing

@Suite(.endsInTime) struct HeadersTests {
    @Test func secretsStayWithTheOwnOrigin() async throws {
        let server = ScriptedServer { request, _ in
            switch request.url.absoluteString {
            case "https://api.test/users": HTTPResponse(status: 307, headers: ["Location": "/v2"])
            case "https://api.test/v2": .json("[]", headers: ["Link": "<https://other.test/3>; rel=next"])
            case "https://other.test/3": .json("[]", headers: ["Link": "<https://api.test:443/4>; rel=next"])
            case "https://api.test:443/4": HTTPResponse(status: 302, headers: ["Location": "https://cdn.test/5"])
            default: .json("[]")
            }
        }
        let world = try await SourceWorld()
        try await world.sync(.users(server, pages: .link, headers: { ["Authorization": "secret"] }))
        #expect(
            server.requests.map { "\($0.url.host ?? "") \($0.headers["Authorization"] ?? "-")" } == [
                "api.test secret", "api.test secret", "other.test -", "api.test secret", "cdn.test -",
            ])
    }

    /// After a form is submitted, its result is read. A question about a file stays one.
    @Test(arguments: ["GET", "HEAD", "POST"], [301, 302, 303, 307, 308])
    func aRedirectKeepsTheMethodUnlessAFormWasSubmitted(method: String, status: Int) async throws {
        let server = ScriptedServer { request, _ in
            request.url.path == "/a" ? HTTPResponse(status: status, headers: ["Location": "/b"]) : .json("[]")
        }
        var order = HTTPOrder(plain: try #require(URL(string: "https://api.test/a")), limit: 100)
        order.request.method = method
        order.request.headers["Content-Type"] = "a/b"
        if method == "POST" { order.request.body = [1, 2] }
        _ = try await HTTPFetch(order, by: HTTPClient(transport: server)).head()
        let (first, second) = (try #require(server.requests.first), try #require(server.requests.last))
        #expect(server.paths == ["/a", "/b"] && first.method == method)
        let isRead = method == "POST" && status < 304
        #expect(second.method == (isRead ? "GET" : method))
        #expect(second.body == (isRead ? nil : first.body))
        #expect(second.headers["Content-Type"] == (isRead ? nil : "a/b"))
    }

    /// A list that is requested by a query is not that of an address without it. The answer of a
    /// query may have an address of its own.
    @Test(arguments: [301, 302, 303, 307, 308]) func aRedirectDoesNotDropTheQuery(status: Int) async throws {
        let world = try await SourceWorld()
        try await world.sync(.users(ScriptedServer { _, _ in .json(usersJSON(1...3)) }))
        let server = ScriptedServer { request, _ in
            request.url.path == "/users"
                ? HTTPResponse(status: status, headers: ["Location": "/found"])
                : .json(usersJSON(request.body == nil && status != 303 ? [1] : [1, 2, 3]))
        }
        var source = try HTTPJSONSource.users(server)
        source.api.body = .object(["q": .string("*")])
        let sent = source
        if status < 303 {
            let error = try #require(await #expect(throws: HTTPError.self) { try await world.sync(sent) })
            #expect(
                "\(error)".hasSuffix(
                    "would get no query, because the redirect has status \(status); request it directly"))
            #expect(server.paths == ["/users"])
        } else {
            try await world.sync(sent)
        }
        #expect(try await world.users().count == 3)
    }

    @Test func headersAreAskedForBeforeEachRequest() async throws {
        let count = Watched(0)
        let server = ScriptedServer { _, index in
            .json("[]", headers: index < 2 ? ["Link": "<?\(index)>; rel=next"] : [:])
        }
        let world = try await SourceWorld()
        let source = try HTTPJSONSource.users(
            server, pages: .link,
            headers: {
                let number = count.update { count in
                    count += 1
                    return count
                }
                return ["Token": String(number)]
            })
        try await world.sync(source)
        #expect(server.requests.compactMap { $0.headers["token"] } == ["1", "2", "3"])
    }

    @Test(arguments: ["http://api.test/users", "ftp://api.test/", "file:///etc/passwd", "https://"])
    func aRedirectOrLinkToSomethingLessSecureIsRefused(target: String) async throws {
        for isLink in [true, false] {
            let server = ScriptedServer { _, _ in
                isLink
                    ? .json("[]", headers: ["Link": "<\(target)>; rel=next"])
                    : HTTPResponse(status: 302, headers: ["Location": target])
            }
            let world = try await SourceWorld()
            let error = await #expect(throws: (any Error).self) { try await world.sync(.users(server, pages: .link)) }
            #expect("\(try #require(error))".contains("leads to"))
            #expect(server.requests.count == 1)
        }
    }

    @Test func redirectsAreFollowedWithinALimit() async throws {
        let server = ScriptedServer { request, index in
            HTTPResponse(status: 301, headers: ["Location": "/\(index)"])
        }
        let world = try await SourceWorld()
        let error = await #expect(throws: HTTPError.self) { try await world.sync(.users(server)) }
        #expect(error?.problem == .tooManyRedirects(limit: 5))
        #expect(server.requests.count == 6)
    }

    @Test func errorsNameTheAddressWithoutItsSecrets() async throws {
        let server = ScriptedServer { _, _ in
            HTTPResponse(status: 403, bytes: Array("no \u{1B}[2Jentry\nsecond line".utf8))
        }
        let world = try await SourceWorld()
        let error = await #expect(throws: HTTPError.self) {
            try await world.sync(.users(server, query: "?page=3&api_key=s3cr3t"))
        }
        #expect(
            error?.debugDescription == "https://api.test/users?page=3&api_key=…: status 403: no ?[2Jentry")
        let url = try #require(URL(string: "https://me:pw@api.test/users#x"))
        #expect(HTTPError(url: url, problem: .timedOut).description == "https://api.test/users: timed out")
        #expect("\(HTTPHeaders([("Authorization", "s3cr3t")]))" == "authorization")
    }
}
