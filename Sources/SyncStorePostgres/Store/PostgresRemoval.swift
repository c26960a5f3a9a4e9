#if Postgres
package import OneWayPostgresClient
package import SyncModel
import SyncStore
package import SyncStoreSQL

extension PostgresConnection: SQLRemovalConnection {
    /// Deletes the objects of a query, and others by the delete rules, after a savepoint
    /// `sync_attempt`.
    ///
    /// - Parameters:
    ///   - others: The additions of other tools to the database.
    ///   - before: The number of rows that the transaction has deleted so far.
    /// - Throws: `StoreError.refused` for an object that a foreign key or a trigger keeps.
    func remove(
        _ query: StoreQuery, reportsKeys: Bool, others: PostgresMigration.Others, after before: Int,
        _ queries: SQLQueries
    ) throws -> RemovalResult {
        let removal = SQLRemoval(queries.schema, existing: others.released, foreignCascades: others.cascades)
        let layout = try queries.schema.model.layout(of: query.entity)
        func select() throws -> Int {
            try change(removal.start(try queries.rows(query, objectSet: nil), entity: layout.index))
        }
        let result: RemovalResult
        do { result = try removal.run(layout, reportsKeys: reportsKeys, on: self, selecting: select) } catch let error
            as PostgresError where error.isRefusal
        {
            try execute("ROLLBACK TO SAVEPOINT sync_attempt")
            var refusal = StoreError.Refusal(
                entity: layout.name, reason: .check, constraint: error.constraint,
                databaseError: error.debugDescription)
            if [.foreignKeyViolation, .restrictViolation].contains(error.code) {
                try removal.collect(on: self, selecting: select)
                for reference in try references(of: error, queries.schema) {
                    guard let found = try removal.refusal(by: reference, on: self) else { continue }
                    (refusal.entity, refusal.key, refusal.object) = (found.entity, found.key, found.object)
                    refusal.reason = found.reason
                    break
                }
            }
            throw StoreError.refused(refusal)
        }
        try removal.check(result, of: layout, deletedCount: try deletedRowCount(queries.schema) - before) {
            try triggers(of: queries.schema)
        }
        return result
    }

    /// The foreign keys to entities' tables that an error can be about.
    private func references(of error: PostgresError, _ schema: SQLSchema) throws -> [SQLRemoval.Reference] {
        guard let table = error.table, let constraint = error.constraint else { return [] }
        let found = try run(
            SQLStatementText(
                """
                SELECT c.oid::bigint, c.conrelid::regclass::text, f.place, a.attname::text, b.attname::text \
                FROM pg_catalog.pg_constraint c JOIN pg_catalog.pg_class t ON t.oid = c.conrelid \
                JOIN pg_catalog.unnest($3::text[]) WITH ORDINALITY f (name, place) ON to_regclass(f.name) = c.confrelid \
                CROSS JOIN LATERAL pg_catalog.generate_subscripts(c.conkey, 1) AS k(place) \
                JOIN pg_catalog.pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[k.place] \
                JOIN pg_catalog.pg_attribute b ON b.attrelid = c.confrelid AND b.attnum = c.confkey[k.place] \
                WHERE c.contype::text = 'f'::text AND t.relname::text = $1::text AND c.conname::text = $2::text \
                ORDER BY c.oid, k.place
                """,
                [
                    .text(table), .text(constraint),
                    .typed(
                        PostgresText.array(schema.families.map { .text(schema.relation($0.table)) }), as: "text[]"),
                ]))
        var columns: [(column: String, target: String)] = []
        return (0..<found.rowCount).compactMap { row in
            if row > 0, found.integer(row - 1, 0) != found.integer(row, 0) { columns = [] }
            guard let relation = found.text(row, 1), let place = found.integer(row, 2),
                let column = found.text(row, 3), let target = found.text(row, 4)
            else { return nil }
            columns.append((column, target))
            let isLast = row + 1 == found.rowCount || found.integer(row + 1, 0) != found.integer(row, 0)
            return isLast
                ? SQLRemoval.Reference(table, relation: relation, family: Int(place) - 1, columns: columns) : nil
        }
    }

