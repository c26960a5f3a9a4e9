#if Postgres
public import Foundation
public import OneWaySynchronizer
package import SyncBase

/// An error from a PostgreSQL server or from the connection to it.
///
/// ``description`` includes neither the values bound to a statement nor messages of the server that
/// can quote values. ``debugDescription`` includes both. Neither contains a password.
public struct PostgresError: Error, Hashable, Sendable {
    /// An SQLSTATE: five characters; the first two are the class.
    ///
    /// Source: https://www.postgresql.org/docs/current/errcodes-appendix.html
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The five characters.
        public let rawValue: String

        /// Creates a code from its five characters.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }
    }

    /// The SQLSTATE; class `08` if the connection failed.
    public let code: Code
    /// The server's message in its language, or the client library's message if no server was
    /// reached.
    public let message: String
    /// Details, often with values; nil if the server reported none.
    public let detail: String?
    /// A suggestion for a fix; nil if there is none.
    public let hint: String?
    /// The text of the statement, with `$1`, `$2` … for values; nil if there was no statement.
    public let statement: String?
    /// The constraint or unique index that was violated; nil if there is none.
    public let constraint: String?
    /// The table and the column that the error is about; nil if the server does not tell.
    package var table: String?
    package var column: String?
    /// The function of the database, such as that of a trigger, in which the error occurred; nil if
    /// the statement itself failed.
    package var function: String?
    /// Whether a function of the database raised the error with a message of its own.
    package let isRaised: Bool

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: The SQLSTATE.
    ///   - message: A description of the failure.
    ///   - detail: Details.
    ///   - hint: A suggestion for a fix.
    ///   - statement: The text of the statement.
    ///   - constraint: The constraint or unique index that was violated.
    public init(
        code: Code, message: String, detail: String? = nil, hint: String? = nil, statement: String? = nil,
        constraint: String? = nil
    ) {
        self.init(
            code: code, message: message, detail: detail, hint: hint, statement: statement, constraint: constraint,
            isRaised: false)
    }

    init(
        code: Code, message: String, detail: String?, hint: String?, statement: String?, constraint: String?,
        isRaised: Bool
    ) {
        self.isRaised = isRaised
        self.code = code
        self.message = message
        self.detail = detail
        self.hint = hint
        self.statement = statement
        self.constraint = constraint
    }

    /// Whether the connection was lost or could not be made.
    ///
    /// True for class `08`, and if the server shut down, crashed, or ended an idle session.
    public var isConnectionFailure: Bool {
        code.isConnectionFailure
    }
}

extension PostgresError.Code {
    /// `08001`: no connection could be made.
    public static let cannotConnect: Self = "08001"
    /// `08006`: the connection was lost.
    public static let connectionLost: Self = "08006"
    /// `08007`: the connection was lost during a commit, and the outcome is unknown.
    public static let resolutionUnknown: Self = "08007"
    /// `08P01`: the server sent something unexpected.
    public static let protocolViolation: Self = "08P01"
    /// `0A000`: the connection does not support an operation, such as one through a transaction
    /// pooler.
    public static let featureNotSupported: Self = "0A000"
    /// `22021`: a text has a character that the database cannot store.
    public static let characterNotInRepertoire: Self = "22021"
    /// `22001`: a text is too long for its column.
    public static let stringTooLong: Self = "22001"
    /// `22003`: a number is out of range for its column.
    public static let numberOutOfRange: Self = "22003"
    /// `22008`: a date is out of range for its column.
    public static let dateOutOfRange: Self = "22008"
    /// `22P02`: a text is not a value of its column's type, such as a label of an enumeration.
    public static let invalidText: Self = "22P02"
    /// `23001`: a row is still referred to by a foreign key with `RESTRICT`; from PostgreSQL 18 on.
    public static let restrictViolation: Self = "23001"
    /// `23502`: a column does not accept null.
    public static let notNullViolation: Self = "23502"
    /// `23503`: a foreign key refers to a row that does not exist, or a row is still referred to.
    public static let foreignKeyViolation: Self = "23503"
    /// `23514`: a check refused a row.
    public static let checkViolation: Self = "23514"
    /// `P0001`: a function or trigger raised an exception.
    public static let raisedException: Self = "P0001"
    /// `23505`: a unique index would contain a value twice.
    public static let uniqueViolation: Self = "23505"
    /// `23P01`: an exclusion constraint would contain two rows that conflict.
    public static let exclusionViolation: Self = "23P01"
    /// `3B001`: there is no savepoint of the name.
    public static let noSavepoint: Self = "3B001"
    /// `25006`: a write on a standby server or in a read-only store.
    public static let readOnlyTransaction: Self = "25006"
    /// `25P03`: the server ended the session because its transaction was idle for too long.
    public static let idleInTransactionTimeout: Self = "25P03"
    /// `25P04`: the server ended the session because its transaction took too long.
    public static let transactionTimeout: Self = "25P04"
    /// `28P01`: a wrong password.
    public static let invalidPassword: Self = "28P01"
    /// `3D000`: the database does not exist.
    public static let noDatabase: Self = "3D000"
    /// `3F000`: the schema does not exist.
    public static let noSchema: Self = "3F000"
    /// `40001`: a conflict with another transaction; a retry can succeed.
    public static let serializationFailure: Self = "40001"
    /// `40P01`: a deadlock with another transaction; a retry can succeed.
    public static let deadlockDetected: Self = "40P01"
    /// `42501`: the role lacks a privilege.
    public static let insufficientPrivilege: Self = "42501"
    /// `42P01`: the table does not exist.
    public static let undefinedTable: Self = "42P01"
    /// `42P07`: a table, an index or another relation of the name exists.
    public static let duplicateTable: Self = "42P07"
    /// `53100`: the server's disk is full.
    public static let diskFull: Self = "53100"
    /// `53300`: the server, the database or the role has no free connection.
    public static let tooManyConnections: Self = "53300"
    /// `55000`: an object is not in the required state, such as a lost lease.
    public static let wrongState: Self = "55000"
    /// `55P03`: a lock was not available within the lock timeout.
    public static let lockNotAvailable: Self = "55P03"
    /// `57014`: the statement was cancelled, by a request or by `statement_timeout`.
    public static let queryCanceled: Self = "57014"
    /// `57P01`: an administrator ended the session, or the server shut down.
    public static let adminShutdown: Self = "57P01"
    /// `57P02`: the server crashed.
    public static let crashShutdown: Self = "57P02"
    /// `57P03`: the server does not accept connections yet, or no longer.
    public static let cannotConnectNow: Self = "57P03"
    /// `57P05`: the server ended the session because it was idle for too long.
    public static let idleSessionTimeout: Self = "57P05"

