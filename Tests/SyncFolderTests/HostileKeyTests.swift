import Foundation
import OneWayFolderTestSupport
import OneWayLoopbackServer
import OneWaySynchronizer
import OneWayTestLimits
import OneWayTestSupport
import Testing

@testable import SyncFolder

/// Keys that try to leave the folder, or to meet in it.
@Suite(.endsInTime) struct HostileKeyTests {
    /// Keys that can all be stored together.
    static let keys = [
        "../../etc/passwd", ".", "q/..", "a/b", "/etc/passwd2", "\0", String(repeating: "k", count: 10_240), "CON",
        "nul.txt", "e\u{301}", "\u{e9}", "previews", ".mirror", ".mirror2/index", "c\nb", "\u{1B}[2J", "d.", "d ", " d",
        "x//y", "z/", "100%", "100%25", String(repeating: "\u{1F4F7}", count: 75), "f/g/h/i/j/k", "README.md",
        "../x/..", "w/../../v", "~root", "-rf *", "\u{202E}cod.exe", "a/.mirror/lock",
    ]

    @Test func everyKeyHasAFileInTheFolder() async throws {
        try await FolderWorld.with { world in
            world.serve(Self.keys.map { ($0, 1) })
            let report = try await world.synchronizer.sync()
            #expect(report.inserted == Self.keys.count)
            for key in Self.keys {
                let file = world.mirror.file(for: SyncKey(key))
                #expect(try Data(contentsOf: file) == Data("\(key) 1".utf8), "\(key.prefix(40).debugDescription)")
            }
            #expect(world.files.count { !$0.hasPrefix(".mirror/") } == Self.keys.count)
            let parent = world.folder.deletingLastPathComponent()
            #expect(try FileManager.default.contentsOfDirectory(atPath: parent.path) == ["mirror"])
            #expect(try await world.synchronizer.sync().unchanged == Self.keys.count)
            world.serve([])
            #expect(try await world.synchronizer.sync().deleted == Self.keys.count)
            #expect(Set(world.files) == [".mirror/lock", ".mirror/index"])
            let names = try FileManager.default.contentsOfDirectory(atPath: world.folder.path)
            #expect(names == [".mirror"])
        }
    }

    @Test(arguments: [500, 20_000]) func aDeepKeyIsStored(depth: Int) async throws {
        try await FolderWorld.with { world in
            let key = String(repeating: "a/", count: depth) + "b"
            world.serve([(key, 1)])
            try await world.synchronizer.sync()
            #expect(try await world.synchronizer.sync().unchanged == 1)
            world.serve([])
            try await world.synchronizer.sync()
            #expect(try FileManager.default.contentsOfDirectory(atPath: world.folder.path) == [".mirror"])
        }
    }

    @Test func collisionsEndThePassBeforeAnythingIsChanged() async throws {
        try await FolderWorld.with { world in
            world.serve([("a", 1), ("b", 1)])
            try await world.synchronizer.sync()
            let files = world.files
            let count = world.requests.events.count
            world.serve([("c", 1), ("b/x", 1), ("b", 2)])
            let failure = try await world.failure()
            #expect(failure.errors.first?.stage == .list)
            #expect(failure.description == #"list: "b" and "b/x" cannot be files of one folder"#)
            #expect(world.files == files && world.transfers(after: count).isEmpty)
            #expect(try world.contents == ["a": "a 1", "b": "b 1"])
        }
    }

    /// The old file is where a folder of the new one has to be, and the reverse.
    @Test(arguments: [SyncOptions.RemovalOrder.beforeDownloads, .afterDownloads])
    func aFileBecomesAFolderAndTheReverse(_ order: SyncOptions.RemovalOrder) async throws {
        try await FolderWorld.with { world in
            world.synchronizer.options.removalOrder = order
            world.serve([("a", 1), ("b/c/d", 1), ("b/e", 1)])
            try await world.synchronizer.sync()
            world.serve([("a/x/y", 1), ("b", 1)])
            try await world.synchronizer.sync()
            #expect(try world.contents == ["a/x/y": "a/x/y 1", "b": "b 1"])
            #expect(try await world.synchronizer.sync().unchanged == 2)
        }
    }

    @Test func aListThatChangesWhileItIsMirroredIsMirroredNextTime() async throws {
        try await FolderWorld.with { world in
            world.synchronizer.options.stopOnError = false
            world.synchronizer.options.concurrency = 1
            world.serve([("a", 1), ("b", 1), ("c", 1)])
            try await world.synchronizer.sync()
            // The second content changes the source under the pass.
            world.serve([("a", 2), ("b", 2), ("c", 2)]) { request in
                if request.path == "/items/1" { world.serve([("b", 3), ("d", 3)]) }
                return nil
            }
            _ = try? await world.synchronizer.sync()
            try await world.synchronizer.sync()
            #expect(try world.contents == ["b": "b 3", "d": "d 3"])
        }
    }
}
