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
        var isPaused = false
        var taker: CheckedContinuation<[UInt8]?, any Error>?
        var end: Result<Void, any Error>?
        var isCancelled = false
        /// An address to which libcurl did not connect, because it is not allowed.
        var refusedAddress: String?

        /// The head that a line without surrounding blanks completes; nil if it completes none.
        mutating func head(after line: Slice<UnsafeRawBufferPointer>) -> Head? {
            if line.starts(with: "HTTP/".utf8), fields.isEmpty || status < 200 {
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
                let headers = HTTPHeaders(fields)
                let hasEnd = !isHTTP1 || headers["Content-Length"] != nil || headers["Transfer-Encoding"] != nil
                let isFramed = headers.contentEncoding.map { BodyDecompressor.supports($0) } ?? hasEnd
                return Head(status: status, headers: headers, isFramed: isFramed)
            } else if let colon = line.firstIndex(of: UInt8(ascii: ":")) {
                let value = CurlTransfer.trimmed(line[(colon + 1)...])
                fields.append((String(decoding: line[..<colon], as: UTF8.self), String(decoding: value, as: UTF8.self)))
            }
            return nil
        }
    }

    /// Memory that libcurl reads and writes while the handle exists.
    ///
    /// Unchecked, because only the engine's thread uses it.
    private final class Buffers: @unchecked Sendable {
        let error = UnsafeMutablePointer<CChar>.allocate(capacity: 256)
        var headers: UnsafeMutableRawPointer?

        init() { error.initialize(repeating: 0, count: 256) }

        deinit {
            error.deallocate()
            if let headers { owc_list_free(headers) }
        }
    }

    /// The number of unread bytes at which libcurl pauses.
    private static let unreadByteCount = 1 << 20

    let head = Promise<Head>()
    private let request: HTTPRequest
    private let options: HTTPClient.ConnectionOptions
    private let engine: CurlEngine
    /// Whether a connection to an address may be opened; nil if any may.
    private let allows: (@Sendable (IPAddress) -> Bool)?
    private let buffers = Buffers()
    private let state = Locked(State())

    init(
        _ request: HTTPRequest, _ options: HTTPClient.ConnectionOptions, engine: CurlEngine,
        allows: (@Sendable (IPAddress) -> Bool)?
    ) {
        self.request = request
        self.options = options
        self.engine = engine
        self.allows = allows
    }

    // MARK: The reader

    /// The next bytes of the body; nil at its end.
    func next() async throws -> [UInt8]? {
        let bytes = try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (waiter: CheckedContinuation<[UInt8]?, any Error>) in
                let found = state.withLock { state -> Result<[UInt8]?, any Error>? in
                    if !state.unread.isEmpty, !state.isCancelled {
                        defer { state.unread = [] }
                        return .success(state.unread)
                    }
                    if let end = state.end { return end.map { nil } }
                    state.taker = waiter
                    return nil
                }
                if let found { waiter.resume(with: found) }
            }
        } onCancel: {
            cancel()
        }
        let mustResume = state.withLock { state in
            defer { state.isPaused = false }
            return state.isPaused
        }
        if mustResume { engine.resume(self) }
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
        engine.cancel(self)
    }

    /// Records that the handle is gone.
    func wasRemoved() {
        finish(.failure(CancellationError()))
    }

    private func finish(_ end: Result<Void, any Error>) {
        let taker = state.withLock { state -> CheckedContinuation<[UInt8]?, any Error>? in
            guard state.end == nil else { return nil }
            state.end = end
            defer { state.taker = nil }
            return state.taker
        }
        head.settle(end.flatMap { .failure(HTTPError.Problem.unreachable("no reply", isLasting: false)) })
        taker?.resume(with: end.map { nil })
    }

    // MARK: The engine's thread

    /// Creates the handle; nil if the transfer has already ended.
    func makeHandle() -> UnsafeMutableRawPointer? {
        guard state.withLock({ $0.end == nil }) else { return nil }
        for (name, value) in request.headers.fields {
            // libcurl expects a field without a value as a name with a semicolon.
            buffers.headers = owc_list_append(buffers.headers, value.isEmpty ? "\(name);" : "\(name): \(value)")
        }
        // The fields that libcurl would add to a body, and one that some servers require.
        let encodings = "Accept-Encoding: \(BodyDecompressor.acceptedEncodings)"
        for line in ["Expect:", "Content-Type:", "User-Agent: OneWaySynchronizer", encodings]
        where request.headers[String(line.prefix { $0 != ":" })] == nil {
            buffers.headers = owc_list_append(buffers.headers, line)
        }
        let context = Unmanaged.passUnretained(self).toOpaque()
        func make(_ body: UnsafePointer<CChar>?, _ count: Int) -> UnsafeMutableRawPointer? {
            owc_easy_new(
                request.url.absoluteString, request.method, body, count, buffers.headers, buffers.error, takeHeader,
                takeBody, context)
        }
        let handle: UnsafeMutableRawPointer?
        if let body = request.body {
            // An empty body is still a body.
            handle = (body.isEmpty ? [0] : body).withUnsafeBytes { bytes in
                make(bytes.bindMemory(to: CChar.self).baseAddress, body.count)
            }
        } else {
            handle = make(nil, 0)
        }
        guard let handle else {
            finish(.failure(HTTPError.Problem.unreachable("libcurl has no memory", isLasting: false)))
            return nil
        }
        owc_easy_connect_by(
            handle, options.authorities?.path, options.certificate?.path, options.privateKey?.path,
            options.privateKeyPassword, options.proxy?.absoluteString)
        // After the proxy, which it excludes.
        if allows != nil { owc_easy_check_addresses(handle, openSocket, context) }
        return handle
    }

    /// Decides whether libcurl may connect to an address.
    ///
    /// - Parameter address: An address; nil if it is not one of the Internet Protocol.
    fileprivate func mayConnect(to address: IPAddress?) -> Bool {
        guard let allows else { return true }
        if let address, allows(address) { return true }
        state.withLock { $0.refusedAddress = address.map { "\($0)" } ?? "a local socket" }
        return false
    }

    /// Processes a line of the head.
    ///
    /// - Returns: Whether the head can continue. After a change of protocol, which is never
    ///   requested, no other response follows.
    fileprivate func receiveHeader(_ line: UnsafeRawBufferPointer) -> Bool {
        let line = Self.trimmed(line[...])
        let (found, canContinue) = state.withLock { state in (state.head(after: line), state.status != 101) }
        if let found { head.settle(.success(found)) }
        return canContinue
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
    fileprivate func receiveBody(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
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

    /// Delivers the unread bytes to the waiting reader: all at once, because libcurl's pieces are
    /// small.
    func deliver() {
        let (taker, bytes) = state.withLock { state -> (CheckedContinuation<[UInt8]?, any Error>?, [UInt8]) in
            guard let taker = state.taker, !state.unread.isEmpty else { return (nil, []) }
            defer { (state.taker, state.unread) = (nil, []) }
            return (taker, state.unread)
        }
        taker?.resume(returning: bytes)
    }

    /// Ends the transfer with libcurl's result.
    func complete(_ code: Int32) {
        let (hasHead, received) = state.withLock { state in
            (state.status >= 200 && head.result != nil, state.receivedByteCount)
        }
        guard code != OWC_OK.code else { return finish(.success(())) }
        if !hasHead, let refused = state.withLock(\.refusedAddress) {
            return finish(.failure(HTTPError.Problem.forbiddenDestination("\(refused), which is not a public address")))
        }
        let expected = state.withLock { state in
            HTTPHeaders(state.fields)["Content-Length"].flatMap { Int($0) }
        }
        finish(.failure(problem(code, hasHead ? (received, expected) : nil)))
    }

    private func problem(_ code: Int32, _ body: (received: Int, expected: Int?)?) -> HTTPError.Problem {
        let detail = PrintableText.line(
            buffers.error.pointee == 0 ? String(cString: owc_error_text(code)) : String(cString: buffers.error),
            limit: 160)
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

/// Called by libcurl with a line of a head.
private func takeHeader(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let bytes, let context else { return 0 }
    let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
    return Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue().receiveHeader(line) ? size * count : 0
}

/// Called by libcurl with bytes of a body.
private func takeBody(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let bytes, let context else { return 0 }
    let piece = UnsafeRawBufferPointer(start: bytes, count: size * count).assumingMemoryBound(to: UInt8.self)
    let isTaken = Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue().receiveBody(piece)
    return isTaken ? size * count : Int(OWC_PAUSE.rawValue)
}

/// Called by libcurl to open a socket.
private func openSocket(_ context: UnsafeMutableRawPointer?, _ purpose: Int32, _ address: UnsafeMutableRawPointer?)
    -> Int32
{
    guard let context, let address else { return OWC_NO_SOCKET }
    var count = 0
    let bytes = UnsafeBufferPointer(start: owc_address_bytes(address, &count), count: count)
    let transfer = Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
    return transfer.mayConnect(to: IPAddress(bytes: bytes)) ? owc_address_socket(address) : OWC_NO_SOCKET
}

extension owc_code {
    fileprivate var code: Int32 { Int32(bitPattern: rawValue) }
}
#endif
