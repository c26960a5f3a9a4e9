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

    /// A process has few descriptors; each keeps the lock of its file.
    @Test(.timeLimit(.minutes(5))) func locksOfFoldersThatAreGoneAreGivenBack() async throws {
        let files = FileManager.default
        let links = TransientFolder.parent.appending(path: "links-\(UUID().uuidString)")
        try files.createDirectory(at: links, withIntermediateDirectories: false)
        defer { try? files.removeItem(at: links) }
        func isFree(_ link: URL) throws -> Bool {
            let file = try FileHandle(forUpdating: link)
            return try withExtendedLifetime(file) {
                if flock(file.fileDescriptor, LOCK_EX | LOCK_NB) == 0 { return true }
                try #require(errno == EWOULDBLOCK)
                return false
            }
        }
        var folder: TransientFolder? = try TransientFolder()
        let own = links.appending(path: "own")
        try files.linkItem(at: try #require(folder?.url).appending(path: "lock"), to: own)
        #expect(try !isFree(own))
        folder = nil
        #expect(try isFree(own))
        let abandoned = TransientFolder.parent.appending(path: "SQLiteStore-\(UUID().uuidString)")
        let other = links.appending(path: "other")
        try Data().write(to: other)
        try files.createDirectory(at: abandoned, withIntermediateDirectories: false)
        try files.linkItem(at: other, to: abandoned.appending(path: "lock"))
        _ = try TransientFolder()
        // Another store that is made meanwhile may have the lock for a moment.
        while try !isFree(other) { await Task.yield() }
        #expect(!files.fileExists(atPath: abandoned.path))
    }
}
