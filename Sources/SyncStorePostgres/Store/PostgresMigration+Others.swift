#if Postgres
import OneWayPostgresClient
import SyncStoreSQL

extension PostgresMigration {
    /// The additions of other tools to the database that affect removals.
    struct Others {
        /// The tables whose relationship columns may have other tools' foreign keys, or none.
        var released: Set<String> = []
        /// The existing tables.
        var existing: Set<String> = []
        /// The columns outside of relationships whose foreign keys would delete rows of the model's
        /// tables.
        var cascades: [SQLSchema.ColumnLink] = []
        /// The columns of existing tables that hold only some values or have a default, by table
        /// and name.
        var forms: [String: [String: PostgresColumnForm]] = [:]
        /// A fingerprint of all foreign keys of the database, to notice changes.
        var fingerprint = ""
    }

    // MARK: Privileges

    var warningStatement: SQLStatementText {
        SQLStatementText(
            """
            SELECT CASE WHEN a.grantee = 0::oid THEN 'PUBLIC' ELSE pg_catalog.pg_get_userbyid(a.grantee)::text END \
            FROM pg_catalog.pg_namespace n, pg_catalog.aclexplode(n.nspacl) a \
            WHERE n.nspname = $1::text AND a.privilege_type = 'CREATE'::text AND a.grantee <> n.nspowner \
            AND pg_catalog.pg_get_userbyid(a.grantee) <> CURRENT_USER ORDER BY 1
            """, [.text(settings.options.schema)])
    }

    /// Warns of roles that can create objects in the schema, besides its owner and this role.
    func warnings() throws -> [String] {
        let found = try answer(warningStatement)
        let roles = (0..<found.rowCount).compactMap { found.text($0, 0) }
        guard !roles.isEmpty else { return [] }
        let name = SQLText.name(settings.options.schema)
        return [
            "other roles can create objects in the schema \(name): \(roles.joined(separator: ", ")); "
                + "revoke it, as in: REVOKE CREATE ON SCHEMA \(name) FROM "
                + roles.map { $0 == "PUBLIC" ? $0 : SQLText.name($0) }.joined(separator: ", ")
        ]
    }

    // MARK: Tables

    /// Verifies that the store can write to existing tables.
    ///
    /// - Returns: The columns that hold only some values or have a default, by table and name.
    func checkTables(_ existing: Set<String>) throws -> [String: [String: PostgresColumnForm]] {
        var forms: [String: [String: PostgresColumnForm]] = [:]
        let tables = Dictionary(schema.tables.map { ($0.name, $0) }) { first, _ in first }
        for (family, found) in schema.families.enumerated() where existing.contains(found.table) {
            let table = try PostgresExistingTable(found.table, in: schema, on: connection)
            try table.check(family: family, of: schema)
            forms[found.table] = table.forms(family: family, of: schema)
        }
        for join in schema.joins where existing.contains(join.table) {
            let found = try PostgresExistingTable(join.table, in: schema, on: connection)
            if let table = tables[join.table] { try found.checkColumns(of: table, schema) }
            try found.check(join, of: schema)
        }
        return forms
    }

    /// Uses an existing table: creates its missing indices.
    func index(_ table: SQLSchema.Table) throws {
        try PostgresExistingTable(table.name, in: schema, on: connection).checkColumns(of: table, schema)
        let found = try found(of: [table])
        for index in table.indices where !found.hasEqual(of: index, of: table.name) {
            guard try !exists(index.name) else {
                guard try isIndex(index, of: table.name) else {
                    throw SQLSchemaError.unfitDependentObject(
                        name: index.name, reason: "the store needs an index of this name on \(table.name); rename it")
                }
                continue
            }
            do { try connection.execute(index.creation(on: table.name, schema.dialect)) } catch let error
                as PostgresError
            {
                switch error.code {
                case .uniqueViolation:
                    throw schema.equalValues(creating: index.creation(on: table.name, schema.dialect)).flatMap {
                        index.attributes == nil ? nil : $0
                    }
                        ?? SQLSchemaError.unsuitableTable(
                            table: table.name, reason: "several of its rows have the same identity, in \(index.columns)"
                        )
                case .featureNotSupported:
                    throw SQLSchemaError.unsuitableTable(
                        table: table.name, reason: "it cannot have the index \(index.name): \(error.message)")
                default: throw error
                }
            }
        }
    }

