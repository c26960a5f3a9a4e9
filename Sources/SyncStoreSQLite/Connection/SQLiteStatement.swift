import COneWaySQLite
import Foundation
import SyncModel
import SyncStoreSQL

/// A prepared statement, and the only owner of its handle.
///
/// Like its connection, it is used by one thread at a time, because it never leaves the actor that
/// created it.
final class SQLiteStatement {
    /// The statement's text.
    let text: String
    private let handle: OpaquePointer
    private let connection: OpaquePointer
    /// Whether nothing follows the statement in its text.
    private let isWhole: Bool
    /// How numbers are read as dates; nil if dates are texts.
    private let dates: SQLiteDateCount?

    init(_ text: String, connection: OpaquePointer, dates: SQLiteDateCount?) throws(SQLiteError) {
        var prepared: OpaquePointer?
        let (code, isWhole) = text.withCString { bytes in
            var tail: UnsafePointer<CChar>?
            let code = sqlite3_prepare_v3(
                connection, bytes, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, &tail)
            guard let tail, tail.pointee != 0 else { return (code, true) }
            return (code, String(cString: tail).allSatisfy { $0.isWhitespace || $0 == ";" })
        }
        self.isWhole = isWhole
        guard code != SQLITE_OK || prepared != nil else {
            throw SQLiteError(code: SQLiteError.Code.misuse, message: "the text has no statement", statement: text)
        }
        guard code == SQLITE_OK, let prepared else {
            throw SQLiteError(connection, code: code, statement: text)
        }
        self.text = text
        self.connection = connection
        self.dates = dates
        handle = prepared
    }

    deinit {
        sqlite3_finalize(handle)
    }

    // MARK: Running

    /// Advances to the next row.
    ///
    /// - Returns: Whether there is a row. After the last one, the statement can be run again.
    func step() throws(SQLiteError) -> Bool {
        let code = sqlite3_step(handle)
        switch code {
        case SQLITE_ROW: return true
        case SQLITE_DONE:
            sqlite3_reset(handle)
            return false
        default:
            let error = SQLiteError(connection, code: code, statement: text, boundStatement: boundText)
            sqlite3_reset(handle)
            throw error
        }
    }

    /// The beginning of the text, with the bound values.
    private var boundText: String? {
        guard sqlite3_bind_parameter_count(handle) > 0, let expanded = sqlite3_expanded_sql(handle) else { return nil }
        defer { sqlite3_free(expanded) }
        return String(String(cString: expanded).prefix(4000))
    }

    /// Runs the statement to its end, ignoring its rows.
    func run() throws(SQLiteError) {
        while try step() {}
    }

    /// Binds values, and runs the statement to its end.
    func run(_ bindings: [SQLBinding]) throws(SQLiteError) {
        bind(bindings)
        try run()
    }

    /// Makes the statement ready to be run again.
    func reset() {
        sqlite3_reset(handle)
    }

    // MARK: Statements of users

    /// Whether the text is one statement that selects rows and does nothing else.
    var isSelection: Bool {
        guard isWhole, sqlite3_stmt_readonly(handle) != 0, sqlite3_column_count(handle) > 0 else { return false }
        return !begins(with: "pragma")
    }

    /// Whether the first word is a keyword, after white space and comments as SQLite reads them.
    ///
    /// - Parameter keyword: The keyword in lowercase.
    private func begins(with keyword: String) -> Bool {
        var rest = Array(text.utf8)[...]
        while true {
            if rest.starts(with: "--".utf8) {
                rest = rest.drop { $0 != UInt8(ascii: "\n") }
            } else if rest.starts(with: "/*".utf8) {
                rest = rest.dropFirst(2).firstRange(of: Array("*/".utf8)).map { rest[$0.upperBound...] } ?? []
            } else if rest.starts(with: "\u{FEFF}".utf8) {
                rest = rest.dropFirst(3)
            } else if rest.first.map({ " \t\n\r\u{C}".utf8.contains($0) }) == true {
                rest = rest.dropFirst()
            } else {
                return rest.prefix(keyword.utf8.count).map { $0 | 0x20 }.elementsEqual(keyword.utf8)
            }
        }
    }

    /// Whether the statement explains another one instead of running it.
    var isExplanation: Bool {
        begins(with: "explain")
    }

