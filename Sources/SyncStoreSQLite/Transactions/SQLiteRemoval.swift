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
        // Only if a trigger may delete rows, because counting reads whole tables.
        let isWatched = try integer(Self.deletingTriggers) != 0
        let before = isWatched ? try rowCount(queries.schema) : 0
        let result = try removal.run(layout, reportsKeys: reportsKeys, on: self) {
            try withObjectSet(of: query) { objectSet in
                try change(removal.start(try queries.rows(query, objectSet: objectSet), entity: layout.index))
            }
        }
        if isWatched {
            try removal.check(result, of: layout, deletedCount: before - (try rowCount(queries.schema)))
        }
        return result
    }

    /// Whether there are triggers that may delete rows.
    private static let deletingTriggers = """
        SELECT count(*) FROM sqlite_master WHERE type = 'trigger' AND (sql LIKE '%DELETE%FROM%' OR sql LIKE '%REPLACE%')
        """

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
