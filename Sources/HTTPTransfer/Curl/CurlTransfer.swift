#if os(Linux)
import COneWayCurl
import Foundation
import OneWaySynchronizer
import SyncBase

/// A running libcurl request. The first end counts: the last byte, an error or a cancel.
final class CurlTransfer: Sendable {
    /// The head of a response.
    struct Head: Sendable {
        var status: Int
        var headers: HTTPHeaders
        /// Whether libcurl or the decompressor detects a truncated body.
        var isFramed: Bool
    }

    private struct State {
        var status = 0
        var isHTTP1 = true
        var fields: [(name: String, value: String)] = []
        /// Bytes that have arrived but are not read yet.
        var unread: [UInt8] = []
        var receivedByteCount = 0
        /// The size of the fields after the body.
        var trailerByteCount = 0
        var isPaused = false
        var head: Head?
        var headTakers = Waiters<Head>()
        var takers = Waiters<[UInt8]?>()
        var end: Result<Void, any Error>?
        var isCancelled = false
        /// What is wrong with a line of the head; nil if nothing is.
        var headProblem: String?
        /// An address to which libcurl did not connect, because it is not allowed.
        var refusedAddress: String?

        /// The head, or why there is none; nil if it has not arrived.
        var headResult: Result<Head, any Error>? {
            if let head, !isCancelled { return .success(head) }
            return end?.flatMap { .failure(HTTPError.Problem.unreachable("no reply", isLasting: false)) }
        }

        /// Takes the unread bytes, or returns the end of the body; nil if there is neither.
        mutating func nextPiece() -> Result<[UInt8]?, any Error>? {
            if unread.isEmpty || isCancelled { return end?.map { nil } }
            defer { unread = [] }
            return .success(unread)
        }

        /// The head that a line completes; nil if it completes none.
        ///
        /// - Parameter ownEncodings: See ``HTTPRequest/ownEncodings``. The head does not show them.
        mutating func head(after bytes: UnsafeRawBufferPointer, ownEncodings: Set<String>) -> Head? {
            let line = CurlTransfer.trimmed(bytes[...])
            if bytes.first == UInt8(ascii: " ") || bytes.first == UInt8(ascii: "\t") {
                // A line that begins with a blank continues the field before it (RFC 9112, section
                // 5.2).
                guard let last = fields.indices.last else {
                    headProblem = "the first line of the head after the status begins with a blank"
                    return nil
                }
                if !line.isEmpty { fields[last].1 += " " + String(decoding: line, as: UTF8.self) }
            } else if line.starts(with: "HTTP/".utf8), fields.isEmpty || status < 200 {
                let text = String(decoding: line, as: UTF8.self)
                isHTTP1 = text.hasPrefix("HTTP/1")
                status = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
                fields = []
            } else if line.isEmpty {
                // A 1xx response is followed by the final one.
                guard status >= 200 else {
                    fields = []
                    return nil
                }
                var headers = HTTPHeaders(fields)
                if let encoding = headers.contentEncoding, ownEncodings.contains(encoding.lowercased()) {
                    headers["Content-Encoding"] = nil
                }
                // libcurl ignores a length beyond 64 bits, and reads until the connection closes.
                let hasLength = headers["Content-Length"] != nil && !headers.hasUnusableLength
                let hasEnd = !isHTTP1 || hasLength || headers["Transfer-Encoding"] != nil
                let isFramed = headers.contentEncoding.map { BodyDecompressor.supports($0) } ?? hasEnd
                return Head(status: status, headers: headers, isFramed: isFramed)
            } else if let colon = line.firstIndex(of: UInt8(ascii: ":")) {
                let value = CurlTransfer.trimmed(line[(colon + 1)...])
                fields.append((String(decoding: line[..<colon], as: UTF8.self), String(decoding: value, as: UTF8.self)))
            } else {
                headProblem = "a line of the head has no colon"
            }
            return nil
        }
    }

    /// The handle while libcurl performs the transfer.
    ///
    /// Unchecked, because only the engine's thread uses it.
    private final class Place: @unchecked Sendable {
        var handle: CurlHandle?
    }

    /// The number of unread bytes at which libcurl pauses.
    private static let unreadByteCount = 1 << 20
    /// The maximum size of the fields after the body, like that of a head in libcurl.
    private static let maximumTrailerByteCount = 300 << 10

    let request: HTTPRequest
    private let engine: CurlEngine
    /// Whether a connection to an address may be opened; nil if any may.
    private let allows: (@Sendable (IPAddress) -> Bool)?
    private let place = Place()
    private let state = Locked(State())

