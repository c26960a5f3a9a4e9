#if Postgres
import OneWayPostgresClient
import SyncStoreSQL

/// Creates or migrates the tables of a schema in one transaction.
struct PostgresMigration {
    let connection: PostgresConnection
    let schema: SQLSchema
    let settings: PostgresSettings
    /// The table of the database's record of its tables, as statements name it.
    let record: String
    /// What was asked at once when the store was opened.
    private let known = PostgresKnownAnswers()

    init(_ connection: PostgresConnection, schema: SQLSchema, settings: PostgresSettings) {
        self.connection = connection
        self.schema = schema
        self.settings = settings
        record = schema.relation(SQLSchemaRecord.table)
    }

    /// The difference between the database and the schema.
    private struct Plan {
        /// The database's record of its tables; nil if there is none.
        let stored: SQLSchemaRecord?
        let wanted: SQLSchemaRecord
        /// The existing tables of the schema.
        let existing: Set<String>
        /// Whether all indices and keys are there.
        var isComplete = true

        /// Whether the tables can be used unchanged.
        ///
        /// Tables with more than the model has may belong to a newer version of it that other hosts
        /// already run. They stay until a higher `modelVersion` removes the rest.
        var isDone: Bool { stored?.suffices(for: wanted) ?? false }
    }

    /// Creates or migrates the tables.
    ///
    /// - Returns: The expression for the number of a new row, by family; and the additions of other
    ///   tools.
    func run() throws -> (numbering: [String], others: Others) {
        try schema.checkSuppliedValues()
        try askAll()
        var others = Others()
        var forms: [String: [String: PostgresColumnForm]] = [:]
        var plan = try plan()
        if try plan.isDone && (settings.options.isReadOnly || plan.isComplete && !lacksNote()) {
            if !settings.options.isReadOnly {
                forms = try checkTables(plan.existing)
                others = try checkForeignKeys(plan.existing, stored: plan.stored)
            }
        } else {
            guard !settings.options.isReadOnly else { throw SQLSchemaError.outdated }
            others = try transaction {
                // Another host may have migrated the database in the meantime.
                plan = try self.plan()
                forms = try checkTables(plan.existing)
                if !plan.isDone { try migrate(plan) }
                let others = try checkForeignKeys(plan.existing)
                try writeNote()
                return others
            }
            // In a transaction of their own, because a migration keeps others from reading. If it
            // does not come to this, the next opening does it.
            if try !self.plan().isComplete {
                others = try transaction {
                    if let stored = try self.stored() {
                        try restore(Set(schema.tables.map(\.name)), of: stored.description)
                    }
                    return try checkForeignKeys(plan.existing)
                }
            }
        }
        others.forms = forms
        let numbering = try numbering(of: schema.families.map(\.table))
        return (schema.families.map { numbering[$0.table] ?? "NULL::bigint" }, others)
    }

    /// Sends in one message what opening asks if the tables are there and match the model. In any
    /// other case, some of it is asked again.
    private func askAll() throws {
        let families = schema.families.map(\.table)
        let checks = [
            fingerprintStatement, foreignKeyStatement, numberingStatement(of: families), warningStatement,
        ]
        try known.ask(
            [columnStatement(of: SQLSchemaRecord.table), storedStatement, partStatement(of: schema.tables)]
                + (settings.options.note == nil ? [] : [noteStatement]) + checks, connection)
    }

    /// The answer to a statement that may have been asked before.
    func answer(_ statement: SQLStatementText) throws -> PostgresResult {
        try known.take(statement, connection)
    }

    /// Runs a function in a transaction, as soon as no other store of the schema writes.
    func transaction<Result>(_ body: () throws -> Result) throws -> Result {
        known.forget()
        do {
            try connection.executeInSession("\(settings.beginning().text); SELECT \(PostgresConnection.sessionMark)")
            let result = try body()
            try connection.execute("COMMIT")
            return result
        } catch {
            // If the connection is lost, the server rolls the transaction back.
            _ = try? connection.execute("ROLLBACK")
            throw error
        }
    }

