import Foundation
import HTTPTransfer
import OneWayLoopbackServer
import OneWaySynchronizer
import OneWayTestLimits
import OneWayTestSupport
import Testing

/// Downloads that break off.
@Suite(.endsInTime) struct ResumptionTests {
    /// A reply to a request for the second half of a body of 100 bytes.
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var status = 206
        var headers: HTTPHeaders
        let decision: Resumption.Decision

        init(_ name: String, status: Int = 206, _ headers: HTTPHeaders, _ decision: Resumption.Decision) {
            testDescription = name
            self.status = status
            self.headers = headers
            self.decision = decision
        }
    }

    private static let url = URL(filePath: "/a")

    static let cases = [
        Case("the rest", ["ETag": "\"1\"", "Content-Range": "bytes 50-99/100"], .append),
        Case("a part of the rest", ["ETag": "\"1\"", "Content-Range": "Bytes 50-59/100"], .append),
        Case("the rest of a known size", ["ETag": "\"1\"", "Content-Range": "bytes 50-99/*"], .append),
        Case("the whole body", status: 200, ["ETag": "\"2\"", "Content-Length": "7"], .replace),
        Case("another version", ["ETag": "\"2\"", "Content-Range": "bytes 50-99/100"], .startOver),
        Case("a weak tag", ["ETag": "W/\"1\"", "Content-Range": "bytes 50-99/100"], .startOver),
        Case("no tag", ["Content-Range": "bytes 50-99/100"], .startOver),
        Case("another size", ["ETag": "\"1\"", "Content-Range": "bytes 50-119/120"], .startOver),
        Case("another beginning", ["ETag": "\"1\"", "Content-Range": "bytes 0-99/100"], .startOver),
        Case("a beginning that is alike", ["ETag": "\"1\"", "Content-Range": "bytes 500-599/600"], .startOver),
        Case("more than there is", ["ETag": "\"1\"", "Content-Range": "bytes 50-100/100"], .startOver),
        Case("nothing", ["ETag": "\"1\"", "Content-Range": "bytes 50-49/100"], .startOver),
        Case("another unit", ["ETag": "\"1\"", "Content-Range": "lines 50-99/100"], .startOver),
        Case("no numbers", ["ETag": "\"1\"", "Content-Range": "bytes -/"], .startOver),
        Case("no range", ["ETag": "\"1\""], .startOver),
        Case(
            "several ranges",
            ["ETag": "\"1\"", "Content-Range": "bytes 50-99/100", "Content-Type": "multipart/byteranges; boundary=x"],
            .startOver),
        Case("no such range", status: 416, ["ETag": "\"1\"", "Content-Range": "bytes */100"], .startOver),
        Case("no content", status: 204, ["ETag": "\"1\""], .startOver),
    ]

    @Test(arguments: cases) func onlyTheRestOfTheSameBodyIsAppended(_ test: Case) {
        var resumption = Resumption()
        #expect(resumption.headers == [:])
        #expect(
            resumption.take(status: 200, headers: ["ETag": "\"1\"", "Content-Length": "100"], from: Self.url)
                == .replace)
        resumption.receive(50)
        #expect(resumption.canGoOn)
        #expect(resumption.headers == ["Range": "bytes=50-", "If-Range": "\"1\""])
        #expect(resumption.take(status: test.status, headers: test.headers, from: Self.url) == test.decision)
        if test.decision == .append {
            resumption.receive(10)
            #expect(!resumption.isWhole)
            #expect(resumption.headers["Range"] == "bytes=60-")
            resumption.receive(40)
            #expect(resumption.isWhole)
            resumption.receive(1)
            #expect(!resumption.isWhole)
        }
        if test.decision != .append { #expect(resumption.headers == [:]) }
        #expect(resumption.canGoOn)
    }

    /// A redirect can lead to another body with an equal tag.
    @Test(
        arguments: [
            ("https://host/a?X-Amz-Date=2", .append), ("https://host/a?id=2", .startOver),
            ("https://host/b", .startOver),
        ] as [(String, Resumption.Decision)])
    func onlyTheRestFromTheSameAddressIsAppended(address: String, decision: Resumption.Decision) throws {
        let first = try #require(URL(string: "https://host/a?X-Amz-Date=1"))
        let second = try #require(URL(string: address))
        let rest: HTTPHeaders = ["ETag": "\"1\"", "Content-Range": "bytes 50-99/100"]
        var resumption = Resumption()
        _ = resumption.take(status: 200, headers: ["ETag": "\"1\"", "Content-Length": "100"], from: first)
        resumption.receive(50)
        #expect(resumption.take(status: 206, headers: rest, from: second) == decision)
        #expect((resumption.headers == [:]) == (decision == .startOver))
    }

    @Test func anEarlierDownloadIsContinuedOrStartsOver() {
        let tag = BodyTag(text: "\"1\"", address: ContentAddress.mark(of: Self.url))
        let resumption = Resumption(byteCount: 50, total: 100, tag: tag)
        #expect(resumption.headers == ["Range": "bytes=50-", "If-Range": "\"1\""])
        var continued = resumption
        #expect(
            continued.take(
                status: 206, headers: ["ETag": "\"1\"", "Content-Range": "bytes 50-99/100"], from: Self.url) == .append)
        var refused = resumption
        #expect(refused.take(status: 416, headers: ["Content-Range": "bytes */20"], from: Self.url) == .startOver)
        #expect(refused.canGoOn && refused.headers == [:])
        var replaced = resumption
        #expect(
            replaced.take(status: 200, headers: ["ETag": "\"2\"", "Content-Length": "7"], from: Self.url) == .replace)
        #expect(replaced.byteCount == 0 && replaced.total == 7)
    }

    @Test func anUnknownSizeIsLearnedFromTheContinuation() {
        var resumption = Resumption()
        _ = resumption.take(
            status: 200, headers: ["ETag": "\"1\"", "Content-Length": "7", "Transfer-Encoding": "chunked"],
            from: Self.url)
        resumption.receive(50)
        var unknown = resumption
        #expect(
            unknown.take(
                status: 206, headers: ["ETag": "\"1\"", "Content-Range": "bytes 50-59/*"], from: Self.url)
                == .startOver)
        #expect(
            resumption.take(
                status: 206, headers: ["ETag": "\"1\"", "Content-Range": "bytes 50-59/100"], from: Self.url) == .append)
        #expect(resumption.total == 100)
    }

    @Test func onlyAMebibyteBeyondTheFurthestByteIsProgress() async throws {
        let clock = ManualClock()
        let client = HTTPClient(retry: RetryPolicy(), clock: clock, random: { 0 })
        let retries = RequestRetries(by: client)
        let error = HTTPError(url: try #require(URL(string: "https://api.test/")), problem: .timedOut)
        // The number of bytes at each failure, and the number of failures since the last progress.
        // The third has half a mebibyte that was counted as no progress. Then the body starts over.
        for (byteCount, count) in [(1 << 20, 1), (3 << 19, 2), (2 << 20, 1), (2 << 20, 2), (3 << 20, 1)] {
            async let wait: Void = retries.wait(after: error, byteCount: byteCount)
            let delay = Duration.milliseconds(250 << (count - 1))
            try await clock.waitForPendingDelays([delay])
            clock.advance(by: delay)
            try await wait
        }
    }

    // MARK: Over sockets

    private static let content = Array((0..<100).map { UInt8($0) })

    /// The replies to requests for the rest, all of which lead to the whole body in the end.
    struct Rest: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let requestCount: Int
        let reply: @Sendable (_ start: Int) -> LoopbackResponse

        init(_ name: String, requests: Int, _ reply: @escaping @Sendable (_ start: Int) -> LoopbackResponse) {
            testDescription = name
            requestCount = requests
            self.reply = reply
        }

        static func part(_ range: Range<Int>, of total: Int = 100, tag: String = "\"1\"") -> LoopbackResponse {
            let place = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(total)"
            return .bytes(
                range.map { UInt8($0) }, status: 206, headers: [("ETag", tag), ("Content-Range", place)])
        }
    }

    static let rests = [
        Rest("the rest", requests: 2) { Rest.part($0..<100) },
        Rest("parts", requests: 4) { Rest.part($0..<min($0 + 20, 100)) },
        Rest("another version", requests: 3) { Rest.part($0..<100, tag: "\"2\"") },
        Rest("a longer body", requests: 3) { Rest.part($0..<120, of: 120) },
        Rest("no such range", requests: 3) { _ in .status(416, headers: [("Content-Range", "bytes */100")]) },
        Rest("more than it says", requests: 3) { start in
            .stream(status: 206, headers: [("ETag", "\"1\""), ("Content-Range", "bytes \(start)-99/100")]) {
                try $0.write([UInt8](repeating: 1, count: 80))
            }
        },
        Rest("less than it says", requests: 3) { start in
            .bytes(
                Array(content[start..<75]), status: 206,
                headers: [("ETag", "\"1\""), ("Content-Range", "bytes \(start)-99/100")])
        },
    ]

    @Test(arguments: rests) func aDownloadHasTheWholeOfOneBody(_ rest: Rest) async throws {
        let requests = EventLog<String>()
        let handler: LoopbackHTTPServer.Handler = { request in
            requests.append(request.header("range") ?? "-")
            if let range = request.header("range"), let start = Int(range.dropFirst(6).dropLast()) {
                return start == 75 ? Rest.part(75..<100) : rest.reply(start)
            }
            let isFirst = requests.events.count == 1
            return .stream(headers: [("ETag", "\"1\"")], byteCount: 100) { writer in
                try writer.write(isFirst ? Array(Self.content[..<50]) : Self.content)
            }
        }
        let folder = try TemporaryDirectory()
        try await LoopbackHTTPServer.serving(handler) { server in
            let url = try #require(URL(string: server.baseURL + "/"))
            let client = HTTPClient(retry: RetryPolicy(maxAttempts: 5, baseDelay: .zero))
            let file = folder.url.appending(path: "file")
            #expect(try await client.download(from: url, to: file) == 100)
            #expect(try Array(Data(contentsOf: file)) == Self.content)
            #expect(requests.events.count == rest.requestCount)
        }
    }

    /// Servers that never come to an end.
    @Test(arguments: [false, true]) func aDownloadThatBreaksOffAgainAndAgainEnds(hasRanges: Bool) async throws {
        let requests = EventLog<String>()
        let handler: LoopbackHTTPServer.Handler = { request in
            requests.append(request.header("range") ?? "-")
            if hasRanges, let range = request.header("range"), let start = Int(range.dropFirst(6).dropLast()) {
                return Rest.part(start..<(start + 1))
            }
            let count = requests.events.count.isMultiple(of: 2) ? 60 : 40
            return .stream(headers: [("ETag", "\"1\"")], byteCount: 100) { try $0.write(Array(Self.content[..<count])) }
        }
        let folder = try TemporaryDirectory()
        try await LoopbackHTTPServer.serving(handler) { server in
            let url = try #require(URL(string: server.baseURL + "/"))
            let client = HTTPClient(retry: RetryPolicy(maxAttempts: 5, baseDelay: .zero))
            let error = await #expect(throws: HTTPError.self) {
                try await client.download(from: url, to: folder.url.appending(path: "file"))
            }
            #expect(error?.problem == .cutShort(received: hasRanges ? 44 : 40, expected: 100))
            #expect(requests.events.count == 5)
        }
    }

    /// A redirect that leads to another body with an equal tag, while a download is interrupted.
    @Test func aDownloadHasNoBytesOfTwoAddresses() async throws {
        let requests = EventLog<String>()
        let other = Array(Self.content.reversed())
        let handler: LoopbackHTTPServer.Handler = { request in
            requests.append(request.path)
            let count = requests.events.count { $0 == "/x" }
            if request.path == "/x" { return .status(302, headers: [("Location", count == 1 ? "/a" : "/b")]) }
            if request.path == "/a" {
                return .stream(headers: [("ETag", "\"1\"")], byteCount: 100) { writer in
                    try writer.write(Array(Self.content[..<50]))
                }
            }
            guard request.header("range") != nil else { return .bytes(other, headers: [("ETag", "\"1\"")]) }
            return .bytes(
                Array(other[50...]), status: 206, headers: [("ETag", "\"1\""), ("Content-Range", "bytes 50-99/100")])
        }
        let folder = try TemporaryDirectory()
        try await LoopbackHTTPServer.serving(handler) { server in
            let url = try #require(URL(string: server.baseURL + "/x"))
            let client = HTTPClient(retry: RetryPolicy(maxAttempts: 5, baseDelay: .zero))
            let file = folder.url.appending(path: "file")
            let byteCount = try await client.download(from: url, to: file)
            let bytes = try Array(Data(contentsOf: file))
            #expect(byteCount == 100 && bytes == other)
            #expect(requests.events == ["/x", "/a", "/x", "/b", "/x", "/b"])
        }
    }

    /// Keeps what it receives.
    private final class Memory: DownloadSink {
        let bytes = Watched(Array("12345".utf8))

        func begin(_ resumption: Resumption) { bytes.update { $0.removeLast($0.count - resumption.byteCount) } }

        func write(_ piece: [UInt8], _ resumption: Resumption) { bytes.update { $0 += piece } }
    }

    /// Where the caller's next attempt would ask for the same continuation, the whole body is
    /// requested once instead.
    @Test(arguments: [1, 2]) func aPartThatHasNoContinuationIsReplacedOnce(refusalCount: Int) async throws {
        let server = ScriptedServer { _, index in
            index < refusalCount
                ? HTTPResponse(
                    status: 206, headers: ["ETag": "\"2\"", "Content-Range": "bytes 5-9/10"], bytes: Array("67890".utf8)
                )
                : HTTPResponse(status: 200, headers: ["ETag": "\"2\""], bytes: Array("abcde".utf8))
        }
        let (sink, url) = (Memory(), try #require(URL(string: "https://host/")))
        let tag = BodyTag(text: "\"1\"", address: ContentAddress.mark(of: url))
        let part = Resumption(byteCount: 5, total: 10, tag: tag)
        let client = HTTPClient(transport: server, retry: RetryPolicy(maxAttempts: 1))
        func download() async throws -> DownloadEnd {
            try await client.download(url, into: sink, resuming: part, headers: [:], isRepeated: true)
        }
        if refusalCount == 1 {
            _ = try await download()
        } else {
            await #expect(throws: HTTPError.self) { _ = try await download() }
        }
        #expect(server.requests.map { $0.headers["Range"] } == ["bytes=5-", nil])
        #expect(sink.bytes.value == Array((refusalCount == 1 ? "abcde" : "12345").utf8))
    }
}
