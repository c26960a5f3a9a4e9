/// What SQLite answered when it could not do something.
///
/// The result codes are those of https://www.sqlite.org/rescode.html.
public struct SQLiteError: Error, Hashable, Sendable {
    /// The extended result code, such as 2067 for a violated unique index.
    public let code: Int32
    /// SQLite's own words, in English.
    public let message: String
    /// The statement's text, with `?` for values; nil where there was none.
    public let statement: String?
    /// The statement with the values that were bound to it, as far as its first few thousand characters; nil where there were none.
    let boundStatement: String?

    /// Makes an error.
    ///
    /// - Parameters:
    ///   - code: The extended result code.
    ///   - message: What went wrong.
    ///   - statement: The statement's text.
    public init(code: Int32, message: String, statement: String? = nil) {
        self.init(code: code, message: message, statement: statement, boundStatement: nil)
    }

    init(code: Int32, message: String, statement: String?, boundStatement: String?) {
        self.code = code
        self.message = message
        self.statement = statement
        self.boundStatement = boundStatement
    }

    /// The result code without its extension, such as 19 for a violated constraint.
    public var primaryCode: Int32 {
        code & 0xFF
    }
}

extension SQLiteError: CustomStringConvertible, CustomDebugStringConvertible {
    /// The error as a sentence for people; values bound to the statement are left out.
    public var description: String {
        let place = statement.map { " in: \($0)" } ?? ""
        return "SQLite: \(message) (code \(code))\(place)"
    }

    /// The error with the values that were bound to the statement, which may be personal data.
    public var debugDescription: String {
        boundStatement.map { "SQLite: \(message) (code \(code)) in: \($0)" } ?? description
    }
}
