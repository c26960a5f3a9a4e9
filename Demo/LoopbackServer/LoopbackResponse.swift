/// What a ``LoopbackHTTPServer`` does about a request: an honest reply, or one of the ways in which servers misbehave.
package struct LoopbackResponse: Sendable {
    /// Writes a body, or raw bytes, on the connection's own thread; it may block there.
    package typealias Writing = @Sendable (LoopbackBodyWriter) throws -> Void

    enum Kind: Sendable {
        /// A status, header fields and a body that is framed by its `Content-Length`.
        case whole(status: Int, headers: [(String, String)], body: [UInt8])
        /// A status, header fields and a body written piece by piece. With a length that is declared but not kept, or
        /// without a length, which is a chunked body.
        case streamed(status: Int, headers: [(String, String)], declaredByteCount: Int?, writing: Writing)
        /// Bytes that are written as they are, without a status line; the connection closes after them.
        case raw(Writing)
    }

    let kind: Kind

    // MARK: Honest replies

    /// A body that is sent whole, with its true `Content-Length`.
    package static func bytes(
        _ body: [UInt8], type: String = "application/octet-stream", status: Int = 200, headers: [(String, String)] = []
    ) -> LoopbackResponse {
        LoopbackResponse(kind: .whole(status: status, headers: [("Content-Type", type)] + headers, body: body))
    }

    /// A text that is sent whole, as UTF-8.
    package static func text(
        _ body: String, type: String = "text/plain; charset=utf-8", status: Int = 200, headers: [(String, String)] = []
    ) -> LoopbackResponse {
        .bytes(Array(body.utf8), type: type, status: status, headers: headers)
    }

    /// A JSON text that is sent whole.
    package static func json(_ body: String, headers: [(String, String)] = []) -> LoopbackResponse {
        .text(body, type: "application/json", headers: headers)
    }

    /// A JSON text in gzip's format.
    ///
    /// - Parameter byteCount: How many bytes of it are sent, and promised; nil, the default, for all.
    package static func gzippedJSON(
        _ body: String, headers: [(String, String)] = [], byteCount: Int? = nil
    ) -> LoopbackResponse {
        let bytes = LoopbackGzip.wrapped(Array(body.utf8))
        return .bytes(
            Array(bytes.prefix(byteCount ?? bytes.count)), type: "application/json",
            headers: [("Content-Encoding", "gzip")] + headers)
    }

    /// A status with header fields and an empty body, such as `.status(429, headers: [("Retry-After", "3")])`.
    package static func status(_ status: Int, headers: [(String, String)] = []) -> LoopbackResponse {
        LoopbackResponse(kind: .whole(status: status, headers: headers, body: []))
    }

    /// A body that is written piece by piece: chunked, or with the length given.
    ///
    /// The writer's ``LoopbackBodyWriter/wait(at:)`` lets a test decide when a piece goes out. When `writing` throws, or
    /// writes another number of bytes than `byteCount` says, the connection is closed there: the client sees a body
    /// cut short.
    package static func stream(
        status: Int = 200, headers: [(String, String)] = [], byteCount: Int? = nil, _ writing: @escaping Writing
    ) -> LoopbackResponse {
        LoopbackResponse(
            kind: .streamed(status: status, headers: headers, declaredByteCount: byteCount, writing: writing))
    }

    // MARK: Misbehaviour

    /// Promises `byteCount` bytes by `Content-Length`, sends `body`, and closes the connection.
    package static func cutShort(_ body: [UInt8], promising byteCount: Int) -> LoopbackResponse {
        .stream(byteCount: byteCount) { try $0.write(body) }
    }

    /// Sends the first chunks of a chunked body and closes the connection before the last one.
    package static func cutShortChunked(_ body: [UInt8]) -> LoopbackResponse {
        .stream { writer in
            try writer.write(body)
            throw LoopbackInterruption.disconnected
        }
    }

    /// Sends a chunked body that never ends, until the client goes away or the server stops: a piece each millisecond,
    /// which is a network's pace. Without a pause a loopback connection always has more to read, and clients that read
    /// until there is nothing more never come to see that they are no longer wanted.
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

    /// Sends bytes that need not be HTTP at all, and closes the connection.
    package static func garbage(_ bytes: [UInt8]) -> LoopbackResponse {
        LoopbackResponse(kind: .raw { try $0.write(bytes) })
    }

    /// Closes the connection without a word.
    package static let closing = LoopbackResponse(kind: .raw { _ in })

    /// Says nothing until the client goes away or the server stops.
    package static let hanging = LoopbackResponse(kind: .raw { try $0.hang() })
}
