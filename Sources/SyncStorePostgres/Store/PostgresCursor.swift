#if Postgres
package import OneWayPostgresClient
package import SyncModel
package import SyncStore
package import SyncStoreSQL

/// A server-side cursor that reads a query in batches.
struct PostgresCursor {
    private let name: String
    private let columns: SQLQueries.Columns
    private let model: DataModel
    private let entity: EntityLayout

    /// Declares a cursor.
    ///
    /// - Parameter number: A number that is unique among the open cursors of the connection.
    init(_ query: StoreQuery, number: Int, queries: SQLQueries, connection: PostgresConnection) throws {
        name = "sync_cursor_\(number)"
        model = queries.schema.model
        entity = try model.layout(of: query.entity)
        columns = queries.columns(of: entity.index)
        let statement = try queries.records(query, objectSet: nil)
        try connection.run(
            SQLStatementText("DECLARE \(name) NO SCROLL CURSOR FOR \(statement.text)", statement.bindings))
    }

    /// Returns the next objects; empty after the last.
    func next(_ count: Int, connection: PostgresConnection) throws -> [StoredRecord] {
        let result = try connection.query("FETCH FORWARD \(count) FROM \(name)", binaryResult: true)
        return (0..<result.rowCount).compactMap { record(result, $0) }
    }

    func close(connection: PostgresConnection) throws {
        try connection.execute("CLOSE \(name)")
    }

    private func record(_ result: PostgresResult, _ row: Int) -> StoredRecord? {
        let layout = columns.namesEntity ? result.text(row, 1).flatMap { model[$0] } : entity
        guard let layout, let places = columns.places[layout.index], let number = result.integer(row, 0) else {
            return nil
        }
        var record = Record(of: layout)
        for (slot, place) in places.enumerated() {
            record[slot: slot] = result.value(row, place, as: layout.attributes[slot].type)
        }
        return StoredRecord(object: number, record: record)
    }
}

extension PostgresConnection: SQLReadingConnection {
    /// Runs a statement with its parameters.
    @discardableResult
    func run(_ statement: SQLStatementText) throws -> PostgresResult {
        try query(statement.text, statement.bindings.map(PostgresParameter.init), binaryResult: true)
    }

    /// Runs a statement in one message with those that wait for it, if it has few parameters.
    ///
    /// - Returns: Its result, whose values can be texts.
    @discardableResult
    func runTogether(_ statement: SQLStatementText) throws -> PostgresResult {
        guard let text = statement.inlined else { return try run(statement) }
        return try execute(text)
    }

    package func records(_ objects: [ObjectID], of entity: String, _ queries: SQLQueries) throws -> [StoredRecord] {
        let query = StoreQuery(entity, objects: .only(objects))
        let cursor = try PostgresCursor(query, number: 0, queries: queries, connection: self)
        let records = try cursor.next(objects.count, connection: self)
        try cursor.close(connection: self)
        return records
    }

    package func links(
        _ relationship: EntityLayout.Relationship, of sources: [ObjectID], _ queries: SQLQueries, isReading: Bool
    ) throws -> [LinkBatch.Link] {
        let text = queries.links(relationship, isReading: isReading)
        return try run(SQLStatementText(text, [.objects(sources)])).links
    }
}
#endif
