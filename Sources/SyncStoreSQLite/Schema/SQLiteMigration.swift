import SyncModel
import SyncStoreSQL

/// Creates or migrates the tables of a schema in a database, in one transaction.
struct SQLiteMigration {
    static let record = SQLSchemaRecord.table
    static let recordColumns =
        "format INTEGER NOT NULL, model_version INTEGER NOT NULL, description TEXT NOT NULL, note TEXT"

    let connection: SQLiteConnection
    let schema: SQLSchema
    let settings: SQLiteSettings

    init(_ connection: SQLiteConnection, schema: SQLSchema, settings: SQLiteSettings) {
        self.connection = connection
        self.schema = schema
        self.settings = settings
    }

    /// The difference between the database and the schema.
    private struct Plan {
        var schema: SQLSchema
        /// The database's record of its tables; nil if there is none.
        let stored: SQLSchemaRecord?
        let wanted: SQLSchemaRecord
        var isDone: Bool
        /// The existing tables, by their names in the schema.
        let existing: [String: SQLiteExistingTable]
    }

    /// The additions of other tools that concern the store.
    struct Others {
        /// The existing tables, by their names in the schema.
        var tables: [String: SQLiteExistingTable] = [:]
        /// The columns outside of relationships whose foreign keys would delete rows of the model's
        /// tables.
        var cascades: [SQLSchema.ColumnLink] = []
        /// Whether the database has triggers, which may change what a statement has written.
        var hasTriggers = false
        /// The triggers that may delete rows.
        var deletingTriggers: [SQLTrigger] = []
        /// The tables with triggers that may run with a deletion, in the form in which SQLite
        /// compares names.
        var guardedTables: Set<[UInt8]> = []
    }

    /// Creates or migrates the tables.
    func run() throws -> Others {
        let encoding = try connection.prepare("PRAGMA encoding")
        if try encoding.step(), encoding.text(at: 0) != "UTF-8" {
            throw SQLSchemaError.otherEncoding(encoding.text(at: 0))
        }
        encoding.reset()
        try checkColumnCounts()
        try schema.checkSuppliedValues()
        var plan = try self.plan()
        var cascades: [SQLSchema.ColumnLink] = []
        if plan.isDone, try !lacksNote() {
            if !settings.isReadOnly { cascades = try check(plan) }
        } else {
            guard !settings.isReadOnly else { throw SQLSchemaError.outdated }
            (plan, cascades) = try transaction {
                // Another process may have migrated the database in the meantime.
                let plan = try self.plan()
                if !plan.isDone { try migrate(plan) }
                let cascades = try check(plan)
                try writeNote()
                return (plan, cascades)
            }
            connection.removeCachedStatements()
        }
        return try others(plan, cascades)
    }

    /// Runs a body in a transaction that does not check foreign keys.
    func transaction<Result>(_ body: () throws -> Result) throws -> Result {
        // Foreign keys can be turned off only outside a transaction.
        try connection.execute("PRAGMA foreign_keys = OFF; BEGIN IMMEDIATE")
        let result: Result
        do {
            result = try body()
            try connection.execute("COMMIT")
        } catch {
            if connection.isInTransaction { try? connection.execute("ROLLBACK") }
            try? connection.execute("PRAGMA foreign_keys = ON")
            throw error
        }
        try connection.execute("PRAGMA foreign_keys = ON")
        return result
    }

    private func others(_ plan: Plan, _ cascades: [SQLSchema.ColumnLink]) throws -> Others {
        let found = try connection.prepare(
            """
            SELECT name, tbl_name, sql LIKE '%DELETE%FROM%' OR sql LIKE '%REPLACE%', sql LIKE '%DELETE%' \
            FROM sqlite_master WHERE type = 'trigger' AND (sql LIKE '%DELETE%' OR sql LIKE '%REPLACE%') ORDER BY 1
            """)
        var others = Others(tables: plan.existing, cascades: cascades)
        others.hasTriggers =
            try connection.integer("SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE type = 'trigger')") == 1
        while try found.step() {
            let table = found.text(at: 1)
            if found.integer(at: 2) != 0 { others.deletingTriggers.append(SQLTrigger(found.text(at: 0), on: table)) }
            if found.integer(at: 3) != 0 { others.guardedTables.insert(schema.dialect.folded(table)) }
        }
        return others
    }

