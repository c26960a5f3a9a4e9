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
                try removal.run(layout, reportsKeys: reportsKeys, on: self) {
                    try withObjectSet(of: query) { objectSet in
                        try change(removal.start(try queries.rows(query, objectSet: objectSet), entity: layout.index))
                    }
                }
            })
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
