#if Postgres
import OneWayPostgresClient
import SyncModel
import SyncStore
import SyncStoreSQL

extension PostgresConnection {
    /// The number of rows that a transaction has deleted before and after a removal; see
    /// `SQLSchema.deletedRowCount`.
    struct DeletedRowCounts {
        var before: Int?
        var after = 0
        /// The number of rows that triggers inserted during the last attempt.
        var inserted = 0
    }

    /// The database has other foreign keys than a removal takes for granted.
    private struct ChangedForeignKeys: Error {}

    /// Deletes the objects of a query, and others by the delete rules, after a savepoint
    /// `sync_attempt`. Keeps other sessions from adding foreign keys to the affected tables until
    /// the transaction ends.
    ///
    /// - Parameters:
    ///   - others: The additions of other tools to the database; changed if there are further ones.
    ///   - counts: Receives the numbers of deleted rows.
    ///   - find: Returns the numbers of the objects that have the identities of a batch.
    ///   - verify: Verifies the foreign keys of other tools.
    /// - Throws: `StoreError.refused` for an object that a foreign key or a trigger keeps;
    ///   `SQLSchemaError.unsuitableTable`.
    func remove(
        _ query: StoreQuery, reportsKeys: Bool, others: inout PostgresMigration.Others,
        counting counts: inout DeletedRowCounts, _ queries: SQLQueries,
        find: (EntityLayout, RecordBatch) throws -> [ObjectID?],
        verify: (PostgresMigration.Others) throws -> PostgresMigration.Others
    ) throws -> RemovalResult {
        var result = try removeVerified(
            query, reportsKeys: reportsKeys, others: &others, counting: &counts, queries, verify: verify)
        guard counts.inserted > 0 else { return result }
        if !reportsKeys {
            // Only the keys show whether a trigger has inserted the same objects again.
            try execute("ROLLBACK TO SAVEPOINT sync_attempt")
            result = try removeVerified(
                query, reportsKeys: true, others: &others, counting: &counts, queries, verify: verify)
        }
        do {
            try SQLRemoval(queries.schema).checkReturns(of: result, find: find)
        } catch let kept as SQLKeptRows {
            throw kept.error(by: try guards(of: kept.table, queries.schema))
        }
        if !reportsKeys { result.keys = [:] }
        return result
    }

    /// Repeats a removal after others have added foreign keys.
    private func removeVerified(
        _ query: StoreQuery, reportsKeys: Bool, others: inout PostgresMigration.Others,
        counting counts: inout DeletedRowCounts, _ queries: SQLQueries,
        verify: (PostgresMigration.Others) throws -> PostgresMigration.Others
    ) throws -> RemovalResult {
        do {
            return try remove(query, reportsKeys: reportsKeys, others: others, counting: &counts, queries)
        } catch is ChangedForeignKeys {
            let layout = try queries.schema.model.layout(of: query.entity)
            try execute("ROLLBACK TO SAVEPOINT sync_attempt; \(lock(deleting: layout.index, queries.schema))")
            others = try verify(others)
            return try remove(
                query, reportsKeys: reportsKeys, others: others, isLocked: true, counting: &counts, queries)
        }
    }

    /// - Parameter isLocked: Whether no other session can have added a foreign key to the affected
    ///   tables; false by default.
    private func remove(
        _ query: StoreQuery, reportsKeys: Bool, others: PostgresMigration.Others, isLocked: Bool = false,
        counting counts: inout DeletedRowCounts, _ queries: SQLQueries
    ) throws -> RemovalResult {
        let schema = queries.schema
        let rules = SQLRemoval(schema, existing: others.released, foreignCascades: others.cascades)
        let layout = try schema.model.layout(of: query.entity)
        let removal = PostgresStatementQueue(on: self)
        let start = rules.start(try queries.rows(query, objectSet: nil), entity: layout.index)
        var (first, last) = (0, 0)
        var (firstInserted, lastInserted) = (0, 0)
        _ = removal.change(SQLStatementText(lock(deleting: layout.index, schema)))
        removal.forEachRow(
            of: "SELECT \(schema.deletedRowCount), (\(PostgresMigration.fingerprint)), \(schema.insertedRowCount)"
        ) { row in
            first = row.integer(at: 0).map { Int($0) } ?? 0
            firstInserted = row.integer(at: 2).map { Int($0) } ?? 0
            // Those of other tables can change at any time.
            guard isLocked || row.text(at: 1) ?? "" == others.fingerprint else { throw ChangedForeignKeys() }
            return false
        }
        defer {
            // A failed attempt counts too.
            counts.before = counts.before ?? first
            counts.after = last
            counts.inserted = lastInserted - firstInserted
        }
        do {
            let result = try rules.run(layout, reportsKeys: reportsKeys, on: removal) {
                removal.change(start)
            } end: {
                removal.forEachRow(of: "SELECT \(schema.deletedRowCount), \(schema.insertedRowCount)") { row in
                    last = row.integer(at: 0).map { Int($0) } ?? 0
                    lastInserted = row.integer(at: 1).map { Int($0) } ?? 0
                    return false
                }
            }
            try rules.check(result, of: layout, deletedCount: last - first) { try triggers(of: schema) }
            return result
        } catch let error as PostgresError where error.isRefusal {
            try execute("ROLLBACK TO SAVEPOINT sync_attempt")
            var refusal = StoreError.Refusal(
                entity: layout.name, reason: .check, constraint: error.constraint,
                databaseError: error.debugDescription)
            if [.foreignKeyViolation, .restrictViolation].contains(error.code) {
                let again = PostgresStatementQueue(on: self)
                try rules.collect(layout, on: again) { again.change(start) }
                try again.finish()
                for reference in try references(of: error, schema) {
                    guard let found = try rules.refusal(by: reference, on: again) else { continue }
                    (refusal.entity, refusal.key, refusal.object) = (found.entity, found.key, found.object)
                    refusal.reason = found.reason
                    break
                }
            }
            throw StoreError.refused(refusal)
        } catch let kept as SQLKeptRows {
            try execute("ROLLBACK TO SAVEPOINT sync_attempt")
            throw kept.error(by: try guards(of: kept.table, schema))
        } catch let error as StoreError {
            throw try undone(error)
        } catch let error as SQLSchemaError {
            throw try undone(error)
        }
    }

