import Foundation
import HTTPSource
import HTTPTransfer
import JSONMapper
import OneWayLoopbackServer
import OneWaySynchronizer
import OneWayTestLimits
import OneWayTestSupport
import StoreSync
import SyncStoreSQLite
import Testing

/// Servers that lie, over real sockets. Each row of the table is the behaviour of a server and what
/// the sync says about it. The database is the same afterwards.
@Suite(.endsInTime) struct LiarTests {
    struct Lie: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let response: LoopbackResponse
        /// Parts of the error, or of the warnings if there is no error.
        let said: [String]
        var isError = true
        /// Only where the lie is to take too long is there little patience: a busy machine is no
        /// liar.
        var limits = HTTPClient.Limits(bodyByteCount: 4 << 20)
        var format = HTTPAPI.Format.array

        init(
            _ name: String, _ response: LoopbackResponse, says said: String..., isError: Bool = true,
            silence: Duration? = nil, duration: Duration? = nil, format: HTTPAPI.Format = .array
        ) {
            testDescription = name
            self.response = response
            self.said = said
            self.isError = isError
            if let silence { limits.silence = silence }
            if let duration { limits.requestDuration = duration }
            self.format = format
        }
    }

    private static let token = "s3cr3t+token/0123456789=="
    private static let list = #"{"data":[{"id":1,"name":"user 1"}]}"#

    /// Two lines in gzip format, cut after the first one: the head has 10 bytes, that of a block 5.
    private static let cutLines: [UInt8] = {
        let line = #"{"id":1,"name":"user 1"}"# + "\n"
        let whole = LoopbackGzip.wrapped(Array((line + line.replacing("1", with: "2")).utf8))
        return Array(whole.prefix(10 + 5 + line.utf8.count))
    }()

    private static func raw(_ head: String, _ body: String = list) -> LoopbackResponse {
        .garbage(Array("HTTP/1.1 \(head)\r\n\r\n\(body)".utf8))
    }

    static let lies: [Lie] = [
        // Not a list
        Lie(
            "a page for people", .text("<html><body>Please log in</body></html>", type: "text/html; charset=utf-8"),
            says: "the body is HTML, not JSON: <html><body>Please log in</body></html>"),
        Lie(
            "a page for people that calls itself JSON", .json("\n  <!DOCTYPE html>\n<title>x</title>"),
            says: "the body is HTML, not JSON:   <!DOCTYPE html>"),
        Lie(
            "a page for people behind a mark of UTF-8", .json("\u{FEFF}<html>"),
            says: "the body is HTML, not JSON: "),
        Lie("a feed", .json("<?xml version=\"1.0\"?><rss/>"), says: "the body is XML, not JSON: <?xml"),
        Lie(
            "an error in place of the list", .json(#"{"error":"try later"}"#), says: "there is nothing at data",
            #": {"error":"try later"}"#),
        Lie(
            "null in place of the list", .json(#"{"data":null}"#), says: "there is nothing at data", #": {"data":null}"#
        ),
        Lie("text in place of the list", .json(#"{"data":"none"}"#), says: "data", #": {"data":"none"}"#),
        Lie("an object in place of the list", .json(#"{"data":{"a":{}}}"#), says: "no list", #": {"data":{"#),
        Lie(
            "lists in other places", .json(#"{"page":{"items":[{"id":1},{"id":2}]},"tags":["a"],"n":1}"#),
            says: "there is nothing at data; the JSON has page, tags, n",
            "its lists are page.items (2 elements) and tags (1 element); the key path chooses one"),
        Lie(
            "a list within the place of the list", .json(#"{"data":{"items":[{"id":1}]}}"#),
            says: "data is no list", "its list is data.items (1 element); the key path chooses it"),
        Lie(
            "gzip without a word of it", .bytes([0x1F, 0x8B, 8, 0, 0, 0, 0, 0]),
            says: "the response is unusable: the body is gzip, and Content-Encoding does not say so"),
        Lie(
            "UTF-16", .bytes(Array(list.utf8).flatMap { [$0, 0] }),
            says: "the response is unusable: the body is UTF-16, and JSON is UTF-8"),
        Lie(
            "UTF-16 with a mark", .bytes([0xFE, 0xFF] + list.utf8.flatMap { [0, $0] }),
            says: "the response is unusable: the body is UTF-16, and JSON is UTF-8"),
        Lie(
            "UTF-32", .bytes(Array(list.utf8).flatMap { [$0, 0, 0, 0] }),
            says: "the response is unusable: the body is UTF-32, and JSON is UTF-8"),
        Lie(
            "UTF-32 with a mark", .bytes([0, 0, 0xFE, 0xFF] + list.utf8.flatMap { [0, 0, 0, $0] }),
            says: "the response is unusable: the body is UTF-32, and JSON is UTF-8"),
        Lie(
            "another encoding",
            .bytes(Array(#"{"data":[{"id":1,"name":"caf"#.utf8) + [0xE9] + Array(#""}]}"#.utf8)),
            says: "bytes that are not UTF-8"),
        Lie("nothing", .json(""), says: "the body is empty"),
        Lie("plain text", .text("OK"), says: "line 1, column 1", ": OK"),
        Lie("plain text that calls itself HTML", .text("OK", type: "text/html"), says: "line 1, column 1", ": OK"),
        Lie("something after the list", .json(list + "]"), says: ": " + list + "]"),
        Lie(
            "a million arrays in one another", .json(#"{"data":[\#(String(repeating: "[", count: 1_000_000))"#),
            says: "too many levels", #": {"data":[[["#),
        // Not all of it
        Lie(
            "a promise that is not kept", .cutShort(Array(#"{"data":[{"id":1}"#.utf8), promising: 100),
            says: "the body was cut short after 17 of 100 bytes"),
        Lie(
            "chunks without their end", .cutShortChunked(Array(#"{"data":[{"id":1}"#.utf8)),
            says: "the body was cut short after 17 bytes"),
        Lie(
            "a chunk that is none", raw("200 OK\r\nTransfer-Encoding: chunked", "zz\r\n{}"),
            says: "the body was cut short"),
        // A second attempt on the same connection may find the surplus of the first in place of a
        // reply.
        Lie(
            "less promised than there is", .stream(byteCount: 12) { try $0.write(Array(list.utf8)) }, says: ""),
        Lie(
            "gzip that is cut", .gzippedJSON(#"{"data":[\#(String(repeating: " ", count: 5000))]}"#, byteCount: 2000),
            says: "the body was cut short"),
        Lie(
            "gzip that is none", .bytes(Array("not gzip".utf8), headers: [("Content-Encoding", "gzip")]),
            says: "the response is unusable: the body is not compressed as its head says"),
        Lie(
            "gzip with something after its end",
            .bytes(LoopbackGzip.wrapped(Array(list.utf8)) + [0, 0, 7], headers: [("Content-Encoding", "gzip")]),
            says: "the response is unusable: bytes follow the end of the compressed body"),
        Lie("the list twice", .json(#"{"data":[{"id":1}],"data":[]}"#), says: "key"),
        Lie("a text", .json(#""maintenance""#), says: "not an object"),
        Lie("no content", .status(204), says: "status 204, without the requested body"),
        Lie(
            "lines whose gzip is cut",
            .gzippedJSON("{\"id\":1,\"name\":\"user 1\"}\n{\"id\":2,\"name\":\"user 2\"}\n", byteCount: 40),
            says: "the body was cut short", format: .lines),
        Lie(
            "lines that may lack some", raw("200 OK\r\nConnection: close", #"{"id":1,"name":"user 1"}"#),
            says: "absent objects were kept: a page had neither a length nor chunks", isError: false, format: .lines),
        Lie(
            "gzip that ends after a line", .bytes(cutLines, headers: [("Content-Encoding", "gzip")]),
            says: "the body was cut short after 40 bytes", format: .lines),
        Lie(
            "an event that lacks its end", raw("200 OK\r\nConnection: close", "data: {\"id\":1,\"name\":\"user 1\"}\n"),
            says: "the body was cut short", format: .events()),
        // Too much
        Lie(
            "a body without end", .endless(of: Array(repeating: 0x20, count: 65_536)),
            says: "the body is longer than 4194304 bytes"),
        Lie(
            "a promise beyond the limit", .cutShort([], promising: 1 << 40),
            says: "the body is longer than 4194304 bytes"),
        Lie(
            "a head without end", .json(list, headers: [("X-Large", String(repeating: "a", count: 1 << 20))]),
            says: "the response is unusable: ", "head"),
        Lie(
            "a drip",
            .stream { writer in
                while true {
                    try writer.write([0x20])
                    try writer.pause(milliseconds: 50)
                }
            }, says: "too slow: ", " bytes of the body arrived within 1.0 seconds", duration: .seconds(1)),
        Lie("silence", .hanging, says: "timed out", silence: .milliseconds(400)),
        Lie(
            "a silence in the middle",
            .stream { writer in
                try writer.write(Array(#"{"data":[{"id":1},"#.utf8))
                try writer.hang()
            }, says: "timed out", silence: .milliseconds(400)),
        // Not HTTP
        Lie("a closed door", .closing, says: "no usable reply (the connection closed without one)"),
        Lie("another protocol", .garbage(Array("SSH-2.0-OpenSSH\r\n".utf8)), says: "the response is unusable: "),
        Lie("a length that is none", raw("200 OK\r\nContent-Length: -5"), says: "the response is unusable: "),
        Lie(
            "a length beyond 64 bits", raw("200 OK\r\nContent-Length: 99999999999999999999999"),
            says: "the response is unusable: the length of the body"),
        Lie(
            "two lengths", raw("200 OK\r\nContent-Length: 35\r\nContent-Length: 12"),
            says: "the response is unusable: "),
        Lie("a status that is none", raw("2000 OK\r\nContent-Length: 35"), says: "the response is unusable: "),
        // Statuses
        Lie(
            "a redirect to nowhere", .text("moved", status: 302),
            says: "status 302, a redirect without an address (Location): moved"),
        Lie(
            "a redirect without a host", .status(302, headers: [("Location", "http:///list")]),
            says: "leads to an address that has no host"),
        Lie(
            "a redirect to a file", .status(301, headers: [("Location", "file:///etc/passwd")]),
            says: "leads to an address that has another scheme"),
        Lie("a circle of redirects", .status(307, headers: [("Location", "/bad")]), says: "more than 5 redirects"),
        Lie("unchanged since never", .status(304), says: "status 304, although no earlier response was named"),
        Lie(
            "a part", .text(list, status: 206), says: "status 206, a part of the body, although all of it was requested"
        ),
        Lie(
            "a part of the bytes",
            .bytes(Array(list.utf8), status: 206, headers: [("Content-Range", "bytes 0-34/70")]),
            says: "status 206, a part of the body, although all of it was requested"),
        Lie(
            "a part of the list", .bytes(Array(list.utf8), status: 206, headers: [("Content-Range", "0-0/*")]),
            says: "status 206 says that the page is a part of the list", isError: false),
        Lie(
            "a wait of a year", .status(503, headers: [("Retry-After", "31536000")]),
            says: "status 503, asks to wait 31536000 s"),
        // Indiscretions
        Lie(
            "an echo of the token", .text("no such token: \(token)", status: 401),
            says: "status 401: no such token: [redacted]"),
        Lie(
            "an echo of the token in JSON",
            .json(#"{"error":"Bearer \#(token.replacing("/", with: "\\/"))"}"#), says: #": {"error":"[redacted]"}"#),
        Lie(
            "an echo of the token in an address",
            .status(302, headers: [("Location", "ftp://host/s3cr3t%2Btoken%2f0123456789%3D%3D")]),
            says: "leads to", "[redacted]"),
        Lie(
            "an echo of the token in base64",
            .text("auth=" + Data("x\(token)".utf8).base64EncodedString(), status: 403), says: "[redacted]"),
    ]

    @Test(arguments: lies) func theDatabaseIsTheSame(lie: Lie) async throws {
        let handler: LoopbackHTTPServer.Handler = { request in
            request.path == "/good" ? .gzippedJSON(#"{"data":\#(usersJSON(1...3))}"#) : lie.response
        }
        let folder = try TemporaryDirectory()
        try await LoopbackHTTPServer.serving(handler) { server in
            let file = folder.url.appending(path: "users.sqlite").path
            let world = try await SourceWorld { try await SQLiteStore(exactly: $0, at: .file(file)) }
            let client = HTTPClient(limits: lie.limits, retry: RetryPolicy(maxAttempts: 2, baseDelay: .milliseconds(1)))
            let good = try #require(URL(string: server.baseURL + "/good"))
            let bad = try #require(URL(string: server.baseURL + "/bad"))
            try await world.sync(HTTPJSONSource(good), StoreSyncOptions(keyPath: "data"))
            let before = try await world.digest()
            var source = HTTPJSONSource(bad, client: client) { ["Authorization": "Bearer \(Self.token)"] }
            source.api.format = lie.format
            var said = ""
            do {
                let keyPath = lie.format == .array ? "data" : ""
                let result = try await world.sync(source, StoreSyncOptions(keyPath: keyPath))
                #expect(!lie.isError)
                said = result.warnings.joined(separator: "\n")
            } catch {
                #expect(lie.isError)
                said = String(reflecting: error)
                #expect(said.hasPrefix(server.baseURL + "/bad: "), "\(said)")
            }
            for part in lie.said { #expect(said.contains(part) || part.isEmpty, "\(said)") }
            for secret in ["s3cr3t", "0123456789"] { #expect(!said.contains(secret), "\(said)") }
            #expect(try await world.digest() == before)
            #expect(try await world.users().count == 3)
        }
    }

    /// A server that calls its JSON a web page is believed about the JSON.
    @Test func jsonThatCallsItselfHTMLIsRead() async throws {
        try await LoopbackHTTPServer.serving({ _ in .text(" " + usersJSON(1...3), type: "text/html") }) { server in
            let world = try await SourceWorld()
            try await world.sync(HTTPJSONSource(try #require(URL(string: server.baseURL + "/"))))
            #expect(try await world.users().count == 3)
        }
    }
}
