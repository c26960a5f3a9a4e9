import COneWaySQLite
import Foundation
import SyncModel

/// A virtual table with which statements read a batch in memory.
///
/// One statement handles a whole batch, without binding or copying values. The columns are those of
/// `SQLiteBatchColumns`. The table is empty except while ``lend(_:_:)`` runs.
///
/// It belongs to a connection and, like the connection, is used by one thread at a time.
final class SQLiteBatchTable {
    /// The rows that statements read.
    struct Content {
        let reader: RecordBatch.Reader
        /// The rows of the batch to read, in this order.
        var rows: [Int]
        /// The object of each row of the batch; empty if no statement reads it.
        var objects: [ObjectID?] = []
        /// The targets of all rows of the batch, row after row, with nil for none. Empty if no row
        /// has a target.
        var targets: [ObjectID?] = []
        /// The number of targets per row.
        var targetCount = 0
        /// The position of each row of the batch; empty if no row has one.
        var positions: [Int64?] = []
        /// A row with the values of absent cells; nil for null.
        var defaults: RecordBatch.Reader?
        /// Whether to write each cell, column by column for each of `rows`; empty to write all.
        var isWritten: [Bool] = []
    }

    /// The maximum number of cells. SQLite allows 2,000 columns, and a cell takes two.
    static let columnLimit = (2000 - 3 - SQLiteBatchColumns.targetLimit) / 2
    /// The number of cells per row.
    let columnCount: Int
    /// SQLite's callbacks read it while a statement runs. It is written only between two
    /// statements, and freed with the table, which the connection owns as long as it is open.
    fileprivate let shown: UnsafeMutablePointer<BatchTableState>

    init(columnCount: Int, dates: SQLiteDateCount?) {
        self.columnCount = columnCount
        shown = .allocate(capacity: 1)
        shown.initialize(to: BatchTableState(columnCount: columnCount, dates: dates))
    }

    deinit {
        shown.pointee.scratch.deallocate()
        shown.deinitialize(count: 1)
        shown.deallocate()
    }

    /// The name of the table for a number of cells per row.
    static func name(columnCount: Int) -> String {
        "_sync_batch_\(columnCount)"
    }

    /// Provides rows to statements while a function runs. Their batch must not move in memory in
    /// the meantime.
    func lend<Result>(_ content: Content, _ body: () throws(SQLiteError) -> Result) throws(SQLiteError) -> Result {
        defer { shown.pointee.content = nil }
        let result: Swift.Result<Result, SQLiteError> = content.rows.withUnsafeBufferPointer { rows in
            content.objects.withUnsafeBufferPointer { objects in
                content.targets.withUnsafeBufferPointer { targets in
                    content.positions.withUnsafeBufferPointer { positions in
                        content.isWritten.withUnsafeBufferPointer { isWritten in
                            shown.pointee.content = BatchTableState.Content(
                                reader: content.reader, defaults: content.defaults, rows: rows, objects: objects,
                                targets: targets, targetCount: content.targetCount, positions: positions,
                                isWritten: isWritten)
                            do throws(SQLiteError) { return .success(try body()) } catch { return .failure(error) }
                        }
                    }
                }
            }
        }
        return try result.get()
    }

    /// Registers the table on a connection, which owns it until it is closed.
    ///
    /// - Returns: SQLite's result code.
    func register(_ connection: OpaquePointer) -> Int32 {
        sqlite3_create_module_v2(
            connection, Self.name(columnCount: columnCount), batchModule, Unmanaged.passRetained(self).toOpaque(),
            { context in
                guard let context else { return }
                Unmanaged<SQLiteBatchTable>.fromOpaque(context).release()
            })
    }

    fileprivate var declaration: String {
        let cells = (0..<columnCount).flatMap { [SQLiteBatchColumns.cell($0), SQLiteBatchColumns.isWritten($0)] }
        let targets = (0..<SQLiteBatchColumns.targetLimit).map { SQLiteBatchColumns.target($0) }
        let names =
            [SQLiteBatchColumns.place, SQLiteBatchColumns.object, SQLiteBatchColumns.position] + targets + cells
        return "CREATE TABLE batch (\(names.joined(separator: ", ")))"
    }
}

