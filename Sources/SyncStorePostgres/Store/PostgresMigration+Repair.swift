#if Postgres
import OneWayPostgresClient
import SyncModel
import SyncStoreSQL

extension PostgresMigration {
    func partStatement(of tables: [SQLSchema.Table]) -> SQLStatementText {
        let names = PostgresText.array(tables.map { .text($0.name) })
        return SQLStatementText(
            """
            WITH t AS (SELECT c.oid, c.relname::text AS name, c.relkind::text AS kind FROM pg_catalog.pg_class c \
            JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
            WHERE n.nspname = $1::text AND c.relname::text = ANY($2::text[]) AND c.relkind::text IN ('r'::text, 'p'::text)) \
            SELECT 'column'::text, t.name, a.attname::text, pg_catalog.format_type(a.atttypid, a.atttypmod) \
            FROM t JOIN pg_catalog.pg_attribute a ON a.attrelid = t.oid \
            WHERE a.attnum > 0 AND NOT a.attisdropped \
            UNION ALL \
            SELECT 'generated'::text, t.name, a.attname::text, a.attgenerated::text \
            FROM t JOIN pg_catalog.pg_attribute a ON a.attrelid = t.oid \
            WHERE a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated::text <> ''::text \
            UNION ALL \
            SELECT 'collation'::text, t.name, a.attname::text, c.collname::text \
            FROM t JOIN pg_catalog.pg_attribute a ON a.attrelid = t.oid \
            JOIN pg_catalog.pg_collation c ON c.oid = a.attcollation \
            WHERE a.attnum > 0 AND NOT a.attisdropped AND NOT c.collisdeterministic \
            UNION ALL \
            SELECT CASE WHEN i.indisprimary THEN 'key'::text WHEN i.indisvalid THEN 'index'::text ELSE 'invalid'::text END, \
            t.name, o.relname::text, CASE WHEN i.indisunique THEN 'u'::text ELSE '-'::text END \
            || CASE WHEN i.indpred IS NULL THEN '-'::text ELSE 'p'::text END || '('::text \
            || CASE WHEN i.indexprs IS NOT NULL THEN ''::text ELSE '"'::text || (\
            SELECT pg_catalog.string_agg(pg_catalog.replace(a.attname::text, '"'::text, '""'::text), '", "'::text ORDER BY k.place) \
            FROM pg_catalog.unnest(i.indkey::smallint[]) WITH ORDINALITY AS k(number, place) \
            JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.number \
            WHERE k.place <= i.indnkeyatts) || '")'::text END \
            FROM t JOIN pg_catalog.pg_index i ON i.indrelid = t.oid \
            JOIN pg_catalog.pg_class o ON o.oid = i.indexrelid \
            UNION ALL \
            SELECT 'unique'::text, t.name, '("'::text || (\
            SELECT pg_catalog.string_agg(pg_catalog.replace(a.attname::text, '"'::text, '""'::text), '", "'::text ORDER BY k.place) \
            FROM pg_catalog.unnest(i.indkey::smallint[]) WITH ORDINALITY AS k(number, place) \
            JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.number) || '")'::text, NULL::text \
            FROM t JOIN pg_catalog.pg_index i ON i.indrelid = t.oid WHERE i.indisunique AND i.indisvalid AND i.indimmediate \
            AND i.indpred IS NULL AND i.indexprs IS NULL AND i.indnkeyatts = i.indnatts \
            AND coalesce(pg_catalog.to_jsonb(i) ->> 'indnullsnotdistinct'::text, ''::text) <> 'true'::text \
            UNION ALL \
            SELECT CASE WHEN k.convalidated THEN 'reference'::text ELSE 'unsure'::text END, t.name, k.conname::text, \
            NULL::text FROM t \
            JOIN pg_catalog.pg_constraint k ON k.conrelid = t.oid WHERE k.contype::text = 'f'::text \
            UNION ALL \
            SELECT 'parent'::text, t.name, t.name, NULL::text FROM t WHERE t.kind = 'r'::text \
            AND EXISTS (SELECT 1 FROM pg_catalog.pg_inherits h WHERE h.inhparent = t.oid)
            """, [.text(settings.options.schema), .typed(names, as: "text[]")])
    }

