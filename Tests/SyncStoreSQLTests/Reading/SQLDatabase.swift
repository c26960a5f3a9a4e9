import Foundation
import SyncBase
import SyncModel
import SyncStore
import Testing

@testable import SyncStoreSQLite

#if Postgres
import OneWayPostgresTestSupport
import SyncStorePostgres
#endif

/// A database that tests open with one model after another.
struct SQLDatabase: Sendable {
    /// Opens a store of the database.
    let open: @Sendable (_ model: DataModel, _ version: Int) async throws -> any Store
    /// Returns the definitions of all indices.
    let indices: @Sendable () async throws -> [String]
    /// Runs a statement of somebody else, and returns its rows as texts.
    let run: @Sendable (_ statement: String) async throws -> [[String?]]

    /// A kind of database.
    struct Kind: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let use: @Sendable (@Sendable (SQLDatabase) async throws -> Void) async throws -> Void
    }

    static let kinds = [Kind(testDescription: "SQLite", use: withSQLite)] + postgresKinds

    private static func withSQLite(_ body: @Sendable (SQLDatabase) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "SQLDatabase-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "store.sqlite").path
        let last = Locked<SQLiteStore?>(nil)
        try await body(
            SQLDatabase(
                open: { model, version in
                    var options = SQLiteStore.Options()
                    options.modelVersion = version
                    let store = try await SQLiteStore(exactly: model, at: .file(path), options: options)
                    last.withLock { $0 = store }
                    return store
                },
                indices: {
                    let store = try #require(last.withLock { $0 })
                    return try await store.sql { reader in
                        try await reader.rows("SELECT sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL")
                            .map { "\($0["sql"] ?? .null)" }
                    }
                },
                run: { text in
                    let connection = try SQLiteConnection(path: path, isReadOnly: false, busyTimeout: 1000)
                    let statement = try connection.prepare(text)
                    var rows: [[String?]] = []
                    while try statement.step() {
                        rows.append(
                            (0..<statement.columnCount).map { statement.isNull(at: $0) ? nil : statement.text(at: $0) })
                    }
                    return rows
                }))
    }

    #if Postgres
    private static let postgresKinds =
        SharedPostgres.isAvailable ? [Kind(testDescription: "PostgreSQL", use: withPostgres)] : []

    private static func withPostgres(_ body: @Sendable (SQLDatabase) async throws -> Void) async throws {
        try await SharedPostgres.withSchemas { schemas in
            let options = schemas.emptyStore()
            try await body(
                SQLDatabase(
                    open: { model, version in
                        var options = options
                        options.modelVersion = version
                        return try await PostgresStore(exactly: model, at: schemas.url, options: options)
                    },
                    indices: {
                        try await schemas.run(
                            "SELECT indexdef FROM pg_indexes WHERE schemaname = current_schema()", in: options
                        ).map { $0[0] ?? "" }
                    },
                    run: { try await schemas.run($0, in: options) }))
        }
    }
    #else
    private static let postgresKinds: [Kind] = []
    #endif
}
