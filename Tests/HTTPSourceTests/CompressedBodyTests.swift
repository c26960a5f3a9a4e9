// Sessions decompress in their own way, and do not tell how a body ended.
#if os(Linux)
import Foundation
import HTTPTransfer
import OneWayLoopbackServer
import OneWayTestLimits
import OneWayTestSupport
import Testing

/// Stores of objects hand out what was compressed before it came to them, whatever a request asks
/// for.
@Suite(.endsInTime) struct CompressedBodyTests {
    private let client = HTTPClient()

    private static let cutBody = Array(LoopbackGzip.wrapped([1, 2, 3]).dropLast(9))
    /// A mebibyte of zeros in zlib's format.
    private static let zeros: [UInt8] =
        [0x78, 0xDA, 0xED, 0xC1, 0x31, 1, 0, 0, 0, 0xC2, 0xA0, 0xF5, 0x4F, 0x6D, 8, 0x5F, 0xA0]
        + [UInt8](repeating: 0, count: 1016) + [0x3E, 3, 0, 0xF0, 0, 1]

    @Test(arguments: [
        ("gzip", LoopbackGzip.wrapped(Array("[]".utf8))), ("X-Gzip", LoopbackGzip.wrapped(Array("[]".utf8))),
        ("gzip", LoopbackGzip.wrapped(Array("[".utf8)) + LoopbackGzip.wrapped([]) + LoopbackGzip.wrapped([0x5D])),
        ("deflate", [120, 156, 139, 142, 5, 0, 1, 21, 0, 185]), ("deflate", [139, 142, 5, 0]),
        ("identity, gzip", LoopbackGzip.wrapped(Array("[]".utf8))),
    ])
    func aBodyThatIsCompressedAgainstItsRequestIsDecompressedToItsEnd(encoding: String, body: [UInt8]) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await LoopbackHTTPServer.serving({ request in
            let head = "HTTP/1.1 200 OK\r\nContent-Encoding: \(encoding)\r\nETag: \"1\"\r\n"
            let end = request.path == "/" ? "Content-Length: \(body.count)\r\n\r\n" : "Connection: close\r\n\r\n"
            return .garbage(Array((head + end).utf8) + body)
        }) { server in
            for path in ["/", "/open"] {
                let url = try #require(URL(string: server.baseURL + path))
                #expect(try await client.data(from: url) == Array("[]".utf8))
                let file = folder.appending(path: "file\(path.count)")
                #expect(try await client.download(from: url, to: file) == 2)
                #expect(try Data(contentsOf: file) == Data("[]".utf8))
            }
        }
    }

    private static let notCompressed = HTTPError.Problem.malformed("the body is not compressed as its head says")
    private static let notWhole: [([UInt8], HTTPError.Problem)] = [
        (cutBody, .cutShort(received: 17, expected: nil)),
        (LoopbackGzip.wrapped([1, 2]) + [0x1F, 0x8B], .cutShort(received: 27, expected: nil)),
        (Array(zeros.dropLast()), .cutShort(received: 1038, expected: nil)),
        (LoopbackGzip.wrapped([1, 2]) + [0], .malformed("bytes follow the end of the compressed body")),
        (LoopbackGzip.wrapped([1, 2]).dropLast() + [1], notCompressed),
        (Array("not gzip".utf8), notCompressed),
    ]

    @Test(arguments: notWhole)
    func aCompressedBodyThatIsNotWholeIsAnError(body: [UInt8], expected: HTTPError.Problem) async throws {
        try await LoopbackHTTPServer.serving({ _ in .bytes(body, headers: [("Content-Encoding", "gzip")]) }) { server in
            let url = try #require(URL(string: server.baseURL + "/"))
            let error = await #expect(throws: HTTPError.self) { try await client.data(from: url) }
            #expect(error?.problem == expected)
        }
    }

    @Test func aBodyThatBecomesLongWhenItIsDecompressedIsStoppedAtTheLimit() async throws {
        let body = Self.zeros
        try await LoopbackHTTPServer.serving({ _ in .bytes(body, headers: [("Content-Encoding", "deflate")]) }) {
            server in
            let url = try #require(URL(string: server.baseURL + "/"))
            #expect(try await client.data(from: url).count == 1 << 20)
            let error = await #expect(throws: HTTPError.self) { try await client.data(from: url, limit: 1 << 18) }
            #expect(error?.problem == .tooLarge(limit: 1 << 18))
        }
    }

    /// Ranges of a compressed body are ranges of other bytes.
    @Test func aCompressedDownloadIsNotContinued() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        let ranges = EventLog<String>()
        try await LoopbackHTTPServer.serving({ request in
            ranges.append(request.header("range") ?? "-")
            return .bytes(Self.cutBody, headers: [("Content-Encoding", "gzip"), ("ETag", "\"1\"")])
        }) { server in
            let url = try #require(URL(string: server.baseURL + "/"))
            let error = await #expect(throws: HTTPError.self) {
                try await client.download(from: url, to: folder.appending(path: "file"))
            }
            #expect(error?.problem == .cutShort(received: 17, expected: nil))
        }
        #expect(ranges.events == ["-"])
    }
}
#endif
