import Foundation
import SyncModel
import SyncStore
import Testing

@testable import SyncStoreSQLite

#if Postgres
import OneWayPostgresTestSupport
import SyncStorePostgres
#endif
import SyncStoreSQL

/// A database in which tests make tables before a store uses them.
struct UniqueDatabase: Sendable {
    /// Whether it has no tables of others.
    let isMemory: Bool
    let isSQLite: Bool
    let run: @Sendable (_ statement: String) async throws -> Void
    /// The rows of a selection; nil for null.
    let rows: @Sendable (_ selection: String) async throws -> [[String?]]
    /// Opens a store with names and supplied values.
    let use: @Sendable (DataModel, Use) async throws -> any Store

    /// How a store uses tables of others.
    struct Use: Sendable {
        var naming = SQLNaming(rowColumn: "n")
        var suppliedValues: [String: [String: SQLSuppliedValue]] = [:]
    }

    /// Opens a store whose tables have the names of the model; rows are numbered by `n`.
    func open(_ model: DataModel) async throws -> any Store {
        try await use(model, Use())
    }

    struct Kind: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let use: @Sendable (@Sendable (UniqueDatabase) async throws -> Void) async throws -> Void
    }

    static let sql = [Kind(testDescription: "SQLite", use: withSQLite)] + postgres
    static let all = [Kind(testDescription: "memory", use: withMemory)] + sql

    private static func withMemory(_ body: @Sendable (UniqueDatabase) async throws -> Void) async throws {
        try await body(
            UniqueDatabase(
                isMemory: true, isSQLite: false, run: { _ in }, rows: { _ in [] },
                use: { model, _ in MemoryStore(exactly: model) }))
    }

    private static func withSQLite(_ body: @Sendable (UniqueDatabase) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "UniqueDatabase-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "store.sqlite").path
        try await body(
            UniqueDatabase(
                isMemory: false, isSQLite: true,
                run: { text in
                    let connection = try SQLiteConnection(path: path, isReadOnly: false, busyTimeout: 1000)
                    try connection.execute(text)
                },
                rows: { text in
                    let connection = try SQLiteConnection(path: path, isReadOnly: true, busyTimeout: 1000)
                    let statement = try connection.prepare(text)
                    var rows: [[String?]] = []
                    while try statement.step() {
                        rows.append(
                            (0..<statement.columnCount).map { statement.isNull(at: $0) ? nil : statement.text(at: $0) })
                    }
                    return rows
                },
                use: { model, use in
                    var options = SQLiteStore.Options()
                    // On a busy machine, another store of the file may have its turn for long.
                    options.busyTimeout = .seconds(600)
                    options.naming = use.naming
                    options.suppliedValues = use.suppliedValues
                    return try await SQLiteStore(exactly: model, at: .file(path), options: options)
                }))
    }

    #if Postgres
    private static let postgres =
        SharedPostgres.isAvailable ? [Kind(testDescription: "PostgreSQL", use: withPostgres)] : []

    private static func withPostgres(_ body: @Sendable (UniqueDatabase) async throws -> Void) async throws {
        try await SharedPostgres.withDatabase { database in
            try await body(
                UniqueDatabase(
                    isMemory: false, isSQLite: false, run: { _ = try await database.run($0) },
                    rows: { try await database.run($0) },
                    use: { model, use in
                        var options = PostgresStore.Options.patient
                        options.naming = use.naming
                        options.suppliedValues = use.suppliedValues
                        return try await PostgresStore(exactly: model, at: database.url, options: options)
                    }))
        }
    }
    #else
    private static let postgres: [Kind] = []
    #endif

    /// Users in groups, whose pairs are in the table `User_groups`.
    static func usersInGroups() throws -> DataModel {
        try DataModel {
            SyncEntity("User", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("groups", toMany: "Group")
            }
            SyncEntity("Group", identity: "id") { SyncAttribute("id", .int64) }
        }
    }

    /// Makes a table whose rows are numbered by `n`.
    func make(_ table: String, _ columns: String) async throws {
        let number = isSQLite ? "n INTEGER PRIMARY KEY" : "n bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY"
        try await run("CREATE TABLE \"\(table)\" (\(number), \(columns))")
    }
}
