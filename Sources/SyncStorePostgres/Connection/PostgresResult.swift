#if Postgres
import COneWayLibpq
import Foundation

/// What a statement returned; the one owner of its handle.
///
/// Rows and columns count from zero. A value is asked for in the form that fits its type; null is nil.
package final class PostgresResult {
    private let handle: OpaquePointer
    /// How many rows it has.
    package let rowCount: Int
    /// How many columns each row has.
    package let columnCount: Int

    init(_ handle: OpaquePointer) {
        self.handle = handle
        rowCount = Int(PQntuples(handle))
        columnCount = Int(PQnfields(handle))
    }

    deinit {
        PQclear(handle)
    }

    /// How many rows the statement inserted, updated, deleted, copied or read; zero where it is of another kind.
    package var affectedCount: Int {
        Int(String(cString: PQcmdTuples(handle))) ?? 0
    }

    /// Whether a value is null.
    package func isNull(_ row: Int, _ column: Int) -> Bool {
        PQgetisnull(handle, Int32(row), Int32(column)) != 0
    }

    /// A value as text; nil where it is null. In a binary result, of values of type `text` alone.
    package func text(_ row: Int, _ column: Int) -> String? {
        withBytes(row, column) { String(decoding: $0, as: UTF8.self) }
    }

    /// A value as an integer; nil where it is null or none. In a binary result, of the types of two, four and eight bytes.
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

    /// A value of type `boolean`; nil where it is null.
    package func boolean(_ row: Int, _ column: Int) -> Bool? {
        withBytes(row, column) { $0.first == UInt8(ascii: "t") || $0.first == 1 }
    }

    /// A value as the bytes in which the server sent it, valid inside the function alone; nil where it is null.
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

    /// The error that the result stands for.
    func error(statement: String?) -> PostgresError {
        func field(_ code: UInt8) -> String? {
            PQresultErrorField(handle, Int32(code)).map { String(cString: $0) }
        }
        return PostgresError(
            code: field(UInt8(ascii: "C")) ?? PostgresError.connectionLost,
            message: field(UInt8(ascii: "M"))
                ?? String(cString: PQresultErrorMessage(handle)).trimmingCharacters(in: .whitespacesAndNewlines),
            detail: field(UInt8(ascii: "D")), hint: field(UInt8(ascii: "H")), statement: statement)
    }
}
#endif
