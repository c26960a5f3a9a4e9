/// A connection, from its first request to its close, on a thread of its own.
final class Connection: Sendable {
    private let socket: Descriptor
    private let stopSignal: LoopbackGate
    private let limits: LoopbackHTTPServer.Limits

    init(socket: Descriptor, stopSignal: LoopbackGate, limits: LoopbackHTTPServer.Limits) {
        self.socket = socket
        self.stopSignal = stopSignal
        self.limits = limits
    }

    /// Answers requests until the connection ends.
    ///
    /// It ends when the client closes it or asks to close it, a reply cannot be completed, or the
    /// server stops.
    func run(_ handler: LoopbackHTTPServer.Handler) {
        var unread: [UInt8] = []
        do {
            while let request = try nextRequest(&unread) {
                guard try reply(handler(request), to: request) else { return }
            }
        } catch let refusal as Refusal {
            let head = Self.head(status: refusal.status, headers: [("Content-Length", "0"), ("Connection", "close")])
            try? send(head)
        } catch {
            // An interruption ends the connection.
        }
    }

    // MARK: Reading

    /// An error that the server answers with a status before it closes the connection.
    private struct Refusal: Error {
        let status: Int
    }

    /// Reads one request; nil if the client closed the connection.
    private func nextRequest(_ unread: inout [UInt8]) throws -> LoopbackRequest? {
        guard let headEnd = try readHead(&unread) else { return nil }
        guard var request = LoopbackRequest(head: unread[..<headEnd]) else { throw Refusal(status: 400) }
        unread.removeFirst(headEnd + 4)
        // The users of this server send no chunked request bodies.
        if request.header("transfer-encoding") != nil { throw Refusal(status: 501) }
        if let text = request.header("content-length") {
            guard let count = Int(text), count >= 0 else { throw Refusal(status: 400) }
            guard count <= limits.bodyByteCount else { throw Refusal(status: 413) }
            while unread.count < count {
                guard try readMore(&unread) else { return nil }
            }
            request.body = Array(unread.prefix(count))
            unread.removeFirst(count)
        }
        return request
    }

    /// Reads up to the empty line after the header fields.
    ///
    /// - Returns: The number of bytes before the CR LF CR LF; nil if the client closed the
    ///   connection.
    private func readHead(_ unread: inout [UInt8]) throws -> Int? {
        var searched = 0
        while true {
            while searched + 4 <= unread.count {
                if unread[searched] == 0x0D, unread[searched + 1] == 0x0A,
                    unread[searched + 2] == 0x0D, unread[searched + 3] == 0x0A
                {
                    return searched
                }
                searched += 1
            }
            guard unread.count < limits.headByteCount else { throw Refusal(status: 431) }
            guard try readMore(&unread) else { return nil }
        }
    }

    /// Waits for more bytes; false if the client closed the connection.
    private func readMore(_ unread: inout [UInt8]) throws -> Bool {
        while true {
            guard Wait.until(readable: socket, stopSignal: stopSignal) == .ready else {
                throw LoopbackInterruption.stopped
            }
            switch socket.readNow(atMost: 16_384) {
            case .bytes(let bytes):
                unread += bytes
                return true
            case .end, .failed:
                return false
            case .nothing:
                continue
            }
        }
    }

    // MARK: Replying

    /// Sends a reply; false if the connection must be closed after it.
    private func reply(_ response: LoopbackResponse, to request: LoopbackRequest) throws -> Bool {
        let isHead = request.method == "HEAD"
        let isKept = request.header("connection")?.lowercased() != "close"
        let closing = isKept ? [] : [("Connection", "close")]
        switch response.kind {
        case .whole(let status, let headers, let body):
            let length = [("Content-Length", String(body.count))]
            let head = Self.head(status: status, headers: headers + length + closing)
            try send(isHead ? head : head + body)
            return isKept
        case .streamed(let status, let headers, let byteCount, let writing):
            let framing = byteCount.map { ("Content-Length", String($0)) } ?? ("Transfer-Encoding", "chunked")
            try send(Self.head(status: status, headers: headers + [framing] + closing))
            if isHead { return isKept }
            let writer = LoopbackBodyWriter(connection: self, isChunked: byteCount == nil)
            try writing(writer)
            guard let byteCount else {
                try send(Array("0\r\n\r\n".utf8))
                return isKept
            }
            return isKept && writer.byteCount == byteCount
        case .raw(let writing):
            try writing(LoopbackBodyWriter(connection: self, isChunked: false))
            return false
        }
    }

    /// Sends bytes, and returns when the system has accepted all of them.
    func send(_ bytes: [UInt8]) throws(LoopbackInterruption) {
        var rest = bytes[...]
        while !rest.isEmpty {
            guard let count = socket.sendNow(rest) else { throw .disconnected }
            rest = rest.dropFirst(count)
            if rest.isEmpty { return }
            if Wait.until(writable: socket, stopSignal: stopSignal) == .stopped { throw .stopped }
        }
    }

    /// Waits for a gate; without a gate, for the end of the connection or the server.
    func wait(at gate: LoopbackGate?) throws(LoopbackInterruption) {
        var watchesSocket = true
        while true {
            let watched = (gate.map { [$0.descriptor] } ?? []) + (watchesSocket ? [socket] : [])
            if Wait.until(anyReadable: watched, stopSignal: stopSignal) == .stopped { throw .stopped }
            if let gate, gate.take() { return }
            if watchesSocket, Wait.isReadable(socket) {
                if socket.peerHasClosed() { throw .disconnected }
                // An early request: it is read after this reply, and is not the end of the
                // connection.
                watchesSocket = false
            }
        }
    }

    /// Waits for a time, or until the server stops.
    func pause(milliseconds: Int32) throws(LoopbackInterruption) {
        if Wait.stops(stopSignal, withinMilliseconds: milliseconds) { throw .stopped }
    }

    /// Returns a status line and header fields, with the empty line that ends them.
    private static func head(status: Int, headers: [(String, String)]) -> [UInt8] {
        var text = "HTTP/1.1 \(status) \(reason(status))\r\n"
        for (name, value) in headers { text += "\(name): \(value)\r\n" }
        return Array((text + "\r\n").utf8)
    }

    private static func reason(_ status: Int) -> String {
        switch status {
        case 200: "OK"
        case 301: "Moved Permanently"
        case 302: "Found"
        case 304: "Not Modified"
        case 400: "Bad Request"
        case 404: "Not Found"
        case 413: "Content Too Large"
        case 429: "Too Many Requests"
        case 431: "Request Header Fields Too Large"
        case 500: "Internal Server Error"
        case 501: "Not Implemented"
        case 503: "Service Unavailable"
        default: "Status"
        }
    }
}
