import Foundation
import JSONMapper
import StoreSync
import SyncModel
import SyncStore
import SyncStoreSQL
import OneWayTestSupport
import Testing

@testable import SyncStoreSQLite

/// A file of people that is opened with one model after another.
struct MigrationWorld {
    let folder: TemporaryDirectory
    let path: String

    init() throws {
        folder = try TemporaryDirectory()
        path = folder.url.appending(path: "store.sqlite").path
    }

    func open(
        _ model: DataModel, _ options: SQLiteStore.Options = .init(), version: Int = 0
    ) async throws -> JSONStore {
        var options = options
        options.modelVersion = version
        let mapper = try RecordMapper(model)
        return try JSONStore(
            try await SQLiteStore(exactly: mapper.model, at: .file(path), options: options), mapper: mapper)
    }

    func fill(
        _ model: DataModel, _ json: String, entity: String = "Person", operations: StoreSyncOptions.Operations = .all
    ) async throws {
        try await open(model).sync(
            .bytes(Array(json.utf8)), into: entity, options: StoreSyncOptions(operations: operations))
    }

    @discardableResult
    func sync(_ json: String, entity: String = "Person", into store: JSONStore) async throws -> StoreSyncResult {
        try await store.sync(
            .bytes(Array(json.utf8)), into: entity,
            options: StoreSyncOptions(operations: entity == "Person" ? .all : .all.subtracting(.delete)))
    }

    /// The keys of people.
    func rows(_ store: JSONStore, where text: String? = nil) async throws -> [Int64] {
        let predicate = try text.map { try RecordPredicate(parsing: $0) } ?? .constant(true)
        return try await store.store.records(StoreQuery("Person", where: predicate)).compactMap { stored in
            if case .int(let id) = stored.record["id"] { id } else { nil }
        }.sorted()
    }

    /// The tables of the model's entities and relationships.
    func tables() throws -> [String] {
        try SQLiteConnection.texts(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_%' ESCAPE '\\' ORDER BY name",
            at: path
        ).filter { $0 != SyncEntity.pendingLink.name }
    }

    func columns(_ table: String) throws -> [String] {
        try SQLiteConnection.texts("SELECT name FROM pragma_table_info('\(table)')", at: path)
    }

    /// A model that does not fit, and leaves the file as it was.
    func expectRefusal(
        _ error: SQLSchemaError, version: Int = 0, _ model: () throws -> DataModel
    ) async throws {
        let model = try model()
        let before = try SQLiteConnection.texts("SELECT quote(sql) FROM sqlite_master", at: path)
        await #expect(throws: error) { try await open(model, version: version) }
        #expect(try SQLiteConnection.texts("SELECT quote(sql) FROM sqlite_master", at: path) == before)
    }
}

extension SQLiteConnection {
    /// The first column of all rows.
    static func texts(_ statement: String, at path: String) throws -> [String] {
        let connection = try SQLiteConnection(path: path, isReadOnly: false, busyTimeout: 0)
        let statement = try connection.prepare(statement)
        var texts: [String] = []
        while try statement.step() { texts.append(statement.text(at: 0)) }
        return texts
    }

    static func count(_ table: String, at path: String) throws -> Int64? {
        try SQLiteConnection(path: path, isReadOnly: false, busyTimeout: 0).integer("SELECT count(*) FROM \(table)")
    }
}