    init(_ request: HTTPRequest, engine: CurlEngine, allows: (@Sendable (IPAddress) -> Bool)?) {
        self.request = request
        self.engine = engine
        self.allows = allows
    }

    // MARK: The reader

    /// Waits for the head.
    func head() async throws -> Head {
        try await withTaskCancellationHandler {
            try await state.wait(in: \.headTakers, isCancellable: false) { $0.headResult }
        } onCancel: {
            cancel()
        }
    }

    /// The next bytes of the body; nil at its end.
    func next() async throws -> [UInt8]? {
        let bytes = try await withTaskCancellationHandler {
            try await state.wait(in: \.takers, isCancellable: false) { $0.nextPiece() }
        } onCancel: {
            cancel()
        }
        let mustResume = state.withLock { state in
            defer { state.isPaused = false }
            return state.isPaused
        }
        if mustResume { engine.send(.resume(self)) }
        return bytes
    }

    /// Ends the transfer, unless it has already ended.
    func cancel() {
        let isFirst = state.withLock { state in
            guard state.end == nil else { return false }
            state.isCancelled = true
            return true
        }
        guard isFirst else { return }
        finish(.failure(CancellationError()))
        engine.send(.cancel(self))
    }

    func finish(_ end: Result<Void, any Error>) {
        state.withLock { if $0.end == nil { $0.end = end } }
        deliver()
    }

    /// Delivers what has arrived to the waiting reader, all at once: libcurl's pieces are small,
    /// and waking a task costs more than most of them.
    func deliver() {
        let (headTaker, head, taker, piece) = state.withLock { state in
            let head = state.headTakers.isEmpty ? nil : state.headResult
            let piece = state.takers.isEmpty ? nil : state.nextPiece()
            return (
                head == nil ? nil : state.headTakers.removeFirst(), head,
                piece == nil ? nil : state.takers.removeFirst(), piece
            )
        }
        if let head { headTaker?.resume(with: head) }
        if let piece { taker?.resume(with: piece) }
    }

    // MARK: The engine's thread

    /// Prepares a handle for the transfer, and keeps it.
    ///
    /// - Parameter find: Returns the handle; nil if there is no memory for one.
    /// - Returns: The pointer of the handle; nil if the transfer has already ended.
    func begin(by find: () -> CurlHandle?) -> UnsafeMutableRawPointer? {
        guard state.withLock({ $0.end == nil }) else { return nil }
        guard let handle = find() else {
            finish(.failure(HTTPError.Problem.unreachable("libcurl has no memory", isLasting: false)))
            return nil
        }
        let context = Unmanaged.passUnretained(self).toOpaque()
        handle.prepare(request, context: context)
        // After the proxy, which it excludes.
        if allows != nil { handle.checkAddresses(context: context) }
        place.handle = handle
        return handle.pointer
    }

    /// Gives the handle away; nil if there is none.
    func takeHandle() -> CurlHandle? {
        place.handle.take()
    }

    /// Lets libcurl continue after a pause.
    func resumeHandle() {
        if let handle = place.handle { owc_easy_resume(handle.pointer) }
    }

    /// Decides whether libcurl may connect to an address.
    ///
    /// - Parameter address: An address; nil if it is not one of the Internet Protocol.
    func mayConnect(to address: IPAddress?) -> Bool {
        if let address, let allows, allows(address) { return true }
        state.withLock { $0.refusedAddress = address.map { "\($0)" } ?? "a local socket" }
        return false
    }

    /// Processes a line of the head, or one after the body.
    ///
    /// - Returns: Whether the transfer can continue. After a change of protocol, which is never
    ///   requested, no other response follows. A head that cannot be read is refused.
    func receiveHeader(_ line: UnsafeRawBufferPointer) -> Bool {
        state.withLock { state in
            guard state.head == nil else {
                // Fields after a chunked body, the trailers, are not part of the head, and are not
                // kept (RFC 9112, section 7.1.2).
                state.trailerByteCount += line.count
                return state.trailerByteCount <= Self.maximumTrailerByteCount
            }
            state.head = state.head(after: line, ownEncodings: request.ownEncodings)
            return state.status != 101 && state.headProblem == nil
        }
    }

    /// The line without blanks and line ends around it.
    private static func trimmed(_ line: Slice<UnsafeRawBufferPointer>) -> Slice<UnsafeRawBufferPointer> {
        func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
        let line = line.drop(while: isBlank)
        return line[..<(line.lastIndex { !isBlank($0) }.map { $0 + 1 } ?? line.startIndex)]
    }

