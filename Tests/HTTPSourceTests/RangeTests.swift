import Foundation
import HTTPTransfer
import OneWayLoopbackServer
import OneWayTestLimits
import Testing

/// Requests for a part of a body.
@Suite(.endsInTime) struct RangeTests {
    private static let body = Array("0123456789".utf8)

    /// Serves ranges of ten digits, as RFC 9110 says.
    private static func digits(_ request: LoopbackRequest) -> LoopbackResponse {
        guard let text = request.header("range")?.dropFirst("bytes=".count) else { return .bytes(body) }
        let ends = text.split(separator: "-").compactMap { Int($0) }
        guard let first = ends.first, first < body.count else {
            return .status(416, headers: [("Content-Range", "bytes */\(body.count)")])
        }
        let last = min(ends.dropFirst().first ?? .max, body.count - 1)
        return .bytes(
            Array(body[first...last]), status: 206,
            headers: [("Content-Range", "bytes \(first)-\(last)/\(body.count)")])
    }

    private func data(
        _ range: Range<Int>?, _ handler: @escaping LoopbackHTTPServer.Handler = digits,
        headers: HTTPHeaders = HTTPHeaders()
    ) async throws -> String {
        try await LoopbackHTTPServer.serving(handler) { server in
            let url = try #require(URL(string: server.baseURL + "/digits"))
            return String(
                decoding: try await HTTPClient().data(from: url, range: range, headers: headers), as: UTF8.self)
        }
    }

    static let ranges: [(Range<Int>?, String)] = [
        (nil, "0123456789"), (0..<1, "0"), (3..<7, "3456"), (7..<Int.max, "789"), (8..<20, "89"), (4..<4, ""),
    ]

    @Test(arguments: ranges) func aRangeIsThatPartOfTheBody(range: Range<Int>?, text: String) async throws {
        #expect(try await data(range) == text)
    }

    @Test(arguments: ranges) func aServerWithoutRangesSendsMoreThanIsReturned(range: Range<Int>?, text: String)
        async throws
    {
        #expect(try await data(range) { _ in .bytes(Self.body) } == text)
    }

    @Test(arguments: [true, false]) func aRangeBehindTheEndIsAnError(hasRanges: Bool) async throws {
        let error = try await #require(throws: HTTPError.self) {
            try await data(10..<11) { hasRanges ? Self.digits($0) : .bytes(Self.body) }
        }
        #expect(error.problem == .status(416, firstLine: "", retryAfter: nil))
        #expect(error.description.hasSuffix("status 416, because the body ends before the requested range"))
    }

    @Test(arguments: [
        "bytes 2-6/10", "bytes 3-8/10", "bytes 3-4/10", "bytes 3-6", "lines 3-6/10", "",
    ]) func anotherPartIsAnError(contentRange: String) async throws {
        let error = try await #require(throws: HTTPError.self) {
            try await data(3..<7) { _ in
                .bytes(Array("3456".utf8), status: 206, headers: [("Content-Range", contentRange)])
            }
        }
        #expect(error.problem == .malformed("the part of the body is not the requested one"))
    }

    @Test func aPartThatIsTooShortIsAnError() async throws {
        let error = try await #require(throws: HTTPError.self) {
            try await data(3..<7) { _ in
                .bytes(Array("34".utf8), status: 206, headers: [("Content-Range", "bytes 3-6/10")])
            }
        }
        #expect(error.problem == .cutShort(received: 2, expected: 4))
    }

    @Test func aFieldRangeOfTheCallerIsNotSent() async throws {
        let error = try await #require(throws: HTTPError.self) { try await data(nil, headers: ["Range": "bytes=0-1"]) }
        guard case .invalidRequest(let reason) = error.problem else { throw error }
        #expect(reason == "a field Range is not sent; the argument `range` of `data` requests a part of a body")
    }

    @Test func aRangeBeforeTheBodyIsAnError() async throws {
        let error = try await #require(throws: HTTPError.self) { try await data(-1..<2) }
        #expect(error.problem == .invalidRequest("the range begins before the body"))
    }
}
