import COneWaySQLite

/// Rows in memory, ready to be bound: cells in one array, their texts and blobs in another.
struct FloorRows {
    private enum Cell {
        case null
        case integer(Int64)
        case double(Double)
        case text(offset: Int, count: Int)
        case blob(offset: Int, count: Int)
    }

    let columnCount: Int
    private var cells: [Cell] = []
    private var bytes: [UInt8] = []

    init(columnCount: Int) {
        self.columnCount = columnCount
    }

    var count: Int { cells.count / columnCount }

    /// Takes the row that a statement stands at.
    mutating func append(_ statement: OpaquePointer) {
        for column in 0..<Int32(columnCount) {
            switch sqlite3_column_type(statement, column) {
            case SQLITE_INTEGER: cells.append(.integer(sqlite3_column_int64(statement, column)))
            case SQLITE_FLOAT: cells.append(.double(sqlite3_column_double(statement, column)))
            case SQLITE_TEXT, SQLITE_BLOB:
                let isText = sqlite3_column_type(statement, column) == SQLITE_TEXT
                let offset = bytes.count
                let start = sqlite3_column_blob(statement, column)
                let count = Int(sqlite3_column_bytes(statement, column))
                bytes.append(contentsOf: UnsafeRawBufferPointer(start: start, count: count))
                cells.append(isText ? .text(offset: offset, count: count) : .blob(offset: offset, count: count))
            default: cells.append(.null)
            }
        }
    }

    /// Lends the texts and blobs; what is bound to them must be stepped before the body ends.
    func withBytes(_ body: (UnsafeRawBufferPointer) throws -> Void) rethrows {
        try bytes.withUnsafeBytes(body)
    }

    /// Binds the first cells of a row.
    func bind(_ row: Int, count: Int, _ bytes: UnsafeRawBufferPointer, to statement: OpaquePointer) {
        for column in 0..<count {
            let place = Int32(column + 1)
            switch cells[row * columnCount + column] {
            case .null: sqlite3_bind_null(statement, place)
            case .integer(let value): sqlite3_bind_int64(statement, place, value)
            case .double(let value): sqlite3_bind_double(statement, place, value)
            case .text(let offset, let count):
                let start = bytes.baseAddress?.advanced(by: offset).assumingMemoryBound(to: CChar.self)
                sqlite3_bind_text(statement, place, start, Int32(count), nil)
            case .blob(let offset, let count):
                sqlite3_bind_blob(statement, place, bytes.baseAddress?.advanced(by: offset), Int32(count), nil)
            }
        }
    }
}
