#if Postgres
package import OneWayPostgresClient
package import SyncModel
import SyncStore
package import SyncStoreSQL

extension PostgresConnection: SQLRemovalConnection {
    /// Deletes the objects of a query, and others by the delete rules.
    ///
    /// - Parameter others: What others have in the database.
    func remove(
        _ query: StoreQuery, reportsKeys: Bool, others: PostgresMigration.Others, _ queries: SQLQueries
    ) throws -> RemovalResult {
        let removal = SQLRemoval(queries.schema, adopted: others.released, foreignCascades: others.cascades)
        let layout = try queries.schema.model.layout(of: query.entity)
        return try removal.run(layout, reportsKeys: reportsKeys, on: self) {
            try change(removal.start(try queries.rows(query, objectSet: nil), entity: layout.index))
        }
    }

    package func perform(_ text: String) throws {
        try execute(text)
    }

    package func change(_ statement: SQLStatementText) throws -> Int {
        try run(statement).affectedCount
    }

    package func forEachRow(of text: String, _ body: (PostgresRow) throws -> Bool) throws {
        let result = try query(text, binaryResult: true)
        for row in 0..<result.rowCount where try !body(PostgresRow(result: result, row: row)) { return }
    }
}

/// A row of a result.
package struct PostgresRow: SQLRow {
    let result: PostgresResult
    let row: Int

    package func integer(at column: Int) -> Int64? {
        result.integer(row, column)
    }

    package func text(at column: Int) -> String? {
        result.text(row, column)
    }

    package func value(at column: Int, as type: AttributeType) -> AttributeValue {
        result.value(row, column, as: type)
    }
}
#endif