    /// Verifies that the store can go on after another program changed tables.
    ///
    /// - Parameter isWriting: Whether the store is about to write.
    /// - Throws: `SQLiteError` with the code `schemaChanged` if the tables have to be adapted;
    ///   `SQLSchemaError.damaged` if parts of them are missing; `SQLSchemaError.unsuitableTable` if
    ///   they would change values.
    func verify(isWriting: Bool) throws -> Others {
        let plan = try self.plan()
        guard plan.isDone else {
            throw SQLiteError(
                code: SQLiteError.Code.schemaChanged,
                message: "another program changed the store's tables while it was open; open the store again")
        }
        return try others(plan, isWriting ? check(plan) : [])
    }

    /// Verifies that the store can write to the existing tables.
    ///
    /// - Returns: The columns outside of relationships whose foreign keys would delete rows.
    private func check(_ plan: Plan) throws -> [SQLSchema.ColumnLink] {
        for (family, found) in schema.families.enumerated() where plan.existing[found.table] != nil {
            // Described again, because columns may have been added.
            try SQLiteExistingTable(found.table, on: connection).check(family: family, of: schema, on: connection)
        }
        for join in plan.schema.joins where plan.existing[join.table] != nil {
            try SQLiteExistingTable(join.table, on: connection).check(join, of: plan.schema, connection)
        }
        let foreignKeys = try SQLForeignKeys(plan.schema, stored: plan.stored?.description, on: connection)
        try foreignKeys.checkLinks(of: plan.existing.keys)
        return try foreignKeys.cascades()
    }

    /// Rejects a model whose tables exceed the limits of SQLite or of the batch table; see
    /// https://www.sqlite.org/limits.html.
    private func checkColumnCounts() throws(SQLSchemaError) {
        let limit = SQLiteBatchTable.columnLimit
        for (family, columns) in zip(schema.families, schema.attributeColumns) where columns.count > limit {
            throw .tooManyColumns(table: family.table, count: columns.count, limit: limit)
        }
    }

    private func plan() throws -> Plan {
        let stored = try self.stored()
        try checkNames(besides: stored?.description)
        let own = Set((stored?.description.tables ?? []).map { $0.name.lowercased() })
        let known = Set(stored?.description.existing ?? [])
        var schema = schema
        var existing: [String: SQLiteExistingTable] = [:]
        for table in schema.tables.map(\.name) {
            let isCandidate = known.contains(table) || !own.contains(table.lowercased())
            if isCandidate, try exists(table) { existing[table] = try SQLiteExistingTable(table, on: connection) }
        }
        schema.strictTables = Set(existing.filter { $0.value.isStrict }.keys)
        for family in schema.families {
            if let found = existing[family.table], let key = found.keyColumn(schema), key != schema.naming.rowColumn {
                schema.keyColumns[family.table] = key
            }
        }
        // Tables of removed entities stay marked, so they are never dropped.
        let names = known.union(existing.keys)
        let wanted = SQLSchemaRecord(
            SQLSchemaDescription(schema, existing: names), modelVersion: settings.options.modelVersion)
        let isSuitable = stored?.suffices(for: wanted) ?? false
        if let stored {
            // Tables and columns that the model no longer has matter only to a migration.
            let needed = isSuitable ? schema.tables : stored.description.tables
            let names = Set(schema.tables.map(\.name))
            var lost: [SQLSchemaError.Defect] = []
            let attributes = stored.description.attributeTypes
            var change: SQLSchemaError?
            for table in needed where own.contains(table.name.lowercased()) && existing[table.name] == nil {
                guard !known.contains(table.name) || names.contains(table.name) else { continue }
                let columns = try columns(of: table.name)
                lost += missingParts(of: table, columns)
                change = change ?? changed(table, columns, attributes[table.name] ?? [:], stored.description.dates)
            }
            guard lost.isEmpty else { throw SQLSchemaError.damaged(lost) }
            if let change { throw change }
        }
        return Plan(
            schema: schema, stored: stored, wanted: wanted, isDone: try isSuitable && isComplete(schema, existing),
            existing: existing)
    }

    /// Whether the tables still have the schema's columns and indices. Other programs may have made
    /// existing tables anew, as Django and Alembic do, or dropped an index.
    private func isComplete(_ schema: SQLSchema, _ existing: [String: SQLiteExistingTable]) throws -> Bool {
        try schema.tables.allSatisfy { table in
            try table.columns.allSatisfy { existing[table.name]?.has($0, schema) ?? true }
                && table.indices.allSatisfy { index in
                    guard existing[table.name] == nil else { return try creation(ofIndex: index) != nil }
                    return try isIntact(index, of: table) == true
                }
        }
    }