/// The content of a batch table, as read by SQLite. Nothing in it is reference-counted, to make
/// reading a cell fast.
private struct BatchTableState {
    /// The table's content as unowned buffers.
    struct Content {
        let reader: RecordBatch.Reader
        let defaults: RecordBatch.Reader?
        let rows: UnsafeBufferPointer<Int>
        let objects: UnsafeBufferPointer<ObjectID?>
        let targets: UnsafeBufferPointer<ObjectID?>
        let targetCount: Int
        let positions: UnsafeBufferPointer<Int64?>
        let isWritten: UnsafeBufferPointer<Bool>
    }

    let columnCount: Int
    let dates: SQLiteDateCount?
    var content: Content?
    /// Space for the text of one date or UUID per column, valid until the cursor advances.
    let scratch: UnsafeMutablePointer<UInt8>
    private static let scratchWidth = 40
    private static let firstTargetColumn = 3
    private static let firstCellColumn = firstTargetColumn + SQLiteBatchColumns.targetLimit

    init(columnCount: Int, dates: SQLiteDateCount?) {
        self.columnCount = columnCount
        self.dates = dates
        scratch = .allocate(capacity: max(columnCount, 1) * Self.scratchWidth)
    }

    /// Returns a cell of a row to SQLite.
    @inline(__always)
    func answer(_ call: OpaquePointer?, place: Int, column: Int) {
        guard let content else { return sqlite3_result_null(call) }
        let row = content.rows[place]
        switch column {
        case 0: sqlite3_result_int64(call, Int64(row))
        case 1: answer(call, content.objects.isEmpty ? nil : content.objects[row])
        case 2: answer(call, content.positions.isEmpty ? nil : content.positions[row])
        case Self.firstTargetColumn..<Self.firstCellColumn:
            let index = column - Self.firstTargetColumn
            answer(call, index < content.targetCount ? content.targets[row * content.targetCount + index] : nil)
        default:
            let (cell, part) = (column - Self.firstCellColumn).quotientAndRemainder(dividingBy: 2)
            if part == 1 {
                let isWritten = content.isWritten.isEmpty || content.isWritten[place * columnCount + cell]
                return sqlite3_result_int(call, isWritten ? 1 : 0)
            }
            if let defaults = content.defaults, content.reader.kind(row: row, column: cell) == .absent {
                answer(call, defaults, row: 0, column: cell)
            } else {
                answer(call, content.reader, row: row, column: cell)
            }
        }
    }

    @inline(__always)
    private func answer(_ call: OpaquePointer?, _ object: ObjectID?) {
        if let object { sqlite3_result_int64(call, object) } else { sqlite3_result_null(call) }
    }

    @inline(__always)
    private func answer(_ call: OpaquePointer?, _ reader: RecordBatch.Reader, row: Int, column: Int) {
        switch reader.kind(row: row, column: column) {
        case .absent, .null: sqlite3_result_null(call)
        case .bool: sqlite3_result_int(call, reader.bool(row: row, column: column) ? 1 : 0)
        case .int: sqlite3_result_int64(call, reader.int(row: row, column: column))
        case .double: sqlite3_result_double(call, reader.double(row: row, column: column))
        case .string, .uri, .decimal, .json:
            let bytes = reader.bytes(row: row, column: column)
            sqlite3_result_text64(call, sqliteContent(bytes), UInt64(bytes.count), nil, UInt8(SQLITE_UTF8))
        case .binary:
            let bytes = reader.bytes(row: row, column: column)
            sqlite3_result_blob64(call, sqliteContent(bytes), UInt64(bytes.count), nil)
        case .uuid:
            let room = scratch + column * Self.scratchWidth
            UUIDText.write(reader.bytes(row: row, column: column), to: room)
            answer(call, room, count: UUIDText.byteCount)
        case .date: answer(call, reader.date(row: row, column: column), column: column)
        }
    }

    @inline(__always)
    private func answer(_ call: OpaquePointer?, _ moment: Timestamp, column: Int) {
        let room = scratch + column * Self.scratchWidth
        if let dates {
            sqlite3_result_double(call, dates.seconds(moment))
        } else if DateText.write(sortable: moment, to: room) {
            answer(call, room, count: DateText.byteCount)
        } else if moment.microseconds < 0 {
            sqlite3_result_int64(call, moment.microseconds)
        } else {
            withUnsafeBytes(of: moment.microseconds.bigEndian) { bytes in
                sqlite3_result_blob64(call, bytes.baseAddress, 8, transientContent)
            }
        }
    }

