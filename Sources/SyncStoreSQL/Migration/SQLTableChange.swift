/// Writes the statements that change the columns of a table in place.
///
/// Only for databases whose `ALTER TABLE` can rename, convert and drop columns.
struct SQLTableChange {
    private let table: SQLSchema.Table
    private let schema: SQLSchema
    private let name: String
    private let columns: [SQLMigration.Filling]
    private let condition: String?
    private let droppedIndices: [SQLSchema.Index]
    /// The index of the column that continues each old column, by the old name. A column with the
    /// same name takes precedence, then the first one.
    private let heirs: [String: Int]

    /// Creates a change.
    ///
    /// - Parameters:
    ///   - table: The current table.
    ///   - schema: The schema with the new table.
    ///   - columns: The columns of the new table.
    ///   - condition: The condition on the rows to keep; nil for all.
    ///   - keptIndices: The indices that stay.
    init(
        _ table: SQLSchema.Table, schema: SQLSchema, columns: [SQLMigration.Filling], condition: String?,
        keeping keptIndices: [SQLSchema.Index]
    ) {
        droppedIndices = table.indices.filter { !keptIndices.contains($0) }
        self.table = table
        self.columns = columns
        self.condition = condition
        self.schema = schema
        name = schema.relation(table.name)
        var heirs: [String: Int] = [:]
        for (index, filling) in columns.enumerated() {
            guard let former = filling.former else { continue }
            if heirs[former] == nil || filling.column == former { heirs[former] = index }
        }
        self.heirs = heirs
    }

    /// The indices that both tables have on columns that do not change. Foreign keys of other tools
    /// may need them.
    static func keptIndices(
        of table: SQLSchema.Table, in new: SQLSchema.Table, columns: [SQLMigration.Filling]
    ) -> [SQLSchema.Index] {
        guard table.name == new.name else { return [] }
        let same = columns.filter(\.isSame).map(\.column)
        let changed = Set(table.columns + new.columns).subtracting(same).map { SQLText.name($0) }
        return table.indices.filter { index in
            new.indices.contains(index) && !changed.contains { index.columns.contains($0) }
        }
    }

    /// The statements, in order. They drop the indices of the table, except those that stay.
    var statements: [String] {
        var statements = droppedIndices.map { "DROP INDEX IF EXISTS \(schema.relation($0.name))" }
        if let condition {
            statements.append("DELETE FROM \(name) WHERE (\(condition)) IS NOT TRUE")
            // A table cannot be altered with pending foreign-key checks.
            statements.append("SET CONSTRAINTS ALL IMMEDIATE")
        }
        var conversions: [String] = []
        // New columns have temporary names until no old column has their name.
        var temporaries: [(temporary: String, column: String)] = []
        var renamings: [String] = []
        for (index, filling) in columns.enumerated() {
            let temporary = "_sync_column_\(index)"
            if let former = filling.former, heirs[former] == index {
                if !filling.isCopy { conversions.append(conversion(of: former, to: filling)) }
                guard former != filling.column else { continue }
                renamings.append(renaming(of: former, to: temporary))
            } else {
                statements += addition(of: temporary, filling)
                if filling.expression != "NULL", !filling.isConstant {
                    conversions.append(conversion(of: temporary, to: filling))
                }
            }
            temporaries.append((temporary, filling.column))
        }
        // A single statement, so that every expression reads the original rows. It runs no
        // triggers.
        if !conversions.isEmpty { statements.append("ALTER TABLE \(name) \(conversions.joined(separator: ", "))") }
        for column in table.columns where heirs[column] == nil {
            statements.append("ALTER TABLE \(name) DROP COLUMN \(SQLText.name(column))")
        }
        statements += renamings + temporaries.map { renaming(of: $0.temporary, to: $0.column) }
        return statements
            + columns.filter { $0.isMandatory && $0.former == nil && !$0.isConstant }.map {
                "ALTER TABLE \(name) ALTER COLUMN \(SQLText.name($0.column)) SET NOT NULL"
            }
    }

    /// The statements that add a column. A default that exists only for a moment fills all rows
    /// without writing them. Source: https://www.postgresql.org/docs/current/ddl-alter.html
    private func addition(of column: String, _ filling: SQLMigration.Filling) -> [String] {
        let addition = "ALTER TABLE \(name) ADD COLUMN \(SQLText.name(column)) \(filling.type)"
        guard filling.isConstant, filling.expression != "NULL" else { return [addition] }
        return [
            "\(addition) DEFAULT \(filling.expression)\(filling.isMandatory ? " NOT NULL" : "")",
            "ALTER TABLE \(name) ALTER COLUMN \(SQLText.name(column)) DROP DEFAULT",
        ]
    }

    private func conversion(of column: String, to filling: SQLMigration.Filling) -> String {
        "ALTER COLUMN \(SQLText.name(column)) TYPE \(filling.type) USING \(filling.expression)"
    }

    private func renaming(of column: String, to other: String) -> String {
        "ALTER TABLE \(name) RENAME COLUMN \(SQLText.name(column)) TO \(SQLText.name(other))"
    }
}