    /// The database's record of its tables; nil if it has never been a store.
    private func stored() throws -> SQLSchemaRecord? {
        guard try isRecorded() else { return nil }
        let wanted = SQLSchemaRecord(SQLSchemaDescription(schema), modelVersion: settings.options.modelVersion)
        let statement = try connection.prepare("SELECT \(SQLSchemaRecord.columns) FROM \(Self.record)")
        guard try statement.step() else { throw SQLSchemaError.unreadable }
        return try SQLSchemaRecord(
            format: statement.integer(at: 0), modelVersion: statement.integer(at: 1), text: statement.text(at: 2),
            wanted: wanted)
    }

    /// The database's record of its tables, from any version of the model; nil if there is none.
    func recorded() throws -> SQLSchemaDescription? {
        guard try isRecorded() else { return nil }
        let statement = try connection.prepare("SELECT format, description FROM \(Self.record)")
        guard try statement.step() else { throw SQLSchemaError.unreadable }
        guard statement.integer(at: 0) <= Int64(SQLSchemaRecord.format) else {
            throw SQLSchemaError.newer(found: Int(statement.integer(at: 0)), known: SQLSchemaRecord.format)
        }
        return try SQLSchemaDescription(text: statement.text(at: 1))
    }

    private func migrate(_ plan: Plan) throws {
        var wanted = plan.wanted
        try checkIndexNames(plan.schema.tables.filter { plan.existing[$0.name] == nil }, plan.stored?.description)
        if let record = plan.stored {
            wanted = wanted.with(try keepingVirtualTables { try migrate(record, to: plan) })
            try connection.prepare("UPDATE \(Self.record) SET (\(SQLSchemaRecord.columns)) = (?, ?, ?)")
                .run(try wanted.bindings())
        } else {
            for table in plan.schema.tables {
                if plan.existing[table.name] != nil {
                    try use(table)
                } else {
                    try connection.execute(table.creation(schema.dialect))
                    for index in table.indices {
                        try connection.execute(index.creation(on: table.name, schema.dialect))
                    }
                }
            }
            try connection.execute("CREATE TABLE \(Self.record) (\(Self.recordColumns))")
            try connection.prepare("INSERT INTO \(Self.record) (\(SQLSchemaRecord.columns)) VALUES (?, ?, ?)")
                .run(try wanted.bindings())
        }
    }

    /// Converts the stored tables to those of a plan.
    ///
    /// - Returns: The new tables.
    private func migrate(_ record: SQLSchemaRecord, to plan: Plan) throws -> SQLSchemaDescription {
        let stored = record.description
        var found = try found(stored, plan)
        func planned() throws -> SQLMigration.Plan {
            try SQLMigration.plan(
                from: stored, to: plan.schema, found: found,
                keepsRemoved: record.modelVersion == plan.wanted.modelVersion, hooks: settings.options.conversions)
        }
        var migration = try planned()
        for check in migration.checks where try connection.integer(check.query) != nil { throw check.error }
        let own = stored.tables.map(\.name).filter { found.existing[$0] == nil }
        try refuseForeignKeys(to: migration.dropped, besides: own, reason: "which the model no longer has")
        var broken: [DependentObject] = []
        if !migration.moves.isEmpty {
            // SQLite cannot rename a table while a view cannot be compiled.
            broken = try brokenViews(besides: stored.indexNames)
            for object in broken { try drop(object) }
            try rename(migration.moves)
            for move in migration.moves { found.moved[move.from] = move.to }
            found.additions = try additions(stored, found)
            migration = try planned()
        }
        for conversion in migration.conversions { try convert(conversion) }
        try settingAside(try dependentObjects(besides: stored.indexNames)) {
            for statement in migration.statements { try run(statement, of: migration, plan.schema) }
            for table in plan.schema.tables {
                if plan.existing[table.name] != nil {
                    try use(table)
                } else {
                    try restoreIndices(of: table, migration, plan.schema)
                }
            }
        }
        for values in migration.conversions.compactMap(\.values) { try connection.execute(values.removal) }
        for object in broken { try connection.execute(object.creation) }
        return migration.description
    }

