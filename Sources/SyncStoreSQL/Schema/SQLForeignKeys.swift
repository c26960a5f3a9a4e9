/// The foreign keys of a database: those of the store, and those of other tools.
package struct SQLForeignKeys {
    /// A column of a foreign key.
    package struct Part {
        /// The table that has the column.
        package let table: String
        package let column: String
        package let target: String
        /// The column that it refers to; nil if the target has no matching key.
        package let targetColumn: String?
        /// Whether deleting the referenced row deletes the row.
        package let isCascade: Bool
        /// Whether the foreign key has only this column.
        package let isWhole: Bool
        package let isMandatory: Bool

        package init(
            table: String, column: String, target: String, targetColumn: String?, isCascade: Bool, isWhole: Bool,
            isMandatory: Bool
        ) {
            self.table = table
            self.column = column
            self.target = target
            self.targetColumn = targetColumn
            self.isCascade = isCascade
            self.isWhole = isWhole
            self.isMandatory = isMandatory
        }
    }

    private let parts: [Part]
    private let schema: SQLSchema
    /// The columns of relationships, each with the table that it refers to.
    private let links: [SQLSchema.ColumnLink]
    /// The tables of entities that only another version of the model has.
    private let unknownTables: [String]

    /// Creates the foreign keys.
    ///
    /// - Parameters:
    ///   - parts: The columns of all foreign keys of the database.
    ///   - stored: The database's record of its tables, which can have entities that the model does
    ///     not have.
    package init(_ schema: SQLSchema, parts: [Part], stored: SQLSchemaDescription? = nil) {
        self.schema = schema
        let known = Set(schema.families.map(\.table))
        unknownTables = stored.map { $0.families.values.filter { !known.contains($0) } } ?? []
        self.parts = parts
        links =
            schema.references.joined().map(\.link)
            + schema.joins.flatMap { join in
                [(join.source, join.sourceTable), (join.target, join.targetTable)].map { column, target in
                    SQLSchema.ColumnLink(table: join.table, column: column, position: nil, target: target)
                }
            }
    }

    /// Verifies that the columns of relationships refer to object numbers.
    ///
    /// - Parameter tables: The tables whose foreign keys the store did not create.
    /// - Throws: `SQLSchemaError.unsuitableTable`.
    package func checkLinks(of tables: some Collection<String>) throws(SQLSchemaError) {
        for link in links where tables.contains(link.table) {
            for part in parts where areSame(part.table, link.table) && areSame(part.column, link.column) {
                guard !refers(part, to: link.target) else { continue }
                throw .unsuitableTable(
                    table: link.table,
                    reason: "\(link.column) refers to \(part.target).\(part.targetColumn ?? "its key"); "
                        + "a relationship has to refer to \(link.target).\(key(of: link.target))")
            }
        }
    }

    /// The columns outside of relationships whose foreign keys delete rows of the model's tables. A
    /// removal first clears their references to deleted objects.
    ///
    /// - Throws: `SQLSchemaError.unsuitableTable` for a column that cannot be cleared.
    package func cascades() throws(SQLSchemaError) -> [SQLSchema.ColumnLink] {
        let own = Set((schema.tables.map(\.name) + unknownTables).map(folded))
        let roots = Dictionary(schema.families.map { (folded($0.table), $0.table) }) { first, _ in first }
        let cascades = parts.filter { part in part.isCascade && !links.contains { isColumn(part, of: $0) } }
        // A deletion can reach a table of the model through other programs' tables. It goes no
        // further from the store's own tables, whose references are cleared first.
        var reached = Set(roots.keys)
        let others = cascades.filter { !own.contains(folded($0.table)) }
        while true {
            let next = others.filter { reached.contains(folded($0.target)) }.map { folded($0.table) }
            guard !reached.isSuperset(of: next) else { break }
            reached.formUnion(next)
        }
        var result: [SQLSchema.ColumnLink] = []
        for part in cascades where own.contains(folded(part.table)) && reached.contains(folded(part.target)) {
            guard let target = roots[folded(part.target)], part.isWhole, !part.isMandatory,
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
        areSame(part.target, target) && part.targetColumn.map { areSame($0, key(of: target)) } == true
    }

    private func isColumn(_ part: Part, of link: SQLSchema.ColumnLink) -> Bool {
        areSame(part.table, link.table) && areSame(part.column, link.column)
            && areSame(part.target, link.target)
    }

    private func isAttribute(_ part: Part) -> Bool {
        zip(schema.families, schema.attributeColumns).contains { family, columns in
            areSame(family.table, part.table) && columns.contains { areSame($0.name, part.column) }
        }
    }

    private func areSame(_ one: String, _ other: String) -> Bool {
        folded(one) == folded(other)
    }

    /// A name as the database compares it.
    private func folded(_ name: String) -> [UInt8] {
        schema.dialect.folded(name)
    }
}
