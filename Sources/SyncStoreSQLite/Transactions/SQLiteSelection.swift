import SyncModel
import SyncStore
import SyncStoreSQL

/// A selection that is read batch by batch.
final class SQLiteSelection {
    private let statement: SQLiteStatement
    private let types: [AttributeType]
    private let connection: SQLiteConnection
    private let objectSet: Int64?
    private(set) var isDone = false
    /// The size to reserve for the next batch: that of the previous one, or of a small result.
    private var expected = (rowCount: 64, byteCount: 4096)

    init(_ selection: BoundSelection, queries: SQLQueries, connection: SQLiteConnection) throws(SQLiteError) {
        types = selection.types
        self.connection = connection
        var number: Int64?
        if case .except(let objects) = selection.objects { number = connection.add(objects) }
        objectSet = number
        let text = queries.rows(selection, objectSet: number)
        do {
            statement = try connection.take(text.text)
        } catch {
            if let number { connection.removeObjectSet(number) }
            throw error
        }
        statement.bind(text.bindings)
    }

    deinit {
        connection.giveBack(statement)
        if let objectSet { connection.removeObjectSet(objectSet) }
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
