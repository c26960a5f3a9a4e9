import Foundation
import JSONMapper
import StoreSync
import SyncModel
import SyncStore
import SyncStoreSQLite

extension StoreLocation {
    /// Opens the store for reading.
    ///
    /// - Parameters:
    ///   - model: The model file; nil for the model that is kept with the database.
    ///   - warn: Called with each part of the model file that cannot be used.
    /// - Throws: ``StoreLocationError/missing`` if there is no store;
    ///   ``StoreLocationError/noModel`` for a database without a model;
    ///   ``StoreLocationError/damagedModel(_:)``; errors of the model and the store.
    func openForReading(
        model: URL?, dialect: JSONDialect = .sync, warn: (String) -> Void = { _ in }
    ) async throws -> JSONStore {
        if let model {
            return try await openForReading(ModelChoice.given(model, warn: warn).model, dialect, warn)
        }
        guard let kept = try await keptModel() else { throw absence }
        // What cannot be used of a kept model was reported when it was given.
        return try await openForReading(kept, dialect) { _ in }
    }

    private func openForReading(
        _ model: DataModel, _ dialect: JSONDialect, _ warn: (String) -> Void
    ) async throws -> JSONStore {
        let mapper = try ModelChoice.mapper(model, dialect: dialect, warn: warn)
        return try JSONStore(try await openForReading(mapper.model), mapper: mapper)
    }

    /// Whether the database keeps another model of the data.
    func hasOtherModel(than model: DataModel) async throws -> Bool {
        guard let kept = try await readableModel() else { return false }
        return kept.dataEntities != model.dataEntities
    }

    /// Opens the store for a plan, which must not migrate it. A missing store is planned in memory.
    ///
    /// - Parameters:
    ///   - mapper: The mapper of the model of the data.
    ///   - dialect: The dialect of the mapper.
    /// - Throws: ``StoreLocationError/otherModel`` for a database with a different model.
    func openForPlan(_ mapper: RecordMapper, dialect: JSONDialect) async throws -> JSONStore {
        guard let kept = try await keptModel() else {
            return try JSONStore(MemoryStore(exactly: mapper.model), mapper: mapper)
        }
        guard kept.dataEntities == mapper.model.dataEntities else { throw StoreLocationError.otherModel }
        // With the bookkeeping of the database.
        let same = try ModelChoice.mapper(kept, dialect: dialect) { _ in }
        return try JSONStore(try await open(same.model), mapper: same)
    }

    /// Runs a body with a copy of an SQLite database, for the plan of a migration.
    ///
    /// The copy is removed afterwards.
    ///
    /// - Throws: ``StoreLocationError/otherModel`` for another store; errors of the copy and the
    ///   body.
    func withCopy<Result>(_ body: (StoreLocation) async throws -> Result) async throws -> Result {
        guard case .sqlite(let path) = self else { throw StoreLocationError.otherModel }
        let folder = FileManager.default.temporaryDirectory.appending(path: "Demo-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(at: folder) }
        let copy = folder.appending(path: "copy.sqlite").path
        try await SQLiteStore.copy(path, to: copy)
        return try await body(.sqlite(copy))
    }
}
