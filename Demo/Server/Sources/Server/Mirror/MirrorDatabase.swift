import OneWaySyncSQLite
import SyncStorePostgres

/// Where the mirrored data is.
struct MirrorDatabase: Sendable {
    let store: any CommitSignals.Source
    /// Lets one of all servers on this database sync.
    let lease: any SyncLease

    /// Opens a database, and creates its tables if they are missing.
    ///
    /// - Parameter address: The path of an SQLite file, or a URL of PostgreSQL.
    init(at address: String) async throws {
        let history = SyncHistory(recordsUnchanged: false)
        if address.hasPrefix("postgres://") || address.hasPrefix("postgresql://") {
            #if Postgres
            store = try await PostgresStore(User.self, at: address, history: history)
            lease = PostgresLease("mirror of users", at: address)
            #else
            throw MirrorError.lacksPostgres
            #endif
        } else {
            store = try await SQLiteStore(User.self, at: .file(address), history: history)
            lease = SQLiteLease(for: address)
        }
    }
}

/// Why a mirror cannot be opened.
enum MirrorError: Error, CustomStringConvertible {
    /// The program was built without the trait.
    case lacksPostgres

    var description: String {
        switch self {
        case .lacksPostgres: "PostgreSQL needs the trait: swift run --traits Postgres"
        }
    }
}
