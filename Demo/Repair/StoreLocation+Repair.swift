#if Postgres
import SyncStorePostgres
#endif
import SyncStoreSQL
import SyncStoreSQLite

extension StoreLocation {
    /// Finds the parts of the tables that are missing. A store in memory has none.
    ///
    /// - Throws: `SQLSchemaError.noStore` for a database without a store; errors of the database.
    func defects() async throws -> [SQLSchemaError.Defect] {
        switch self {
        case .memory: []
        case .sqlite(let path): try await SQLiteStore.verify(at: path)
        #if Postgres
        case .postgres(let address): try await PostgresStore.verify(at: address)
        #else
        case .postgres: throw StoreLocationError.noPostgres
        #endif
        }
    }

    /// Creates the parts of the tables again that are missing.
    ///
    /// - Returns: The parts.
    /// - Throws: `SQLSchemaError.noStore` for a database without a store;
    ///   `SQLSchemaError.damaged` for a part that cannot be created again; errors of the database.
    func repair() async throws -> [SQLSchemaError.Defect] {
        switch self {
        case .memory: []
        case .sqlite(let path): try await SQLiteStore.repair(at: path)
        #if Postgres
        case .postgres(let address): try await PostgresStore.repair(at: address)
        #else
        case .postgres: throw StoreLocationError.noPostgres
        #endif
        }
    }
}
