import Foundation
import OneWayTestLimits
import OneWayTestSupport
import SyncModel
import SyncStoreSQL
import Testing

@testable import SyncStoreSQLite

@Suite(.endsInTime) struct TransientFolderTests {
    /// A parent that only this test uses.
    private let parent: TemporaryDirectory
    private let files = FileManager.default

    init() throws {
        parent = try TemporaryDirectory()
        try files.setAttributes([.posixPermissions: 0o700], ofItemAtPath: parent.url.path)
    }

    @Test func itIsGoneWithItsLastReference() throws {
        var folder: TransientFolder? = try TransientFolder()
        let path = try #require(folder?.url.path)
        try Data([1]).write(to: URL(filePath: path).appending(path: "file"))
        folder = nil
        #expect(!files.fileExists(atPath: path))
    }

    @Test(arguments: ["two words", "50%20", "ünï"]) func itsParentMayHaveAnyName(name: String) throws {
        let place = parent.url.appending(path: name)
        try files.createDirectory(
            at: place, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        let folder = try TransientFolder(in: place)
        #expect(try files.contentsOfDirectory(atPath: place.path).count == 1)
        try Data([1]).write(to: folder.url.appending(path: "file"))
    }

    @Test func itStaysAsLongAsAConnectionHasAFileInItOpen() async throws {
        let worker = try Self.worker(in: try TransientFolder())
        try await worker.prepareSchema()
        let path = await worker.settings.path
        #expect(files.fileExists(atPath: path))
    }

    /// Returns a worker that alone refers to the folder.
    private static func worker(in folder: TransientFolder) throws -> SQLiteWorker {
        let model = try DataModel { SyncEntity("Note", identity: "id") { SyncAttribute("id", .int64) } }
        let path = folder.url.appending(path: "store.sqlite").path
        return SQLiteWorker(
            SQLiteSettings(path: path, isReadOnly: false, folder: folder, SQLiteStore.Options()),
            schema: SQLSchema(model, dialect: .sqlite), label: "TransientFolderTests")
    }

    /// Creates what a killed process leaves behind.
    private func abandon(permissions: Int = 0o700) throws -> URL {
        let folder = parent.url.appending(path: TransientFolder.prefix + UUID().uuidString)
        try files.createDirectory(at: folder, withIntermediateDirectories: false)
        for name in ["store.sqlite", "store.sqlite-wal"] { try Data([1]).write(to: folder.appending(path: name)) }
        try files.setAttributes([.posixPermissions: permissions], ofItemAtPath: folder.path)
        return folder
    }

    @Test func onlyFoldersOfEndedProcessesAreRemoved() throws {
        let used = try TransientFolder(in: parent.url)
        let abandoned = try abandon()
        let next = try TransientFolder(in: parent.url)
        #expect(!files.fileExists(atPath: abandoned.path))
        #expect(files.fileExists(atPath: used.url.path))
        #expect(files.fileExists(atPath: next.url.path))
    }

    @Test func nobodyElseMayReadIt() throws {
        let folder = try TransientFolder(in: parent.url)
        let attributes = try files.attributesOfItem(atPath: folder.url.path)
        #expect(attributes[.posixPermissions] as? Int == 0o700)
    }

    /// The name is all that another user can choose.
    @Test(arguments: [0o755, 0o777, 0o1700])
    func aFolderThatOthersCanUseStays(permissions: Int) throws {
        let other = try abandon(permissions: permissions)
        _ = try TransientFolder(in: parent.url)
        #expect(try files.contentsOfDirectory(atPath: other.path).count == 2)
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give files away"))
    func aFolderOfAnotherUserStays() throws {
        let other = try abandon()
        try files.setAttributes([.ownerAccountID: 65534], ofItemAtPath: other.path)
        _ = try TransientFolder(in: parent.url)
        #expect(try files.contentsOfDirectory(atPath: other.path).count == 2)
    }

    @Test func whatALinkLeadsToStays() throws {
        let target = parent.url.appending(path: "target")
        try files.createDirectory(
            at: target, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        let kept = target.appending(path: "kept")
        try Data([1]).write(to: kept)
        let abandoned = try abandon()
        for name in ["link", "file"] {
            try files.createSymbolicLink(at: abandoned.appending(path: name), withDestinationURL: kept)
        }
        let link = parent.url.appending(path: TransientFolder.prefix + UUID().uuidString)
        try files.createSymbolicLink(at: link, withDestinationURL: target)
        _ = try TransientFolder(in: parent.url)
        #expect(!files.fileExists(atPath: abandoned.path))
        #expect(files.fileExists(atPath: kept.path))
        #expect(try files.destinationOfSymbolicLink(atPath: link.path) == target.path)
    }

    /// Nothing that the store makes has folders in it.
    @Test func aFolderWithFoldersStays() throws {
        let abandoned = try abandon()
        let inner = abandoned.appending(path: "inner")
        try files.createDirectory(at: inner, withIntermediateDirectories: false)
        try Data([1]).write(to: inner.appending(path: "kept"))
        _ = try TransientFolder(in: parent.url)
        #expect(files.fileExists(atPath: inner.appending(path: "kept").path))
    }

    @Test func aParentInWhichOthersCanRenameIsRefused() throws {
        try files.setAttributes([.posixPermissions: 0o777], ofItemAtPath: parent.url.path)
        let error = #expect(throws: SQLiteError.self) { _ = try TransientFolder(in: parent.url) }
        #expect(error?.code == SQLiteError.Code.cannotOpen && error?.message.contains(parent.url.path) == true)
        try files.setAttributes([.posixPermissions: 0o1777], ofItemAtPath: parent.url.path)
        _ = try TransientFolder(in: parent.url)
    }

    /// A process has few descriptors; each keeps a lock.
    @Test func locksOfFoldersThatAreGoneAreReleased() throws {
        var folder: TransientFolder? = try TransientFolder(in: parent.url)
        let path = try #require(folder?.url.path)
        let descriptor = open(path, O_RDONLY)
        defer { close(descriptor) }
        #expect(flock(descriptor, LOCK_EX | LOCK_NB) != 0)
        folder = nil
        #expect(flock(descriptor, LOCK_EX | LOCK_NB) == 0)
    }
}
