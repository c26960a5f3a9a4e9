import Foundation

#if canImport(GRDBSQLite)
// In the comparison with GRDB, which has this file by a symbolic link.
import GRDBSQLite
#else
import COneWaySQLite
#endif

/// The columns of users read by hand into structs: what typed reads are measured against.
///
/// Used by one task at a time.
final class HandReader {
    struct Row {
        var id: Int64
        var name: String
        var email: String
        var age: Int?
        var score: Double
        var active: Bool
        var created: String
        var company: Int64?
        var companyName: String?
    }

    private let handle: OpaquePointer

    init?(path: String) {
        var opened: OpaquePointer?
        guard sqlite3_open_v2(path, &opened, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, nil) == SQLITE_OK, let opened
        else { return nil }
        handle = opened
        sqlite3_exec(handle, "PRAGMA cache_size = -4096", nil, nil, nil)
    }

    deinit {
        sqlite3_close_v2(handle)
    }

    /// All users, with the names of their companies if `joined`.
    func users(joined: Bool) -> [Row] {
        let text =
            joined
            ? "SELECT t.id, t.name, t.email, t.age, t.score, t.active, t.created, c.id, c.name FROM User t "
                + "LEFT JOIN Company c ON c._id = t.company ORDER BY t._id"
            : "SELECT id, name, email, age, score, active, created FROM User ORDER BY _id"
        return rows(text, joined: joined)
    }

    /// The first 50 users, by name, of companies of this name who are older than 30.
    func users(ofCompany name: String) -> [Row] {
        rows(
            """
            SELECT id, name, email, age, score, active, created FROM User WHERE age > 30 AND company IN \
            (SELECT _id FROM Company WHERE name = '\(name)') ORDER BY name LIMIT 50
            """, joined: false)
    }

    private func rows(_ text: String, joined: Bool) -> [Row] {
        var statement: OpaquePointer?
        sqlite3_prepare_v3(handle, text, -1, 0, &statement, nil)
        defer { sqlite3_finalize(statement) }
        var rows: [Row] = []
        while sqlite3_step(statement) == SQLITE_ROW {
            func text(_ column: Int32) -> String? {
                guard let start = sqlite3_column_blob(statement, column) else { return nil }
                let count = Int(sqlite3_column_bytes(statement, column))
                return String(decoding: UnsafeRawBufferPointer(start: start, count: count), as: UTF8.self)
            }
            rows.append(
                Row(
                    id: sqlite3_column_int64(statement, 0), name: text(1) ?? "", email: text(2) ?? "",
                    age: sqlite3_column_type(statement, 3) == SQLITE_NULL
                        ? nil : Int(sqlite3_column_int64(statement, 3)),
                    score: sqlite3_column_double(statement, 4), active: sqlite3_column_int64(statement, 5) != 0,
                    created: text(6) ?? "", company: joined ? sqlite3_column_int64(statement, 7) : nil,
                    companyName: joined ? text(8) : nil))
        }
        return rows
    }
}
