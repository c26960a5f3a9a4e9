#if Postgres
import COneWayLibpq
import Foundation

/// The result of a statement, and the only owner of its handle.
///
/// Rows and columns are counted from zero. Null is nil.
package final class PostgresResult {
    private let handle: OpaquePointer
    /// The number of rows.
    package let rowCount: Int
    /// The number of columns of each row.
    package let columnCount: Int

    init(_ handle: OpaquePointer) {
        self.handle = handle
        rowCount = Int(PQntuples(handle))
        columnCount = Int(PQnfields(handle))
    }

    deinit {
        PQclear(handle)
    }

    /// The number of rows that the statement inserted, updated, deleted, copied or read; 0 for
    /// other statements.
    package var affectedCount: Int {
        Int(String(cString: PQcmdTuples(handle))) ?? 0
    }

    /// Whether a value is null.
    package func isNull(_ row: Int, _ column: Int) -> Bool {
        PQgetisnull(handle, Int32(row), Int32(column)) != 0
    }

    /// A value as text; nil for null. In a binary result, the column must be of type `text`.
    package func text(_ row: Int, _ column: Int) -> String? {
        withBytes(row, column) { String(decoding: $0, as: UTF8.self) }
    }

    /// A value as an integer; nil for null and for other types. In a binary result, two, four or
    /// eight bytes.
    package func integer(_ row: Int, _ column: Int) -> Int64? {
        let isBinary = PQfformat(handle, Int32(column)) == 1
        return withBytes(row, column) { bytes in
            guard isBinary else { return Int64(String(decoding: bytes, as: UTF8.self)) }
            switch bytes.count {
            case 2: return Int64(Int16(bigEndian: bytes.loadUnaligned(as: Int16.self)))
            case 4: return Int64(Int32(bigEndian: bytes.loadUnaligned(as: Int32.self)))
            case 8: return Int64(bigEndian: bytes.loadUnaligned(as: Int64.self))
            default: return nil
            }
        } ?? nil
    }

    /// A value of type `boolean`; nil for null.
    package func boolean(_ row: Int, _ column: Int) -> Bool? {
        withBytes(row, column) { $0.first == UInt8(ascii: "t") || $0.first == 1 }
    }

    /// Passes the bytes of a value to a function; nil for null. The bytes are valid only inside the
    /// function.
    package func withBytes<Result>(_ row: Int, _ column: Int, _ body: (UnsafeRawBufferPointer) throws -> Result)
        rethrows
        -> Result?
    {
        guard !isNull(row, column), let start = PQgetvalue(handle, Int32(row), Int32(column)) else { return nil }
        let count = Int(PQgetlength(handle, Int32(row), Int32(column)))
        return try body(UnsafeRawBufferPointer(start: start, count: count))
    }

    // MARK: Status

    var status: ExecStatusType {
        PQresultStatus(handle)
    }

    /// The error that the server reported.
    func error(statement: String?) -> PostgresError {
        func field(_ code: UInt8) -> String? {
            PQresultErrorField(handle, Int32(code)).map { String(cString: $0) }
        }
        let code = field(UInt8(ascii: "C")).map { PostgresError.Code(rawValue: $0) } ?? .connectionLost
        var message = field(UInt8(ascii: "M")) ?? LibpqMessage(String(cString: PQresultErrorMessage(handle))).line
        if message.isEmpty { message = "the connection is lost" }
        if code == .queryCanceled {
            message += " (by statement_timeout of the role, the database or the server, or by an administrator)"
        }
        var error = PostgresError(
            code: code, message: message,
            detail: field(UInt8(ascii: "D")), hint: field(UInt8(ascii: "H")), statement: statement,
            constraint: field(UInt8(ascii: "n")),
            // The statement RAISE of PL/pgSQL.
            isRaised: field(UInt8(ascii: "R")) == "exec_stmt_raise")
        error.table = field(UInt8(ascii: "t"))
        error.column = field(UInt8(ascii: "c"))
        error.function = field(UInt8(ascii: "W")).flatMap(PostgresError.function(inContext:))
        return error
    }
}
#endif
