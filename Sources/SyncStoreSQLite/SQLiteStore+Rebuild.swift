import Foundation
public import SyncModel
import SyncStoreSQL

extension SQLiteStore {
    /// Replaces a store whose tables cannot be adapted to a model by one that is filled anew.
    ///
    /// Use it for a mirror of data that can be fetched again, after opening the store threw an
    /// `SQLSchemaError`. The new objects go into a file beside the old one. When they are complete,
    /// one transaction replaces the store's tables in the old file. If anything fails before, the
    /// old file is unchanged. The store must not be open anywhere else meanwhile.
    ///
    /// Tables, indices, triggers and views of others stay. Columns that others added to the store's
    /// own tables, and all objects that the body does not insert, are deleted.
    ///
    ///     let store = try await SQLiteStore.rebuild(model, at: "data.sqlite") { store in
    ///         try await JSONStore(store, mapper: mapper).sync(json, into: "User")
    ///     }
    ///
    /// - Parameters:
    ///   - model: The new model.
    ///   - path: The file.
    ///   - options: The options of the new store.
    ///   - body: Fills the new store.
    /// - Returns: The store, open.
    /// - Throws: The body's error; `SQLSchemaError.adoptedTable` if the store uses tables of
    ///   others; `SQLiteError`.
    public static func rebuild(
        _ model: DataModel, at path: String, options: Options = Options(),
        filling body: @Sendable (SQLiteStore) async throws -> Void
    ) async throws -> SQLiteStore {
        let beside = path + "-rebuild"
        func clear() {
            for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: beside + suffix) }
        }
        clear()
        defer { clear() }
        do {
            let fresh = try await SQLiteStore(model, at: .file(beside), options: options)
            try await body(fresh)
        }
        let settings = SQLiteSettings(path: path, isReadOnly: false, options)
        let schema = SQLSchema(model, naming: options.naming, dates: options.dates, dialect: .sqlite)
        try await SQLiteWorker(settings, schema: schema, label: "SQLiteStore rebuild").replaceTables(by: beside)
        return try await SQLiteStore(model, at: .file(path), options: options)
    }
}
