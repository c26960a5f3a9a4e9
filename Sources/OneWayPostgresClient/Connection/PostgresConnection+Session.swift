#if Postgres
import Foundation

/// Notices that a pooler has given the session to another client.
extension PostgresConnection {
    /// An expression for the mark of the session that runs it; null if it has none.
    package static let sessionMark = "pg_catalog.current_setting('one_way.session', true)"

    /// The statement that marks the session, to be sent together with the session's settings. Empty
    /// without a pooler.
    ///
    /// A message of several statements runs in one session. A session that has the mark therefore
    /// also has the settings.
    package func marking() -> String {
        guard isPooled else { return "" }
        let mark = UUID().uuidString
        session = mark
        return "SET one_way.session TO '\(mark)'; "
    }

    /// Runs statements, the last of which selects ``sessionMark`` as its last column.
    ///
    /// - Throws: `PostgresError` with code `0A000` if they ran in another session than the one with
    ///   this connection's settings.
    @discardableResult
    package func executeInSession(_ text: String) throws -> PostgresResult {
        let result = try execute(text)
        try checkSession(result)
        return result
    }

    /// Checks the session in which statements ran.
    ///
    /// - Parameter result: A result whose last column is ``sessionMark``.
    /// - Throws: As ``executeInSession(_:)``.
    package func checkSession(_ result: PostgresResult) throws {
        let mark = result.rowCount > 0 ? result.text(0, result.columnCount - 1) : nil
        guard let session, mark != session else { return }
        throw PostgresError(
            code: .featureNotSupported,
            message: "the pooler shares sessions among its clients, and the connection has lost the settings of its "
                + "session; use pool_mode = session, or connect to the server itself")
    }
}
#endif