    private static let endsOfSessions: Set<Self> = [
        .adminShutdown, .crashShutdown, .cannotConnectNow, .idleSessionTimeout, .idleInTransactionTimeout,
        .transactionTimeout,
    ]

    fileprivate var isConnectionFailure: Bool {
        rawValue.hasPrefix("08") || Self.endsOfSessions.contains(self)
    }
}

extension PostgresError.Code: ExpressibleByStringLiteral, CustomStringConvertible {
    /// Creates a code from its five characters.
    public init(stringLiteral value: String) {
        self.init(rawValue: value)
    }

    /// The five characters.
    public var description: String { rawValue }
}

extension PostgresError: RetryableError {
    /// Whether the transaction can succeed if it is retried.
    ///
    /// True for serialization failures, deadlocks, lock timeouts, lost connections, servers without
    /// a free connection, and a server that has become a standby.
    public var isRetryable: Bool {
        isConnectionFailure || isConflict || [.tooManyConnections, .lockNotAvailable].contains(code)
            // Only from a server, not from a read-only store.
            || (code == .readOnlyTransaction && statement != nil)
    }

    private static let refusals: Set<Code> = [
        .stringTooLong, .numberOutOfRange, .dateOutOfRange, .invalidText, .raisedException,
    ]

    /// Whether a constraint, an index, a trigger or the type of a column refused a row.
    package var isRefusal: Bool {
        code.rawValue.hasPrefix("23") || Self.refusals.contains(code)
    }

    /// Whether a statement failed because of a concurrent transaction: a serialization failure or a
    /// deadlock.
    ///
    /// Source: https://www.postgresql.org/docs/current/mvcc-serialization-failure-handling.html
    package var isConflict: Bool {
        code == .serializationFailure || code == .deadlockDetected
    }
}

extension PostgresError: CustomStringConvertible, CustomDebugStringConvertible, LocalizedError {
    /// A readable sentence without values, with the beginning of the statement and the function of
    /// the database in which it failed.
    ///
    /// The server's message about a value that does not fit (class 22, except divisions by zero and
    /// used-up sequences), and that of a function or trigger, are only in ``debugDescription``.
    public var description: String {
        "PostgreSQL: \(messageWithoutValues) (SQLSTATE \(code))\(functionText)" + ErrorText.place(in: statement)
    }

    /// The sentence with the server's message, detail and hint, which may contain values, and the
    /// whole statement.
    public var debugDescription: String {
        let place = statement.map { " in: \($0)" } ?? ""
        let more = [detail, hint].compactMap { $0.map { "; \($0)" } }.joined()
        return "PostgreSQL: \(message)\(more) (SQLSTATE \(code))\(functionText)\(place)"
    }

    /// The function of the database in which the error occurred, and what it may lack.
    private var functionText: String {
        guard let function else { return "" }
        let advice =
            Self.codesOfUnknownNames.contains(code)
            ? ", which has to name the schema of what it uses, or to set its own search_path" : ""
        return " in the function \(function) of the database\(advice)"
    }

    /// The codes of a name that is not found: a table, a function, a type and a schema.
    private static let codesOfUnknownNames: Set<Code> = [.undefinedTable, "42883", "42704", .noSchema]

    /// The innermost function in the context of an error, whose words depend on the server's
    /// language.
    ///
    /// - Parameter context: Such as `PL/pgSQL function audit() line 3 at SQL statement`.
    static func function(inContext context: String) -> String? {
        context.firstMatch(of: /PL\/[^\n(]*?([^\s(]+\([^)\n]*\))/).map { String($0.1) }
    }

    /// The same sentence as ``description``.
    public var errorDescription: String? { description }

    /// The codes of class 22 whose messages quote no values: a division by zero, and a sequence
    /// that has reached its limit.
    private static let codesWithoutValues: Set<Code> = ["22012", "2200H"]

    /// The message, unless it can quote values. In which place, and between which marks, depends on
    /// the server's language.
    private var messageWithoutValues: String {
        if isRaised { return "a function or trigger of the database raised an error" }
        // Only a statement has values.
        let canQuoteValues =
            code.rawValue.hasPrefix("22") && statement != nil && !Self.codesWithoutValues.contains(code)
        return canQuoteValues ? "a value does not fit" : message
    }
}

extension PostgresError: AreaError {
    package var errorArea: ErrorArea { .storage }
}
#endif
