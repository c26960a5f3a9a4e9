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
            let others = try foreignObjects(besides: stored.description.indexNames)
            // They would be in the way: views and triggers name tables that are gone for a moment.
            for object in others where object.type != "index" {
                try connection.execute("DROP \(object.type) IF EXISTS \(SQLText.name(object.name))")
            }
            for statement in try SQLMigration.statements(from: stored.description, to: schema) {
                try connection.execute(statement)
            }
            for object in others { try restore(object) }
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

    // MARK: What others have added

    /// An index, a trigger or a view that the store did not make.
    private struct ForeignObject {
        let type: String
        let name: String
        let table: String
        let creation: String
    }

    /// All of them, in an order in which they can be made: triggers may be of views.
    private func foreignObjects(besides indexNames: Set<String>) throws(SQLiteError) -> [ForeignObject] {
        let statement = try connection.prepare(
            """
            SELECT type, name, tbl_name, sql FROM sqlite_master WHERE type IN ('index', 'trigger', 'view') AND sql IS NOT NULL \
            ORDER BY type = 'trigger', type = 'index', rowid
            """)
        var objects: [ForeignObject] = []
        while try statement.step() {
            let object = ForeignObject(
                type: statement.text(at: 0), name: statement.text(at: 1), table: statement.text(at: 2),
                creation: statement.text(at: 3))
            if object.type != "index" || !indexNames.contains(object.name) { objects.append(object) }
        }
        return objects
    }

    /// Makes an object anew, unless it is still there or its table is gone.
    private func restore(_ object: ForeignObject) throws {
        let count = "SELECT count(*) FROM sqlite_master WHERE name = ? COLLATE NOCASE"
        guard try connection.integer(count, [.text(object.name)]) == 0 else { return }
        if object.type != "view" {
            guard try connection.integer(count, [.text(object.table)]) == 1 else { return }
        }
        do { try connection.execute(object.creation) } catch {
            throw SQLSchemaError.unfitForeignObject(name: object.name, reason: error.message)
        }
    }

    // MARK: What is there

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