    /// Undoes a removal: the statements after the one that showed the error have been run.
    private func undone<Failure>(_ error: Failure) throws -> Failure {
        try execute("ROLLBACK TO SAVEPOINT sync_attempt")
        return error
    }

    /// The lock mode of a deletion. The creation of a foreign key waits for it.
    private func lock(deleting entity: Int, _ schema: SQLSchema) -> String {
        let tables = SQLRemoval(schema).families(deleting: entity).map { schema.relation(schema.families[$0].table) }
        return "LOCK TABLE \(tables.joined(separator: ", ")) IN ROW EXCLUSIVE MODE"
    }

    /// The foreign keys to entities' tables that an error can be about.
    private func references(of error: PostgresError, _ schema: SQLSchema) throws -> [SQLRemoval.Reference] {
        guard let table = error.table, let constraint = error.constraint else { return [] }
        let found = try run(
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
            ])
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

    /// Fails if a trigger has deleted objects that no change of the transaction reports, or if a
    /// deferred one changes rows of the model's tables, which were verified before.
    ///
    /// - Parameter reportedCount: The number of deleted rows that is reported.
    func checkTriggers(after reportedCount: Int, _ schema: SQLSchema) throws {
        var counts: [PostgresResult] = []
        // Deferred triggers would run only at the commit.
        let counted = try execute(
            "\(schema.changedRowCounts); SET CONSTRAINTS ALL IMMEDIATE; \(schema.changedRowCounts); "
                + "SELECT \(schema.deletedRowCount)"
        ) { counts.append($0) }
        let count = Int(counted.integer(0, 0) ?? 0) - reportedCount
        guard count <= 0 else {
            throw SQLTrigger.error(furtherDeletedCount: count, triggers: try triggers(of: schema))
        }
        guard
            let changed = schema.tableNames.indices.first(where: {
                counts[0].integer($0, 0) != counts[1].integer($0, 0)
            })
        else { return }
        let names = Self.names(of: try deferrableTriggers(of: schema))
        throw SQLSchemaError.unsuitableTable(
            table: schema.tableNames[changed],
            reason: "\(names.isEmpty ? "a deferred trigger" : names) changes its rows at the commit, when they are no "
                + "longer verified; make the trigger immediate")
    }

