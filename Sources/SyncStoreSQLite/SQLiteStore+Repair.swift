import SyncModel
public import SyncStoreSQL

extension SQLiteStore {
    /// Finds the parts of a store's tables that somebody has dropped or renamed, and the indexes
    /// that disagree with the rows of their tables.
    ///
    /// Compares the file with the record that the store keeps of its tables. Needs no model, reads
    /// all rows, and changes nothing.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - options: The options with which to open it.
    /// - Returns: The missing parts; empty if the tables are complete.
    /// - Throws: `SQLSchemaError.noStore` if the file has no record of a store's tables;
    ///   `SQLiteError`.
    public static func verify(at path: String, options: Options = Options()) async throws -> [SQLSchemaError.Defect] {
        try await worker(at: path, isReadOnly: true, options).defects()
    }

    /// Creates the parts of a store's tables again that somebody has dropped or renamed, and the
    /// indexes that disagree with their rows, in one transaction.
    ///
    /// Tables and columns are created empty: what they held is lost until the next sync. References
    /// to lost objects become null, and the bookmarks of sources are forgotten, so that the next
    /// sync reads everything. Opening a store creates missing indices without this call.
    ///
    /// - Parameters:
    ///   - path: The path of the file. The store must not be open anywhere.
    ///   - options: The options with which to open it.
    /// - Returns: The parts that were missing; empty if nothing was.
    /// - Throws: `SQLSchemaError.noStore` if the file has no record of a store's tables;
    ///   `SQLSchemaError.damaged` for a missing column of object numbers, which only
    ///   ``rebuild(_:at:mapping:history:options:filling:)`` creates again;
    ///   `SQLSchemaError.equalValues` if rows violate a unique index; `SQLiteError`.
    public static func repair(at path: String, options: Options = Options()) async throws -> [SQLSchemaError.Defect] {
        try await worker(at: path, isReadOnly: false, options).repair()
    }

    private static func worker(at path: String, isReadOnly: Bool, _ options: Options) throws -> SQLiteWorker {
        let settings = SQLiteSettings(path: path, isReadOnly: isReadOnly, options)
        let nothing = SQLSchema(try DataModel { [SyncEntity]() }, dialect: .sqlite)
        return SQLiteWorker(settings, schema: nothing, label: "SQLiteStore repair")
    }
}
