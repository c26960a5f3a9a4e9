import Foundation
import HTTPSource
import HTTPTransfer
import OneWaySynchronizer
import OneWayTestLimits
import StoreSync
import OneWayTestSupport
import Testing

/// What is not the list, or not the whole of it, is no proof that anything is gone, nor that it is
/// there.
@Suite(.endsInTime) struct RecoveryTests {
    private let url = URL(string: "https://api.example.com/users") ?? URL(filePath: "/")

    @Test func anObjectInPlaceOfTheListIsAnErrorThatRemovesNothing() async throws {
        let world = try await SourceWorld()
        try await world.json.sync(.bytes(Array(usersJSON(1...3).utf8)), into: "User")
        for text in [#"{"error": "later"}"#, "{}", "7", "null", #""down""#] {
            let client = HTTPClient(transport: ScriptedServer { _, _ in .json(text) }, clock: ManualClock())
            await #expect(throws: HTTPError.self, "\(text)") {
                try await world.sync(HTTPJSONSource(url, client: client))
            }
            #expect(try await world.users().count == 3)
        }
    }

    @Test func whatWasSeenInABodyAloneThatBrokeOffIsGone() async throws {
        let world = try await SourceWorld()
        let whole = usersJSON([1, 3])
        let server = ScriptedServer { _, index in
            guard index == 0 else { return .json(whole, headers: ["ETag": #""x""#]) }
            let body = AsyncThrowingStream<[UInt8], any Error> { continuation in
                continuation.yield(Array(usersJSON([1, 2]).utf8.dropLast()))
                continuation.finish(throwing: HTTPError.Problem.cutShort(received: 40, expected: 80))
            }
            return HTTPResponse(status: 200, headers: ["ETag": #""y""#], body: body)
        }
        let client = HTTPClient(transport: server, retry: RetryPolicy(baseDelay: .zero), clock: ManualClock())
        try await world.sync(HTTPJSONSource(url, client: client))
        // The rest was requested, and another version was there.
        #expect(server.requests.count == 3)
        #expect(try await world.users().keys.sorted() == [1, 3])
    }

    /// A body without a byte is told from one that broke off, if only after a space.
    @Test(arguments: [
        ("", HTTPError.Problem.emptyBody), (" ", .cutShort(received: 1, expected: nil)),
        ("[", .cutShort(received: 1, expected: nil)), (#"[{"id":1}"#, .cutShort(received: 9, expected: nil)),
    ])
    func anEmptyBodyIsToldFromOneThatBrokeOff(body: String, problem: HTTPError.Problem) async throws {
        let world = try await SourceWorld()
        let error = await #expect(throws: HTTPError.self) {
            try await world.sync(.users(ScriptedServer { _, _ in .json(body) }))
        }
        #expect(error?.problem == problem)
    }
}
