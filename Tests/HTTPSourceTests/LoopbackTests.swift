import Foundation
import HTTPSource
import OneWayLoopbackServer
import StoreSync
import Testing

/// The source against real sockets.
@Suite(.timeLimit(.minutes(30))) struct LoopbackTests {
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
            let result = try await world.sync(HTTPJSONSource(url, pages: .link))
            #expect(result.result.counts.inserted == 300)
            #expect(result.pageCount == 3)
            #expect(result.coverage == .everything)
            #expect(try await world.users()[250] == "user 250")
        }
    }
}
