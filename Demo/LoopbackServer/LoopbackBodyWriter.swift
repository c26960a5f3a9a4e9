/// A reason why a write or wait on a connection ended early.
package enum LoopbackInterruption: Error {
    /// The client closed the connection.
    case disconnected
    /// The server is stopping.
    case stopped
}

/// A writer of a body's pieces, valid until the closure that receives it returns.
package final class LoopbackBodyWriter {
    private let connection: Connection
    /// Whether each piece is sent as a chunk (RFC 9112, section 7.1).
    private let isChunked: Bool
    /// The number of body bytes written so far.
    private(set) var byteCount = 0

    init(connection: Connection, isChunked: Bool) {
        self.connection = connection
        self.isChunked = isChunked
    }

    /// Sends a piece immediately, and returns when the system has accepted it; an empty piece sends
    /// nothing.
    ///
    /// - Throws: ``LoopbackInterruption`` if the client disconnects or the server stops.
    package func write(_ piece: [UInt8]) throws {
        if piece.isEmpty { return }
        if isChunked {
            try connection.send(Array("\(String(piece.count, radix: 16))\r\n".utf8) + piece + [0x0D, 0x0A])
        } else {
            try connection.send(piece)
        }
        byteCount += piece.count
    }

    /// Waits until a gate lets this connection pass.
    ///
    /// - Throws: ``LoopbackInterruption`` if the client disconnects or the server stops first.
    package func wait(at gate: LoopbackGate) throws {
        try connection.wait(at: gate)
    }

    /// Waits until the client disconnects or the server stops.
    ///
    /// - Throws: ``LoopbackInterruption`` always; the method never returns normally.
    package func hang() throws {
        try connection.wait(at: nil)
    }

    /// Waits for a time in milliseconds.
    ///
    /// - Throws: ``LoopbackInterruption`` if the server stops meanwhile.
    package func pause(milliseconds: Int32) throws {
        try connection.pause(milliseconds: milliseconds)
    }
}