    /// Reads from the catalog what the database has of some tables, in one query.
    func found(of tables: [SQLSchema.Table]) throws -> SQLFoundTables {
        found(tables, in: try answer(partStatement(of: tables)))
    }

    /// Reads what the database has of some tables from the answer to ``partStatement(of:)``.
    private func found(_ tables: [SQLSchema.Table], in result: PostgresResult) -> SQLFoundTables {
        let indices = Dictionary(
            tables.map { table in
                (table.name, Dictionary(table.indices.map { ($0.name, $0) }) { first, _ in first })
            }
        ) { first, _ in first }
        let parts: [String: SQLFoundTables.Part] = [
            "column": .column, "key": .primaryKey, "index": .index, "invalid": .invalidIndex, "reference": .foreignKey,
            "unsure": .unsureKey, "unique": .uniqueColumns,
        ]
        var found = SQLFoundTables(schema.dialect, hasSeparateKeys: true)
        for row in 0..<result.rowCount {
            guard let part = result.text(row, 0).flatMap({ parts[$0] }), let table = result.text(row, 1),
                let name = result.text(row, 2)
            else { continue }
            if part == .index, let index = indices[table]?[name], !isCreated(result.text(row, 3), as: index) {
                found.add(.otherIndex, name, of: table)
            } else {
                found.add(part, name, of: table)
            }
        }
        return found
    }

    /// Whether an index can be the one that the store created. Expressions are not compared.
    ///
    /// - Parameter form: Whether the index is unique and partial, and the beginning of its columns,
    ///   such as `up("id", "_entity")`.
    private func isCreated(_ form: String?, as index: SQLSchema.Index) -> Bool {
        let columns = index.columns.replacing(schema.dialect.indexOrder, with: "")
        let wanted = (index.isUnique ? "u" : "-") + (columns.contains(") WHERE ") ? "p" : "-") + columns
        return form.map { wanted.utf8.starts(with: $0.utf8) } ?? true
    }

    /// Finds the missing parts of tables.
    ///
    /// - Parameters:
    ///   - existing: The tables that the store did not create.
    ///   - stored: The database's record of its tables.
    /// - Throws: `SQLSchemaError.damaged` if parts are missing that held data; `unsuitableTable` if
    ///   others changed a table of the store so that it cannot be synced into.
    func defects(
        of tables: [SQLSchema.Table], existing: Set<String>, stored: SQLSchemaDescription
    ) throws -> [SQLSchemaError.Defect] {
        let result = try answer(partStatement(of: tables))
        let defects = found(tables, in: result).defects(of: tables, existing: existing)
        let lost = defects.filter(\.heldData)
        guard lost.isEmpty else { throw SQLSchemaError.damaged(lost) }
        try checkChanges(tables.filter { !existing.contains($0.name) }, stored, result)
        return defects
    }

    /// Verifies that others have not changed what holds the objects of the store's own tables.
    ///
    /// - Parameters:
    ///   - tables: The tables that the store created.
    ///   - result: The answer to ``partStatement(of:)``.
    /// - Throws: `SQLSchemaError.unsuitableTable`.
    private func checkChanges(
        _ tables: [SQLSchema.Table], _ stored: SQLSchemaDescription, _ result: PostgresResult
    ) throws(SQLSchemaError) {
        let columns = Dictionary(tables.map { ($0.name, Set($0.columns)) }) { first, _ in first }
        let identifying = Dictionary(
            schema.families.indices.map { (schema.families[$0].table, schema.identifyingColumns(family: $0)) }
        ) { first, _ in first }
        let types = stored.attributeTypes
        for row in 0..<result.rowCount {
            guard let part = result.text(row, 0), let table = result.text(row, 1), let own = columns[table] else {
                continue
            }
            if part == "parent" { throw PostgresExistingTable.inherited(table) }
            guard let name = result.text(row, 2), own.contains(name) else { continue }
            if part == "generated" { throw generated(name, in: table, isStored: result.text(row, 3) == "s") }
            if part == "collation", identifying[table]?.contains(name) == true, let collation = result.text(row, 3) {
                let type = schema.dialect.columnType(.string, dates: stored.dates)
                throw PostgresExistingTable.looselyCollated(
                    name, in: table, by: collation,
                    advice: "; change it back, as in: \(alteration(of: name, in: table)) TYPE \(type)")
            }
            guard part == "column", let type = types[table]?[name], let text = result.text(row, 3) else { continue }
            // Settings can have the server quote all names, and types of others can have the same.
            let found = String(text.replacing("\"", with: "").trimmingPrefix("pg_catalog."))
            // The catalog does not know `timestamptz` by this name.
            let declared = type == .date ? "timestamp with time zone" : PostgresDialect.valueType(type)
            guard found != declared else { continue }
            throw .changedType(
                of: name, in: table, found: found, declared: declared,
                advice: "change it back, as in: \(alteration(of: name, in: table)) "
                    + "TYPE \(schema.dialect.columnType(type, dates: stored.dates)) "
                    + "USING \(SQLText.name(name))::\(PostgresDialect.valueType(type))")
        }
    }

