import SyncModel
import SyncStore
import SyncStoreSQL

/// A selection that is read batch by batch.
final class SQLiteSelection {
    private let statement: SQLiteStatement
    private let types: [AttributeType]
    private let connection: SQLiteConnection
    private let objectSet: ObjectSets.Registration?
    private(set) var isDone = false
    /// The size to reserve for the next batch: that of the previous one, or of a small result.
    private var expected = (rowCount: 64, byteCount: 4096)

    init(_ selection: BoundSelection, queries: SQLQueries, connection: SQLiteConnection) throws(SQLiteError) {
        types = selection.types
        self.connection = connection
        objectSet = connection.register(selection.objects)
        let text = queries.rows(selection, objectSet: objectSet?.number)
        statement = try connection.take(text.text)
        statement.bind(text.bindings)
    }

    deinit {
        connection.giveBack(statement)
    }

    /// The next rows; empty after the last.
    func next(_ count: Int) throws(SQLiteError) -> RecordBatch {
        var batch = RecordBatch(columnCount: types.count)
        batch.reserveCapacity(rowCount: min(expected.rowCount, count), byteCount: expected.byteCount)
        while batch.count < count, !isDone {
            guard try statement.step() else {
                isDone = true
                break
            }
            batch.beginRecord()
            for (column, type) in types.enumerated() {
                statement.value(at: column).write(to: &batch, at: column, as: type)
            }
            batch.endRecord()
        }
        expected = (batch.count, batch.contentByteCount)
        return batch
    }
}