    private func plan() throws -> Plan {
        let stored = try self.stored()
        let own = Set((stored?.description.tables ?? []).map(\.name))
        let known = Set(stored?.description.existing ?? [])
        // A join table of a relationship can have the name of the index of its former column.
        let indices = stored?.description.indexNames ?? []
        var existing: Set<String> = []
        for table in schema.tables.map(\.name) where known.contains(table) || !own.contains(table) {
            guard try !indices.contains(table) && exists(table) else { continue }
            // Rejects views and other relations that are not tables.
            existing.insert(try PostgresExistingTable(table, in: schema, on: connection).name)
        }
        // Tables of removed entities stay marked, so they are never dropped.
        let description = SQLSchemaDescription(schema, existing: known.union(existing))
        var plan = Plan(
            stored: stored, wanted: SQLSchemaRecord(description, modelVersion: settings.options.modelVersion),
            existing: existing)
        guard let stored else { return plan }
        // Tables and columns that the model no longer has matter only to a migration.
        let names = Set(schema.tables.map(\.name))
        let needed =
            plan.isDone
            ? schema.tables : stored.description.tables.filter { !known.contains($0.name) || names.contains($0.name) }
        plan.isComplete =
            try defects(of: needed, existing: known.union(existing), stored: stored.description).isEmpty
        return plan
    }

    private var storedStatement: SQLStatementText {
        SQLStatementText("SELECT \(SQLSchemaRecord.columns) FROM \(record)")
    }

    /// The database's record of its tables; nil if there is no store yet.
    func stored() throws -> SQLSchemaRecord? {
        var columns = try columns(of: SQLSchemaRecord.table)
        if columns.isEmpty {
            guard try exists(SQLSchemaRecord.table) else { return nil }
            // Another host may have made the table between the two statements.
            columns = try self.columns(of: SQLSchemaRecord.table)
        }
        guard Set(columns).isSuperset(of: ["format", "model_version", "description"]) else {
            throw SQLSchemaError.unfitDependentObject(
                name: SQLSchemaRecord.table, reason: "the store needs a table of this name for itself; rename it")
        }
        let result = try answer(storedStatement)
        guard result.rowCount == 1, let format = result.integer(0, 0), let modelVersion = result.integer(0, 1),
            let text = result.text(0, 2)
        else { throw SQLSchemaError.unreadable }
        let wanted = SQLSchemaRecord(SQLSchemaDescription(schema), modelVersion: settings.options.modelVersion)
        return try SQLSchemaRecord(format: format, modelVersion: modelVersion, text: text, wanted: wanted)
    }

    private func migrate(_ plan: Plan) throws {
        if let former = plan.stored {
            let stored = former.description
            let others = try dependentObjects(besides: stored.indexNames)
            var found = SQLMigration.Found()
            for table in plan.existing.union(stored.existing ?? []) where try exists(table) {
                found.existing[table] = Set(try columns(of: table))
            }
            for table in stored.tables where found.existing[table.name] == nil {
                let known = Set(table.columns.map(schema.dialect.folded))
                found.additions[table.name] = try columns(of: table.name).sorted()
                    .filter { !known.contains(schema.dialect.folded($0)) }
                    .map { SQLMigration.Found.Column(name: $0, declaration: "") }
            }
            found.names = try names()
            let migration = try SQLMigration.plan(
                from: stored, to: schema, found: found,
                keepsRemoved: former.modelVersion == plan.wanted.modelVersion, hooks: settings.options.conversions)
            let recorded = Set(stored.tables.map(\.name))
            // The statements add columns only to tables that the store uses already.
            for table in schema.tables where plan.existing.contains(table.name) && !recorded.contains(table.name) {
                try PostgresExistingTable(table.name, in: schema, on: connection).checkColumns(of: table, schema)
            }
            for check in migration.checks where try isFound(check.query, []) { throw check.error }
            // Others can read meanwhile, but not write what would not be converted.
            try lock(SQLMigration.Locks(shared: Set(migration.conversions.map(\.table))))
            for conversion in migration.conversions { try convert(conversion) }
            for statement in migration.preparations { try run(statement) }
            try lock(migration.locks)
            for statement in migration.statements { try run(statement) }
            for values in migration.conversions.compactMap(\.values) { try connection.execute(values.removal) }
            for table in schema.tables where plan.existing.contains(table.name) {
                try index(table)
                try addForeignKeys(to: table)
                try number(table)
            }
            try verify(others)
            try write(
                "UPDATE \(record) SET format = $1::bigint, model_version = $2::bigint, description = $3::text",
                plan.wanted.with(migration.description))
        } else {
            if try !isFound(
                "SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = $1::text", [.text(settings.options.schema)])
            {
                try connection.execute("CREATE SCHEMA \(SQLText.name(settings.options.schema))")
            }
            for table in schema.tables {
                if plan.existing.contains(table.name) { try index(table) } else { try create(table) }
            }
            for table in schema.tables {
                if plan.existing.contains(table.name) {
                    try addForeignKeys(to: table)
                } else {
                    for key in table.foreignKeys ?? [] {
                        try connection.execute(key.creation(on: table.name, schema.dialect))
                    }
                }
            }
            // The last step, because it keeps others from reading the tables.
            for table in schema.tables where plan.existing.contains(table.name) { try number(table) }
            // A publication of all tables refuses updates in a table without a key.
            try connection.execute(
                "CREATE TABLE \(record) (id integer PRIMARY KEY DEFAULT 1 CHECK (id = 1), "
                    + "format bigint NOT NULL, model_version bigint NOT NULL, description text NOT NULL, note text)")
            try write(
                "INSERT INTO \(record) (\(SQLSchemaRecord.columns)) "
                    + "VALUES ($1::bigint, $2::bigint, $3::text)", plan.wanted)
        }
    }

