#if Postgres
import COneWayLibpq

extension PostgresConnection {
    /// Runs a `COPY … FROM STDIN`, alone or among other statements without parameters; what a function writes is its data.
    ///
    /// Holds a bounded amount of it, however much is written (https://www.postgresql.org/docs/current/libpq-copy.html).
    ///
    /// - Parameters:
    ///   - text: The statement, or several of which one is it.
    ///   - body: Writes the data. When it throws, the statement fails on the server, and the error is passed on.
    /// - Returns: What the last statement with rows returned; where there is none, what the last one did: for a lone COPY, how many rows were
    ///   copied.
    @discardableResult
    package func copyIn(_ text: String, _ body: (PostgresCopyWriter) throws -> Void) throws -> PostgresResult {
        try start(text) { PQsendQuery(handle, text) }
        guard try finish(text).status == PGRES_COPY_IN else {
            throw PostgresError(
                code: PostgresError.protocolViolation, message: "the server does not ask for data", statement: text)
        }
        do {
            try body(PostgresCopyWriter(connection: self, text: text))
        } catch {
            try end(text, message: "the client gave up")
            // The server's own answer is that the client gave up, unless the connection is lost.
            _ = try? finish(text)
            throw error
        }
        try end(text, message: nil)
        return try finish(text)
    }

    private func end(_ text: String, message: String?) throws {
        while true {
            switch PQputCopyEnd(handle, message) {
            case 1: return try flush(text)
            case 0: try flush(text)
            default: throw lost(text)
            }
        }
    }
}

/// Takes the data of a running `COPY`. Not to be used after it.
package struct PostgresCopyWriter {
    fileprivate let connection: PostgresConnection
    fileprivate let text: String

    /// Sends bytes, as many as there are, which need not end where a row does. Best in pieces of some ten kilobytes.
    ///
    /// - Throws: ``PostgresError`` where the connection is lost, `CancellationError`. What the server has to say of the data is
    ///   thrown at the end.
    package func write(_ bytes: UnsafeRawBufferPointer) throws {
        if connection.isCancelled { throw CancellationError() }
        var rest = bytes
        while let start = rest.baseAddress, !rest.isEmpty {
            // libpq counts bytes by 32 bits.
            let count = min(rest.count, 1 << 30)
            switch PQputCopyData(connection.handle, start.assumingMemoryBound(to: CChar.self), Int32(count)) {
            case 1: rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            case 0: break
            default: throw connection.lost(text)
            }
            try connection.flush(text)
        }
    }
}
#endif
