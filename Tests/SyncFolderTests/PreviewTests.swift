import Foundation
import HTTPTransfer
import OneWayFolderTestSupport
import OneWayLoopbackServer
import OneWaySynchronizer
import OneWayTestLimits
import OneWayTestSupport
import SyncBase
import Testing

@testable import SyncFolder

/// Previews that the server does not have.
@Suite(.endsInTime) struct PreviewTests {
    private let preview = Locked<String?>(nil)

    /// Serves an item whose preview may be missing.
    private func serve(_ world: FolderWorld, revision: Int? = 1) {
        let listed = revision.map { #", "revision": \#($0)"# } ?? ""
        world.reply { request in
            switch request.path {
            case "/list.json": .json(#"[{"key": "a", "url": "/c"\#(listed), "preview_url": "/p"}]"#)
            case "/c" where request.header("if-none-match") == "\"1\"": .status(304)
            case "/c": .text("content", headers: [("ETag", "\"1\"")])
            case "/p": preview.withLock(\.self).map { .text($0) }
            default: nil
            }
        }
    }

    /// With previews in a stage of their own and without, listed with a revision and without.
    @Test(arguments: [true, false], [1, nil] as [Int?])
    func aFileIsStoredWithoutItsPreview(isOwnStage: Bool, revision: Int?) async throws {
        try await FolderWorld.with { world in
            world.synchronizer.options.downloadPreview = isOwnStage
            world.synchronizer.options.stopOnError = false
            serve(world, revision: revision)
            let failure = try await world.failure()
            #expect(failure.errors.map(\.stage) == [isOwnStage ? .preview : .content])
            #expect(failure.errors.first.map { "\($0)".contains("/p") } == true)
            #expect(try String(contentsOf: world.mirror.file(for: "a"), encoding: .utf8) == "content")
            // Only what is missing is requested again.
            let count = world.requests.events.count
            preview.withLock { $0 = "preview" }
            #expect(try await world.synchronizer.sync().updated == 1)
            #expect(try String(contentsOf: world.mirror.previewFile(for: "a"), encoding: .utf8) == "preview")
            if revision != nil { #expect(world.transfers(after: count) == ["/p"]) }
            #expect(try await world.synchronizer.sync().unchanged == 1)
        }
    }

    /// The content ends the doubt about an item, so that a doubted preview may not stay.
    @Test(arguments: [true, false]) func aDoubtedPreviewGoesIfItDoesNotComeAgain(isOwnStage: Bool) async throws {
        try await FolderWorld.with { world in
            world.synchronizer.options.downloadPreview = isOwnStage
            world.synchronizer.options.stopOnError = false
            serve(world)
            preview.withLock { $0 = "preview" }
            try await world.synchronizer.sync()
            let index = world.folder.appending(path: ".mirror/index")
            let lines: [IndexLine] = [.boot("another"), .planned("a")]
            let doubt = lines.flatMap(\.bytes)
            try Data(try Data(contentsOf: index) + doubt).write(to: index)
            preview.withLock { $0 = nil }
            _ = try await world.failure()
            #expect(!FileManager.default.fileExists(atPath: world.mirror.previewFile(for: "a").path))
            preview.withLock { $0 = "preview" }
            #expect(try await world.synchronizer.sync().updated == 1)
            #expect(try await world.synchronizer.sync().unchanged == 1)
        }
    }

    @Test func aCancelledPreviewIsFollowedByNoContent() async throws {
        try await FolderWorld.with { world in
            let synchronizer = world.synchronizer
            synchronizer.options.downloadPreview = false
            world.reply { request in
                switch request.path {
                case "/list.json": return .json(#"[{"key": "a", "url": "/c", "revision": 1, "preview_url": "/p"}]"#)
                case "/p":
                    synchronizer.cancel()
                    return .stream(byteCount: 10) { try $0.write(Array("half".utf8)) }
                default: return .text("content")
                }
            }
            let failure = try await world.failure()
            #expect(failure.isCancelled)
            #expect(!world.requests.events.contains("/c"))
        }
    }
}
