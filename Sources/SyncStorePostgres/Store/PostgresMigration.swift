#if Postgres
import OneWayPostgresClient
import SyncModel
import SyncStoreSQL

/// Creates or migrates the tables of a schema in one transaction.
struct PostgresMigration {
    private static let record = SQLSchemaRecord.table

    let connection: PostgresConnection
    private let schema: SQLSchema
    let settings: PostgresSettings
    private let wanted: SQLSchemaRecord

    init(_ connection: PostgresConnection, schema: SQLSchema, settings: PostgresSettings) {
        self.connection = connection
        self.schema = schema
        self.settings = settings
        wanted = SQLSchemaRecord(SQLSchemaDescription(schema), modelVersion: settings.modelVersion)
    }

    /// Creates the tables, or adapts existing ones.
    ///
    /// - Returns: For each family, the expression that numbers a new row of its table.
    func run() throws -> [String] {
        if try !isSuitable() || lacksNote() {
            guard !settings.isReadOnly else { throw SQLSchemaError.outdated }
            do {
                try connection.execute(settings.beginning())
                // Another host may have done it meanwhile.
                if try !isSuitable() { try migrate() }
                try writeNote()
                try connection.execute("COMMIT")
            } catch {
                // A lost connection ends its transaction.
                _ = try? connection.execute("ROLLBACK")
                throw error
            }
        }
        return try schema.families.map { try numbering(of: $0.table) ?? "NULL::bigint" }
    }

    /// The stored description of the tables; nil if there is no store yet.
    private func stored() throws -> SQLSchemaRecord? {
        guard try exists(Self.record) else { return nil }
        let result = try connection.query(
            "SELECT \(SQLSchemaRecord.columns) FROM \(Self.record)", binaryResult: true)
        guard result.rowCount == 1, let format = result.integer(0, 0), let modelVersion = result.integer(0, 1),
            let text = result.text(0, 2)
        else { throw SQLSchemaError.unreadable }
        return try SQLSchemaRecord(format: format, modelVersion: modelVersion, text: text, wanted: wanted)
    }

    /// Whether the tables can be used as they are.
    ///
    /// Tables with more than the model has may belong to a newer version of it that other hosts run
    /// already. They stay until a higher `modelVersion` says that the model has less on purpose.
    private func isSuitable() throws -> Bool {
        guard let stored = try stored() else { return false }
        return stored == wanted
            || stored.modelVersion == wanted.modelVersion && stored.description.contains(wanted.description)
    }

    private func migrate() throws {
        if let stored = try stored() {
            let others = try foreignObjects(besides: stored.description.indexNames)
            for statement in try SQLMigration.statements(from: stored.description, to: schema) {
                do { try connection.execute(statement) } catch let error as PostgresError {
                    guard error.code == .uniqueViolation, let reason = schema.equalValues(creating: statement) else {
                        throw error
                    }
                    throw reason
                }
            }
            for object in others { try restore(object) }
            try write(
                "UPDATE \(Self.record) SET format = $1::bigint, model_version = $2::bigint, description = $3::text")
        } else {
            if try !isFound("SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = $1", [settings.schemaName]) {
                try connection.execute("CREATE SCHEMA \(SQLText.name(settings.schemaName))")
            }
            for table in schema.tables { try create(table) }
            for table in schema.tables { try createForeignKeys(of: table) }
            try connection.execute(
                "CREATE TABLE \(Self.record) "
                    + "(format bigint NOT NULL, model_version bigint NOT NULL, description text NOT NULL, note text)")
            try write(
                "INSERT INTO \(Self.record) (\(SQLSchemaRecord.columns)) "
                    + "VALUES ($1::bigint, $2::bigint, $3::text)")
        }
    }

    private func write(_ text: String) throws {
        try connection.run(SQLStatementText(text, try wanted.bindings()))
    }

    /// Creates a table, or adopts an existing one that has all columns.
    private func create(_ table: SQLSchema.Table) throws {
        if try exists(table.name) {
            for column in table.columns where try !exists(column: column, in: table.name) {
                throw SQLSchemaError.missingColumn(table: table.name, column: column)
            }
            if table.columns.first == schema.naming.rowColumn { try number(table) }
        } else {
            try connection.execute(table.creation())
        }
        for index in table.indices where try !exists(index.name) {
            try connection.execute(index.creation(on: table.name))
        }
    }

