import SyncModel
import SyncStore
import SyncStoreSQL

extension SQLiteConnection: SQLRemovalConnection {
    /// Deletes the objects of a query, and others by the delete rules.
    ///
    /// - Parameter others: The additions of other tools to the database.
    func remove(
        _ query: StoreQuery, reportsKeys: Bool, others: SQLiteMigration.Others, _ queries: SQLQueries
    ) throws -> RemovalResult {
        let removal = SQLRemoval(
            queries.schema, adopted: Set(others.tables.keys), foreignCascades: others.cascades)
        let layout = try queries.schema.model.layout(of: query.entity)
        return try watchingDeletions(
            others, of: layout, queries.schema, gain: { -$0.counts.values.reduce(0, +) },
            {
                do {
                    return try removal.run(layout, reportsKeys: reportsKeys, on: self) {
                        try withObjectSet(of: query) { objectSet in
                            try change(
                                removal.start(try queries.rows(query, objectSet: objectSet), entity: layout.index))
                        }
                    }
                } catch let error as SQLiteError where error.isForeignKey {
                    throw naming(try referringTable(queries.schema), in: error)
                }
            })
    }

    /// The table and column of another tool that refer to an object to delete, and the object's
    /// table; nil if there is none.
    private func referringTable(_ schema: SQLSchema) throws(SQLiteError) -> (table: String, target: String)? {
        let keys = try prepare(
            """
            SELECT m.name, f."from", f."table", \
            ifnull(f."to", (SELECT c.name FROM pragma_table_info(f."table") c WHERE c.pk = f.seq + 1)) \
            FROM sqlite_master m JOIN pragma_foreign_key_list(m.name) f \
            WHERE m.type = 'table' AND f.on_delete IN ('NO ACTION', 'RESTRICT')
            """)
        while try keys.step() {
            let (table, column, target) = (keys.text(at: 0), keys.text(at: 1), keys.text(at: 2))
            guard !keys.isNull(at: 3),
                let family = schema.families.firstIndex(where: { $0.table.lowercased() == target.lowercased() })
            else { continue }
            let found = try integer(
                """
                SELECT 1 FROM \(SQLText.name(table)) c JOIN \(SQLText.name(target)) p \
                ON p.\(SQLText.name(keys.text(at: 3))) = c.\(SQLText.name(column)) \
                JOIN \(schema.dialect.doomedTable) d ON d.family = \(family) AND d.row = p.\(schema.rowColumn) LIMIT 1
                """)
            if found != nil { return (table: "\(table).\(column)", target: target) }
        }
        return nil
    }

    /// The error of a commit, with the table whose foreign key has no referenced row.
    func explainedCommit(_ error: SQLiteError) -> SQLiteError {
        guard error.isForeignKey, isInTransaction,
            let check = try? prepare("PRAGMA foreign_key_check"), (try? check.step()) == true
        else { return error }
        return naming((table: check.text(at: 0), target: check.text(at: 2)), in: error)
    }

    private func naming(_ reference: (table: String, target: String)?, in error: SQLiteError) -> SQLiteError {
        guard let reference else { return error }
        return SQLiteError(
            code: error.code,
            message: "\(error.message): \(reference.table) refers to deleted rows of \(reference.target)",
            statement: error.statement)
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
        guard others.hasDeletingTriggers else { return try change() }
        let before = try rowCount(schema)
        let result = try change()
        let after = try rowCount(schema)
        try schema.check(furtherDeletedCount: before + gain(result) - after, changing: layout)
        return result
    }

    /// The number of rows in the entities' tables.
    private func rowCount(_ schema: SQLSchema) throws -> Int {
        try schema.families.reduce(0) { count, family in
            count + Int(try integer("SELECT count(*) FROM \(SQLText.name(family.table))") ?? 0)
        }
    }

    func perform(_ text: String) throws {
        try execute(text)
    }

    func change(_ statement: SQLStatementText) throws -> Int {
        try cached(statement.text).run(statement.bindings)
        return changeCount
    }

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
