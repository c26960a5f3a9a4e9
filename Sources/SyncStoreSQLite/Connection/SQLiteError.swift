public import Foundation
public import OneWaySynchronizer
package import SyncBase

/// An error that SQLite reported.
public struct SQLiteError: Error, Hashable, Sendable {
    /// Names of result codes; see https://www.sqlite.org/rescode.html.
    public enum Code {
        /// A statement cannot be compiled or run (`SQLITE_ERROR`).
        static let error: Int32 = 1
        /// Another connection held a lock for longer than the busy timeout (`SQLITE_BUSY`).
        public static let busy: Int32 = 5
        /// A table is locked inside the connection or its shared cache (`SQLITE_LOCKED`).
        public static let locked: Int32 = 6
        /// The database is read-only (`SQLITE_READONLY`).
        public static let readOnly: Int32 = 8
        /// A transaction was interrupted, and undoing it writes (`SQLITE_READONLY_ROLLBACK`).
        static let readOnlyRollback: Int32 = 776
        /// The file or its write-ahead log was moved, replaced, overwritten or removed while it was
        /// open (`SQLITE_READONLY_DBMOVED`).
        public static let fileMoved: Int32 = 1032
        /// The statement was interrupted (`SQLITE_INTERRUPT`).
        public static let interrupted: Int32 = 9
        /// The system failed to read or write a file (`SQLITE_IOERR`).
        public static let inputOutput: Int32 = 10
        /// The file is damaged (`SQLITE_CORRUPT`).
        public static let corrupt: Int32 = 11
        /// The entries of an index disagree with the rows of its table (`SQLITE_CORRUPT_INDEX`).
        static let corruptIndex: Int32 = 779
        /// An insertion failed because the disk or the database is full (`SQLITE_FULL`).
        public static let full: Int32 = 13
        /// The file cannot be opened (`SQLITE_CANTOPEN`).
        public static let cannotOpen: Int32 = 14
        /// Another program changed the store's tables while the store was open (`SQLITE_SCHEMA`).
        public static let schemaChanged: Int32 = 17
        /// A constraint of a table rejected a change (`SQLITE_CONSTRAINT`).
        public static let constraint: Int32 = 19
        /// The primary key rejected a change (`SQLITE_CONSTRAINT_PRIMARYKEY`).
        public static let primaryKey: Int32 = 1555
        /// A trigger rejected a change, or `ON DELETE RESTRICT` did (`SQLITE_CONSTRAINT_TRIGGER`).
        static let trigger: Int32 = 1811
        /// A unique index rejected a change (`SQLITE_CONSTRAINT_UNIQUE`).
        public static let unique: Int32 = 2067
        /// A call had arguments that do not fit together (`SQLITE_MISUSE`).
        public static let misuse: Int32 = 21
        /// The file is not a database (`SQLITE_NOTADB`).
        public static let notADatabase: Int32 = 26
    }

    /// The extended result code, such as ``Code/unique``.
    public let code: Int32
    /// SQLite's message, in English.
    public let message: String
    /// The text of the statement, with `?` for values; nil if there is none.
    public let statement: String?
    /// The statement with its bound values, cut after a few thousand characters; nil if there is
    /// none.
    let boundStatement: String?

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: The extended result code.
    ///   - message: A description of the failure.
    ///   - statement: The text of the statement.
    public init(code: Int32, message: String, statement: String? = nil) {
        self.init(code: code, message: message, statement: statement, boundStatement: nil)
    }

    init(code: Int32, message: String, statement: String?, boundStatement: String?) {
        self.code = code
        self.message = message
        self.statement = statement
        self.boundStatement = boundStatement
    }

    /// Whether a foreign key rejected a change. For `ON DELETE RESTRICT`, SQLite reports the code
    /// of a trigger.
    var isForeignKey: Bool {
        primaryCode == Code.constraint && message == "FOREIGN KEY constraint failed"
    }

    /// Whether a constraint, an index or a trigger rejected a change.
    var isRefusal: Bool { primaryCode == Code.constraint }

    /// Whether the statement had written exactly the rows before the rejected one. A statement that
    /// a foreign key or a trigger rejects may be undone as a whole.
    var isOfOneRow: Bool { isRefusal && !isForeignKey && code != Code.trigger }

    /// The text after the beginning of the message of a rejected change; nil for another message.
    func subject(after start: String) -> String? {
        isRefusal && message.hasPrefix(start) ? String(message.dropFirst(start.count)) : nil
    }

    /// The result code without its extension, such as ``Code/constraint``.
    public var primaryCode: Int32 {
        code & 0xFF
    }
}

extension SQLiteError: CustomStringConvertible, CustomDebugStringConvertible, LocalizedError {
    /// A readable sentence without values, with the beginning of the statement.
    ///
    /// The message that a trigger raises is only in ``debugDescription``.
    public var description: String { text(messageWithoutValues) + ErrorText.place(in: statement) }

    /// The error with the whole statement and the values bound to it, which may be personal data.
    public var debugDescription: String {
        text(message) + ((boundStatement ?? statement).map { " in: \($0)" } ?? "")
    }

    /// Whether the message is that of a trigger, which can quote values.
    private var isRaised: Bool { code == Code.trigger && !isForeignKey }

    /// The message, or a substitute for that of a trigger.
    var messageWithoutValues: String { isRaised ? "a trigger raised an error" : message }

    private func text(_ message: String) -> String { "SQLite: \(message) (code \(code))\(advice)" }

    /// What to do about a damaged file, or one that is not trusted.
    var advice: String {
        if message.contains("unsafe use of") {
            return ": if the file is your own, SQLiteStore.Options.trustsSchema allows it"
        }
        guard primaryCode == Code.corrupt else { return "" }
        return code == Code.corruptIndex
            ? ": an index disagrees with the rows of its table; SQLiteStore.repair(at:) or the statement REINDEX makes it "
                + "anew"
            : ": PRAGMA integrity_check lists what is damaged, and SQLiteStore.verify(at:) the indexes of the store"
    }

    /// The same as ``description``.
    public var errorDescription: String? { description }
}

extension SQLiteError: RetryableError {
    /// Whether a retry can succeed, because a lock of another connection caused the error.
    public var isRetryable: Bool {
        primaryCode == Code.busy || primaryCode == Code.locked
    }
}

extension SQLiteError: AreaError {
    package var errorArea: ErrorArea { .storage }
}
