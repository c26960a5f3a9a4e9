#if Postgres
package import OneWayPostgresClient
package import SyncModel
package import SyncStore
package import SyncStoreSQL

/// A server-side cursor that reads a query in batches.
struct PostgresCursor {
    private var cursor: PostgresBatchCursor
    private let columns: SQLQueries.Columns
    private let model: DataModel
    private let entity: EntityLayout

    /// - Parameter number: A number that is unique among the open cursors of the connection.
    init(_ query: StoreQuery, number: Int, queries: SQLQueries) throws {
        model = queries.schema.model
        entity = try model.layout(of: query.entity)
        columns = queries.columns(of: entity.index)
        cursor = PostgresBatchCursor(try queries.records(query, objectSet: nil), number: number)
    }

    /// Returns the next objects; empty after the last.
    mutating func next(_ count: Int, connection: PostgresConnection) throws -> [StoredRecord] {
        guard let result = try cursor.next(count, connection: connection) else { return [] }
        return (0..<result.rowCount).compactMap { record(result, $0) }
    }

    mutating func close(connection: PostgresConnection) {
        cursor.close(connection: connection)
    }

    private func record(_ result: PostgresResult, _ row: Int) -> StoredRecord? {
        let layout = columns.namesEntity ? result.text(row, 1).flatMap { model[$0] } : entity
        guard let layout, let places = columns.places[layout.index], let number = result.integer(row, 0) else {
            return nil
        }
        var record = Record(of: layout)
        for (column, place) in places.enumerated() {
            record[column: column] = result.value(row, place, as: layout.attributes[column].type)
        }
        return StoredRecord(object: number, record: record)
    }
}

extension PostgresConnection: SQLReadingConnection {
    /// Runs a statement with its parameters.
    @discardableResult
    func run(_ statement: SQLStatementText) throws -> PostgresResult {
        try run([PostgresStatement(statement)])[0]
    }

    @discardableResult
    func run(_ text: String, _ bindings: [SQLBinding] = []) throws -> PostgresResult {
        try run(SQLStatementText(text, bindings))
    }

    package func records(_ objects: [ObjectID], of entity: String, _ queries: SQLQueries) throws -> [StoredRecord] {
        let query = StoreQuery(entity, objects: .only(objects))
        var cursor = try PostgresCursor(query, number: 0, queries: queries)
        defer { cursor.close(connection: self) }
        return try cursor.next(objects.count, connection: self)
    }

    package func links(
        _ relationship: EntityLayout.Relationship, of sources: [ObjectID], _ queries: SQLQueries, isReading: Bool
    ) throws -> [LinkBatch.Link] {
        let text = queries.links(relationship, isReading: isReading)
        return try run(text, [.objects(sources)]).links
    }
}
#endif
