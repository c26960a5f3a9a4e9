import Foundation
public import JSONMapper
public import SyncModel
public import SyncStore
import SyncStoreSQL

extension SQLiteStore {
    /// Replaces a store whose tables cannot be migrated to a model by a new one.
    ///
    /// Use it for a mirror of data that can be fetched again, after opening the store threw an
    /// `SQLSchemaError`. The new objects are written to a file beside the old one. Its name is the
    /// old name with `-rebuild-` and a UUID; the next rebuild removes files of killed processes.
    /// When the new store is complete, one transaction replaces the store's tables in the old file.
    /// If anything fails before, the old file is unchanged. The store must not be open anywhere
    /// else in the meantime.
    ///
    /// Tables, indices, triggers and views of other tools stay. Columns that other tools added to
    /// the store's own tables, and all objects that the body does not insert, are deleted; the
    /// ``warnings`` of the new store name the columns. All objects get new numbers, so foreign keys
    /// from other tables to the store's tables are rejected, and full-text indices of the store's
    /// tables must be filled again afterwards.
    ///
    ///     let model = try DataModel(User.self)
    ///     let store = try await SQLiteStore.rebuild(model, at: "data.sqlite") { store in
    ///         try await store.sync(User.self, from: .url(url))
    ///     }
    ///
    /// - Parameters:
    ///   - model: The new model.
    ///   - path: The path of the file.
    ///   - mapping: The rules that map JSON to the objects. Nil, the default, for those of the
    ///     `RecordMapper` that made the model, or the default rules.
    ///   - history: The settings of the history of syncs; nil, the default, records none.
    ///   - options: The options of the new store.
    ///   - body: Fills the new store.
    /// - Returns: The open store.
    /// - Throws: The body's error; `SQLSchemaError.existingTable` if the store uses existing
    ///   tables; `SQLSchemaError.unfitDependentObject` if a foreign key of another table refers to
    ///   the store's tables, or if a view, a trigger or a virtual table does not fit the new ones;
    ///   `SQLiteError`.
    public static func rebuild(
        _ model: DataModel, at path: String, mapping: JSONMapping? = nil, history: SyncHistory? = nil,
        options: Options = Options(), filling body: @Sendable (SQLiteStore) async throws -> Void
    ) async throws -> SQLiteStore {
        let model = try model.prepared(mapping, history)
        return try await rebuild(exactly: model, at: path, options: options, filling: body)
    }

    /// Replaces a store by one of a model's objects, without mapping and bookkeeping.
    package static func rebuild(
        exactly model: DataModel, at path: String, options: Options = Options(),
        filling body: @Sendable (SQLiteStore) async throws -> Void
    ) async throws -> SQLiteStore {
        let settings = SQLiteSettings(path: path, isReadOnly: false, options)
        let schema = SQLSchema(model, naming: options.naming, dates: options.dates, dialect: .sqlite)
        let worker = SQLiteWorker(settings, schema: schema, label: "SQLiteStore rebuild")
        if FileManager.default.fileExists(atPath: path) { try await worker.checkReplacement() }
        removeRebuilds(of: path)
        let beside = "\(path)-rebuild-\(UUID().uuidString)"
        defer { removeRebuilds(of: path) }
        do {
            let fresh = try await SQLiteStore(exactly: model, at: .file(beside), options: options)
            try await body(fresh)
        }
        let dropped = try await worker.replaceTables(by: beside)
        let columns = dropped.joined(separator: ", ")
        let warning = "the rebuild dropped columns that are not the store's, with their values: \(columns)"
        let warnings = dropped.isEmpty ? [] : [warning]
        return try await SQLiteStore(exactly: model, at: .file(path), options: options, warnings: warnings)
    }

    /// Removes the files of earlier rebuilds, recognized by the UUID in their names.
    private static func removeRebuilds(of path: String) {
        let file = URL(filePath: path)
        let folder = file.deletingLastPathComponent()
        let prefix = "\(file.lastPathComponent)-rebuild-"
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [] {
            guard name.hasPrefix(prefix) else { continue }
            let rest = name.dropFirst(prefix.count)
            guard UUID(uuidString: String(rest.prefix(36))) != nil,
                ["", "-wal", "-shm", "-journal"].contains(rest.dropFirst(36))
            else { continue }
            try? FileManager.default.removeItem(at: folder.appending(path: name))
        }
    }
}
