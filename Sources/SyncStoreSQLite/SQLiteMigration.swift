import SyncStoreSQL

/// Gives a database the tables of a schema, in one transaction.
struct SQLiteMigration {
    private static let record = SQLSchemaRecord.table

    private let connection: SQLiteConnection
    private let schema: SQLSchema
    private let settings: SQLiteSettings
    private let wanted: SQLSchemaRecord

    init(_ connection: SQLiteConnection, schema: SQLSchema, settings: SQLiteSettings) {
        self.connection = connection
        self.schema = schema
        self.settings = settings
        wanted = SQLSchemaRecord(SQLSchemaDescription(schema), modelVersion: settings.modelVersion)
    }

    func run() throws {
        if try stored() == wanted { return }
        guard !settings.isReadOnly else { throw SQLSchemaError.outdated }
        // Foreign keys can be turned off outside of a transaction alone.
        try connection.execute("PRAGMA foreign_keys = OFF; BEGIN IMMEDIATE")
        do {
            // Another process may have been faster.
            if try stored() != wanted { try migrate() }
            try connection.execute("COMMIT")
        } catch {
            if connection.isInTransaction { try? connection.execute("ROLLBACK") }
            try? connection.execute("PRAGMA foreign_keys = ON")
            throw error
        }
        connection.removeCachedStatements()
        try connection.execute("PRAGMA foreign_keys = ON")
    }

    /// What the database says of its tables; nil where it has never been a store.
    private func stored() throws -> SQLSchemaRecord? {
        guard try exists(Self.record) else { return nil }
        let statement = try connection.prepare("SELECT \(SQLSchemaRecord.columns) FROM \(Self.record)")
        guard try statement.step() else { throw SQLSchemaError.unreadable }
        return try SQLSchemaRecord(
            format: statement.integer(at: 0), modelVersion: statement.integer(at: 1), text: statement.text(at: 2),
            wanted: wanted)
    }

    private func migrate() throws {
        if let stored = try stored() {
            for statement in try SQLMigration.statements(from: stored.description, to: schema) {
                try connection.execute(statement)
            }
            try connection.execute("DELETE FROM \(Self.record)")
        } else {
            for table in schema.tables { try create(table) }
            try connection.execute(
                "CREATE TABLE \(Self.record) "
                    + "(format INTEGER NOT NULL, model_version INTEGER NOT NULL, description TEXT NOT NULL)")
        }
        try connection.prepare("INSERT INTO \(Self.record) (\(SQLSchemaRecord.columns)) VALUES (?, ?, ?)")
            .run(try wanted.bindings())
    }

    /// Makes a table, or takes one that is there already and has all the columns.
    private func create(_ table: SQLSchema.Table) throws {
        if try exists(table.name) {
            for column in table.columns where !(try exists(column: column, in: table.name)) {
                throw SQLSchemaError.missingColumn(table: table.name, column: column)
            }
        } else {
            try connection.execute(table.creation())
        }
        for index in table.indices
        where try connection.integer(
            "SELECT 1 FROM sqlite_master WHERE type = 'index' AND name = ?", [.text(index.name)]) == nil
        {
            try connection.execute(index.creation(on: table.name))
        }
    }

    private func exists(_ table: String) throws(SQLiteError) -> Bool {
        try connection.integer(
            "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ? COLLATE NOCASE", [.text(table)]) != nil
    }

    /// Every table has a row number under this name, whether it is declared or not.
    private func exists(column: String, in table: String) throws(SQLiteError) -> Bool {
        guard column.lowercased() != "rowid" else { return true }
        return try connection.integer(
            "SELECT 1 FROM pragma_table_info(?) WHERE name = ? COLLATE NOCASE", [.text(table), .text(column)]) != nil
    }
}
