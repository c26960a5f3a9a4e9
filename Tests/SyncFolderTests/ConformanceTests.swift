import Foundation
import OneWayFolderTestSupport
import OneWayLoopbackServer
import OneWaySynchronizer
import OneWayTestLimits
import SyncFolder
import SyncProcessorTesting
import Testing

/// The rules of processors.
@Suite(.endsInTime) struct ConformanceTests {
    /// Whether the list has revisions, or only the server knows what changed.
    @Test(arguments: [true, false]) func theMirrorConforms(hasRevisions: Bool) async throws {
        try await FolderWorld.with { world in
            world.reply { request in
                let version = request.query("v") ?? "1"
                let tag = "\"\(version)\""
                if request.header("if-none-match") == tag { return .status(304) }
                return .text("\(request.path) \(version)", headers: [("ETag", tag)])
            }
            func item(_ key: SyncKey, _ version: Int = 1) throws -> FolderItem {
                let url = try #require(URL(string: "\(world.server.baseURL)/x?v=\(version)"))
                return FolderItem(
                    key, at: url, revision: hasRevisions ? "\(version)" : nil, previewURL: key == "a" ? url : nil)
            }
            for downloadsPreviews in [true, false] {
                try await ProcessorConformance.check(
                    world.another { [] },
                    steps: [
                        .init([try item("a"), try item("s/b"), try item("s/t/c")]),
                        .init([try item("a", 2), try item("s"), try item("e\u{301}")], changedKeys: ["a"]),
                        .init([try item("\u{e9}"), try item("e\u{301}", 2), try item("s")], changedKeys: ["e\u{301}"]),
                    ], options: SyncOptions(downloadPreview: downloadsPreviews))
            }
        }
    }
}
