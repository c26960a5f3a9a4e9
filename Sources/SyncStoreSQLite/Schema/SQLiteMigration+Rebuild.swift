import SyncModel
import SyncStoreSQL

extension SQLiteMigration {
    /// Replaces the store's tables by those of another file, in one transaction.
    ///
    /// - Parameter file: A store of the same schema.
    func replaceTables(by file: String) throws {
        let attach = try connection.prepare("ATTACH DATABASE ? AS fresh")
        try attach.run([.text(file)])
        defer { try? connection.execute("DETACH DATABASE fresh") }
        try connection.execute("PRAGMA foreign_keys = OFF; BEGIN IMMEDIATE")
        do {
            try copyTables()
            try connection.execute("COMMIT")
        } catch {
            if connection.isInTransaction { try? connection.execute("ROLLBACK") }
            throw error
        }
    }

    private func copyTables() throws {
        let stored = try recorded()
        if let table = stored?.adopted?.first {
            throw SQLSchemaError.adoptedTable(
                table: table, advice: "only a store with tables of its own can be rebuilt")
        }
        let others = try foreignObjects(besides: stored?.indexNames ?? [])
        for object in others where object.type != "index" {
            try connection.execute("DROP \(object.type) IF EXISTS main.\(SQLText.name(object.name))")
        }
        for table in stored?.tables ?? [] {
            try connection.execute("DROP TABLE IF EXISTS main.\(SQLText.name(table.name))")
        }
        for table in schema.tables {
            guard try !exists(table.name) else {
                throw SQLSchemaError.adoptedTable(
                    table: table.name, advice: "only a store with tables of its own can be rebuilt")
            }
            try connection.execute(table.creation())
            let names = SQLText.names(table.columns)
            let name = SQLText.name(table.name)
            try connection.execute("INSERT INTO main.\(name) (\(names)) SELECT \(names) FROM fresh.\(name)")
            for index in table.indices { try connection.execute(index.creation(on: table.name)) }
        }
        for object in others { try restore(object) }
        let record = SQLSchemaRecord.table
        try connection.execute(
            "DROP TABLE IF EXISTS main.\(record); CREATE TABLE main.\(record) "
                + "(format INTEGER NOT NULL, model_version INTEGER NOT NULL, description TEXT NOT NULL); "
                + "INSERT INTO main.\(record) SELECT * FROM fresh.\(record)")
    }
}
