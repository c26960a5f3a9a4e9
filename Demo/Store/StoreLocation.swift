import CoreDataModel
import Foundation
import SyncModel
import SyncStore
import SyncStoreSQLite

/// Where objects are kept.
enum StoreLocation: Hashable, Sendable {
    /// In memory, for as long as the command runs.
    case memory
    /// In an SQLite database; its model is kept in a file beside it, so that it need not be given or made again.
    case sqlite(String)

    /// Reads what a person writes; nil where it is no store.
    init?(_ text: String) {
        if text == "memory:" {
            self = .memory
        } else if text.hasPrefix("sqlite:"), text != "sqlite:" {
            self = .sqlite(String(text.dropFirst("sqlite:".count)))
        } else {
            return nil
        }
    }

    /// The file with the model that the store was last opened with; nil where nothing is kept.
    var modelFile: URL? {
        switch self {
        case .memory: nil
        case .sqlite(let path): URL(filePath: path + ".model.xml")
        }
    }

    /// The model that the store was last opened with; nil if there is none.
    func keptModel() throws(ModelFileError) -> Model? {
        guard let modelFile, FileManager.default.fileExists(atPath: modelFile.path) else { return nil }
        return try ModelFile(contentsOf: modelFile).model
    }

    /// Whether there is a database already.
    var exists: Bool {
        guard case .sqlite(let path) = self else { return false }
        return FileManager.default.fileExists(atPath: path)
    }

    /// What lets one process at a time sync into it; nil where no other can.
    var lease: SQLiteLease? {
        guard case .sqlite(let path) = self else { return nil }
        return SQLiteLease(for: path)
    }

    /// Opens the store to change it, adapts it to the model, and keeps that.
    func open(_ model: Model) async throws -> any Store {
        guard case .sqlite(let path) = self, let modelFile else { return MemoryStore(model) }
        let xml = try model.coreDataXML()
        let store = try await SQLiteStore(model, at: .file(path))
        if try keptModel() != model { try xml.write(to: modelFile, options: .atomic) }
        return store
    }

    /// Opens the store for a plan, which must not even adapt it: one that does not exist is planned for in memory.
    ///
    /// - Throws: ``StoreLocationError`` for a database of another model.
    func openForPlan(_ model: Model) async throws -> any Store {
        guard case .sqlite(let path) = self, exists else { return MemoryStore(model) }
        guard try keptModel() == model else { throw StoreLocationError.otherModel }
        return try await SQLiteStore(model, at: .file(path))
    }

    /// Opens the store to read it.
    func openForReading(_ model: Model) async throws -> any Store {
        guard case .sqlite(let path) = self else { return MemoryStore(model) }
        return try await SQLiteStore(model, at: .readOnlyFile(path))
    }
}

/// Why a store is not opened.
enum StoreLocationError: Error, CustomStringConvertible {
    /// A plan would have to change the tables first.
    case otherModel
    /// There is no model beside the database.
    case noModel

    var description: String {
        switch self {
        case .otherModel: "no plan without a change: the database was made by another model"
        case .noModel: "no model is kept beside the database; --model is needed"
        }
    }
}

extension ArgumentScanner {
    /// A store.
    mutating func store(of option: String) throws(UsageError) -> StoreLocation {
        try value(of: option, as: "sqlite:PATH or memory:", StoreLocation.init)
    }
}
