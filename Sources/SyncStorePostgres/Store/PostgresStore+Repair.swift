#if Postgres
import OneWayPostgresClient
import SyncModel
public import SyncStoreSQL

extension PostgresStore {
    /// Finds the parts of a store's tables that somebody has dropped or renamed.
    ///
    /// Compares the schema with the record that the store keeps of its tables. Needs no model, and
    /// changes nothing.
    ///
    /// - Parameters:
    ///   - connectionString: As in ``init(_:_:at:mapping:history:options:)``.
    ///   - options: The options with which to connect, and the schema.
    /// - Returns: The missing parts; empty if the tables are complete.
    /// - Throws: `SQLSchemaError.noStore` if the schema has no record of a store's tables;
    ///   `PostgresError`.
    public static func verify(
        at connectionString: String, options: Options = Options()
    ) async throws -> [SQLSchemaError.Defect] {
        try await worker(at: connectionString, options, writes: false).verify()
    }

    /// Creates the parts of a store's tables again that somebody has dropped or renamed, in one
    /// transaction.
    ///
    /// Tables and columns are created empty: what they held is lost until the next sync. References
    /// to lost objects become null, and the bookmarks of sources are forgotten, so that the next
    /// sync reads everything. Opening a store creates missing indices and keys without this call.
    ///
    /// - Parameters:
    ///   - connectionString: As in ``init(_:_:at:mapping:history:options:)``.
    ///   - options: The options with which to connect, and the schema.
    /// - Returns: The parts that were missing; empty if nothing was.
    /// - Throws: `SQLSchemaError.noStore` if the schema has no record of a store's tables;
    ///   `SQLSchemaError.damaged` for a missing column of object numbers, which is not created
    ///   again; `SQLSchemaError.equalValues` if rows violate a unique index; `PostgresError`.
    public static func repair(
        at connectionString: String, options: Options = Options()
    ) async throws -> [SQLSchemaError.Defect] {
        try await worker(at: connectionString, options, writes: true).repair()
    }

    private static func worker(at address: String, _ options: Options, writes: Bool) throws -> PostgresWorker {
        let nothing = SQLSchema(try DataModel { [SyncEntity]() }, dialect: .postgres(schema: options.schema))
        return PostgresWorker(
            PostgresSettings(address, options), schema: nothing, label: "PostgresStore repair", writes: writes)
    }
}

extension PostgresWorker {
    fileprivate func verify() async throws -> [SQLSchemaError.Defect] {
        try await connected { try PostgresMigration($0, schema: schema, settings: settings).verify() }
    }

    fileprivate func repair() async throws -> [SQLSchemaError.Defect] {
        try await connected { try PostgresMigration($0, schema: schema, settings: settings).repair() }
    }
}
#endif
