import SyncStoreSQL

extension SQLForeignKeys {
    /// Reads the foreign keys of all tables.
    ///
    /// - Parameter stored: The database's record of its tables.
    init(
        _ schema: SQLSchema, stored: SQLSchemaDescription?, on connection: SQLiteConnection
    ) throws(SQLiteError) {
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
        self.init(schema, parts: parts, stored: stored)
    }
}
