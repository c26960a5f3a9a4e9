import Foundation
import HTTPTransfer
import OneWayTestSupport
import Testing

@testable import Demo

/// Files that a mirror did not write stay, whatever their names.
@Suite struct MirrorOwnershipTests {
    private let root: TemporaryDirectory
    private let folder: MirrorFolder

    init() throws {
        root = try TemporaryDirectory()
        folder = MirrorFolder(url: root.url.appending(path: "mirror"))
        try folder.beginPass()
    }

    private func item(_ key: String, preview: Bool = false) throws -> MirrorItem {
        let url = try #require(URL(string: "http://host/a"))
        return MirrorItem(
            owsPrimaryKey: MirrorKey(key), owsDownloadOrder: 0, url: url, revision: "1",
            previewURL: preview ? url : nil)
    }

    private func store(_ text: String, as item: MirrorItem) async throws {
        let file = try await folder.receive { try Data(text.utf8).write(to: $0) }
        try folder.storeContent(file, byteCount: text.utf8.count, of: item)
    }

    private func storePreview(_ text: String, of item: MirrorItem) async throws {
        let file = try await folder.receive { try Data(text.utf8).write(to: $0) }
        try folder.storePreview(file, of: item)
    }

    private func text(_ file: URL) throws -> String { try String(contentsOf: file, encoding: .utf8) }

    @Test func aUsersFileUnderTheNameOfAnItemWithAPreviewStays() async throws {
        let item = try item("a", preview: true)
        let file = folder.contentFile(for: MirrorKey("a"))
        try Data("mine".utf8).write(to: file)
        try await storePreview("preview", of: item)
        await #expect(throws: MirrorFolderError.inTheWay(file.path)) { try await store("theirs", as: item) }
        #expect(try text(file) == "mine")
        try folder.remove(MirrorKey("a"))
        #expect(try text(file) == "mine")
        #expect(!FileManager.default.fileExists(atPath: folder.previewFile(for: MirrorKey("a")).path))
    }

    @Test func aUsersPreviewUnderTheNameOfAnItemStays() async throws {
        let item = try item("a", preview: true)
        let previews = folder.url.appending(path: "previews")
        try FileManager.default.createDirectory(at: previews, withIntermediateDirectories: true)
        let file = folder.previewFile(for: MirrorKey("a"))
        try Data("mine".utf8).write(to: file)
        try await store("theirs", as: item)
        await #expect(throws: MirrorFolderError.inTheWay(file.path)) { try await storePreview("theirs", of: item) }
        try folder.remove(MirrorKey("a"))
        #expect(try text(file) == "mine")
    }

    @Test func aDirectoryInAFilesPlaceStays() async throws {
        try await store("hello", as: item("a"))
        let file = folder.contentFile(for: MirrorKey("a"))
        try FileManager.default.removeItem(at: file)
        try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
        try Data("mine".utf8).write(to: file.appending(path: "x"))
        await #expect(throws: MirrorFolderError.inTheWay(file.path)) { try await store("again", as: item("a")) }
        try folder.remove(MirrorKey("a"))
        #expect(try text(file.appending(path: "x")) == "mine")
        #expect(try folder.keys().isEmpty)
        #expect(folder.takeNotes().count == 1)
    }

    @Test func aFileThatAUserPutInPlaceOfTheMirrorsStays() async throws {
        try await store("hello", as: item("a"))
        let file = folder.contentFile(for: MirrorKey("a"))
        let other = root.url.appending(path: "other")
        try Data("a file of mine".utf8).write(to: other)
        #expect(rename(other.path, file.path) == 0)
        try folder.remove(MirrorKey("a"))
        #expect(try text(file) == "a file of mine")
    }

    /// What a person does to a file of the mirror.
    enum Change: CaseIterable {
        case replacedByOneOfTheSameSize
        case editedInPlace
        case extendedInPlace

        var text: String { self == .extendedInPlace ? "hello!" : "MINE!" }
    }

    @Test(arguments: Change.allCases) func aFileThatAUserChangedStays(_ change: Change) async throws {
        try await store("hello", as: item("a"))
        let file = folder.contentFile(for: MirrorKey("a"))
        if change == .replacedByOneOfTheSameSize { try FileManager.default.removeItem(at: file) }
        try Data(change.text.utf8).write(to: file)
        // Both may have been written in one tick of the system's clock.
        try setTime(of: file, to: 2)
        await #expect(throws: MirrorFolderError.inTheWay(file.path)) { try await store("again", as: item("a")) }
        #expect(try text(file) == change.text)
        try folder.remove(MirrorKey("a"))
        #expect(try text(file) == change.text)
        #expect(folder.takeNotes().count == 1)
    }

    @Test(arguments: [true, false]) func aMirrorThatWasCopiedWithItsTimesGoesOn(hasTimes: Bool) async throws {
        let file = try await folder.receive { file in
            try Data("hello".utf8).write(to: file)
            try setTime(of: file, to: 1)
        }
        try folder.storeContent(file, byteCount: 5, of: item("a"))
        let copy = root.url.appending(path: "copy")
        folder.endPass()
        try FileManager.default.copyItem(at: folder.url, to: copy)
        let copied = MirrorFolder(url: copy)
        let copiedFile = copied.contentFile(for: MirrorKey("a"))
        try setTime(of: copiedFile, to: hasTimes ? 1 : 2)
        try copied.beginPass()
        #expect(try copied.isCurrent(item("a")))
        try copied.remove(MirrorKey("a"))
        #expect(FileManager.default.fileExists(atPath: copiedFile.path) != hasTimes)
    }

