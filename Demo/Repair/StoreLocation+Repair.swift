#if Postgres
import SyncStorePostgres
#endif
import SyncStoreSQL
import SyncStoreSQLite

extension StoreLocation {
    /// Finds the parts of the tables that are missing. A store in memory has none.
    ///
    /// - Parameter repairing: Whether to create them again.
    /// - Throws: `SQLSchemaError.noStore` for a database without a store;
    ///   `SQLSchemaError.damaged` for a part that cannot be created again; errors of the database.
    func defects(repairing: Bool) async throws -> [SQLSchemaError.Defect] {
        switch self {
        case .memory: []
        case .sqlite(let path):
            try await repairing ? SQLiteStore.repair(at: path) : SQLiteStore.verify(at: path)
        #if Postgres
        case .postgres(let address):
            try await repairing ? PostgresStore.repair(at: address) : PostgresStore.verify(at: address)
        #else
        case .postgres: throw StoreLocationError.noPostgres
        #endif
        }
    }
}
