import SyncModel
import SyncStore
import SyncStoreSQL

/// A query that is read batch by batch.
final class SQLiteCursor {
    private let statement: SQLiteStatement
    private let columns: SQLQueries.Columns
    private let model: DataModel
    private let entity: EntityLayout
    private let connection: SQLiteConnection
    private let objectSet: ObjectSets.Registration?
    private var isDone = false

    init(_ query: StoreQuery, queries: SQLQueries, connection: SQLiteConnection) throws {
        model = queries.schema.model
        entity = try model.layout(of: query.entity)
        columns = queries.columns(of: entity.index)
        self.connection = connection
        objectSet = connection.register(query.objects)
        let text = try queries.records(query, objectSet: objectSet?.number)
        // Not from the cache, because the same query may be read again before this one ends.
        statement = try connection.prepare(text.text, text.bindings)
    }

    /// The next objects; empty after the last.
    func next(_ count: Int) throws(SQLiteError) -> [StoredRecord] {
        var records: [StoredRecord] = []
        while records.count < count, !isDone {
            guard try statement.step() else {
                isDone = true
                break
            }
            if let record = record() { records.append(record) }
        }
        return records
    }

    /// The object of the current row; nil if it is of another entity, which the statement does not
    /// select.
    private func record() -> StoredRecord? {
        let layout: EntityLayout
        if columns.namesEntity {
            guard let found = model[statement.text(at: 1)] else { return nil }
            layout = found
        } else {
            layout = entity
        }
        guard let places = columns.places[layout.index] else { return nil }
        var record = Record(of: layout)
        for (column, place) in places.enumerated() {
            record[column: column] = statement.value(at: place, as: layout.attributes[column].type)
        }
        return StoredRecord(object: statement.integer(at: 0), record: record)
    }
}
