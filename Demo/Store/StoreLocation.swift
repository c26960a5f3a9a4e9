import CoreDataModel
import Foundation
import OneWaySynchronizer
import SyncModel
import SyncStore
#if Postgres
import SyncStorePostgres
#endif
import SyncStoreSQLite

/// The location of a store, as given on the command line.
enum StoreLocation: Hashable, Sendable {
    /// In memory, while the command runs.
    case memory
    /// In an SQLite database. Its model is kept in a file next to it and reused by later commands.
    case sqlite(String)
    /// In a PostgreSQL database, which also contains the model.
    case postgres(String)

    /// Creates a location from a command-line value, or nil if the value is not a store.
    init?(_ text: String) {
        if text == "memory:" {
            self = .memory
        } else if text.hasPrefix("sqlite:"), text != "sqlite:" {
            self = .sqlite(String(text.dropFirst("sqlite:".count)))
        } else if text.hasPrefix("postgres://") || text.hasPrefix("postgresql://") {
            self = .postgres(text)
        } else {
            return nil
        }
    }

    /// Returns the file with the model that a database was last opened with.
    private static func modelFile(of path: String) -> URL {
        URL(filePath: path + ".model.xml")
    }

    /// Returns the model that the store was last opened with; nil if there is none yet.
    ///
    /// - Throws: ``StoreLocationError/noModel`` for a database without a model; `ModelFileError` if
    ///   its model cannot be read.
    func keptModel() async throws -> DataModel? {
        switch self {
        case .memory: return nil
        case .sqlite(let path):
            let file = Self.modelFile(of: path)
            if FileManager.default.fileExists(atPath: file.path) { return try ModelFile(contentsOf: file).model }
            if FileManager.default.fileExists(atPath: path) { throw StoreLocationError.noModel }
            return nil
        #if Postgres
        case .postgres(let address):
            let note = try await PostgresStore.note(at: address)
            if let text = note.text { return try ModelFile(xml: Data(text.utf8)).model }
            if note.isStore { throw StoreLocationError.noModel }
            return nil
        #else
        case .postgres: throw StoreLocationError.noPostgres
        #endif
        }
    }

    /// The lease that lets only one process sync into the store; nil if no other process can.
    var lease: (any SyncLease)? {
        switch self {
        case .memory: return nil
        case .sqlite(let path): return SQLiteLease(for: path)
        #if Postgres
        case .postgres(let address):
            return PostgresLease("the objects of the database", at: address)
        #else
        case .postgres: return nil
        #endif
        }
    }

    /// Opens the store for writing, migrates it to the model, and keeps the model.
    func open(_ model: DataModel) async throws -> any Store {
        switch self {
        case .memory: return MemoryStore(model)
        case .sqlite(let path):
            let xml = try model.coreDataXML()
            let store = try await SQLiteStore(model, at: .file(path))
            let file = Self.modelFile(of: path)
            if (try? Data(contentsOf: file)) != xml { try xml.write(to: file, options: .atomic) }
            return store
        #if Postgres
        case .postgres(let address):
            let text = String(decoding: try model.coreDataXML(), as: UTF8.self)
            let store = try await PostgresStore(model, at: address)
            if try await PostgresStore.note(at: address).text != text { try await store.write(note: text) }
            return store
        #else
        case .postgres: throw StoreLocationError.noPostgres
        #endif
        }
    }

    /// Opens the store for a plan, which must not migrate it. A missing store is planned in memory.
    ///
    /// - Throws: ``StoreLocationError/otherModel`` for a database with a different model.
    func openForPlan(_ model: DataModel) async throws -> any Store {
        if case .memory = self { return MemoryStore(model) }
        guard let kept = try await keptModel() else { return MemoryStore(model) }
        guard kept == model else { throw StoreLocationError.otherModel }
        return try await open(model)
    }

    /// Opens the store for reading.
    func openForReading(_ model: DataModel) async throws -> any Store {
        switch self {
        case .memory: return MemoryStore(model)
        case .sqlite(let path): return try await SQLiteStore(model, at: .readOnlyFile(path))
        #if Postgres
        case .postgres(let address):
            var options = PostgresStore.Options()
            options.isReadOnly = true
            return try await PostgresStore(model, at: address, options: options)
        #else
        case .postgres: throw StoreLocationError.noPostgres
        #endif
        }
    }
}

/// A reason why a store cannot be opened.
enum StoreLocationError: Error, CustomStringConvertible {
    /// The tables would have to be migrated before a plan.
    case otherModel
    /// The database has no stored model.
    case noModel
    /// The command was built without a PostgreSQL client.
    case noPostgres

    var description: String {
        switch self {
        case .otherModel: "no plan without a change: the database was made by another model"
        case .noPostgres:
            "this Demo was built without PostgreSQL; swift run --traits Postgres Demo … builds it in (it needs libpq)"
        case .noModel: "no model is kept beside the database; --model is needed"
        }
    }
}

extension ArgumentScanner {
    /// Reads the store location that follows an option.
    mutating func store(of option: String) throws(UsageError) -> StoreLocation {
        try value(of: option, as: "sqlite:PATH, postgres://… or memory:", StoreLocation.init)
    }
}