    /// Records of version 0.1.0 have no times.
    @Test(arguments: [true, false]) func aRecordWithoutATimeIsAboutAFileOfTheSameNumber(isSame: Bool) async throws {
        try await store("hello", as: item("a"))
        let record = folder.url.appending(path: ".mirror/records/a")
        let old = try text(record).replacing(/,"modified":[0-9]+|"modified":[0-9]+,/, with: "")
        #expect(!old.contains("modified"))
        try Data(old.utf8).write(to: record)
        let file = folder.contentFile(for: MirrorKey("a"))
        if !isSame {
            let other = root.url.appending(path: "other")
            try Data("MINE!".utf8).write(to: other)
            #expect(rename(other.path, file.path) == 0)
        }
        try folder.remove(MirrorKey("a"))
        #expect(FileManager.default.fileExists(atPath: file.path) != isSame)
    }

    private func setTime(of file: URL, to seconds: Double) throws {
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: seconds)], ofItemAtPath: file.path)
    }

    @Test(arguments: [".mirror", ".mirror/records", ".mirror/incoming"])
    func nothingIsMadeWhereALinkLeads(name: String) throws {
        let other = root.url.appending(path: "other")
        let outside = root.url.appending(path: "outside")
        let link = other.appending(path: name)
        try FileManager.default.createDirectory(at: outside, withIntermediateDirectories: true)
        try FileManager.default.createDirectory(
            at: link.deletingLastPathComponent(), withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: outside)
        #expect(throws: MirrorFolderError.inTheWay(link.path)) { try MirrorFolder(url: other).beginPass() }
        #expect(try FileManager.default.contentsOfDirectory(atPath: outside.path).isEmpty)
    }

    @Test(arguments: [true, false]) func aLockThatIsALinkIsNotFollowed(isDangling: Bool) throws {
        let other = root.url.appending(path: "other")
        let outside = root.url.appending(path: "outside")
        let lock = other.appending(path: ".mirror/lock")
        if !isDangling { try Data("mine".utf8).write(to: outside) }
        try FileManager.default.createDirectory(
            at: lock.deletingLastPathComponent(), withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(at: lock, withDestinationURL: outside)
        #expect(throws: MirrorFolderError.inTheWay(lock.path)) { try MirrorFolder(url: other).beginPass() }
        #expect(FileManager.default.fileExists(atPath: outside.path) != isDangling)
    }

    @Test func previewsThatAreALinkAreNotFollowed() async throws {
        let outside = root.url.appending(path: "outside")
        try FileManager.default.createDirectory(at: outside, withIntermediateDirectories: true)
        let previews = folder.url.appending(path: "previews")
        try FileManager.default.createSymbolicLink(at: previews, withDestinationURL: outside)
        let item = try item("a", preview: true)
        await #expect(throws: MirrorFolderError.inTheWay(previews.path)) { try await storePreview("p", of: item) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: outside.path).isEmpty)
    }

    @Test func aPreviewIsNotRemovedWhereALinkLeads() async throws {
        try await storePreview("p", of: item("a", preview: true))
        let previews = folder.url.appending(path: "previews")
        let outside = root.url.appending(path: "outside")
        try FileManager.default.moveItem(at: previews, to: outside)
        try FileManager.default.createSymbolicLink(at: previews, withDestinationURL: outside)
        try await store("hello", as: item("a"))
        #expect(try text(outside.appending(path: "a")) == "p")
    }

    @Test(arguments: ["notes.txt", ".hidden", "a~"]) func aStrayFileInTheRecordsStopsNothing(name: String) async throws
    {
        try await store("hello", as: item("b"))
        let stray = folder.url.appending(path: ".mirror/records/\(name)")
        try Data("mine".utf8).write(to: stray)
        #expect(try folder.keys() == [MirrorKey("b")])
        #expect(try text(stray) == "mine")
        #expect(folder.takeNotes().count == 1)
    }

    @Test(arguments: [false, true]) func aListByHTTPSNamesItemsByHTTPOnlyIfAllowed(isAllowed: Bool) throws {
        let list = Data(#"[{"key":"a","url":"http://host/a"}]"#.utf8)
        let url = try #require(URL(string: "https://host/list"))
        if isAllowed {
            #expect(try MirrorList.items(from: list, url: url, allowsHTTP: true).count == 1)
        } else {
            #expect(throws: MirrorListError.self) { try MirrorList.items(from: list, url: url) }
        }
    }

    @Test func addressesOfAListKeepTheirEscapes() throws {
        let list = Data(#"[{"key":"a","url":"x y?f[a]=%3D"}]"#.utf8)
        let url = try #require(URL(string: "https://host/dir/list"))
        let items = try MirrorList.items(from: list, url: url)
        #expect(items.map(\.url.absoluteString) == ["https://host/dir/x%20y?f%5Ba%5D=%3D"])
    }
}
