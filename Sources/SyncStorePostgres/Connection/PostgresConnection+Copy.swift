#if Postgres
import CPostgres

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
            preconditionFailure("a statement other than COPY FROM STDIN")
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

    /// Sends bytes, which need not end where a row does. Best in pieces of some ten kilobytes.
    ///
    /// - Throws: ``PostgresError`` where the connection is lost, `CancellationError`. What the server has to say of the data is
    ///   thrown at the end.
    package func write(_ bytes: UnsafeRawBufferPointer) throws {
        if connection.isCancelled { throw CancellationError() }
        guard let start = bytes.baseAddress, !bytes.isEmpty else { return }
        while true {
            switch PQputCopyData(connection.handle, start.assumingMemoryBound(to: CChar.self), Int32(bytes.count)) {
            case 1: return try connection.flush(text)
            case 0: try connection.flush(text)
            default: throw connection.lost(text)
            }
        }
    }
}
#endif
