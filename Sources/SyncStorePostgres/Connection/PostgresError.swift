#if Postgres
public import OneWaySynchronizer

/// What PostgreSQL, or the connection to it, answered when it could not do something.
///
/// The codes are those of https://www.postgresql.org/docs/current/errcodes-appendix.html. ``description`` has no values that were
/// bound to a statement; ``debugDescription`` has what the server said of them.
public struct PostgresError: Error, Hashable, Sendable {
    /// The SQLSTATE, five characters such as `23505` for a violated unique index. Of class `08` where the connection failed.
    public let code: String
    /// The server's own words, in its language, or those of the client library where no server was reached.
    public let message: String
    /// More about the error; often has values. Nil where the server says no more.
    public let detail: String?
    /// What could be done about it; nil where the server has no idea.
    public let hint: String?
    /// The statement's text, with `$1`, `$2` … for values; nil where there was none.
    public let statement: String?

    /// Makes an error.
    ///
    /// - Parameters:
    ///   - code: The SQLSTATE.
    ///   - message: What went wrong.
    ///   - detail: More about it.
    ///   - hint: What could be done.
    ///   - statement: The statement's text.
    public init(code: String, message: String, detail: String? = nil, hint: String? = nil, statement: String? = nil) {
        self.code = code
        self.message = message
        self.detail = detail
        self.hint = hint
        self.statement = statement
    }

    /// Whether the connection is gone, or was never there: class `08`, and a server that shut down or crashed (`57P01` to `57P03`).
    public var isConnectionFailure: Bool {
        code.hasPrefix("08") || ["57P01", "57P02", "57P03"].contains(code)
    }
}

extension PostgresError {
    /// No connection could be made (`sqlclient_unable_to_establish_sqlconnection`).
    static let cannotConnect = "08001"
    /// A connection was lost (`connection_failure`).
    static let connectionLost = "08006"
    /// A connection was lost during a commit, and nobody can tell what became of it (`transaction_resolution_unknown`).
    static let resolutionUnknown = "08007"
    /// The server answered what it should not (`protocol_violation`).
    static let protocolViolation = "08P01"
    /// Something was to be written where that is not possible (`read_only_sql_transaction`).
    static let readOnlyTransaction = "25006"
    /// The statement was cancelled (`query_canceled`), by whoever asked for that or by `statement_timeout`.
    static let queryCanceled = "57014"
    /// A text has a NUL, which PostgreSQL keeps nowhere (`character_not_in_repertoire`).
    static let characterNotInRepertoire = "22021"
}

extension PostgresError: RetryableError {
    /// Whether the same transaction may succeed later: serialization failures, deadlocks, lost connections, and a server that
    /// starts, stops or has no connection left.
    public var isRetryable: Bool {
        isConnectionFailure || ["40001", "40P01", "53300", "55P03"].contains(code)
    }
}

extension PostgresError: CustomStringConvertible, CustomDebugStringConvertible {
    /// The error as a sentence for people; values that were bound to the statement are left out.
    public var description: String {
        let place = statement.map { " in: \($0)" } ?? ""
        return "PostgreSQL: \(messageWithoutValues) (SQLSTATE \(code))\(place)"
    }

    /// The same with the server's detail and hint, which may have values.
    public var debugDescription: String {
        let place = statement.map { " in: \($0)" } ?? ""
        let more = [detail, hint].compactMap { $0.map { "; \($0)" } }.joined()
        return "PostgreSQL: \(message)\(more) (SQLSTATE \(code))\(place)"
    }

    /// Data exceptions (class 22) quote the value after a colon, as in `invalid input syntax for type integer: "abc"`.
    private var messageWithoutValues: String {
        guard code.hasPrefix("22"), let quote = message.firstRange(of: ": \"") else { return message }
        return String(message[..<quote.lowerBound])
    }
}
#endif
