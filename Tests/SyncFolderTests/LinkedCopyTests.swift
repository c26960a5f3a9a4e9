import Foundation
import OneWayFolderTestSupport
import OneWaySynchronizer
import OneWayTestLimits
import OneWayTestSupport
import SyncFolder
import Testing

/// A copy of a mirrored folder whose files are hard links, as backups make it.
@Suite(.endsInTime) struct LinkedCopyTests {
    /// Emptying one of both folders changes nothing that the other one knows of its files.
    @Test(arguments: [false, true]) func bothFoldersAreMirrorsOfTheirOwn(emptiesCopy: Bool) async throws {
        try await FolderWorld.with { world in
            world.serve([("a", 1), ("b/c", 1)])
            try await world.synchronizer.sync()
            let copies = try TemporaryDirectory()
            let copy = copies.url.appending(path: "copy", directoryHint: .isDirectory)
            for path in world.files {
                let link = copy.appending(path: path)
                try FileManager.default.createDirectory(
                    at: link.deletingLastPathComponent(), withIntermediateDirectories: true)
                try FileManager.default.linkItem(at: world.folder.appending(path: path), to: link)
            }
            let other = Synchronizer(processor: FolderMirror(of: world.listURL, in: copy))
            let (emptied, kept) = emptiesCopy ? (other, world.synchronizer) : (world.synchronizer, other)
            world.serve([])
            #expect(try await emptied.sync().deleted == 2)
            world.serve([("a", 2), ("b/c", 1)])
            let report = try await kept.sync()
            #expect(report.updated == 1 && report.unchanged == 1)
            #expect(try await emptied.sync().inserted == 2)
            #expect(try world.contents == ["a": "a 2", "b/c": "b/c 1"])
        }
    }
}