    private func isIndex(_ index: SQLSchema.Index, of table: String) throws -> Bool {
        try isFound(
            """
            SELECT 1 FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class o ON o.oid = i.indexrelid \
            WHERE i.indrelid = to_regclass($1::text) AND o.relname = $2::text AND i.indisvalid \
            AND i.indisunique = \(index.isUnique)
            """, [.text(schema.relation(table)), .text(index.name)])
    }

    /// Makes a table give new rows higher numbers than the existing rows.
    func number(_ table: SQLSchema.Table) throws {
        guard table.columns.first == schema.naming.rowColumn else { return }
        let name = schema.relation(table.name)
        let column = schema.rowColumn
        let sequence: String
        if try numbering(of: [table.name]).isEmpty {
            sequence = SQLText.literal(schema.relation("_sync_rows_\(table.name)"))
            try lock(SQLMigration.Locks(exclusive: [table.name]))
            try connection.execute(
                """
                CREATE SEQUENCE \(schema.relation("_sync_rows_\(table.name)")) OWNED BY \(name).\(column); \
                ALTER TABLE \(name) ALTER COLUMN \(column) SET DEFAULT pg_catalog.nextval(\(sequence)::regclass)
                """)
        } else {
            let found = try connection.run(
                "SELECT pg_catalog.pg_get_serial_sequence($1::text, $2::text)",
                [.text(name), .text(schema.naming.rowColumn)])
            guard let owned = found.text(0, 0) else { return }
            sequence = SQLText.literal(owned)
        }
        try connection.execute(schema.numbersAboveRows(of: name, from: sequence))
    }

    /// Creates missing foreign keys on the columns of an existing table.
    func addForeignKeys(to table: SQLSchema.Table) throws {
        let family = schema.families.firstIndex { $0.table == table.name }
        let columns =
            family.map { schema.references[$0].map(\.link.column) }
            ?? schema.joins.filter { $0.table == table.name }.flatMap { [$0.source, $0.target] }
        for (column, key) in zip(columns, table.foreignKeys ?? []) {
            let isThere = try isFound(
                """
                SELECT 1 FROM pg_catalog.pg_constraint c \
                LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = ANY(c.conkey) \
                WHERE c.conrelid = to_regclass($1::text) \
                AND (c.conname = $2::text OR c.contype::text = 'f'::text AND a.attname = $3::text)
                """, [.text(schema.relation(table.name)), .text(key.name), .text(column)])
            if !isThere { try connection.execute(key.creation(on: table.name, schema.dialect)) }
        }
    }

    // MARK: Foreign keys

    /// Selects the fingerprint of all foreign keys of the database.
    static let fingerprint = """
        SELECT pg_catalog.hashtextextended(pg_catalog.string_agg(c.oid::text, ' '::text ORDER BY c.oid), 0::bigint)::text \
        FROM pg_catalog.pg_constraint c WHERE c.contype::text = 'f'::text
        """

    /// Verifies the foreign keys that were added since the last verification.
    ///
    /// - Parameter others: The result of the last verification.
    /// - Throws: `SQLSchemaError.unsuitableTable`.
    func checkForeignKeys(since others: Others) throws -> Others {
        var changed = try checkForeignKeys(others.existing)
        changed.forms = others.forms
        return changed
    }

    var fingerprintStatement: SQLStatementText { SQLStatementText(Self.fingerprint) }

