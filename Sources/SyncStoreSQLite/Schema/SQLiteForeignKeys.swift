import SyncStoreSQL

/// The foreign keys of a database: those of the store, and those that other programs declared.
struct SQLiteForeignKeys {
    /// A column of a foreign key.
    private struct Part {
        /// The table that has the column.
        let table: String
        let column: String
        let target: String
        /// The column that it refers to; nil if the target has no such key.
        let targetColumn: String?
        /// Whether the row is deleted with the one that it refers to.
        let isCascade: Bool
        /// Whether the foreign key has no other column.
        let isWhole: Bool
        let isMandatory: Bool
    }

    private let parts: [Part]
    private let schema: SQLSchema
    /// The columns of relationships, with the tables that they refer to.
    private let links: [SQLSchema.ColumnLink]

    /// Reads the foreign keys of all tables.
    init(_ schema: SQLSchema, on connection: SQLiteConnection) throws(SQLiteError) {
        self.schema = schema
        links =
            schema.references.joined().map(\.link)
            + schema.joins.flatMap { join in
                [(join.source, join.sourceTable), (join.target, join.targetTable)].map { column, target in
                    SQLSchema.ColumnLink(table: join.table, column: column, position: nil, target: target)
                }
            }
        let statement = try connection.prepare(
            """
            SELECT m.name, f."from", f."table", \
            ifnull(f."to", (SELECT c.name FROM pragma_table_info(f."table") c WHERE c.pk = f.seq + 1)), \
            f.on_delete = 'CASCADE', (SELECT count(*) FROM pragma_foreign_key_list(m.name) o WHERE o.id = f.id) = 1, \
            (SELECT c."notnull" FROM pragma_table_info(m.name) c WHERE c.name = f."from" COLLATE NOCASE) \
            FROM sqlite_master m JOIN pragma_foreign_key_list(m.name) f WHERE m.type = 'table'
            """)
        var parts: [Part] = []
        while try statement.step() {
            parts.append(
                Part(
                    table: statement.text(at: 0), column: statement.text(at: 1), target: statement.text(at: 2),
                    targetColumn: statement.isNull(at: 3) ? nil : statement.text(at: 3),
                    isCascade: statement.integer(at: 4) != 0, isWhole: statement.integer(at: 5) != 0,
                    isMandatory: statement.integer(at: 6) != 0))
        }
        self.parts = parts
    }

    /// Verifies that the columns of relationships refer to the numbers of objects.
    ///
    /// - Parameter tables: The tables whose foreign keys are not the store's own.
    /// - Throws: `SQLSchemaError.unsuitableTable`.
    func checkLinks(of tables: some Collection<String>) throws(SQLSchemaError) {
        for link in links where tables.contains(link.table) {
            for part in parts where Self.areSame(part.table, link.table) && Self.areSame(part.column, link.column) {
                guard !refers(part, to: link.target) else { continue }
                throw .unsuitableTable(
                    table: link.table,
                    reason: "\(link.column) refers to \(part.target).\(part.targetColumn ?? "its key"); "
                        + "a relationship has to refer to \(link.target).\(key(of: link.target))")
            }
        }
    }

    /// The columns that no relationship has and whose foreign keys delete rows of the model's
    /// tables; a removal takes deleted objects off them first.
    ///
    /// - Throws: `SQLSchemaError.unsuitableTable` for one that objects cannot be taken off.
    func cascades() throws(SQLSchemaError) -> [SQLSchema.ColumnLink] {
        let own = Set(schema.tables.map { $0.name.lowercased() })
        let roots = Dictionary(schema.families.map { ($0.table.lowercased(), $0.table) }) { first, _ in first }
        let cascades = parts.filter { part in part.isCascade && !links.contains { isColumn(part, of: $0) } }
        // Deletions can reach a table of the model through tables of others.
        var reached = Set(roots.keys)
        while true {
            let next = cascades.filter { reached.contains($0.target.lowercased()) }.map { $0.table.lowercased() }
            guard !reached.isSuperset(of: next) else { break }
            reached.formUnion(next)
        }
        var result: [SQLSchema.ColumnLink] = []
        for part in cascades where own.contains(part.table.lowercased()) && reached.contains(part.target.lowercased()) {
            guard let target = roots[part.target.lowercased()], part.isWhole, !part.isMandatory,
                refers(part, to: target), !isAttribute(part)
            else {
                throw .unsuitableTable(
                    table: part.table,
                    reason: "\(part.column) deletes rows with those of \(part.target) (ON DELETE CASCADE) and is no "
                        + "relationship of the model; declare one, or remove the action")
            }
            result.append(
                SQLSchema.ColumnLink(table: part.table, column: part.column, position: nil, target: target))
        }
        return result
    }

    /// The column of a table that foreign keys refer to.
    private func key(of table: String) -> String {
        schema.keyColumns[table] ?? schema.naming.rowColumn
    }

    private func refers(_ part: Part, to target: String) -> Bool {
        Self.areSame(part.target, target) && part.targetColumn.map { Self.areSame($0, key(of: target)) } == true
    }

    private func isColumn(_ part: Part, of link: SQLSchema.ColumnLink) -> Bool {
        Self.areSame(part.table, link.table) && Self.areSame(part.column, link.column)
            && Self.areSame(part.target, link.target)
    }

    private func isAttribute(_ part: Part) -> Bool {
        zip(schema.families, schema.attributeColumns).contains { family, columns in
            Self.areSame(family.table, part.table) && columns.contains { Self.areSame($0.name, part.column) }
        }
    }

    private static func areSame(_ one: String, _ other: String) -> Bool {
        one.lowercased() == other.lowercased()
    }
}
