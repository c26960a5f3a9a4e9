import COneWaySQLite

/// SQLite as bare as it can be used: what a store is measured against.
final class FloorDatabase {
    /// What SQLite answered instead of success.
    struct Failure: Error {
        let code: Int32
        let message: String
    }

    // Used by one task at a time: the benchmark runs its cases one after another.
    private let handle: OpaquePointer

    init(path: String) throws {
        var opened: OpaquePointer?
        let code = sqlite3_open(path, &opened)
        guard code == SQLITE_OK, let opened else { throw Failure(code: code, message: path) }
        handle = opened
        // What the store sets as well, so that neither gains by a setting.
        try execute(
            """
            PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA temp_store = MEMORY;
            PRAGMA cache_size = -4096
            """)
    }

    deinit {
        sqlite3_close_v2(handle)
    }

    func execute(_ text: String) throws {
        try check(sqlite3_exec(handle, text, nil, nil, nil))
    }

    /// Runs the body in one transaction.
    func transaction(_ body: () throws -> Void) throws {
        try execute("BEGIN IMMEDIATE")
        try body()
        try execute("COMMIT")
    }

    /// How many rows have been written since it was opened.
    var changeCount: Int { Int(sqlite3_total_changes(handle)) }

    /// Everything that a query gives.
    func rows(_ query: String) throws -> FloorRows {
        try withStatement(query) { statement in
            var rows = FloorRows(columnCount: Int(sqlite3_column_count(statement)))
            while try step(statement) { rows.append(statement) }
            return rows
        }
    }

    /// Runs one prepared statement once for every row, in the given order or that of the rows.
    func run(_ text: String, for rows: FloorRows, columnCount: Int? = nil, order: [Int]? = nil) throws {
        try withStatement(text) { statement in
            try rows.withBytes { bytes in
                for place in 0..<rows.count {
                    rows.bind(order?[place] ?? place, count: columnCount ?? rows.columnCount, bytes, to: statement)
                    _ = try step(statement)
                    sqlite3_reset(statement)
                }
            }
        }
    }

    private func withStatement<Result>(_ text: String, _ body: (OpaquePointer) throws -> Result) throws -> Result {
        var prepared: OpaquePointer?
        try check(sqlite3_prepare_v3(handle, text, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil))
        guard let prepared else { throw Failure(code: SQLITE_MISUSE, message: text) }
        defer { sqlite3_finalize(prepared) }
        return try body(prepared)
    }

    /// Whether there is a row.
    private func step(_ statement: OpaquePointer) throws -> Bool {
        switch sqlite3_step(statement) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code: throw Failure(code: code, message: String(cString: sqlite3_errmsg(handle)))
        }
    }

    private func check(_ code: Int32) throws {
        guard code == SQLITE_OK else { throw Failure(code: code, message: String(cString: sqlite3_errmsg(handle))) }
    }
}
