#if Postgres
package import OneWayPostgresClient
package import SyncModel
import SyncStore
package import SyncStoreSQL

extension PostgresConnection: SQLRemovalConnection {
    /// Deletes the objects of a query, and others by the delete rules.
    ///
    /// - Parameter others: The additions of other tools to the database.
    func remove(
        _ query: StoreQuery, reportsKeys: Bool, others: PostgresMigration.Others, _ queries: SQLQueries
    ) throws -> RemovalResult {
        let removal = SQLRemoval(queries.schema, adopted: others.released, foreignCascades: others.cascades)
        let layout = try queries.schema.model.layout(of: query.entity)
        let before = try deletedRowCount(queries.schema)
        let result = try removal.run(layout, reportsKeys: reportsKeys, on: self) {
            try change(removal.start(try queries.rows(query, objectSet: nil), entity: layout.index))
        }
        try removal.check(result, of: layout, deletedCount: try deletedRowCount(queries.schema) - before)
        return result
    }

    /// The number of rows that this transaction has deleted from the entities' tables for any
    /// reason.
    ///
    /// The server counts the rows of partitions separately, and counts none if `track_counts` is
    /// off.
    private func deletedRowCount(_ schema: SQLSchema) throws -> Int {
        let count = try query(
            """
            SELECT sum(pg_catalog.pg_stat_get_xact_tuples_deleted(to_regclass(t.name)::oid))::bigint \
            FROM pg_catalog.unnest($1::text[]) AS t (name)
            """, [.texts(schema.families.map { schema.relation($0.table) })]
        ).integer(0, 0)
        return Int(count ?? 0)
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