    /// Describes what a deferred constraint or trigger refused when a transaction ended; nil if no
    /// table of the model is concerned.
    func refusal(atCommit error: PostgresError, _ schema: SQLSchema) throws -> StoreError.Refusal? {
        guard let table = error.table else { return try refusal(byDeferredTrigger: error, schema) }
        guard error.isRefusal else { return nil }
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

    /// Describes what a deferred trigger refused, which the server does not name.
    private func refusal(byDeferredTrigger error: PostgresError, _ schema: SQLSchema) throws -> StoreError.Refusal? {
        guard error.isRefusal || error.isRaised, !error.isRetryable else { return nil }
        let triggers = try deferrableTriggers(of: schema)
        guard let table = triggers.first?.table else { return nil }
        let owner = schema.joins.first { $0.table == table }?.sourceTable ?? table
        return schema.families.first { $0.table == owner }.map { family in
            StoreError.Refusal(
                entity: schema.model.layouts[family.root].name, reason: .check,
                constraint: Self.names(of: triggers), databaseError: error.debugDescription)
        }
    }

    /// The triggers of other tools on the model's tables that can run as late as at the commit.
    private func deferrableTriggers(of schema: SQLSchema) throws -> [(name: String, table: String)] {
        try triggers(of: schema, where: "g.tgdeferrable")
    }

    private static func names(of triggers: [(name: String, table: String)]) -> String {
        triggers.map { "the trigger \($0.name) of \($0.table)" }.joined(separator: " or ")
    }

    /// What other tools have added to a table that can keep rows from being changed, as errors name
    /// it: triggers, rules and row-level security.
    func guards(of table: String, _ schema: SQLSchema) throws -> [String] {
        let table = "to_regclass(\(SQLText.literal(schema.relation(table)))::text)::oid"
        return try execute(
            """
            SELECT 'the trigger '::text || g.tgname::text FROM pg_catalog.pg_trigger g \
            WHERE g.tgrelid = \(table) AND NOT g.tgisinternal AND g.tgenabled <> 'D'::"char" \
            UNION ALL SELECT 'the rule '::text || r.rulename::text FROM pg_catalog.pg_rewrite r \
            WHERE r.ev_class = \(table) AND r.ev_enabled <> 'D'::"char" \
            UNION ALL SELECT 'row-level security'::text FROM pg_catalog.pg_class c \
            WHERE c.oid = \(table) AND c.relrowsecurity ORDER BY 1
            """
        ).texts(0)
    }

    /// The triggers of other tools on the model's tables.
    func triggers(of schema: SQLSchema) throws -> [SQLTrigger] {
        try triggers(of: schema, where: "true").map { SQLTrigger($0.name, on: $0.table) }
    }

    /// - Parameter condition: A condition for a row `g` of `pg_trigger`.
    private func triggers(of schema: SQLSchema, where condition: String) throws -> [(name: String, table: String)] {
        let found = try execute(
            "SELECT g.tgname::text, c.relname::text FROM pg_catalog.pg_trigger g "
                + "JOIN pg_catalog.pg_class c ON c.oid = g.tgrelid "
                + "WHERE \(schema.isTrigger) AND \(condition) ORDER BY 1, 2")
        return (0..<found.rowCount).compactMap { row in
            guard let name = found.text(row, 0), let table = found.text(row, 1) else { return nil }
            return (name: name, table: table)
        }
    }
}

extension SQLSchema {
    /// The number of rows that the session has deleted from the entities' tables for any reason;
    /// only differences in one transaction have a meaning.
    ///
    /// The server counts the rows of partitions separately, and counts none if `track_counts` is
    /// off.
    var deletedRowCount: String { rowCount("pg_stat_get_xact_tuples_deleted") }

    /// The number of rows that the session has inserted; see ``deletedRowCount``.
    fileprivate var insertedRowCount: String { rowCount("pg_stat_get_xact_tuples_inserted") }

    /// Selects the number of rows that the session has inserted, updated and deleted, for each of
    /// the model's tables; see ``deletedRowCount``.
    fileprivate var changedRowCounts: String {
        let counts = ["inserted", "updated", "deleted"].map {
            "pg_catalog.pg_stat_get_xact_tuples_\($0)(to_regclass(t.name)::oid)"
        }
        return "SELECT \(counts.joined(separator: " + ")) FROM pg_catalog.unnest(\(relations(tableNames))) "
            + "WITH ORDINALITY AS t (name, place) ORDER BY t.place"
    }

    private func rowCount(_ function: String) -> String {
        "(SELECT sum(pg_catalog.\(function)(to_regclass(t.name)::oid))::bigint "
            + "FROM pg_catalog.unnest(\(relations(families.map(\.table)))) AS t (name))"
    }

    /// The condition that a row `g` of `pg_trigger` is a trigger of another tool on one of the
    /// tables.
    fileprivate var isTrigger: String {
        "NOT g.tgisinternal AND g.tgenabled <> 'D'::\"char\" AND g.tgrelid IN (SELECT "
            + "to_regclass(t.name)::oid FROM pg_catalog.unnest(\(relations(tableNames))) AS t (name))"
    }

    /// Selects the number of deleted rows if other tools have triggers on the model's tables; null
    /// otherwise.
    var watchedRowCount: String {
        "CASE WHEN EXISTS (SELECT 1 FROM pg_catalog.pg_trigger g WHERE \(isTrigger)) THEN \(deletedRowCount) END"
    }

    fileprivate var tableNames: [String] { families.map(\.table) + joins.map(\.table) }

    private func relations(_ tables: [String]) -> String {
        "\(SQLText.literal(PostgresText.array(tables.map { .text(relation($0)) })))::text[]"
    }
}

/// A row of a result.
struct PostgresRow: SQLRow {
    let result: PostgresResult
    let row: Int

    func integer(at column: Int) -> Int64? {
        result.integer(row, column)
    }

    func text(at column: Int) -> String? {
        result.text(row, column)
    }

    func value(at column: Int, as type: AttributeType) -> AttributeValue {
        result.value(row, column, as: type)
    }
}
#endif
