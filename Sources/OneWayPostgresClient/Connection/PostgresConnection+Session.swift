#if Postgres
/// Notices that a pooler has given the session to another client.
extension PostgresConnection {
    /// The setting with the mark of a session. It is made in one message with the other settings,
    /// and a message of several statements runs in one session: a session with the mark has the
    /// settings.
    static let markSetting = "one_way.session"
    /// An expression for the mark of the session that runs it; null if it has none.
    package static let sessionMark = "pg_catalog.current_setting('\(markSetting)', true)"

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
