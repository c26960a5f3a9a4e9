import Foundation
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
