import SyncModel
import SyncStore
import SyncStoreSQL

extension SQLiteConnection: SQLWritingConnection {
    /// Deletes the objects of a query, and others by the delete rules.
    ///
    /// - Parameters:
    ///   - others: The additions of other tools to the database.
    ///   - find: Returns the numbers of the objects that have the identities of a batch.
    func remove(
        _ query: StoreQuery, reportsKeys: Bool, others: SQLiteMigration.Others, _ queries: SQLQueries,
        find: (EntityLayout, RecordBatch) throws -> [ObjectID?]
    ) throws -> RemovalResult {
        let removal = SQLRemoval(
            queries.schema, existing: Set(others.tables.keys), foreignCascades: others.cascades)
        let layout = try queries.schema.model.layout(of: query.entity)
        let guarded = guardedFamilies(deleting: layout, others, removal)
        return try watchingDeletions(
            others, of: layout, queries.schema, gain: { -$0.counts.values.reduce(0, +) },
            {
                do {
                    let reports = reportsKeys || !guarded.isEmpty
                    var result = try removal.run(layout, reportsKeys: reports, on: self, guarded: guarded) {
                        try withObjectSet(of: query) { objectSet in
                            try change(
                                removal.start(try queries.rows(query, objectSet: objectSet), entity: layout.index))
                        }
                    }
                    if !guarded.isEmpty { try removal.checkReturns(of: result, find: find) }
                    if !reportsKeys { result.keys = [:] }
                    return result
                } catch let error as SQLiteError where error.isRefusal {
                    throw StoreError.refused(try refusal(error, of: layout, removal))
                } catch let kept as SQLKeptRows {
                    throw kept.error(by: try triggers(of: kept.table))
                }
            })
    }

    /// The families that a removal can reach whose tables have triggers that may run with it.
    private func guardedFamilies(
        deleting layout: EntityLayout, _ others: SQLiteMigration.Others, _ removal: SQLRemoval
    ) -> Set<Int> {
        guard !others.guardedTables.isEmpty else { return [] }
        let schema = removal.schema
        return Set(
            removal.families(deleting: layout.index).filter {
                others.guardedTables.contains(schema.dialect.folded(schema.families[$0].table))
            })
    }

    /// The triggers of a table, as errors name them.
    func triggers(of table: String) throws(SQLiteError) -> [String] {
        try texts(
            "SELECT 'the trigger ' || name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ? COLLATE NOCASE "
                + "ORDER BY name", [.text(table)])
    }

    /// Describes the object that a foreign key or a trigger keeps from being deleted.
    private func refusal(_ error: SQLiteError, of layout: EntityLayout, _ removal: SQLRemoval) throws
        -> StoreError.Refusal
    {
        var refusal = StoreError.Refusal(entity: layout.name, reason: .check, databaseError: error.debugDescription)
        guard error.isForeignKey else {
            refusal.constraint = error.messageWithoutValues
            return refusal
        }
        for reference in try references(to: removal.schema) {
            guard let found = try removal.refusal(by: reference, on: self) else { continue }
            refusal = found
            refusal.databaseError = error.debugDescription
            break
        }
        return refusal
    }

    /// The foreign keys to the entities' tables that keep rows from being deleted.
    private func references(to schema: SQLSchema) throws(SQLiteError) -> [SQLRemoval.Reference] {
        let keys = try prepare(
            """
            SELECT m.name, f.id, f."from", f."table", \
            ifnull(f."to", (SELECT c.name FROM pragma_table_info(f."table") c WHERE c.pk = f.seq + 1)) \
            FROM sqlite_master m JOIN pragma_foreign_key_list(m.name) f \
            WHERE m.type = 'table' AND f.on_delete IN ('NO ACTION', 'RESTRICT') ORDER BY m.name, f.id, f.seq
            """)
        struct Key: Hashable {
            let table: String
            let number: Int64
        }
        var order: [Key] = []
        var parts: [Key: (target: String, columns: [(column: String, target: String)])] = [:]
        while try keys.step() {
            guard !keys.isNull(at: 4) else { continue }
            let key = Key(table: keys.text(at: 0), number: keys.integer(at: 1))
            if parts[key] == nil { order.append(key) }
            parts[key, default: (keys.text(at: 3), [])].columns.append((keys.text(at: 2), keys.text(at: 4)))
        }
        return order.compactMap { key in
            guard let part = parts[key],
                let family = schema.families.firstIndex(where: {
                    schema.dialect.folded($0.table) == schema.dialect.folded(part.target)
                })
            else { return nil }
            return SQLRemoval.Reference(
                key.table, relation: schema.relation(key.table), family: family, columns: part.columns)
        }
    }