    /// The number of parameters.
    var parameterCount: Int {
        Int(sqlite3_bind_parameter_count(handle))
    }

    /// A name of more than one column; nil if there is none.
    var repeatedColumn: String? {
        var names: Set<String> = []
        return (0..<columnCount).lazy.map(name).first { !names.insert($0).inserted }
    }

    private func name(of column: Int) -> String {
        sqlite3_column_name(handle, Int32(truncatingIfNeeded: column)).map { String(cString: $0) } ?? ""
    }

    /// The values of the current row by column name, as SQLite stores them.
    func values() -> [String: AttributeValue] {
        var values: [String: AttributeValue] = [:]
        for column in 0..<columnCount {
            values[name(of: column)] = value(at: column).stored
        }
        return values
    }

    // MARK: Parameters, counted from 1

    func bind(_ bindings: [SQLBinding]) {
        for (index, binding) in bindings.enumerated() {
            bind(binding, at: index + 1)
        }
    }

    func bind(_ binding: SQLBinding, at index: Int) {
        switch binding {
        case .null: sqlite3_bind_null(handle, Int32(index))
        case .integer(let number): bind(number, at: index)
        case .real(let number): sqlite3_bind_double(handle, Int32(index), number)
        case .text(let text):
            var text = text
            text.withUTF8 { bytes in
                _ = sqlite3_bind_text64(
                    handle, Int32(index), sqliteContent(bytes), UInt64(bytes.count), transientContent,
                    UInt8(SQLITE_UTF8))
            }
        case .typed(let text, _): bind(.text(text), at: index)
        case .objects(let objects): bind(.text(SQLQueries.list(objects)), at: index)
        case .blobs: preconditionFailure("SQLite has no parameters of many blobs")
        case .blob(let data):
            data.withUnsafeBytes { bytes in
                _ = sqlite3_bind_blob64(
                    handle, Int32(index), sqliteContent(bytes), UInt64(bytes.count), transientContent)
            }
        }
    }

    func bind(_ number: Int64, at index: Int) {
        sqlite3_bind_int64(handle, Int32(index), number)
    }

    // MARK: Columns of the current row, counted from 0

    /// The number of columns.
    var columnCount: Int {
        Int(sqlite3_column_count(handle))
    }

    func isNull(at column: Int) -> Bool {
        sqlite3_column_type(handle, Int32(truncatingIfNeeded: column)) == SQLITE_NULL
    }

    func integer(at column: Int) -> Int64 {
        sqlite3_column_int64(handle, Int32(truncatingIfNeeded: column))
    }

    func double(at column: Int) -> Double {
        sqlite3_column_double(handle, Int32(truncatingIfNeeded: column))
    }

    /// The text in UTF-8, independent of the database's encoding.
    func text(at column: Int) -> String {
        let place = Int32(truncatingIfNeeded: column)
        guard let start = sqlite3_column_text(handle, place) else { return "" }
        let bytes = UnsafeBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, place)))
        return String(decoding: bytes, as: UTF8.self)
    }

    /// A column as SQLite stores it, valid until the statement advances.
    @inline(__always)
    func value(at column: Int) -> SQLiteValue {
        SQLiteValue(sqlite3_column_value(handle, Int32(truncatingIfNeeded: column)), dates: dates)
    }

    /// The value of an attribute's column; null for a value that does not fit the type. Other
    /// programs may have written it.
    func value(at column: Int, as type: AttributeType) -> AttributeValue {
        value(at: column).attributeValue(type)
    }
}

/// The address of a text or blob. SQLite requires it not to be null, even without bytes.
func sqliteContent(_ bytes: UnsafeRawBufferPointer) -> UnsafePointer<CChar> {
    let empty: StaticString = ""
    return (bytes.baseAddress ?? UnsafeRawPointer(empty.utf8Start)).assumingMemoryBound(to: CChar.self)
}

/// The address of the bytes of a text or blob.
func sqliteContent(_ bytes: UnsafeBufferPointer<UInt8>) -> UnsafePointer<CChar> {
    sqliteContent(UnsafeRawBufferPointer(bytes))
}

/// Makes SQLite copy a value. The C macro is minus one as an address, which Swift does not import.
let transientContent = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
