import Foundation
import SyncModel
import SyncStoreSQL
import Testing

@testable import SyncStoreSQLite

@Suite struct TransientFolderTests {
    @Test func itIsGoneWithItsLastReference() throws {
        var folder: TransientFolder? = try TransientFolder()
        let path = try #require(folder?.url.path)
        try Data([1]).write(to: URL(filePath: path).appending(path: "file"))
        folder = nil
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func itStaysAsLongAsAConnectionHasAFileInItOpen() async throws {
        let worker = try Self.worker(in: try TransientFolder())
        try await worker.prepareSchema()
        let path = await worker.settings.path
        #expect(FileManager.default.fileExists(atPath: path))
    }

    /// Returns a worker that alone refers to the folder.
    private static func worker(in folder: TransientFolder) throws -> SQLiteWorker {
        let model = try DataModel { SyncEntity("Note", identity: "id") { SyncAttribute("id", .int64) } }
        let path = folder.url.appending(path: "store.sqlite").path
        return SQLiteWorker(
            SQLiteSettings(path: path, isReadOnly: false, folder: folder, SQLiteStore.Options()),
            schema: SQLSchema(model, dialect: .sqlite), label: "TransientFolderTests")
    }

    @Test func oneThatIsUsedStaysAndOneOfADeadProcessGoes() throws {
        let used = try TransientFolder()
        let abandoned = TransientFolder.parent.appending(path: "SQLiteStore-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: abandoned, withIntermediateDirectories: false)
        // The lock last: from then on any store that is made removes it.
        for name in ["store.sqlite", "lock"] { try Data().write(to: abandoned.appending(path: name)) }
        let next = try TransientFolder()
        #expect(!FileManager.default.fileExists(atPath: abandoned.path))
        #expect(FileManager.default.fileExists(atPath: used.url.path))
        #expect(FileManager.default.fileExists(atPath: next.url.path))
    }
}
