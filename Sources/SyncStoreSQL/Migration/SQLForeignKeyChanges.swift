import SyncModel

/// The changes of foreign keys that are not part of a table's definition.
///
/// A foreign key whose tables and column do not change stays, so that nothing is locked for it.
struct SQLForeignKeyChanges {
    /// The statements that remove foreign keys of old tables.
    let removals: [String]
    /// The tables that removals lock: those with the keys, and those to which they refer.
    let removalTables: Set<String>
    /// The statements that create foreign keys of the new tables, without validation on tables that
    /// have rows.
    let creations: [String]
    /// The tables that creations lock.
    let creationTables: Set<String>
    /// The statements that remove references to dropped objects.
    let cleanups: [String]

    /// A foreign key, and its table.
    private typealias Key = (table: String, key: SQLSchema.ForeignKey)

    /// Creates the changes.
    ///
    /// - Parameters:
    ///   - kept: The foreign keys that stay unchanged, by table and name.
    ///   - existing: The tables that the store did not create. Other tools may own their foreign
    ///     keys.
    ///   - newTables: The tables that are created.
    ///   - sameColumns: The columns that do not change, of the tables that keep their names.
    ///   - deletesRows: Whether rows are deleted to which others may refer. No foreign key stays
    ///     meanwhile.
    init(
        from old: SQLSchemaDescription, to schema: SQLSchema, keeping kept: Set<[String]>,
        besides existing: some Collection<String>, newTables: Set<String>, sameColumns: [String: Set<String>],
        deletesRows: Bool
    ) {
        let new = SQLSchemaDescription(schema)
        func keys(_ description: SQLSchemaDescription) -> [Key] {
            description.tables.filter { !existing.contains($0.name) }.flatMap { table in
                (table.foreignKeys ?? []).map { (table.name, $0) }
            }
        }
        let names = Set((old.tables + new.tables).map(\.name)).union(existing)
        func target(_ key: SQLSchema.ForeignKey) -> String? { names.first { key.refers(to: $0) } }
        /// Whether neither the column of a key nor the table to which it refers changes.
        func isSame(_ found: Key) -> Bool {
            guard !deletesRows, let columns = sameColumns[found.table], columns.contains(where: found.key.isOf) else {
                return false
            }
            return target(found.key).map { sameColumns[$0] != nil || existing.contains($0) } ?? false
        }
        func text(_ found: Key) -> String { found.key.creation(on: found.table, schema.dialect) }
        let oldKeys = keys(old).filter { !kept.contains([$0.table, $0.key.name]) }
        let newKeys = keys(new)
        let (oldTexts, newTexts) = (Set(oldKeys.map(text)), Set(newKeys.map(text)))
        let removed = oldKeys.filter { !isSame($0) || !newTexts.contains(text($0)) }
        let created = newKeys.filter { !isSame($0) || !oldTexts.contains(text($0)) }
        removals = removed.map { $0.key.removal(from: $0.table, schema.dialect) }
        removalTables = Set(removed.flatMap { [$0.table, target($0.key)].compactMap(\.self) })
        creations = created.map {
            $0.key.creation(on: $0.table, schema.dialect, isValidated: newTables.contains($0.table))
        }
        creationTables = Set(created.flatMap { [$0.table, target($0.key)].compactMap(\.self) })
        cleanups = deletesRows || !schema.dialect.addsForeignKeysLater ? Self.cleanups(of: schema) : []
    }

    private static func cleanups(of schema: SQLSchema) -> [String] {
        let row = schema.rowColumn
        let columns = schema.families.indices.flatMap { family in
            schema.references[family].map { reference in
                let column = SQLText.name(reference.link.column)
                return "UPDATE \(schema.relation(reference.link.table)) SET \(column) = NULL WHERE \(column) NOT IN "
                    + "(SELECT \(row) FROM \(schema.relation(reference.link.target)))"
            }
        }
        let joins = schema.joins.map { join in
            "DELETE FROM \(schema.relation(join.table)) WHERE \(SQLText.name(join.source)) NOT IN "
                + "(SELECT \(row) FROM \(schema.relation(join.sourceTable))) OR \(SQLText.name(join.target)) NOT IN "
                + "(SELECT \(row) FROM \(schema.relation(join.targetTable)))"
        }
        return columns + joins
    }
}

extension SQLSchema.ForeignKey {
    /// Whether the key is of a column.
    func isOf(_ column: String) -> Bool {
        definition.hasPrefix("FOREIGN KEY (\(SQLText.name(column))) ")
    }

    fileprivate func refers(to table: String) -> Bool {
        definition.contains(" REFERENCES \(SQLText.name(table))(")
    }
}
