import Foundation
import OneWayFolderTestSupport
import OneWaySynchronizer
import OneWayTestLimits
import SyncFolder
import Testing

/// A copy of a mirror that consists of hard links, as backup tools make it.
@Suite(.endsInTime) struct LinkedCopyTests {
    private func linkedCopy(of world: FolderWorld) throws -> URL {
        let copy = world.folder.deletingLastPathComponent().appending(path: "copy", directoryHint: .isDirectory)
        for path in world.files {
            let file = copy.appending(path: path)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try FileManager.default.linkItem(at: world.folder.appending(path: path), to: file)
        }
        return copy
    }

    private func text(_ key: SyncKey, in mirror: FolderMirror) throws -> String {
        try String(contentsOf: mirror.file(for: key), encoding: .utf8)
    }

    @Test(arguments: [true, false]) func eachFolderGoesOnAlone(emptiesCopy: Bool) async throws {
        try await FolderWorld.with { world in
            world.serve([("a", 1), ("s/b", 1)])
            try await world.synchronizer.sync()
            let copy = FolderMirror(of: world.listURL, in: try linkedCopy(of: world))
            let (emptied, kept) = emptiesCopy ? (copy, world.mirror) : (world.mirror, copy)
            world.serve([])
            #expect(try await Synchronizer(processor: emptied).sync().deleted == 2)
            #expect(try text("a", in: kept) == "a 1")
            world.serve([("a", 2), ("s/b", 1)])
            let report = try await Synchronizer(processor: kept).sync()
            #expect(report.updated == 1 && report.unchanged == 1)
            #expect(!FileManager.default.fileExists(atPath: emptied.file(for: "a").path))
            #expect(try await Synchronizer(processor: emptied).sync().inserted == 2)
            for mirror in [emptied, kept] {
                #expect(try text("a", in: mirror) == "a 2" && text("s/b", in: mirror) == "s/b 1")
                #expect(mirror.takeNotes().isEmpty)
            }
        }
    }
}
