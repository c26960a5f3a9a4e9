import Foundation
import HTTPTransfer
import OneWayFolderTestSupport
import OneWayLoopbackServer
import OneWaySynchronizer
import OneWayTestLimits
import OneWayTestSupport
import Testing

@testable import SyncFolder

/// Files that a mirror did not write stay, whatever their names.
@Suite(.endsInTime) struct OwnershipTests {
    private func text(_ world: FolderWorld, _ path: String) throws -> String {
        try String(contentsOf: world.folder.appending(path: path), encoding: .utf8)
    }

    private func isInTheWay(
        _ failure: SyncFailure, _ world: FolderWorld, _ path: String, isFolder: Bool = false
    ) -> Bool {
        failure.errors.first?.underlying as? FolderError
            == .inTheWay(path: world.folder.path(percentEncoded: false) + path, isFolder: isFolder)
            || "\(failure)".contains(
                "\(path): \(isFolder ? "a folder is in the way" : "a file that this mirror did not write")")
    }

    @Test func aFileOfSomebodyElseIsNeitherOverwrittenNorListed() async throws {
        try await FolderWorld.with { world in
            try world.write("mine", to: "a")
            world.serve([("a", 1)])
            #expect(isInTheWay(try await world.failure(), world, "a"))
            #expect(try await world.mirror.owsGetLocalKeys().isEmpty)
            world.serve([])
            try await world.synchronizer.sync()
            #expect(try world.contents == ["a": "mine"])
        }
    }

    /// The address of a folder ends with a slash, and the paths in errors have no second one.
    @Test func pathsInErrorsHaveNoDoubledSlash() async throws {
        try await FolderWorld.with { world in
            try world.write("mine", to: "a")
            world.serve([("a", 1)])
            let path = world.folder.path(percentEncoded: false)
            #expect(path.hasSuffix("/"))
            let failure = try await world.failure()
            #expect(failure.errors.first?.underlying as? FolderError == .inTheWay(path: path + "a"))
        }
        #expect(try Directory.open("/")?.path(of: "a") == "/a")
        #expect(try Directory.open("/tmp/")?.path(of: "a") == "/tmp/a")
    }

    @Test func aFileWithTheContentOfTheItemBecomesTheMirrors() async throws {
        try await FolderWorld.with { world in
            try world.write("a 1", to: "a")
            world.serve([("a", 1)])
            try await world.synchronizer.sync()
            #expect(try await world.synchronizer.sync().unchanged == 1)
            world.serve([("a", 2)])
            try await world.synchronizer.sync()
            #expect(try world.contents == ["a": "a 2"])
        }
    }

    /// What a person does to a file of the mirror.
    enum Change: CaseIterable {
        case replacedByOneOfTheSameSize
        case editedInPlace
        case extendedInPlace

        var text: String { self == .extendedInPlace ? "a 1!" : "MIN" }
    }

    @Test(arguments: Change.allCases) func aFileThatAUserChangedStays(_ change: Change) async throws {
        try await FolderWorld.with { world in
            world.serve([("a", 1)])
            try await world.synchronizer.sync()
            let file = world.mirror.file(for: "a")
            if change == .replacedByOneOfTheSameSize { try FileManager.default.removeItem(at: file) }
            try Data(change.text.utf8).write(to: file)
            // Both may have been written in one tick of the system's clock.
            try setTime(of: file, to: 2)
            for revision in [1, 2] {
                world.serve([("a", revision)])
                #expect(isInTheWay(try await world.failure(), world, "a"))
                #expect(try text(world, "a") == change.text)
            }
            world.serve([])
            try await world.synchronizer.sync()
            #expect(try text(world, "a") == change.text)
            #expect(world.mirror.takeNotes().count == 1)
            #expect(world.mirror.takeNotes().isEmpty)
        }
    }