    var foreignKeyStatement: SQLStatementText {
        SQLStatementText(
            """
            SELECT CASE WHEN n.nspname = $1::text THEN '' ELSE n.nspname::text || '.'::text END || t.relname::text, \
            a.attname::text, \
            CASE WHEN m.nspname = $1::text THEN '' ELSE m.nspname::text || '.'::text END || f.relname::text, \
            b.attname::text, c.confdeltype::text = 'c'::text, pg_catalog.cardinality(c.conkey) = 1, a.attnotnull, \
            c.conname::text \
            FROM pg_catalog.pg_constraint c \
            JOIN pg_catalog.pg_class t ON t.oid = c.conrelid JOIN pg_catalog.pg_namespace n ON n.oid = t.relnamespace \
            JOIN pg_catalog.pg_class f ON f.oid = c.confrelid JOIN pg_catalog.pg_namespace m ON m.oid = f.relnamespace \
            CROSS JOIN LATERAL pg_catalog.generate_subscripts(c.conkey, 1) AS k(place) \
            JOIN pg_catalog.pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[k.place] \
            JOIN pg_catalog.pg_attribute b ON b.attrelid = c.confrelid AND b.attnum = c.confkey[k.place] \
            WHERE c.contype::text = 'f'::text
            """, [.text(settings.options.schema)])
    }

    /// Verifies the foreign keys of other tools.
    ///
    /// - Parameters:
    ///   - existing: The existing tables.
    ///   - stored: The database's record of its tables; nil, the default, to read it.
    func checkForeignKeys(_ existing: Set<String>, stored: SQLSchemaRecord? = nil) throws -> Others {
        // Read first, so that the next removal notices a foreign key created afterwards.
        let fingerprint = try answer(fingerprintStatement).text(0, 0) ?? ""
        let result = try answer(foreignKeyStatement)
        let own = schema.tables.reduce(into: [[String]: Bool]()) { own, table in
            for key in table.foreignKeys ?? [] { own[[table.name, key.name]] = key.isCascade }
        }
        var others = Others(released: existing, existing: existing, fingerprint: fingerprint)
        var parts: [SQLForeignKeys.Part] = []
        for row in 0..<result.rowCount {
            guard let table = result.text(row, 0), let column = result.text(row, 1), let target = result.text(row, 2)
            else { continue }
            let isCascade = result.boolean(row, 4) == true
            // The store's own foreign keys have the action of the model's delete rule.
            if let name = result.text(row, 7), own[[table, name]] != isCascade { others.released.insert(table) }
            parts.append(
                SQLForeignKeys.Part(
                    table: table, column: column, target: target, targetColumn: result.text(row, 3),
                    isCascade: isCascade, isWhole: result.boolean(row, 5) == true,
                    isMandatory: result.boolean(row, 6) == true))
        }
        let foreignKeys = SQLForeignKeys(schema, parts: parts, stored: try (stored ?? self.stored())?.description)
        try foreignKeys.checkLinks(of: existing)
        others.cascades = try foreignKeys.cascades()
        return others
    }
}

extension SQLSchema {
    /// The statement that makes a sequence go on after the rows of a table.
    ///
    /// A sequence is behind after rows with explicit numbers, as those of a logical replica.
    ///
    /// - Parameters:
    ///   - table: The name of the table, quoted.
    ///   - sequence: An expression for the name of the sequence.
    func numbersAboveRows(of table: String, from sequence: String) -> String {
        """
        SELECT pg_catalog.setval(\(sequence)::regclass, r.number) \
        FROM (SELECT max(\(rowColumn))::bigint AS number FROM \(table)) r, pg_catalog.pg_sequence s \
        WHERE s.seqrelid = \(sequence)::regclass AND s.seqincrement > 0 AND r.number >= s.seqmin \
        AND r.number > coalesce(pg_catalog.pg_sequence_last_value(\(sequence)::regclass), 0::bigint)
        """
    }
}
#endif
