import CoreDataModel
import Foundation
import HTTPTransfer
import OneWaySynchronizer
import SyncBase
import SyncModel
import SyncStore
#if Postgres
import SyncStorePostgres
#endif
import SyncStoreSQL
import SyncStoreSQLite

/// The location of a store, as given on the command line.
enum StoreLocation: Hashable, Sendable {
    /// In memory, while the command runs.
    case memory
    /// In an SQLite database, which also contains the model.
    case sqlite(String)
    /// In a PostgreSQL database, which also contains the model.
    case postgres(String)

    /// Creates a location from a command-line value, or nil if the value is not a store.
    init?(_ text: String) {
        if text == "memory:" {
            self = .memory
        } else if text.hasPrefix("sqlite:"), text != "sqlite:", text != "sqlite::memory:" {
            self = .sqlite(String(text.dropFirst("sqlite:".count)))
        } else if text.hasPrefix("postgres://") || text.hasPrefix("postgresql://") {
            self = .postgres(text)
        } else {
            return nil
        }
    }

    /// Returns the model that the store was last opened with; nil if there is none yet.
    ///
    /// - Throws: ``StoreLocationError/noModel`` for a store without a model;
    ///   ``StoreLocationError/damagedModel(_:)`` if its model cannot be read.
    func keptModel() async throws -> DataModel? {
        switch self {
        case .memory: nil
        case .sqlite, .postgres: try Self.model(of: try await note())
        }
    }

    /// What the database says about its model.
    private func note() async throws -> SQLStoreNote {
        switch self {
        case .memory: return SQLStoreNote(isStore: false, text: nil)
        case .sqlite(let path): return try await SQLiteStore.note(at: path)
        #if Postgres
        case .postgres(let address): return try await PostgresStore.note(at: address)
        #else
        case .postgres: throw StoreLocationError.noPostgres
        #endif
        }
    }

    /// Returns the model that the store was last opened with, beside a given one; nil if there is
    /// none, or it cannot be read.
    func readableModel() async throws -> DataModel? {
        do { return try await keptModel() } catch StoreLocationError.noModel, StoreLocationError.damagedModel {
            return nil
        }
    }