    /// Runs a statement of a migration.
    private func run(_ statement: String) throws {
        do { try connection.execute(statement) } catch let error as PostgresError {
            let reason: SQLSchemaError? =
                switch error.code {
                case .uniqueViolation: schema.equalValues(creating: statement)
                case .featureNotSupported: unfitDependentObject(in: error)
                default: nil
                }
            throw reason ?? error
        }
    }

    /// The error for an object of another tool that keeps a column from being changed.
    ///
    /// - Parameter error: The server's error, whose detail is in the server's language, such as
    ///   `rule _RETURN on view v depends on column "n"`.
    private func unfitDependentObject(in error: PostgresError) -> SQLSchemaError {
        let parts = error.detail?.split(separator: " depends on ", maxSplits: 1) ?? []
        return .unfitDependentObject(
            name: parts.count > 1 ? String(parts[0]) : "an object that uses the table",
            reason: [error.message, error.detail].compactMap(\.self).joined(separator: "; "))
    }

    private func write(_ text: String, _ record: SQLSchemaRecord) throws {
        try connection.run(text, try record.bindings())
    }

    /// Creates a table with its indices.
    private func create(_ table: SQLSchema.Table) throws {
        try connection.execute(table.creation(schema.dialect))
        for index in table.indices {
            guard try !exists(index.name) else {
                throw SQLSchemaError.unfitDependentObject(
                    name: index.name, reason: "the store needs an index of this name on \(table.name); rename it")
            }
            try connection.execute(index.creation(on: table.name, schema.dialect))
        }
    }

    private func numberingStatement(of tables: [String]) -> SQLStatementText {
        func list(_ names: [String]) -> SQLBinding {
            .typed(PostgresText.array(names.map { .text($0) }), as: "text[]")
        }
        return SQLStatementText(
            """
            SELECT t.name, pg_catalog.pg_get_serial_sequence(a.attrelid::regclass::text, a.attname::text), \
            pg_catalog.pg_get_expr(d.adbin, d.adrelid) \
            FROM ROWS FROM (pg_catalog.unnest($1::text[]), pg_catalog.unnest($2::text[])) t (name, relation) \
            JOIN pg_catalog.pg_attribute a ON a.attrelid = to_regclass(t.relation) AND a.attname = $3::text \
            LEFT JOIN pg_catalog.pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
            """, [list(tables), list(tables.map(schema.relation)), .text(schema.naming.rowColumn)])
    }

