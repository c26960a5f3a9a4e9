import Foundation
import HTTPSource
import HTTPTransfer
import JSONMapper
import OneWayLoopbackServer
import OneWaySynchronizer
import StoreSync
import Testing

/// Servers that lie, over real sockets: a clear error in bounded time, and nothing removed.
@Suite(.timeLimit(.minutes(30))) struct LiarTests {
    struct Lie: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let response: LoopbackResponse
        let isExpected: @Sendable (any Error) -> Bool

        init(_ name: String, _ response: LoopbackResponse, _ isExpected: @escaping @Sendable (any Error) -> Bool) {
            testDescription = name
            self.response = response
            self.isExpected = isExpected
        }
    }

    private static func problem(_ error: any Error, _ isExpected: (HTTPError.Problem) -> Bool) -> Bool {
        (error as? HTTPError).map { isExpected($0.problem) } ?? false
    }

    private static func isCutShort(_ error: any Error) -> Bool {
        problem(error) { if case .cutShort = $0 { true } else { false } }
    }

    private static func isJSON(_ error: any Error, _ reason: JSONError.Reason) -> Bool {
        problem(error) { if case .unsuitableJSON(let text, _) = $0 { text.contains("\(reason)") } else { false } }
    }

    static let lies: [Lie] = [
        Lie("a page for people", .text("<html><body>Please log in</body></html>", type: "text/html; charset=utf-8")) {
            problem($0) { $0 == .notJSON(firstLine: "<html><body>Please log in</body></html>") }
        },
        Lie("a page for people that calls itself JSON", .json("\n  <!DOCTYPE html>\n<title>x</title>")) {
            problem($0) { $0 == .notJSON(firstLine: "  <!DOCTYPE html>") }
        },
        Lie("an error in place of the list", .json(#"{"error":"try later"}"#)) { isJSON($0, .keyPathNotFound) },
        Lie("null in place of the list", .json(#"{"data":null}"#)) { isJSON($0, .keyPathNotFound) },
        Lie("text in place of the list", .json(#"{"data":"none"}"#)) { isJSON($0, .notAnArray) },
        Lie("nothing", .json("")) { isCutShort($0) },
        Lie("plain text", .text("OK")) { isJSON($0, .unexpectedByte) },
        Lie("a promise that is not kept", .cutShort(Array(#"{"data":[{"id":1}"#.utf8), promising: 100)) {
            isCutShort($0)
        },
        Lie("chunks without their end", .cutShortChunked(Array(#"{"data":[{"id":1}"#.utf8))) { isCutShort($0) },
        // A second attempt on the same connection may find the surplus of the first in place of a
        // reply.
        Lie("less promised than there is", .stream(byteCount: 12) { try $0.write(Array(#"{"data":[{"id":1}]}"#.utf8)) })
        {
            isCutShort($0) || problem($0) { if case .unreachable = $0 { true } else { false } }
        },
        Lie("gzip that is cut", .gzippedJSON(#"{"data":[\#(String(repeating: " ", count: 5000))]}"#, byteCount: 2000)) {
            isCutShort($0)
        },
        Lie("gzip that is none", .bytes(Array("not gzip".utf8), headers: [("Content-Encoding", "gzip")])) {
            problem($0) { _ in true } || $0 is JSONError
        },
        Lie("a body without end", .endless(of: Array(repeating: 0x20, count: 65_536))) {
            problem($0) { $0 == .tooLarge(limit: 4 << 20) }
        },
        Lie("a promise beyond the limit", .cutShort([], promising: 1 << 40)) {
            problem($0) { $0 == .tooLarge(limit: 4 << 20) }
        },
        Lie(
            "a drip",
            .stream { writer in
                while true {
                    try writer.write([0x20])
                    try writer.pause(milliseconds: 50)
                }
            }
        ) { problem($0) { $0 == .timedOut } },
        Lie("silence", .hanging) { problem($0) { $0 == .timedOut } },
        Lie(
            "a silence in the middle",
            .stream { writer in
                try writer.write(Array(#"{"data":[{"id":1},"#.utf8))
                try writer.hang()
            }
        ) { problem($0) { $0 == .timedOut } },
        Lie("a million arrays in one another", .json(#"{"data":[\#(String(repeating: "[", count: 1_000_000))"#)) {
            isJSON($0, .depthLimit)
        },
        Lie("a closed door", .closing) { problem($0) { if case .unreachable = $0 { true } else { false } } },
        Lie("no HTTP", .garbage(Array("SSH-2.0-OpenSSH\r\n".utf8))) { problem($0) { _ in true } },
    ]

    @Test(arguments: lies) func nothingIsRemoved(lie: Lie) async throws {
        let handler: LoopbackHTTPServer.Handler = { request in
            request.path == "/good" ? .gzippedJSON(#"{"data":\#(usersJSON(1...3))}"#) : lie.response
        }
        try await LoopbackHTTPServer.serving(handler) { server in
            let world = try await SourceWorld()
            // Only where the lie is to take too long is there little patience: a busy machine is no
            // liar.
            let limits =
                lie.isExpected(HTTPError(url: URL(filePath: "/"), problem: .timedOut))
                ? HTTPClient.Limits(silence: .milliseconds(400), requestDuration: .seconds(1), bodyByteCount: 4 << 20)
                : HTTPClient.Limits(bodyByteCount: 4 << 20)
            let client = HTTPClient(limits: limits, retry: RetryPolicy(maxAttempts: 2, baseDelay: .milliseconds(1)))
            let options = StoreSyncOptions(keyPath: "data")
            let good = try #require(URL(string: server.baseURL + "/good"))
            let bad = try #require(URL(string: server.baseURL + "/bad"))
            try await world.sync(HTTPJSONSource(good), options)
            let error = await #expect(throws: (any Error).self) {
                try await world.sync(HTTPJSONSource(bad, client: client), options)
            }
            #expect(lie.isExpected(try #require(error)), "\(error.map { "\($0)" } ?? "")")
            #expect(try await world.users().count == 3)
        }
    }
}
