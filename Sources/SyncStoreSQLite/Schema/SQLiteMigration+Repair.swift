import SyncStoreSQL

extension SQLiteMigration {
    /// Finds the parts of the recorded tables that are missing.
    ///
    /// - Throws: `SQLSchemaError.noStore` without a record of tables.
    func defects() throws -> [SQLSchemaError.Defect] {
        try findings().defects
    }

    /// Creates the missing parts of the recorded tables again, in one transaction.
    ///
    /// - Returns: These parts.
    func repair() throws -> [SQLSchemaError.Defect] {
        try transaction {
            let (stored, found, defects) = try findings()
            let repair = SQLRepair(defects, of: stored, found: found, schema.dialect)
            for statement in try repair.statements() {
                do throws(SQLiteError) { try connection.execute(statement) } catch {
                    guard error.primaryCode == SQLiteError.Code.constraint,
                        let reason = stored.equalValues(creating: statement, schema.dialect)
                    else { throw error }
                    throw reason
                }
            }
            return defects
        }
    }

    private func findings() throws -> (
        stored: SQLSchemaDescription, found: SQLFoundTables, defects: [SQLSchemaError.Defect]
    ) {
        guard let stored = try recorded() else { throw SQLSchemaError.noStore }
        var found = SQLFoundTables(schema.dialect, hasSeparateKeys: false)
        let columns = try connection.prepare(
            "SELECT t.name, c.name FROM pragma_table_list t, pragma_table_xinfo(t.name) c "
                + "WHERE t.schema = 'main' AND t.type = 'table'")
        while try columns.step() { found.add(.column, columns.text(at: 1), of: columns.text(at: 0)) }
        let indices = try connection.prepare("SELECT tbl_name, name FROM sqlite_master WHERE type = 'index'")
        while try indices.step() { found.add(.index, indices.text(at: 1), of: indices.text(at: 0)) }
        for table in stored.tables {
            let damaged = try damagedIndices(of: table.name)
            for index in table.indices
            where try isIntact(index, of: table) == false || damaged.contains(index.name.lowercased()) {
                found.add(.otherIndex, index.name, of: table.name)
            }
        }
        return (stored, found, found.defects(of: stored.tables, existing: stored.existing ?? []))
    }

    // MARK: Indices

    /// The names of a table's indices, in lower case, whose entries disagree with its rows. Reads
    /// the whole table.
    private func damagedIndices(of table: String) throws(SQLiteError) -> Set<String> {
        let check = try connection.prepare(
            "SELECT integrity_check FROM sqlite_master m JOIN pragma_integrity_check(m.name) "
                + "WHERE m.type = 'table' AND m.name = ? COLLATE NOCASE", [.text(table)])
        var names: Set<String> = []
        while try check.step() {
            // Such as "row 2 missing from index User_identity".
            guard let match = check.text(at: 0).firstMatch(of: /index (.+)$/) else { continue }
            names.insert(match.1.lowercased())
        }
        return names
    }

    /// Whether a table of the store has an index, or something else has its name.
    ///
    /// False if the table has an index of this name with another definition, in which quotes,
    /// spaces and cases of letters do not matter. Nil if nothing has the name.
    func isIntact(_ index: SQLSchema.Index, of table: SQLSchema.Table) throws(SQLiteError) -> Bool? {
        let statement = try connection.prepare(
            "SELECT sql, type = 'index' AND tbl_name = ? COLLATE NOCASE FROM sqlite_master "
                + "WHERE name = ? COLLATE NOCASE ORDER BY 2 DESC", [.text(table.name), .text(index.name)])
        guard try statement.step() else { return nil }
        guard statement.integer(at: 1) != 0 else { return true }
        func plain(_ creation: String) -> String {
            creation.lowercased().filter { !$0.isWhitespace && !#""`[]"#.contains($0) }
        }
        return plain(statement.text(at: 0)) == plain(index.creation(on: table.name, schema.dialect))
    }
}
