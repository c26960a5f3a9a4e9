import Foundation
import OneWayTestSupport
import Testing

@testable import Demo

@Suite struct MirrorFolderTests {
    private let root: TemporaryDirectory
    private let folder: MirrorFolder

    init() throws {
        root = try TemporaryDirectory()
        folder = MirrorFolder(url: root.url.appending(path: "mirror"))
    }

    private func item(_ key: String, revision: String? = "1", preview: Bool = false) throws -> MirrorItem {
        let url = try #require(URL(string: "http://host/a"))
        return MirrorItem(
            owsPrimaryKey: MirrorKey(key), owsDownloadOrder: 0, url: url, revision: revision,
            previewURL: preview ? url : nil)
    }

    private func store(_ text: String, as item: MirrorItem) async throws {
        let file = try await folder.receive { try Data(text.utf8).write(to: $0) }
        try folder.storeContent(file, byteCount: text.utf8.count, of: item)
    }

    private func text(_ file: URL) throws -> String { try String(contentsOf: file, encoding: .utf8) }

    /// What is in the folder, records and downloads included, by path.
    private var paths: Set<String> {
        let enumerator = FileManager.default.enumerator(atPath: folder.url.path)
        return Set(enumerator?.compactMap { $0 as? String } ?? [])
    }

    @Test func aFolderThatIsNotThereHasNoKeysAndIsNotMade() throws {
        #expect(try folder.keys().isEmpty)
        #expect(try !folder.isCurrent(try item("a")))
        #expect(!FileManager.default.fileExists(atPath: folder.url.path))
    }

    @Test func whatIsStoredIsThereWithItsKey() async throws {
        try folder.beginPass()
        try await store("hello", as: item("A/b"))
        #expect(try folder.keys() == [MirrorKey("A/b")])
        #expect(try text(folder.url.appending(path: "!a%2fb")) == "hello")
        #expect(try folder.isCurrent(item("A/b")))
    }

    @Test func anItemIsCurrentOnlyWithTheSameRevisionAndAllItsFiles() async throws {
        try folder.beginPass()
        try await store("hello", as: item("a"))
        #expect(try !folder.isCurrent(item("a", revision: "2")))
        #expect(try !folder.isCurrent(item("a", revision: nil)))
        #expect(try !folder.isCurrent(item("a", preview: true)))
        try Data("hell".utf8).write(to: folder.contentFile(for: MirrorKey("a")))
        #expect(try !folder.isCurrent(item("a")))
        try FileManager.default.removeItem(at: folder.contentFile(for: MirrorKey("a")))
        #expect(try !folder.isCurrent(item("a")))
        #expect(try folder.keys() == [MirrorKey("a")])
    }

    @Test func anItemWithItsPreviewAloneIsKnownAndIncomplete() async throws {
        try folder.beginPass()
        let item = try item("a", preview: true)
        let file = try await folder.receive { try Data("p".utf8).write(to: $0) }
        try folder.storePreview(file, of: item)
        #expect(try folder.keys() == [MirrorKey("a")])
        #expect(try !folder.isCurrent(item))
        try await store("hello", as: item)
        #expect(try folder.isCurrent(item))
        #expect(try text(folder.previewFile(for: MirrorKey("a"))) == "p")
        // A preview that the list has no more is not left behind.
        #expect(try !folder.isCurrent(self.item("a")))
        try await store("hello", as: self.item("a"))
        #expect(!FileManager.default.fileExists(atPath: folder.previewFile(for: MirrorKey("a")).path))
    }

    @Test func aRemovedItemLeavesNothingBehind() async throws {
        try folder.beginPass()
        let before = paths
        try await store("hello", as: item("a"))
        try folder.remove(MirrorKey("a"))
        try folder.remove(MirrorKey("a"))
        #expect(paths == before)
    }

    @Test func aDownloadThatFailsLeavesNothingBehind() async throws {
        try folder.beginPass()
        let before = paths
        await #expect(throws: TestError.self) {
            _ = try await folder.receive { file in
                try Data("half".utf8).write(to: file)
                throw TestError("cut")
            }
        }
        #expect(paths == before)
    }

    @Test func whatAProcessLeftHalfDoneIsThrownAwayByTheNext() async throws {
        try folder.beginPass()
        let before = paths
        _ = try await folder.receive { try Data("left".utf8).write(to: $0) }
        folder.endPass()
        try folder.beginPass()
        #expect(paths == before)
    }

    @Test func aSecondMirrorIsKeptOut() throws {
        let other = MirrorFolder(url: folder.url)
        try folder.beginPass()
        #expect(throws: MirrorFolderError.inUse(folder.url.path)) { try other.beginPass() }
        folder.endPass()
        try other.beginPass()
    }

    @Test func aFileOfSomebodyElseIsNeitherOverwrittenNorListed() async throws {
        try folder.beginPass()
        let file = folder.contentFile(for: MirrorKey("a"))
        try Data("mine".utf8).write(to: file)
        await #expect(throws: MirrorFolderError.inTheWay(file.path)) { try await store("hello", as: item("a")) }
        #expect(try text(file) == "mine")
        #expect(try folder.keys().isEmpty)
        #expect(!paths.contains { $0.hasPrefix(".mirror/incoming/") })
    }

    @Test func aLinkInTheFolderIsNotFollowed() async throws {
        try folder.beginPass()
        let outside = root.url.appending(path: "outside")
        try Data("mine".utf8).write(to: outside)
        let file = folder.contentFile(for: MirrorKey("a"))
        try FileManager.default.createSymbolicLink(at: file, withDestinationURL: outside)
        await #expect(throws: MirrorFolderError.inTheWay(file.path)) { try await store("hello", as: item("a")) }
        #expect(try text(outside) == "mine")
    }

    @Test(arguments: ["{", #"{"key": "b"}"#]) func aDamagedRecordIsReportedAndItsFileStays(text: String) async throws {
        try folder.beginPass()
        try await store("hello", as: item("a"))
        let record = folder.url.appending(path: ".mirror/records/a")
        try Data(text.utf8).write(to: record)
        #expect(try folder.keys().isEmpty)
        #expect(folder.takeNotes().count == 1)
        await #expect(throws: MirrorFolderError.self) { try await store("again", as: item("a")) }
        #expect(try self.text(folder.contentFile(for: MirrorKey("a"))) == "hello")
    }

    @Test func aFolderThatCannotBeMadeIsNamed() throws {
        let file = root.url.appending(path: "file")
        try Data().write(to: file)
        let error = try #require(throws: MirrorFolderError.self) {
            try MirrorFolder(url: file.appending(path: "mirror")).beginPass()
        }
        #expect(error.description == "cannot make the folder \(file.path)/mirror: Not a directory")
        let other = try #require(throws: MirrorFolderError.self) { try MirrorFolder(url: file).beginPass() }
        #expect(other.description == "cannot make the folder \(file.path): File exists")
    }
}