    @Test func aFileThatIsGoneIsDownloadedAgain() async throws {
        try await FolderWorld.with { world in
            world.serve([("a", 1)])
            try await world.synchronizer.sync()
            try FileManager.default.removeItem(at: world.mirror.file(for: "a"))
            #expect(try await world.synchronizer.sync().updated == 1)
            #expect(try world.contents == ["a": "a 1"])
        }
    }

    @Test(arguments: [true, false]) func aCopyOfTheFolderGoesOn(hasTimes: Bool) async throws {
        try await FolderWorld.with { world in
            world.serve([("a", 1), ("s/b", 1)])
            try await world.synchronizer.sync()
            let copy = world.folder.deletingLastPathComponent().appending(path: "copy", directoryHint: .isDirectory)
            try FileManager.default.copyItem(at: world.folder, to: copy)
            let mirror = FolderMirror(of: world.listURL, in: copy)
            for key in ["a", "s/b"] as [SyncKey] {
                let time = try FileManager.default.attributesOfItem(atPath: world.mirror.file(for: key).path)
                // Foundation rounds times; a tool that keeps them does not.
                try FileManager.default.removeItem(at: mirror.file(for: key))
                #expect(
                    try await run(
                        "/bin/cp", hasTimes ? "-p" : "--no-preserve=timestamps",
                        world.mirror.file(for: key).path, mirror.file(for: key).path) == 0)
                if !hasTimes { try setTime(of: mirror.file(for: key), to: 2) }
                #expect(time[.size] != nil)
            }
            let report = try await Synchronizer(processor: mirror).sync()
            #expect(report.unchanged == (hasTimes ? 2 : 0) && report.updated == (hasTimes ? 0 : 2))
            world.serve([])
            #expect(try await Synchronizer(processor: mirror).sync().deleted == 2)
            #expect(mirror.takeNotes().isEmpty)
            #expect(!FileManager.default.fileExists(atPath: mirror.file(for: "a").path))
            try FileManager.default.removeItem(at: copy)
        }
    }

    private func run(_ program: String, _ arguments: String...) async throws -> Int32 {
        try await ChildProcess(URL(filePath: program), arguments).end().code
    }

    private func setTime(of file: URL, to seconds: Double) throws {
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: seconds)], ofItemAtPath: file.path)
    }

    // MARK: Folders and links

    @Test func aDirectoryInAFilesPlaceStays() async throws {
        try await FolderWorld.with { world in
            world.serve([("a", 1)])
            try await world.synchronizer.sync()
            try FileManager.default.removeItem(at: world.mirror.file(for: "a"))
            try world.write("mine", to: "a/x")
            #expect(isInTheWay(try await world.failure(), world, "a", isFolder: true))
            world.serve([])
            try await world.synchronizer.sync()
            #expect(try world.contents == ["a/x": "mine"])
            #expect(world.mirror.takeNotes().count == 1)
        }
    }

    /// Such folders are left of a file that could not be stored, as on a full disk.
    @Test func foldersWithoutFilesMakeRoomForAFile() async throws {
        try await FolderWorld.with { world in
            for path in ["x/1/2/3", "x/4", ".mirror/previews/x/1"] {
                try FileManager.default.createDirectory(
                    at: world.folder.appending(path: path), withIntermediateDirectories: true)
            }
            world.reply { request in
                switch request.path {
                case "/list.json": .json(#"[{"key": "x", "url": "/c", "revision": 1, "preview_url": "/p"}]"#)
                case "/c": .text("content")
                case "/p": .text("preview")
                default: nil
                }
            }
            try await world.synchronizer.sync()
            #expect(try world.contents == ["x": "content"])
            #expect(try text(world, ".mirror/previews/x") == "preview")
        }
    }

    @Test(arguments: [false, true]) func aFolderMakesRoomOnceOtherFilesAreGone(isLink: Bool) async throws {
        try await FolderWorld.with { world in
            world.serve([("a/b", 1)])
            try await world.synchronizer.sync()
            let foreign = world.folder.appending(path: "a/c/foreign")
            try world.write("mine", to: "a/c/foreign")
            if isLink {
                try FileManager.default.removeItem(at: foreign)
                let empty = world.folder.appending(path: "empty")
                try FileManager.default.createDirectory(at: empty, withIntermediateDirectories: false)
                try FileManager.default.createSymbolicLink(at: foreign, withDestinationURL: empty)
            }
            world.serve([("a", 1)])
            #expect(isInTheWay(try await world.failure(), world, "a", isFolder: true))
            try FileManager.default.removeItem(at: foreign)
            try await world.synchronizer.sync()
            #expect(try world.contents == ["a": "a 1"])
            #expect(FileManager.default.fileExists(atPath: world.folder.appending(path: "empty").path) == isLink)
        }
    }

    @Test func aFileInAFoldersPlaceStays() async throws {
        try await FolderWorld.with { world in
            try world.write("mine", to: "a")
            world.serve([("a/b", 1)])
            #expect(isInTheWay(try await world.failure(), world, "a"))
            #expect(try world.contents == ["a": "mine"])
        }
    }

    @Test(arguments: ["a", "s", ".mirror", ".mirror/parts", ".mirror/lock", ".mirror/index"])
    func nothingIsWrittenWhereALinkLeads(name: String) async throws {
        try await FolderWorld.with { world in
            let outside = world.folder.deletingLastPathComponent().appending(path: "outside")
            let link = world.folder.appending(path: name)
            try FileManager.default.createDirectory(
                at: link.deletingLastPathComponent(), withIntermediateDirectories: true)
            try FileManager.default.createSymbolicLink(at: link, withDestinationURL: outside)
            world.serve([("a", 1), ("s/b", 1)])
            // A dangling link, and one to a folder.
            for _ in 0..<2 {
                #expect(isInTheWay(try await world.failure(), world, name))
                #expect((try? FileManager.default.contentsOfDirectory(atPath: outside.path))?.isEmpty ?? true)
                try? FileManager.default.createDirectory(at: outside, withIntermediateDirectories: true)
            }
            try FileManager.default.removeItem(at: outside)
        }
    }

    @Test func aFolderThatBecameALinkIsNotFollowed() async throws {
        try await FolderWorld.with { world in
            world.serve([("s/b", 1)])
            try await world.synchronizer.sync()
            let outside = world.folder.deletingLastPathComponent().appending(path: "outside")
            let folder = world.folder.appending(path: "s")
            try FileManager.default.moveItem(at: folder, to: outside)
            try FileManager.default.createSymbolicLink(at: folder, withDestinationURL: outside)
            world.serve([("s/b", 2)])
            #expect(isInTheWay(try await world.failure(), world, "s"))
            world.serve([])
            try await world.synchronizer.sync()
            #expect(try String(contentsOf: outside.appending(path: "b"), encoding: .utf8) == "s/b 1")
            let notes = world.mirror.takeNotes()
            #expect(notes.count == 1 && notes.first?.contains("s is not a folder") == true, "\(notes)")
            try FileManager.default.removeItem(at: outside)
        }
    }

    /// The system lets the superuser read every folder.
    @Test(.enabled(if: getuid() != 0, "permissions do not deny the superuser"), arguments: [0o000, 0o444])
    func aFileInAFolderThatCannotBeReadStaysAnItem(permissions: Int) async throws {
        try await FolderWorld.with { world in
            world.serve([("s/a", 1), ("b", 1), ("c", 1)])
            try await world.synchronizer.sync()
            let folder = world.folder.appending(path: "s").path
            try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: folder)
            world.serve([("b", 1)])
            let failure = try await world.failure()
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder)
            guard case .system? = failure.errors.first?.underlying as? FolderError else { throw failure }
            // The other one is gone.
            #expect(try world.contents == ["s/a": "s/a 1", "b": "b 1"])
            try await world.synchronizer.sync()
            #expect(try world.contents == ["b": "b 1"])
        }
    }

    @Test(.enabled(if: getuid() != 0, "permissions do not deny the superuser"))
    func aFolderThatCannotBeWrittenHasAPlan() async throws {
        try await FolderWorld.with { world in
            world.serve([("a", 1)])
            try await world.synchronizer.sync()
            let index = world.folder.appending(path: ".mirror/index").path
            try FileManager.default.setAttributes([.posixPermissions: 0o444], ofItemAtPath: index)
            #expect(try await world.synchronizer.plan().counts == [.leave: 1])
            await #expect(throws: SyncFailure.self) { try await world.synchronizer.sync() }
        }
    }

    @Test func previewsThatBecameALinkAreNotFollowed() async throws {
        try await FolderWorld.with { world in
            serve(world, hasPreview: true)
            try await world.synchronizer.sync()
            let outside = world.folder.deletingLastPathComponent().appending(path: "outside")
            let previews = world.folder.appending(path: ".mirror/previews")
            try FileManager.default.moveItem(at: previews, to: outside)
            try FileManager.default.createSymbolicLink(at: previews, withDestinationURL: outside)
            world.serve([])
            try await world.synchronizer.sync()
            #expect(try String(contentsOf: outside.appending(path: "s/a"), encoding: .utf8) == "preview")
            #expect(world.mirror.takeNotes().count == 1)
            try FileManager.default.removeItem(at: outside)
        }
    }

    @Test func aFolderThatIsEmptyAfterARemovalIsRemoved() async throws {
        try await FolderWorld.with { world in
            world.serve([("s/t/b", 1), ("s/c", 1), ("u/d", 1)])
            try await world.synchronizer.sync()
            try world.write("mine", to: "u/e")
            world.serve([("s/c", 1)])
            try await world.synchronizer.sync()
            let names = try FileManager.default.subpathsOfDirectory(atPath: world.folder.path)
            #expect(Set(names.filter { !$0.hasPrefix(".mirror") }) == ["s", "s/c", "u", "u/e"])
        }
    }

    // MARK: Previews

    /// Serves an item with or without a preview.
    private func serve(_ world: FolderWorld, hasPreview: Bool) {
        let preview = hasPreview ? #", "preview_url": "/p""# : ""
        world.reply { request in
            switch request.path {
            case "/list.json": .json(#"[{"key": "s/a", "url": "/c", "revision": 1\#(preview)}]"#)
            case "/c": .text("content")
            case "/p": .text("preview")
            default: nil
            }
        }
    }

    @Test func previewsFollowTheirItems() async throws {
        try await FolderWorld.with { world in
            let preview = world.mirror.previewFile(for: "s/a")
            serve(world, hasPreview: true)
            // Without their own stage, previews come with their contents.
            world.synchronizer.options.downloadPreview = false
            try await world.synchronizer.sync()
            #expect(try String(contentsOf: preview, encoding: .utf8) == "preview")
            #expect(try await world.synchronizer.sync().unchanged == 1)
            try FileManager.default.removeItem(at: preview)
            #expect(try await world.synchronizer.sync().updated == 1)
            #expect(try String(contentsOf: preview, encoding: .utf8) == "preview")
            serve(world, hasPreview: false)
            #expect(try await world.synchronizer.sync().updated == 1)
            #expect(!FileManager.default.fileExists(atPath: preview.path))
        }
    }

    @Test func aPreviewThatAUserChangedStays() async throws {
        try await FolderWorld.with { world in
            let preview = world.mirror.previewFile(for: "s/a")
            serve(world, hasPreview: true)
            try await world.synchronizer.sync()
            try Data("mine, not the server's".utf8).write(to: preview)
            serve(world, hasPreview: false)
            try await world.synchronizer.sync()
            #expect(try String(contentsOf: preview, encoding: .utf8) == "mine, not the server's")
        }
    }

    @Test func aPreviewOfSomebodyElseIsNotOverwritten() async throws {
        try await FolderWorld.with { world in
            let preview = world.mirror.previewFile(for: "s/a")
            try FileManager.default.createDirectory(
                at: preview.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data("mine".utf8).write(to: preview)
            serve(world, hasPreview: true)
            #expect(isInTheWay(try await world.failure(), world, ".mirror/previews/s/a"))
            #expect(try String(contentsOf: preview, encoding: .utf8) == "mine")
        }
    }

    // MARK: Directories

    @Test func aDirectoryIsClosedWithItsLastReference() throws {
        let folder = try TemporaryDirectory()
        var directory = try Directory.open(folder.url.path)
        let descriptor = try #require(directory?.descriptor)
        /// The number of the file that is open.
        func file() -> ino_t? {
            var status = stat()
            return fstat(descriptor, &status) == 0 ? status.st_ino : nil
        }
        let opened = file()
        #expect(opened != nil)
        directory = nil
        // Another test may have opened something else since then.
        #expect(file() != opened)
    }

    @Test func whoOnlyReadsAFolderMakesNothingInIt() throws {
        let folder = try TemporaryDirectory()
        #expect(try OpenFolder.reading(folder.url) == nil)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).isEmpty)
    }

    @Test func aFolderWithABlankInItsNameIsRead() throws {
        let folder = try TemporaryDirectory()
        let url = folder.url.appendingPathComponent("a folder", isDirectory: true)
        try FileManager.default.createDirectory(
            at: url.appendingPathComponent(FilePath.internals), withIntermediateDirectories: true)
        #expect(try OpenFolder.reading(url) != nil)
    }

    @Test func onlyTheRemovalOfAMissingFileIsNoError() throws {
        let folder = try TemporaryDirectory()
        try FileManager.default.createDirectory(
            at: folder.url.appending(path: "sub"), withIntermediateDirectories: false)
        let directory = try #require(try Directory.open(folder.url.path))
        try directory.remove("missing")
        #expect(throws: FolderError.self) { try directory.remove("sub") }
        #expect(try directory.knownStatus("missing") == nil)
        // The system does not say whether there is such a file.
        #expect(throws: FolderError.self) { try directory.knownStatus(String(repeating: "x", count: 300)) }
    }

    /// After the end of the system, planned files count as the mirror's, whatever they are.
    @Test func onlyWhatIsFreeOrTheMirrorsIsPlanned() async throws {
        try await FolderWorld.with { world in
            world.serve([("own", 1), ("changed", 1)])
            try await world.synchronizer.sync()
            for path in ["changed", "d/other"] { try world.write("mine", to: path) }
            try FileManager.default.createDirectory(
                at: world.folder.appending(path: "folder"), withIntermediateDirectories: false)
            let open = try OpenFolder.writing(world.folder)
            let keys: [SyncKey] = ["own", "changed", "d/other", "d/new", "new", "folder"]
            let items = keys.map { FolderItem($0, at: world.listURL) }
            try open.plan(items, listed: nil)
            await open.release()
            let index = try Data(contentsOf: world.folder.appending(path: ".mirror/index"))
            let last = try #require(index.split(separator: IndexLine.lineEnd).lastIndex { $0.starts(with: "b\t".utf8) })
            let planned = index.split(separator: IndexLine.lineEnd)[(last + 1)...].compactMap { line -> SyncKey? in
                if case .planned(let key)? = IndexLine(Array(line)[...]) { key } else { nil }
            }
            #expect(Set(planned) == ["own", "d/new", "new", "folder"])
        }
    }

    @Test func aRemovalOutsideAPassTellsWhatItLeavesAlone() async throws {
        try await FolderWorld.with { world in
            world.serve([("a", 1), ("b", 1)])
            try await world.synchronizer.sync()
            try world.write("changed", to: "a")
            _ = world.mirror.takeNotes()
            try await world.mirror.owsRemoveLocalItems(for: ["a", "b"])
            #expect(try world.contents == ["a": "changed"])
            let notes = world.mirror.takeNotes()
            #expect(notes.count == 1 && notes.first?.contains("was left alone") == true, "\(notes)")
        }
    }
}
