import SyncStoreSQL

extension SQLiteMigration {
    /// Replaces the store's tables with those of another file, in one transaction.
    ///
    /// - Parameter file: The path of a store with the same schema.
    /// - Returns: The dropped columns that were not the store's, such as `User.mine`.
    func replaceTables(by file: String) throws -> [String] {
        let attach = try connection.prepare("ATTACH DATABASE ? AS fresh")
        try attach.run([.text(file)])
        defer { try? connection.execute("DETACH DATABASE fresh") }
        return try transaction { try keepingVirtualTables { try copyTables() } }
    }

    /// Verifies that the store's tables can be replaced.
    ///
    /// - Returns: The database's record of its tables; nil if there is none.
    @discardableResult
    func checkReplacement() throws -> SQLSchemaDescription? {
        let stored = try recorded()
        if let table = stored?.existing?.first {
            throw SQLSchemaError.existingTable(
                table: table, advice: "only a store with tables of its own can be rebuilt")
        }
        let own = stored?.tables.map(\.name) ?? []
        try refuseForeignKeys(to: own, besides: own, reason: "whose objects get new numbers")
        return stored
    }

    private func copyTables() throws -> [String] {
        let stored = try checkReplacement()
        let own = stored?.tables.map(\.name) ?? []
        var dropped: [String] = []
        for table in stored?.tables ?? [] {
            dropped += try additions(to: table, named: table.name).map { "\(table.name).\($0.name)" }
        }
        try settingAside(try dependentObjects(besides: stored?.indexNames ?? [])) {
            for table in own { try connection.execute("DROP TABLE IF EXISTS main.\(SQLText.name(table))") }
            // A table that somebody renamed keeps its indices, whose names are needed.
            for index in stored?.indexNames ?? [] {
                try connection.execute("DROP INDEX IF EXISTS main.\(SQLText.name(index))")
            }
            for table in schema.tables { try copy(table) }
        }
        try connection.execute(
            "DROP TABLE IF EXISTS main.\(Self.record); CREATE TABLE main.\(Self.record) (\(Self.recordColumns)); "
                + "INSERT INTO main.\(Self.record) SELECT * FROM fresh.\(Self.record)")
        return dropped
    }

    private func copy(_ table: SQLSchema.Table) throws {
        guard try !exists(table.name) else {
            throw SQLSchemaError.existingTable(
                table: table.name, advice: "only a store with tables of its own can be rebuilt")
        }
        try connection.execute(table.creation(schema.dialect))
        let names = SQLText.names(table.columns)
        let name = SQLText.name(table.name)
        try connection.execute("INSERT INTO main.\(name) (\(names)) SELECT \(names) FROM fresh.\(name)")
        for index in table.indices { try connection.execute(index.creation(on: table.name, schema.dialect)) }
    }
}