    /// Makes an adopted table number new rows, if it does not.
    private func number(_ table: SQLSchema.Table) throws {
        guard try numbering(of: table.name) == nil else { return }
        let name = SQLText.name(table.name)
        let column = schema.rowColumn
        let sequence = SQLText.name("_sync_rows_\(table.name)")
        try connection.execute(
            """
            CREATE SEQUENCE \(sequence) OWNED BY \(name).\(column); \
            SELECT pg_catalog.setval(\(SQLText.literal(sequence))::regclass, max(\(column))) FROM \(name) HAVING max(\(column)) > 0; \
            ALTER TABLE \(name) ALTER COLUMN \(column) SET DEFAULT pg_catalog.nextval(\(SQLText.literal(sequence))::regclass)
            """)
    }

    /// The expression that numbers a new row; nil if the table has none.
    private func numbering(of table: String) throws -> String? {
        let result = try connection.run(
            SQLStatementText(
                """
                SELECT pg_catalog.pg_get_serial_sequence(a.attrelid::regclass::text, a.attname::text), pg_catalog.pg_get_expr(d.adbin, d.adrelid) \
                FROM pg_catalog.pg_attribute a \
                LEFT JOIN pg_catalog.pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum \
                WHERE a.attrelid = to_regclass($1::text) AND a.attname = $2::text
                """, [.text(SQLText.name(table)), .text(schema.naming.rowColumn)]))
        guard result.rowCount > 0 else { return nil }
        return result.text(0, 0).map { "pg_catalog.nextval(\(SQLText.literal($0))::regclass)" } ?? result.text(0, 1)
    }

    private func createForeignKeys(of table: SQLSchema.Table) throws {
        for key in table.foreignKeys ?? [] {
            let isThere = try isFound(
                "SELECT 1 FROM pg_catalog.pg_constraint WHERE conrelid = to_regclass($1::text) AND conname = $2::text",
                [SQLText.name(table.name), key.name])
            if !isThere { try connection.execute(key.creation(on: table.name)) }
        }
    }

    // MARK: What others have added

    /// An index or a trigger that the store did not create. Views need no care: the server refuses
    /// to drop their tables.
    private struct ForeignObject {
        let name: String
        let table: String
        let creation: String
        /// A query that finds the object by its name and its table.
        let search: String
    }

    private func foreignObjects(besides indexNames: Set<String>) throws -> [ForeignObject] {
        let kinds = [
            """
            SELECT o.relname, t.relname, pg_get_indexdef(o.oid) FROM pg_catalog.pg_index i \
            JOIN pg_catalog.pg_class o ON o.oid = i.indexrelid JOIN pg_catalog.pg_class t ON t.oid = i.indrelid \
            JOIN pg_catalog.pg_namespace n ON n.oid = t.relnamespace \
            WHERE NOT EXISTS (SELECT 1 FROM pg_catalog.pg_constraint k WHERE k.conindid = o.oid) AND n.nspname = $1::text
            """,
            """
            SELECT o.tgname, t.relname, pg_get_triggerdef(o.oid) FROM pg_catalog.pg_trigger o \
            JOIN pg_catalog.pg_class t ON t.oid = o.tgrelid JOIN pg_catalog.pg_namespace n ON n.oid = t.relnamespace \
            WHERE NOT o.tgisinternal AND n.nspname = $1::text
            """,
        ]
        return try zip(kinds, ["o.relname", "o.tgname"]).flatMap { query, name -> [ForeignObject] in
            let result = try connection.run(SQLStatementText(query, [.text(settings.schemaName)]))
            return (0..<result.rowCount).compactMap { row in
                guard let found = result.text(row, 0), let table = result.text(row, 1), let text = result.text(row, 2),
                    !indexNames.contains(found)
                else { return nil }
                return ForeignObject(
                    name: found, table: table, creation: text,
                    search: "\(query) AND \(name) = $2::text AND t.relname = $3::text")
            }
        }
    }

    /// Creates an object again, unless it exists or its table is gone.
    private func restore(_ object: ForeignObject) throws {
        guard try exists(object.table), try !isFound(object.search, [settings.schemaName, object.name, object.table])
        else { return }
        do { try connection.execute(object.creation) } catch let error as PostgresError {
            throw SQLSchemaError.unfitForeignObject(name: object.name, reason: error.message)
        }
    }

    // MARK: What is there

    /// Whether the schema has a table or an index with a name.
    private func exists(_ name: String) throws -> Bool {
        try isFound(
            """
            SELECT 1 FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
            WHERE n.nspname = $1::text AND c.relname = $2::text
            """, [settings.schemaName, name])
    }

    private func exists(column: String, in table: String) throws -> Bool {
        try isFound(
            """
            SELECT 1 FROM pg_catalog.pg_attribute WHERE attrelid = to_regclass($1::text) AND attname = $2::text \
            AND NOT attisdropped
            """, [SQLText.name(table), column])
    }

    private func isFound(_ text: String, _ names: [String]) throws -> Bool {
        try connection.run(SQLStatementText(text, names.map(SQLBinding.text))).rowCount > 0
    }
}
#endif
