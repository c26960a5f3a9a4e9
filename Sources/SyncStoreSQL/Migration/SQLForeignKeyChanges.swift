import SyncModel

/// The changes of foreign keys that are not part of a table's definition.
struct SQLForeignKeyChanges {
    /// The statements that remove the foreign keys of old tables that do not stay.
    let removals: [String]
    /// The statements that create the foreign keys of the new tables.
    let creations: [String]
    /// The statements that remove references to dropped objects.
    let cleanups: [String]
    /// The statements for a migration that changes only delete rules.
    let statements: [String]

    /// Creates the changes.
    ///
    /// - Parameters:
    ///   - kept: The foreign keys that stay unchanged, by table and name.
    ///   - adopted: The tables that the store did not create. Other tools may own their foreign
    ///     keys.
    init(
        from old: SQLSchemaDescription, to schema: SQLSchema, keeping kept: Set<[String]>,
        besides adopted: some Collection<String>
    ) {
        let oldKeys = old.tables.filter { !adopted.contains($0.name) }.flatMap { table in
            (table.foreignKeys ?? []).filter { !kept.contains([table.name, $0.name]) }.map { (table.name, $0) }
        }
        removals = oldKeys.map { table, key in key.removal(from: table, schema.dialect) }
        creations = SQLSchemaDescription(schema).tables.filter { !adopted.contains($0.name) }.flatMap { table in
            (table.foreignKeys ?? []).map { $0.creation(on: table.name, schema.dialect) }
        }
        cleanups = Self.cleanups(of: schema)
        let isSame = Set(oldKeys.map { table, key in key.creation(on: table, schema.dialect) }) == Set(creations)
        statements = isSame ? [] : removals + creations
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
