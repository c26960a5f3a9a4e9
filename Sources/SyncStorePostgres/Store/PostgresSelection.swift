#if Postgres
import OneWayPostgresClient
import SyncModel
import SyncStore
import SyncStoreSQL

/// A selection that is read batch by batch, with a server-side cursor if there are several batches.
struct PostgresSelection {
    private var cursor: PostgresBatchCursor
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
        types = selection.types
        let statement = queries.rows(selection, objectSet: nil)
        cursor = PostgresBatchCursor(statement, number: number)
        do {
            if selection.limit.map({ $0 <= count }) == true {
                first = Self.batch(try connection.run(statement), types)
                isDone = true
            } else {
                first = Self.batch(try cursor.next(count, connection: connection), types)
                isDone = cursor.isDone
            }
        } catch let error as PostgresError where error.code == Self.outOfRange && selection.isGrouped {
            throw StoreError.sumOverflow(entity: selection.entity.name)
        }
    }

    private static let outOfRange = PostgresError.Code("22003")

    /// Returns the next rows; empty after the last.
    mutating func next(_ count: Int, connection: PostgresConnection) throws -> RecordBatch {
        Self.batch(try cursor.next(count, connection: connection), types)
    }

    mutating func close(connection: PostgresConnection) {
        cursor.close(connection: connection)
    }

    private static func batch(_ result: PostgresResult?, _ types: [AttributeType]) -> RecordBatch {
        var batch = RecordBatch(columnCount: types.count)
        guard let result else { return batch }
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