    private static func model(of note: SQLStoreNote) throws -> DataModel? {
        if let text = note.text {
            do { return try ModelFile(xml: Data(text.utf8)).model } catch {
                throw StoreLocationError.damagedModel("\(error)")
            }
        }
        if note.isStore { throw StoreLocationError.noModel }
        return nil
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

    /// Whether the location is an SQLite file that exists.
    var isExistingFile: Bool {
        guard case .sqlite(let path) = self else { return false }
        return FileManager.default.fileExists(atPath: path)
    }

    /// The error for a location without a kept model.
    var absence: StoreLocationError {
        // A server names a database that is not there itself.
        if case .postgres = self { return .noModel }
        return isExistingFile ? .noModel : .missing(description)
    }

    /// The files of a new SQLite database; empty for a database that exists, and for any other
    /// store.
    var newFiles: [URL] {
        guard case .sqlite(let path) = self, !isExistingFile else { return [] }
        return ["", "-wal", "-shm"].map { URL(filePath: path + $0) }
    }

    /// The version that the model of the database gets when something is dropped from it.
    func droppingVersion() async throws -> Int { try await note().modelVersion + 1 }

    /// Opens the store to change it, adapts it to the model, and keeps that.
    ///
    /// - Parameters:
    ///   - drops: Whether to drop what the model lacks. Otherwise, it stays with its data.
    ///   - cacheByteCount: The size of the page cache of an SQLite database in bytes; nil, the
    ///     default, for the usual size.
    func open(_ model: DataModel, drops: Bool = false, cacheByteCount: Int? = nil) async throws -> any Store {
        let version = try await drops ? droppingVersion() : note().modelVersion
        switch self {
        case .memory: return MemoryStore(exactly: model)
        case .sqlite(let path):
            let options = try Self.sqliteOptions(model, version, cacheByteCount)
            return try await SQLiteStore(exactly: model, at: .file(path), options: options)
        #if Postgres
        case .postgres(let address):
            var options = PostgresStore.Options()
            options.modelVersion = version
            options.note = String(decoding: try model.coreDataXML(), as: UTF8.self)
            return try await PostgresStore(exactly: model, at: address, options: options)
        #else
        case .postgres: throw StoreLocationError.noPostgres
        #endif
        }
    }

    /// Fills an SQLite database anew by another model, in one transaction.
    ///
    /// - Parameters:
    ///   - cacheByteCount: As in ``open(_:drops:cacheByteCount:)``.
    ///   - note: Called with each warning of the new store.
    ///   - fill: Fills the new store. If it fails, the database is unchanged.
    /// - Throws: ``StoreLocationError/otherKind`` for another store; errors of the store and of
    ///   `fill`.
    func rebuild<Result: Sendable>(
        _ model: DataModel, cacheByteCount: Int?, note: (String) -> Void,
        fill: @escaping @Sendable (any Store) async throws -> Result
    ) async throws -> Result {
        guard case .sqlite(let path) = self else { throw StoreLocationError.otherKind }
        let result = Locked<Result?>(nil)
        let options = try Self.sqliteOptions(model, try await self.note().modelVersion, cacheByteCount)
        let rebuilt = try await SQLiteStore.rebuild(exactly: model, at: path, options: options) { store in
            let filled = try await fill(store)
            result.withLock { $0 = filled }
        }
        for warning in rebuilt.warnings { note(warning) }
        guard let filled = result.withLock({ $0 }) else { throw StoreLocationError.otherKind }
        return filled
    }

    /// The options of an SQLite database that keeps its model.
    private static func sqliteOptions(
        _ model: DataModel, _ version: Int, _ cacheByteCount: Int?
    ) throws -> SQLiteStore.Options {
        var options = SQLiteStore.Options()
        options.modelVersion = version
        if let cacheByteCount { options.cacheByteCount = cacheByteCount }
        options.note = String(decoding: try model.coreDataXML(), as: UTF8.self)
        return options
    }

    /// Opens the store for reading.
    func openForReading(_ model: DataModel) async throws -> any Store {
        let version = try await note().modelVersion
        switch self {
        case .memory: return MemoryStore(exactly: model)
        case .sqlite(let path):
            var options = SQLiteStore.Options()
            options.modelVersion = version
            return try await SQLiteStore(exactly: model, at: .readOnlyFile(path), options: options)
        #if Postgres
        case .postgres(let address):
            var options = PostgresStore.Options()
            options.isReadOnly = true
            options.modelVersion = version
            return try await PostgresStore(exactly: model, at: address, options: options)
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
    /// The stored model cannot be read, for a reason.
    case damagedModel(String)
    /// The store cannot be filled anew.
    case otherKind
    /// The command was built without a PostgreSQL client.
    case noPostgres
    /// There is no database at the location.
    case missing(String)

    var description: String {
        switch self {
        case .otherModel: "the database has another model; a plan cannot change it"
        case .otherKind: "only an SQLite database can be rebuilt"
        case .noPostgres:
            "this Demo was built without PostgreSQL; build it with: swift run --traits Postgres Demo … (needs libpq)"
        case .noModel: "no model is kept with the database; name one with --model"
        case .damagedModel(let reason):
            "the model kept with the database cannot be read (\(reason)); name one with --model, which a sync keeps"
        case .missing(let store): "there is no database at \(store)"
        }
    }
}

extension ArgumentScanner {
    private static let storeExpectation = "sqlite:PATH, postgres://… or memory:"

    /// Reads the store location that follows an option.
    mutating func store(of option: String) throws(UsageError) -> StoreLocation {
        let text = try text(of: option, as: Self.storeExpectation)
        if let store = StoreLocation(text) { return store }
        let isPath = !text.contains(":")
        let suggestion = isPath ? "; did you mean sqlite:\(text)?" : ""
        throw error("\(option) needs \(Self.storeExpectation), not '\(text)'\(suggestion)")
    }
}