    /// Describes what a deferred constraint refused when a transaction ended; nil if no table of
    /// the model is concerned.
    func refusal(atCommit error: PostgresError, _ schema: SQLSchema) throws -> StoreError.Refusal? {
        guard error.isRefusal, let table = error.table else { return nil }
        var family = schema.families.firstIndex { $0.table == table }
        var reason = StoreError.Refusal.Reason.check
        switch error.code {
        case .foreignKeyViolation:
            family = try references(of: error, schema).first?.family ?? family
            reason = .missingReference(from: table)
        case .uniqueViolation: reason = .taken(by: nil)
        default: break
        }
        return family.map {
            StoreError.Refusal(
                entity: schema.model.layouts[schema.families[$0].root].name, reason: reason,
                constraint: error.constraint, databaseError: error.debugDescription)
        }
    }

    /// The number of rows that this transaction has deleted from the entities' tables for any
    /// reason.
    ///
    /// The server counts the rows of partitions separately, and counts none if `track_counts` is
    /// off.
    func deletedRowCount(_ schema: SQLSchema) throws -> Int {
        Int(try execute("SELECT \(schema.deletedRowCount)").integer(0, 0) ?? 0)
    }

    /// The triggers of other tools on the model's tables.
    func triggers(of schema: SQLSchema) throws -> [SQLTrigger] {
        let found = try execute(
            "SELECT g.tgname::text, c.relname::text FROM pg_catalog.pg_trigger g "
                + "JOIN pg_catalog.pg_class c ON c.oid = g.tgrelid WHERE \(schema.isTrigger("g")) ORDER BY 1, 2")
        return (0..<found.rowCount).compactMap { row in
            guard let name = found.text(row, 0), let table = found.text(row, 1) else { return nil }
            return SQLTrigger(name, on: table)
        }
    }

    package func perform(_ text: String) {
        executeLater(text)
    }

    package func change(_ statement: SQLStatementText) throws -> Int {
        try runTogether(statement).affectedCount
    }

    package func forEachRow(of text: String, _ body: (PostgresRow) throws -> Bool) throws {
        let result = try query(text, binaryResult: true)
        for row in 0..<result.rowCount where try !body(PostgresRow(result: result, row: row)) { return }
    }
}

extension SQLSchema {
    /// The number of rows that the session has deleted from the entities' tables; only differences
    /// in one transaction have a meaning.
    var deletedRowCount: String {
        "(SELECT sum(pg_catalog.pg_stat_get_xact_tuples_deleted(to_regclass(t.name)::oid))::bigint "
            + "FROM pg_catalog.unnest(\(relations(families.map(\.table)))) AS t (name))"
    }

    /// The condition that a row of `pg_trigger` is a trigger of another tool on one of the tables.
    fileprivate func isTrigger(_ alias: String) -> String {
        "NOT \(alias).tgisinternal AND \(alias).tgenabled <> 'D'::\"char\" AND \(alias).tgrelid IN (SELECT "
            + "to_regclass(t.name)::oid FROM pg_catalog.unnest(\(relations(tableNames))) AS t (name))"
    }

    /// Selects the number of deleted rows if other tools have triggers on the model's tables; null
    /// otherwise.
    var watchedRowCount: String {
        "CASE WHEN EXISTS (SELECT 1 FROM pg_catalog.pg_trigger g WHERE \(isTrigger("g"))) THEN \(deletedRowCount) END"
    }

    private var tableNames: [String] { families.map(\.table) + joins.map(\.table) }

    private func relations(_ tables: [String]) -> String {
        "\(SQLText.literal(PostgresText.array(tables.map { .text(relation($0)) })))::text[]"
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
