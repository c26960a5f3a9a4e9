#if Postgres
import COneWayLibpq

extension PostgresConnection {
    /// Runs a `COPY … FROM STDIN`, on its own or among other statements without parameters.
    ///
    /// Memory use does not depend on the amount of data.
    /// Source: https://www.postgresql.org/docs/current/libpq-copy.html
    ///
    /// - Parameters:
    ///   - text: One statement, or several of which one is the COPY.
    ///   - collect: Receives each result with rows after the COPY, in order.
    ///   - body: Writes the data. If it throws, the statement fails on the server, and the error is
    ///     rethrown.
    /// - Returns: The last result with rows or, without one, the result of the last statement. A
    ///   COPY's result has the number of rows.
    /// - Throws: ``PostgresError``; `CancellationError` inside ``interruptible(isolation:_:)``.
    @discardableResult
    package func copyIn(
        _ text: String, each collect: (PostgresResult) -> Void = { _ in }, _ body: (PostgresCopyWriter) throws -> Void
    ) throws -> PostgresResult {
        var earlier = takeLater()
        let text = earlier.text(before: text)
        try start(text) { PQsendQuery(handle, text) }
        let first: PostgresResult
        do { first = try finish(text) { _ = earlier.take($0) } } catch { throw earlier.failure ?? error }
        guard first.status == PGRES_COPY_IN else {
            throw PostgresError(
                code: .protocolViolation, message: "the server does not ask for data", statement: text)
        }
        do {
            if let failure = earlier.failure { throw failure }
            try body(PostgresCopyWriter(connection: self, text: text))
            try end(text, message: nil)
        } catch {
            withoutInterruption {
                // The server reports the client's abort, or the connection is lost.
                if (try? end(text, message: "the client gave up")) == nil { isBroken = true }
                if !isBroken { _ = try? finish(text) }
            }
            throw error
        }
        return try finish(text, each: collect)
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

/// Writes the data of a running `COPY`. Not usable afterwards.
package struct PostgresCopyWriter {
    fileprivate let connection: PostgresConnection
    fileprivate let text: String

    /// Sends bytes, which can end in the middle of a row. Pieces of a few tens of kilobytes are
    /// best.
    ///
    /// - Throws: ``PostgresError`` if the connection is lost; `CancellationError`, even while the
    ///   server does not read. The server's errors about the data are thrown at the end of the
    ///   COPY.
    package func write(_ bytes: UnsafeRawBufferPointer) throws {
        if connection.isCancelled { throw CancellationError() }
        var rest = bytes
        while let start = rest.baseAddress, !rest.isEmpty {
            // libpq counts bytes in 32 bits.
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
