import Foundation
import HTTPSource
import HTTPTransfer
import OneWayLoopbackServer
import OneWaySynchronizer
import OneWayTestLimits
import OneWayTestSupport
import StoreSync
import SyncModel
import Testing

/// Texts that would give a request another meaning, or more requests.
@Suite(.endsInTime) struct InvalidRequestTests {
    /// A request, and how the error names what is wrong with it.
    struct Case: Sendable, CustomTestStringConvertible {
        var name = "X-Tenant"
        var value = "a"
        var method = "GET"
        let says: String

        var testDescription: String { says }
    }

    static let cases: [Case] = [
        Case(value: "marker\r\n\r\nDELETE /users/1 HTTP/1.1\r\nHost: a", says: "the field x-tenant"),
        Case(value: "marker\n", says: "the field x-tenant"), Case(value: "marker\r", says: "the field x-tenant"),
        Case(value: "mar\rker", says: "the field x-tenant"), Case(value: "mar\0ker", says: "the field x-tenant"),
        Case(value: "mar\u{7F}ker", says: "the field x-tenant"), Case(value: " marker", says: "the field x-tenant"),
        Case(value: "marker\t", says: "the field x-tenant"), Case(value: " ", says: "the field x-tenant"),
        Case(name: "", says: "\"\" is not a name"), Case(name: "x y", says: "\"x y\" is not a name"),
        Case(name: "x:", says: "\"x:\" is not a name"), Case(name: "x\r\ny", says: "\"x?y\" is not a name"),
        Case(name: "bücher", says: "\"bücher\" is not a name"),
        Case(method: "GET / HTTP/1.1\r\nX: ", says: "the method \"GET / HTTP/1.1?X: \""),
        Case(method: "", says: "the method \"\""),
    ]

    private static let transports: [any HTTPClient.Transport] = {
        #if os(Linux)
        return [HTTPClient.systemTransport(), HTTPClient.URLSessionTransport()]
        #else
        return [HTTPClient.URLSessionTransport()]
        #endif
    }()

    @Test(arguments: cases) func nothingIsSentOnAnyTransport(_ invalid: Case) async throws {
        let methods = EventLog<String>()
        let handler: LoopbackHTTPServer.Handler = { request in
            methods.append(request.method)
            return .text("ok")
        }
        try await LoopbackHTTPServer.serving(handler) { server in
            var request = HTTPRequest(try #require(URL(string: server.baseURL + "/users")))
            request.headers[invalid.name] = invalid.value
            request.method = invalid.method
            for transport in Self.transports {
                let problem = await #expect(throws: HTTPError.Problem.self) { try await transport.send(request) }
                guard case .invalidRequest(let text) = problem else {
                    Issue.record("\(transport): \(String(describing: problem))")
                    continue
                }
                #expect(text.contains(invalid.says))
                #expect(!text.contains("mar"))
            }
        }
        #expect(methods.events.isEmpty)
    }

    @Test func aClientChecksForEveryTransportAndDoesNotRetry() async throws {
        let server = ScriptedServer { _, _ in .json("[]") }
        let client = HTTPClient(transport: server, retry: RetryPolicy(maxAttempts: 3))
        let url = try #require(URL(string: "https://api.test/users"))
        let error = await #expect(throws: HTTPError.self) {
            try await client.data(from: url, headers: ["Authorization": "Bearer marker\n"])
        }
        let description = try #require(error).description
        #expect(
            description.hasPrefix("https://api.test/users: the request was not sent: the value of the field authoriz"))
        #expect(!description.contains("marker"))
        #expect(server.requests.isEmpty)
    }

    @Test(arguments: ["a", "", "ü", "a b", "a\tb", "\"tag\"", "a:b;c=\u{FFFD}"])
    func everyOtherValueArrives(value: String) async throws {
        for transport in Self.transports {
            try await LoopbackHTTPServer.serving({ .text($0.header("x-value") ?? "-") }) { server in
                let request = HTTPRequest(
                    try #require(URL(string: server.baseURL + "/")), headers: ["X-Value": value])
                var body: [UInt8] = []
                for try await piece in try await transport.send(request).body { body += piece }
                #expect(String(decoding: body, as: UTF8.self) == value)
            }
        }
    }

    @Test(arguments: ["\"a\rb\"", "\"a\u{1}b\""]) func aValidatorThatCannotBeSentBackIsNotStored(tag: String)
        async throws
    {
        let server = ScriptedServer { _, _ in .json(usersJSON([1]), headers: ["ETag": tag, "Last-Modified": tag]) }
        let world = try await SourceWorld()
        try await world.sync(.users(server))
        #expect(try await world.sync(.users(server)).coverage == .everything)
        #expect(server.requests.allSatisfy { $0.headers["If-None-Match"] == nil })
        #expect(try await world.bookmark("pages") == .null)
    }

    /// A bookmark is data, and others can write to a store.
    @Test func aStoredValidatorThatCannotBeSentIsNotUsed() async throws {
        let server = ScriptedServer { _, _ in .json(usersJSON([1])) }
        let page = SyncBookmark.Page(token: nil, entityTag: "\"a\r\n\"", lastModified: "\n")
        let answer = try await HTTPJSONSource.users(server).begin(after: SyncBookmark(pages: [page]), keyPath: "")
        guard case .changed = answer else {
            Issue.record("The page counts as unchanged.")
            return
        }
        #expect(server.requests.map { $0.headers.fields.map(\.name) } == [["accept"]])
    }

    @Test func aDownloadIsNotContinuedByATagThatCannotBeSent() throws {
        let url = try #require(URL(string: "https://api.test/"))
        var resumption = Resumption()
        _ = resumption.take(status: 200, headers: ["ETag": "\"a\rb\"", "Content-Length": "10"], from: url)
        resumption.receive(5)
        #expect(resumption.headers == HTTPHeaders())
    }
}
