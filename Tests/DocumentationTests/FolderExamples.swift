import Foundation
import HTTPTransfer
import OneWayLoopbackServer
import OneWaySynchronizer
import OneWayTestSupport
import SyncFolder
import Testing

private struct Photo: Decodable {
    var path: String
    var address: URL
    var version: String
    var size: Int
}

/// The documentation of mirrored folders.
@Suite struct FolderExamples {
    private let root: TemporaryDirectory

    init() throws {
        root = try TemporaryDirectory()
    }

    @Test func aListIsMirrored() async throws {
        let folder = root.url.appending(path: "folder")
        try await LoopbackHTTPServer.serving({ request in
            request.path == "/list" ? .json(#"[{"key": "docs/a.txt", "url": "items/17"}]"#) : .text("hello")
        }) { server in
            let list = try #require(URL(string: server.baseURL + "/list"))
            let mirror = FolderMirror(of: list, in: folder)
            let synchronizer = Synchronizer(
                processor: mirror,
                options: SyncOptions(
                    concurrency: 8, removalLimit: RemovalLimit(fraction: 0.2, atLeast: 10), retry: RetryPolicy()))
            let report = try await synchronizer.sync()
            print(report)  // 120 listed: 3 inserted, 1 updated, 116 unchanged, 2 removed
            for note in mirror.takeNotes() { print(note) }
            #expect(report.inserted == 1)
            #expect(try String(contentsOf: folder.appending(path: "docs/a.txt"), encoding: .utf8) == "hello")
        }
    }

    @Test func aFunctionLists() async throws {
        let folder = root.url.appending(path: "folder")
        try await LoopbackHTTPServer.serving({ request in
            guard request.path == "/photos" else { return .text("hello") }
            let address = "http://" + (request.header("host") ?? "") + "/1"
            return .json(#"[{"path": "a.jpg", "address": "\#(address)", "version": "1", "size": 5}]"#)
        }) { server in
            let api = try #require(URL(string: server.baseURL + "/photos"))
            let client = HTTPClient()
            let mirror = FolderMirror(in: folder) {
                let photos = try await JSONDecoder().decode([Photo].self, from: Data(client.data(from: api)))
                return SourceList(
                    photos.map {
                        FolderItem(SyncKey($0.path), at: $0.address, revision: $0.version, byteCount: $0.size)
                    })
            }
            #expect(try await Synchronizer(processor: mirror).sync().inserted == 1)
        }
    }
}
