/// Why a writer or a wait on a connection ended early.
package enum LoopbackInterruption: Error {
    /// The client closed the connection.
    case disconnected
    /// The server is stopping.
    case stopped
}

/// Writes a body's pieces to one connection; valid for the length of the closure that gets it.
package final class LoopbackBodyWriter {
    private let connection: Connection
    /// Whether each piece goes out as a chunk (RFC 9112, section 7.1), or as it is.
    private let isChunked: Bool
    /// The body's bytes so far.
    private(set) var byteCount = 0

    init(connection: Connection, isChunked: Bool) {
        self.connection = connection
        self.isChunked = isChunked
    }

    /// Sends a piece at once, and returns when the system has taken all of it. An empty piece sends nothing.
    ///
    /// - Throws: ``LoopbackInterruption`` when the client has gone or the server stops.
    package func write(_ piece: [UInt8]) throws {
        if piece.isEmpty { return }
        if isChunked {
            try connection.send(Array("\(String(piece.count, radix: 16))\r\n".utf8) + piece + [0x0D, 0x0A])
        } else {
            try connection.send(piece)
        }
        byteCount += piece.count
    }

    /// Waits at a gate until it lets this connection through.
    ///
    /// - Throws: ``LoopbackInterruption`` when the client goes away or the server stops before that.
    package func wait(at gate: LoopbackGate) throws {
        try connection.wait(at: gate)
    }

    /// Waits for the client to go away or the server to stop.
    ///
    /// - Throws: ``LoopbackInterruption``, always: this is the only way to return.
    package func hang() throws {
        try connection.wait(at: nil)
    }

    /// Waits for a moment.
    ///
    /// - Throws: ``LoopbackInterruption`` when the server stops meanwhile.
    package func pause(milliseconds: Int32) throws {
        try connection.pause(milliseconds: milliseconds)
    }
}