    /// Describes what a deferred foreign key refuses when a transaction ends; the error itself if
    /// no table of the model is concerned.
    func explainedCommit(_ error: SQLiteError, _ schema: SQLSchema) -> any Error {
        guard error.isForeignKey, isInTransaction, let check = try? prepare("PRAGMA foreign_key_check") else {
            return error
        }
        while (try? check.step()) == true {
            let tables = [check.text(at: 2), check.text(at: 0)]
            let family = tables.lazy.compactMap { table in
                schema.families.first { schema.dialect.folded($0.table) == schema.dialect.folded(table) }
            }.first
            guard let family else { continue }
            return StoreError.refused(
                StoreError.Refusal(
                    entity: schema.model.layouts[family.root].name, reason: .missingReference(from: tables[1]),
                    databaseError: error.debugDescription))
        }
        return error
    }

    /// Runs a change, and fails if a trigger that the store did not create deletes further objects,
    /// because observers would not learn of these deletions.
    ///
    /// - Parameters:
    ///   - others: The triggers and foreign keys in the database that the store did not create.
    ///   - layout: The entity whose objects are changed.
    ///   - gain: The number of objects that a change added, negative if it deleted some.
    ///   - change: The change.
    func watchingDeletions<Result>(
        _ others: SQLiteMigration.Others, of layout: EntityLayout, _ schema: SQLSchema, gain: (Result) -> Int,
        _ change: () throws -> Result
    ) throws -> Result {
        // Counting reads whole tables.
        guard !others.deletingTriggers.isEmpty else { return try change() }
        let tables = schema.families.map(\.table)
        let before = try rowCount(tables)
        let result = try change()
        let after = try rowCount(tables)
        let count = before + gain(result) - after
        guard count <= 0 else {
            throw SQLTrigger.error(
                furtherDeletedCount: count, changing: schema.table(of: layout.index),
                triggers: others.deletingTriggers)
        }
        return result
    }

    /// The number of rows in tables.
    private func rowCount(_ tables: [String]) throws -> Int {
        try tables.reduce(0) { count, table in
            count + Int(try integer("SELECT count(*) FROM \(SQLText.name(table))") ?? 0)
        }
    }

    func change(_ statement: SQLStatementText) throws -> Int? {
        try changeAtOnce(statement)
    }

    func changeAtOnce(_ statement: SQLStatementText) throws -> Int {
        try cached(statement.text).run(statement.bindings)
        return changeCount
    }

    func finish() {}

    func forEachRow(of text: String, _ body: (SQLiteRow) throws -> Bool) throws {
        let statement = try cached(text)
        defer { statement.reset() }
        while try statement.step(), try body(SQLiteRow(statement: statement)) {}
    }
}

/// The current row of a statement.
struct SQLiteRow: SQLRow {
    let statement: SQLiteStatement

    func integer(at column: Int) -> Int64? {
        statement.isNull(at: column) ? nil : statement.integer(at: column)
    }

    func text(at column: Int) -> String? {
        statement.isNull(at: column) ? nil : statement.text(at: column)
    }

    func value(at column: Int, as type: AttributeType) -> AttributeValue {
        statement.value(at: column, as: type)
    }
}