    /// The beginning of a statement that changes a column.
    private func alteration(of column: String, in table: String) -> String {
        "ALTER TABLE \(schema.relation(table)) ALTER COLUMN \(SQLText.name(column))"
    }

    /// The error for a column that somebody has made a generated one.
    ///
    /// - Parameter isStored: Whether the server stores its values, which can stay.
    private func generated(_ column: String, in table: String, isStored: Bool) -> SQLSchemaError {
        .generated(
            column, in: table,
            advice: isStored
                ? "change it back, as in: \(alteration(of: column, in: table)) DROP EXPRESSION"
                : "make it an ordinary column again")
    }

    /// Creates the missing indices and keys of recorded tables again.
    ///
    /// - Parameter names: The tables.
    func restore(_ names: Set<String>, of stored: SQLSchemaDescription) throws {
        let tables = stored.tables.filter { names.contains($0.name) }
        let found = try found(of: tables)
        let defects = found.defects(of: tables, existing: stored.existing ?? []).filter { !$0.heldData }
        try repair(defects, of: stored, found: found)
    }

    private func repair(_ defects: [SQLSchemaError.Defect], of stored: SQLSchemaDescription, found: SQLFoundTables)
        throws
    {
        let repair = SQLRepair(defects, of: stored, found: found, schema.dialect)
        let statements = try repair.statements()
        try lock(repair.locks)
        for statement in statements {
            do { try connection.execute(statement) } catch let error as PostgresError {
                let reason: SQLSchemaError? =
                    switch error.code {
                    case .uniqueViolation: stored.equalValues(creating: statement, schema.dialect)
                    case .duplicateTable: stored.takenName(creating: statement, schema.dialect)
                    default: nil
                    }
                throw reason ?? error
            }
        }
        // A copy that has taken the place of a table numbers its rows from the beginning.
        for table in stored.tables where defects.contains(where: { $0.table == table.name }) { try number(table) }
    }

    // MARK: Without a model

    /// Finds the missing parts of the recorded tables.
    ///
    /// - Throws: `SQLSchemaError.noStore` without a record of tables.
    func verify() throws -> [SQLSchemaError.Defect] {
        let stored = try recorded()
        return try found(of: stored.tables).defects(of: stored.tables, existing: stored.existing ?? [])
    }

    /// Creates the missing parts of the recorded tables again, in one transaction.
    ///
    /// - Returns: These parts.
    func repair() throws -> [SQLSchemaError.Defect] {
        try transaction {
            let stored = try recorded()
            let found = try found(of: stored.tables)
            let defects = found.defects(of: stored.tables, existing: stored.existing ?? [])
            try repair(defects, of: stored, found: found)
            return defects
        }
    }

    /// The database's record of its tables, from any version of the model.
    private func recorded() throws -> SQLSchemaDescription {
        guard try exists(SQLSchemaRecord.table) else { throw SQLSchemaError.noStore }
        let result = try connection.query("SELECT format, description FROM \(record)", binaryResult: true)
        guard result.rowCount == 1, let format = result.integer(0, 0), let text = result.text(0, 1) else {
            throw SQLSchemaError.unreadable
        }
        guard format <= Int64(SQLSchemaRecord.format) else {
            throw SQLSchemaError.newer(found: Int(format), known: SQLSchemaRecord.format)
        }
        return try SQLSchemaDescription(text: text)
    }
}
#endif
