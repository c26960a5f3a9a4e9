/// A response of a ``LoopbackHTTPServer``: correct, or incorrect in a way that servers can be.
package struct LoopbackResponse: Sendable {
    /// A closure that writes a body or raw bytes on the connection's thread; it can block.
    package typealias Writing = @Sendable (LoopbackBodyWriter) throws -> Void

    enum Kind: Sendable {
        /// A status, header fields and a body with its `Content-Length`.
        case whole(status: Int, headers: [(String, String)], body: [UInt8])
        /// A status, header fields and a body in pieces. A declared length may differ from the real
        /// one; without a length, the body is chunked.
        case streamed(status: Int, headers: [(String, String)], declaredByteCount: Int?, writing: Writing)
        /// Bytes without a status line, after which the connection is closed.
        case raw(Writing)
    }

    let kind: Kind

    // MARK: Correct responses

    /// Returns a response with a body and its correct `Content-Length`.
    package static func bytes(
        _ body: [UInt8], type: String = "application/octet-stream", status: Int = 200, headers: [(String, String)] = []
    ) -> LoopbackResponse {
        LoopbackResponse(kind: .whole(status: status, headers: [("Content-Type", type)] + headers, body: body))
    }

    /// Returns a response with a text as UTF-8.
    package static func text(
        _ body: String, type: String = "text/plain; charset=utf-8", status: Int = 200, headers: [(String, String)] = []
    ) -> LoopbackResponse {
        .bytes(Array(body.utf8), type: type, status: status, headers: headers)
    }

    /// Returns a response with a JSON text.
    package static func json(_ body: String, headers: [(String, String)] = []) -> LoopbackResponse {
        .text(body, type: "application/json", headers: headers)
    }

    /// Returns a response with a JSON text in gzip format.
    ///
    /// - Parameters:
    ///   - body: The JSON text.
    ///   - headers: Additional header fields.
    ///   - byteCount: The number of its bytes to declare and send; nil, the default, for all.
    package static func gzippedJSON(
        _ body: String, headers: [(String, String)] = [], byteCount: Int? = nil
    ) -> LoopbackResponse {
        let bytes = LoopbackGzip.wrapped(Array(body.utf8))
        return .bytes(
            Array(bytes.prefix(byteCount ?? bytes.count)), type: "application/json",
            headers: [("Content-Encoding", "gzip")] + headers)
    }

    /// Returns a response with a status, header fields and an empty body.
    ///
    ///     .status(429, headers: [("Retry-After", "3")])
    package static func status(_ status: Int, headers: [(String, String)] = []) -> LoopbackResponse {
        LoopbackResponse(kind: .whole(status: status, headers: headers, body: []))
    }

    /// Returns a response whose body is written in pieces, chunked or with a declared length.
    ///
    /// With ``LoopbackBodyWriter/wait(at:)``, a test controls when a piece is sent. If `writing`
    /// throws, or does not write exactly `byteCount` bytes, the connection is closed at that point,
    /// and the client receives a truncated body.
    package static func stream(
        status: Int = 200, headers: [(String, String)] = [], byteCount: Int? = nil, _ writing: @escaping Writing
    ) -> LoopbackResponse {
        LoopbackResponse(
            kind: .streamed(status: status, headers: headers, declaredByteCount: byteCount, writing: writing))
    }

    // MARK: Incorrect responses

    /// Returns a response that sends `body` instead of the declared `byteCount` bytes, and then
    /// closes.
    package static func cutShort(_ body: [UInt8], promising byteCount: Int) -> LoopbackResponse {
        .stream(byteCount: byteCount) { try $0.write(body) }
    }

    /// Returns a response that closes the connection before the last chunk of a chunked body.
    package static func cutShortChunked(_ body: [UInt8]) -> LoopbackResponse {
        .stream { writer in
            try writer.write(body)
            throw LoopbackInterruption.disconnected
        }
    }

    /// Returns a response with an endless chunked body, until the client disconnects or the server
    /// stops.
    ///
    /// One piece is sent per millisecond, at the pace of a network. Without a pause, a loopback
    /// connection always has more data. Clients that read until no data is left would then never
    /// notice their cancellation.
    package static func endless(
        status: Int = 200, of piece: [UInt8] = Array(repeating: 0x2E, count: 4_096)
    ) -> LoopbackResponse {
        .stream(status: status) { writer in
            while true {
                try writer.write(piece)
                try writer.pause(milliseconds: 1)
            }
        }
    }

    /// Returns a response of arbitrary bytes, which need not be HTTP; the connection is then
    /// closed.
    package static func garbage(_ bytes: [UInt8]) -> LoopbackResponse {
        LoopbackResponse(kind: .raw { try $0.write(bytes) })
    }

    /// A response that closes the connection without sending anything.
    package static let closing = LoopbackResponse(kind: .raw { _ in })

    /// A response that sends nothing until the client disconnects or the server stops.
    package static let hanging = LoopbackResponse(kind: .raw { try $0.hang() })
}