    /// Converts the values of a column into a temporary table, or checks that they fit.
    private func convert(_ conversion: SQLValueConversion) throws {
        if let values = conversion.values { try connection.execute(values.creation) }
        let selection = try connection.prepare(conversion.selection)
        let insertion = try conversion.values.map { try connection.prepare($0.insertion) }
        while try selection.step() {
            let object = selection.integer(at: 0)
            let value = try conversion.converted(selection.value(at: 1, as: conversion.type), of: object) {
                let identity = try connection.prepare(conversion.identity(of: object))
                guard try identity.step() else { return [] }
                return conversion.identityTypes.enumerated().map { identity.value(at: $0.offset, as: $0.element) }
            }
            try insertion?.run([.integer(object), schema.binding(value)])
        }
    }

    /// Creates the indices of a table of the store that others have dropped or replaced.
    private func restoreIndices(
        of table: SQLSchema.Table, _ migration: SQLMigration.Plan, _ schema: SQLSchema
    ) throws {
        for index in table.indices where try isIntact(index, of: table) != true {
            try connection.execute("DROP INDEX IF EXISTS main.\(SQLText.name(index.name))")
            try run(index.creation(on: table.name, schema.dialect), of: migration, schema)
        }
    }

    private func run(_ statement: String, of migration: SQLMigration.Plan, _ schema: SQLSchema) throws {
        do { try connection.execute(statement) } catch {
            if let addition = migration.additions[statement] {
                throw SQLSchemaError.unfitDependentObject(name: addition, reason: error.message)
            }
            guard error.primaryCode == SQLiteError.Code.constraint, let reason = schema.equalValues(creating: statement)
            else { throw error }
            throw reason
        }
    }

    /// The tables and columns that the store did not create.
    private func found(_ stored: SQLSchemaDescription, _ plan: Plan) throws -> SQLMigration.Found {
        var found = SQLMigration.Found()
        found.names = Set(try connection.texts("SELECT name FROM sqlite_master"))
        for name in Set(stored.existing ?? []).union(plan.existing.keys) where try exists(name) {
            found.existing[name] = Set(try SQLiteExistingTable(name, on: connection).columns.values.map(\.name))
        }
        found.additions = try additions(stored, found)
        return found
    }

    private func additions(
        _ stored: SQLSchemaDescription, _ found: SQLMigration.Found
    ) throws -> [String: [SQLMigration.Found.Column]] {
        var additions: [String: [SQLMigration.Found.Column]] = [:]
        for table in stored.tables where found.existing[table.name] == nil {
            additions[table.name] = try self.additions(to: table, named: found.moved[table.name] ?? table.name)
        }
        return additions
    }

    // MARK: Existing tables

    /// Uses an existing table, and creates its missing indices.
    private func use(_ table: SQLSchema.Table) throws {
        let found = try SQLiteExistingTable(table.name, on: connection)
        let row = schema.naming.rowColumn
        // Why the rows have no numbers is said when the table is checked.
        for column in table.columns where column != row && !found.has(column, schema) {
            let attribute = schema.attributeColumns.joined().first { $0.name == column }?.attribute.name
            guard attribute?.lowercased() != row.lowercased() else {
                throw SQLSchemaError.unsuitableTable(
                    table: table.name,
                    reason:
                        "\(row) is an attribute, so SQLNaming.rowColumn has to name the rows' numbers, such as rowid")
            }
            throw SQLSchemaError.missingColumn(table: table.name, column: column)
        }
        for index in table.indices {
            let creation = index.creation(on: table.name, schema.dialect)
            if let found = try self.creation(ofIndex: index) {
                guard found == creation else {
                    throw SQLSchemaError.unfitDependentObject(
                        name: index.name, reason: "the store needs an index of this name on \(table.name)")
                }
            } else {
                do { try connection.execute(creation) } catch {
                    guard error.primaryCode == SQLiteError.Code.constraint else { throw error }
                    throw SQLSchemaError.unsuitableTable(
                        table: table.name, reason: "several of its rows have the same identity, in \(index.columns)")
                }
            }
        }
    }

    /// The statement that made whatever has the name of an index; nil if nothing has.
    private func creation(ofIndex index: SQLSchema.Index) throws(SQLiteError) -> String? {
        let statement = try connection.prepare(
            "SELECT sql FROM sqlite_master WHERE name = ? COLLATE NOCASE", [.text(index.name)])
        return try statement.step() ? statement.text(at: 0) : nil
    }

    func exists(_ table: String) throws(SQLiteError) -> Bool {
        try connection.integer(
            "SELECT 1 FROM sqlite_master WHERE type IN ('table', 'view') AND name = ? COLLATE NOCASE", [.text(table)])
            != nil
    }
}
