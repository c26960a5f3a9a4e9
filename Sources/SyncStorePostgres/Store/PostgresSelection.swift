#if Postgres
import OneWayPostgresClient
import SyncModel
import SyncStore
import SyncStoreSQL

/// A selection that is read batch by batch, with a server-side cursor if there are several batches.
struct PostgresSelection {
    private let name: String
    private let types: [AttributeType]
    /// The first rows.
    let first: RecordBatch
    /// Whether the first rows are all rows.
    let isDone: Bool

    /// Runs a selection.
    ///
    /// - Parameters:
    ///   - count: The number of rows of a batch.
    ///   - number: A number that is unique among the open cursors of the connection.
    init(
        _ selection: BoundSelection, count: Int, number: Int, queries: SQLQueries, connection: PostgresConnection
    ) throws {
        name = "sync_cursor_\(number)"
        types = selection.types
        let statement = queries.rows(selection, objectSet: nil)
        do {
            if selection.limit.map({ $0 <= count }) == true {
                // One round trip for a page.
                first = Self.batch(try connection.run(statement), types)
                isDone = true
            } else {
                try connection.run(
                    SQLStatementText("DECLARE \(name) NO SCROLL CURSOR FOR \(statement.text)", statement.bindings))
                first = try Self.fetch(count, name, types, connection)
                isDone = first.count < count
                if isDone { try connection.execute("CLOSE \(name)") }
            }
        } catch let error as PostgresError where error.code == Self.outOfRange && selection.isGrouped {
            throw StoreError.sumOverflow(entity: selection.entity.name)
        }
    }

    private static let outOfRange = PostgresError.Code("22003")

    /// Returns the next rows; empty after the last.
    func next(_ count: Int, connection: PostgresConnection) throws -> RecordBatch {
        try Self.fetch(count, name, types, connection)
    }

    func close(connection: PostgresConnection) throws {
        try connection.execute("CLOSE \(name)")
    }

    private static func fetch(
        _ count: Int, _ name: String, _ types: [AttributeType], _ connection: PostgresConnection
    ) throws -> RecordBatch {
        batch(try connection.query("FETCH FORWARD \(count) FROM \(name)", binaryResult: true), types)
    }

    private static func batch(_ result: PostgresResult, _ types: [AttributeType]) -> RecordBatch {
        var batch = RecordBatch(columnCount: types.count)
        for row in 0..<result.rowCount {
            batch.beginRecord()
            for (column, type) in types.enumerated() {
                batch.setValue(result.value(row, column, as: type), at: column)
            }
            batch.endRecord()
        }
        return batch
    }
}
#endif