    /// Adds bytes of the body.
    ///
    /// - Returns: Whether the bytes were added; if not, libcurl pauses.
    func receiveBody(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        state.withLock { state in
            guard state.unread.count < Self.unreadByteCount else {
                state.isPaused = true
                return false
            }
            state.receivedByteCount += bytes.count
            state.unread.append(contentsOf: bytes)
            return true
        }
    }

    /// Ends the transfer with libcurl's result.
    func complete(_ code: Int32) {
        let (hasHead, received, trailerByteCount) = state.withLock { state in
            (state.head != nil, state.receivedByteCount, state.trailerByteCount)
        }
        guard code != OWC_OK.code else { return finish(.success(())) }
        // libcurl reports this as a failure to write.
        if trailerByteCount > Self.maximumTrailerByteCount {
            let text = "the fields after the body are longer than \(Self.maximumTrailerByteCount) bytes"
            return finish(.failure(HTTPError.Problem.malformed(text)))
        }
        if let problem = state.withLock(\.headProblem) {
            return finish(.failure(HTTPError.Problem.malformed(problem)))
        }
        if !hasHead, let refused = state.withLock(\.refusedAddress) {
            return finish(.failure(HTTPError.Problem.forbiddenDestination("\(refused), which is not a public address")))
        }
        let expected = state.withLock { state in
            state.head?.headers["Content-Length"].flatMap { Int($0) }
        }
        finish(.failure(problem(code, hasHead ? (received, expected) : nil)))
    }

    private func problem(_ code: Int32, _ body: (received: Int, expected: Int?)?) -> HTTPError.Problem {
        let text = place.handle.flatMap { $0.error.pointee == 0 ? nil : String(cString: $0.error) }
        let detail = PrintableText.line(text ?? String(cString: owc_error_text(code)), limit: 160)
        // How a server refuses the client's certificate, or reports that one is missing; with TLS
        // 1.3 after the handshake (RFC 8446, section 6.2).
        let isAlert = detail.contains(" alert ") && !detail.contains("internal error")
        switch code {
        case OWC_URL_MALFORMAT.code:
            return .unreachable(
                "the address cannot be requested; check the name of its host (\(detail))", isLasting: true)
        case OWC_COULDNT_RESOLVE_HOST.code, OWC_COULDNT_RESOLVE_PROXY.code:
            return .unreachable("no such host", isLasting: false)
        case OWC_COULDNT_CONNECT.code: return .unreachable("cannot connect", isLasting: false)
        case OWC_OPERATION_TIMEDOUT.code: return .timedOut
        case OWC_SSL_CERTPROBLEM.code, OWC_PEER_FAILED_VERIFICATION.code, OWC_SSL_CACERT_BADFILE.code,
            OWC_SSL_PINNEDPUBKEYNOTMATCH.code:
            return .unreachable("no secure connection: \(detail)", isLasting: true)
        case OWC_SSL_CONNECT_ERROR.code:
            return .unreachable("no secure connection: \(detail)", isLasting: isAlert)
        case OWC_OUT_OF_MEMORY.code where body == nil:
            // Older versions report this for a long field.
            return .malformed("a field of the head is too long (\(detail))")
        case OWC_WRITE_ERROR.code:
            return .malformed("status 101, a change of the protocol that the request did not ask for")
        case OWC_TOO_LARGE_HEAD.code, OWC_WEIRD_REPLY.code, OWC_UNSUPPORTED_PROTOCOL.code:
            return .malformed(detail)
        case OWC_GOT_NOTHING.code:
            return .unreachable("no usable reply (the connection closed without one)", isLasting: false)
        case OWC_PARTIAL_FILE.code, OWC_RECV_ERROR.code, OWC_SEND_ERROR.code, OWC_HTTP2.code, OWC_HTTP2_STREAM.code:
            guard let body else {
                if isAlert { return .unreachable("no secure connection: \(detail)", isLasting: true) }
                // Older versions report a large head as a receive error.
                return detail.contains("Too large response headers")
                    ? .malformed(detail) : .unreachable(detail, isLasting: false)
            }
            return .cutShort(received: body.received, expected: body.expected)
        default:
            return .unreachable("no usable reply (\(detail))", isLasting: false)
        }
    }
}

extension owc_code {
    fileprivate var code: Int32 { Int32(bitPattern: rawValue) }
}
#endif
