import SyncModel
import SyncStoreSQL

// The columns that the store's own tables have now.
extension SQLiteMigration {
    /// A column of a table as it is.
    struct FoundColumn {
        /// The declared type.
        let type: String
        let isGenerated: Bool
        /// Whether the column is the primary key of the table, on its own. True for a view, which
        /// has none.
        let isKey: Bool
    }

    /// The columns of a table, by name as SQLite compares it. Empty if there is no such table.
    func columns(of table: String) throws(SQLiteError) -> [[UInt8]: FoundColumn] {
        let info = try connection.prepare(
            """
            SELECT name, type, hidden, pk = 1 AND max(pk) OVER () = 1 \
            OR EXISTS (SELECT 1 FROM sqlite_master m WHERE m.type = 'view' AND m.name = ?1 COLLATE NOCASE) \
            FROM pragma_table_xinfo(?1)
            """, [.text(table)])
        var columns: [[UInt8]: FoundColumn] = [:]
        while try info.step() {
            columns[schema.dialect.folded(info.text(at: 0))] = FoundColumn(
                type: info.text(at: 1), isGenerated: info.integer(at: 2) > 1,
                isKey: info.integer(at: 3) != 0)
        }
        return columns
    }

    /// A table of the store if it is missing, or the columns that it no longer has.
    func missingParts(
        of table: SQLSchema.Table, _ columns: [[UInt8]: FoundColumn]
    ) -> [SQLSchemaError.Defect] {
        guard !columns.isEmpty else { return [SQLSchemaError.Defect(table: table.name, part: .table)] }
        return table.columns.filter { columns[schema.dialect.folded($0)] == nil }.map {
            SQLSchemaError.Defect(table: table.name, part: .column($0))
        }
    }

    /// The error for a column of object numbers that is no longer the primary key, for a column
    /// that cannot be written, for one of an attribute that no longer returns every value
    /// unchanged, or for one that identifies objects and no longer compares their bytes; nil if the
    /// table has no such column.
    ///
    /// - Parameters:
    ///   - columns: The table's columns.
    ///   - attributes: The types of the attributes, by column.
    func changed(
        _ table: SQLSchema.Table, _ columns: [[UInt8]: FoundColumn], _ attributes: [String: AttributeType],
        _ dates: SQLNaming.DateStorage
    ) -> SQLSchemaError? {
        let family = schema.families.firstIndex { $0.table == table.name }
        let identifying = family.map { schema.identifyingColumns(family: $0) } ?? []
        let advice = "change it back, or create all tables again with SQLiteStore.rebuild"
        for column in table.columns {
            guard let found = columns[schema.dialect.folded(column)] else { continue }
            guard !found.isGenerated else {
                return .generated(
                    column, in: table.name,
                    advice: "make it an ordinary column again, or create all tables again with SQLiteStore.rebuild")
            }
            if column == schema.naming.rowColumn, column == table.columns.first,
                !found.isKey || found.type.uppercased() != "INTEGER"
            {
                return .unsuitableTable(
                    table: table.name,
                    reason:
                        "\(column), which numbers its rows, is no longer its INTEGER PRIMARY KEY; make it that again, "
                        + "or create all tables again with SQLiteStore.rebuild")
            }
            if identifying.contains(column),
                let error = SQLiteExistingTable.otherCollation(
                    of: column, in: table.name, advice: "; \(advice)", connection)
            {
                return error
            }
            guard let type = attributes[column],
                !type.affinities(dates).contains(SQLiteAffinity(declaredType: found.type, isStrict: false))
            else { continue }
            return .changedType(
                of: column, in: table.name, found: found.type, declared: schema.dialect.columnType(type, dates: dates),
                advice: advice)
        }
        return nil
    }
}