    /// The expressions for the number of a new row, by table. Tables that do not number their rows
    /// are left out.
    func numbering(of tables: [String]) throws -> [String: String] {
        let result = try answer(numberingStatement(of: tables))
        return (0..<result.rowCount).reduce(into: [:]) { numbering, row in
            guard let table = result.text(row, 0) else { return }
            let sequence = result.text(row, 1).map { "pg_catalog.nextval(\(SQLText.literal($0))::regclass)" }
            numbering[table] = sequence ?? result.text(row, 2)
        }
    }

    // MARK: Additions of other tools

    /// An index, a trigger or a constraint that the store did not create.
    ///
    /// It has no object identifier, because a column that gets another type gets new indices and
    /// checks of the same names.
    private struct DependentObject: Hashable {
        let kind: String
        let name: String
        let table: Int64
    }

    private func dependentObjects(besides indexNames: Set<String>) throws -> [DependentObject] {
        let result = try connection.run(
            """
            SELECT 'index'::text, o.relname::text, t.oid::bigint FROM pg_catalog.pg_index i \
            JOIN pg_catalog.pg_class o ON o.oid = i.indexrelid JOIN pg_catalog.pg_class t ON t.oid = i.indrelid \
            JOIN pg_catalog.pg_namespace n ON n.oid = t.relnamespace WHERE n.nspname = $1::text \
            UNION ALL \
            SELECT 'trigger'::text, o.tgname::text, t.oid::bigint FROM pg_catalog.pg_trigger o \
            JOIN pg_catalog.pg_class t ON t.oid = o.tgrelid JOIN pg_catalog.pg_namespace n ON n.oid = t.relnamespace \
            WHERE NOT o.tgisinternal AND n.nspname = $1::text \
            UNION ALL \
            SELECT 'check'::text, o.conname::text, t.oid::bigint FROM pg_catalog.pg_constraint o \
            JOIN pg_catalog.pg_class t ON t.oid = o.conrelid JOIN pg_catalog.pg_namespace n ON n.oid = t.relnamespace \
            WHERE o.contype::text = 'c'::text AND n.nspname = $1::text
            """, [.text(settings.options.schema)])
        return (0..<result.rowCount).compactMap { row in
            guard let kind = result.text(row, 0), let name = result.text(row, 1), !indexNames.contains(name),
                let table = result.integer(row, 2)
            else { return nil }
            return DependentObject(kind: kind, name: name, table: table)
        }
    }

    /// Fails if a migration has dropped another tool's object together with a column. The server
    /// itself refuses to drop columns that views and foreign keys use.
    private func verify(_ objects: [DependentObject]) throws {
        let present = Set(try dependentObjects(besides: []))
        for object in objects where !present.contains(object) {
            let isTableThere = try isFound(
                "SELECT 1 FROM pg_catalog.pg_class WHERE oid::bigint = $1::bigint", [.integer(object.table)])
            guard !isTableThere else {
                throw SQLSchemaError.unfitDependentObject(
                    name: object.name, reason: "the model no longer has a column that it uses")
            }
        }
    }

    // MARK: Existing relations

    /// The names of all tables, indices, views and sequences of the schema.
    private func names() throws -> Set<String> {
        let result = try connection.run(
            """
            SELECT c.relname::text FROM pg_catalog.pg_class c \
            JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1::text
            """, [.text(settings.options.schema)])
        return Set((0..<result.rowCount).compactMap { result.text($0, 0) })
    }

    /// Whether the schema has a table or an index with a name.
    func exists(_ name: String) throws -> Bool {
        try isFound(
            """
            SELECT 1 FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
            WHERE n.nspname = $1::text AND c.relname = $2::text
            """, [.text(settings.options.schema), .text(name)])
    }

    private func columnStatement(of table: String) -> SQLStatementText {
        SQLStatementText(
            """
            SELECT attname::text FROM pg_catalog.pg_attribute \
            WHERE attrelid = to_regclass($1::text) AND attnum > 0 AND NOT attisdropped
            """, [.text(schema.relation(table))])
    }

    /// The names of a table's columns.
    private func columns(of table: String) throws -> [String] {
        try answer(columnStatement(of: table)).texts(0)
    }

    func isFound(_ text: String, _ values: [SQLBinding]) throws -> Bool {
        try connection.run(text, values).rowCount > 0
    }
}
#endif
