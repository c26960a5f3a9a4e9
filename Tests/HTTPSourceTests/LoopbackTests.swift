import Foundation
import HTTPSource
import OneWayLoopbackServer
import OneWayTestLimits
import StoreSync
import Testing

/// The source against real sockets.
@Suite(.endsInTime) struct LoopbackTests {
    @Test func theUserOfAnAddressIsSentWithEveryPage() async throws {
        let basic = "Basic " + Data("me:pw".utf8).base64EncodedString()
        let handler: LoopbackHTTPServer.Handler = { request in
            guard request.header("authorization") == basic else { return .text("who?", status: 401) }
            let page = Int(request.query("page") ?? "1") ?? 1
            let next = "<http://\(request.header("host") ?? "")/users?page=\(page + 1)>; rel=\"next\""
            return .json(usersJSON(page..<(page + 1)), headers: page < 3 ? [("Link", next)] : [])
        }
        try await LoopbackHTTPServer.serving(handler) { server in
            let world = try await SourceWorld()
            let address = server.baseURL.replacing("http://", with: "http://me:pw@")
            let result = try await world.sync(
                .url(try #require(URL(string: address + "/users")), pages: .link))
            #expect(result.counts.inserted == 3)
            #expect(result.pageCount == 3)
        }
    }

    @Test func linkedPagesBecomeObjects() async throws {
        let handler: LoopbackHTTPServer.Handler = { request in
            let page = Int(request.query("page") ?? "1") ?? 1
            let link = page < 3 ? [("Link", "</users?page=\(page + 1)>; rel=\"next\"")] : []
            let first = (page - 1) * 100
            return .json(usersJSON(first..<first + 100), headers: link)
        }
        try await LoopbackHTTPServer.serving(handler) { server in
            let world = try await SourceWorld()
            let url = try #require(URL(string: server.baseURL + "/users"))
            let result = try await world.sync(.url(url, pages: .link))
            #expect(result.counts.inserted == 300)
            #expect(result.pageCount == 3)
            #expect(result.coverage == .everything)
            #expect(try await world.users()[250] == "user 250")
        }
    }
}