    @inline(__always)
    private func answer(_ call: OpaquePointer?, _ text: UnsafeMutablePointer<UInt8>, count: Int) {
        sqlite3_result_text64(
            call, UnsafeRawPointer(text).assumingMemoryBound(to: CChar.self), UInt64(count), nil, UInt8(SQLITE_UTF8))
    }
}

/// The callbacks with which SQLite reads a batch table. Nothing is created in the database: a
/// statement that names the module reads its only table.
///
/// Unsafe because it is a pointer. Its target is written here, before any other code can access it,
/// and only read afterwards.
nonisolated(unsafe) private let batchModule: UnsafePointer<sqlite3_module> = {
    var module = sqlite3_module()
    module.iVersion = 1
    module.xConnect = { connection, context, _, _, result, _ in
        guard let context, let result else { return SQLITE_MISUSE }
        let table = Unmanaged<SQLiteBatchTable>.fromOpaque(context).takeUnretainedValue()
        let code = sqlite3_declare_vtab(connection, table.declaration)
        guard code == SQLITE_OK else { return code }
        let new = UnsafeMutablePointer<sync_rows_vtab>.allocate(capacity: 1)
        new.initialize(to: sync_rows_vtab(base: sqlite3_vtab(), rows: UnsafeMutableRawPointer(table.shown)))
        result.pointee = UnsafeMutableRawPointer(new).assumingMemoryBound(to: sqlite3_vtab.self)
        return SQLITE_OK
    }
    module.xDisconnect = { table in
        UnsafeMutableRawPointer(table)?.assumingMemoryBound(to: sync_rows_vtab.self).deallocate()
        return SQLITE_OK
    }
    module.xBestIndex = { _, plan in
        // The table can only be read from the first row to the last.
        plan?.pointee.estimatedCost = 1000
        plan?.pointee.estimatedRows = 1000
        return SQLITE_OK
    }
    module.xOpen = { table, result in
        guard let table, let result else { return SQLITE_MISUSE }
        let rows = UnsafeMutableRawPointer(table).assumingMemoryBound(to: sync_rows_vtab.self).pointee.rows
        let new = UnsafeMutablePointer<sync_rows_cursor>.allocate(capacity: 1)
        new.initialize(to: sync_rows_cursor(base: sqlite3_vtab_cursor(), rows: rows, place: 0, count: 0))
        result.pointee = UnsafeMutableRawPointer(new).assumingMemoryBound(to: sqlite3_vtab_cursor.self)
        return SQLITE_OK
    }
    module.xClose = { cursor in
        UnsafeMutableRawPointer(cursor)?.assumingMemoryBound(to: sync_rows_cursor.self).deallocate()
        return SQLITE_OK
    }
    module.xFilter = { cursor, _, _, _, _ in
        guard let cursor = batchCursor(cursor), let rows = cursor.pointee.rows else { return SQLITE_MISUSE }
        let state = rows.assumingMemoryBound(to: BatchTableState.self)
        cursor.pointee.place = 0
        cursor.pointee.count = Int64(state.pointee.content?.rows.count ?? 0)
        return SQLITE_OK
    }
    module.xNext = { cursor in
        batchCursor(cursor)?.pointee.place += 1
        return SQLITE_OK
    }
    module.xEof = { cursor in
        guard let cursor = batchCursor(cursor) else { return 1 }
        return cursor.pointee.place < cursor.pointee.count ? 0 : 1
    }
    module.xColumn = { cursor, call, column in
        guard let cursor = batchCursor(cursor), let rows = cursor.pointee.rows else { return SQLITE_MISUSE }
        rows.assumingMemoryBound(to: BatchTableState.self).pointee
            .answer(call, place: Int(cursor.pointee.place), column: Int(column))
        return SQLITE_OK
    }
    module.xRowid = { cursor, result in
        result?.pointee = batchCursor(cursor)?.pointee.place ?? 0
        return SQLITE_OK
    }
    let pointer = UnsafeMutablePointer<sqlite3_module>.allocate(capacity: 1)
    pointer.initialize(to: module)
    return UnsafePointer(pointer)
}()

@inline(__always)
private func batchCursor(_ cursor: UnsafeMutablePointer<sqlite3_vtab_cursor>?) -> UnsafeMutablePointer<
    sync_rows_cursor
>? {
    UnsafeMutableRawPointer(cursor)?.assumingMemoryBound(to: sync_rows_cursor.self)
}
