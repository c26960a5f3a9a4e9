import Foundation
import HTTPTransfer
import OneWayLoopbackServer
import OneWaySynchronizer
import OneWayTestSupport
import Testing

struct Article: SyncItem, Decodable {
    let id: Int
    let modified: Double  // seconds since 1970
    var owsPrimaryKey: Int { id }
}

struct ArticleMirror: SyncProcessor {
    let api: URL
    let folder: URL
    let client = HTTPClient()

    func owsFetchSourceList() async throws -> SourceList<Article> {
        SourceList(try await JSONDecoder().decode([Article].self, from: Data(client.data(from: api))))
    }

    func owsGetLocalKeys() async throws -> Set<Int> {
        Set(try FileManager.default.contentsOfDirectory(atPath: folder.path).compactMap(Int.init))
    }

    func owsRemoveLocalItems(for keys: Set<Int>) async throws {
        for key in keys { try FileManager.default.removeItem(at: folder.appending(path: "\(key)")) }
    }

    func owsShouldUpdateItem(forKey key: Int, with item: Article) async throws -> Bool {
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.appending(path: "\(key)").path)
        return attributes[.modificationDate] as? Date ?? .distantPast < Date(timeIntervalSince1970: item.modified)
    }

    func owsDownloadItem(for item: Article) async throws {
        let content = try await client.data(from: api.appending(path: "\(item.id)"))
        try Data(content).write(to: folder.appending(path: "\(item.id)"), options: .atomic)
    }
}

@Suite struct ReadmeExample {
    private func withAPI(_ body: (URL, URL) async throws -> Void) async throws {
        let folder = try TemporaryDirectory()
        try await LoopbackHTTPServer.serving({ request in
            switch request.path {
            case "/articles":
                .json(#"[{"id": 1, "modified": 978307200}, {"id": 2, "modified": 32472144000}]"#)
            case "/articles/1": .text("one")
            case "/articles/2": .text("two")
            default: .status(404)
            }
        }) { server in
            try await body(try #require(URL(string: server.baseURL + "/articles")), folder.url)
        }
    }

    @Test func itMirrorsAnAPI() async throws {
        try await withAPI { api, folder in
            try Data("old".utf8).write(to: folder.appending(path: "3"))
            let synchronizer = Synchronizer(processor: ArticleMirror(api: api, folder: folder))
            let first = try await synchronizer.sync()
            #expect(first.inserted == 2 && first.removed == 1)
            #expect(try String(contentsOf: folder.appending(path: "2"), encoding: .utf8) == "two")
            let second = try await synchronizer.sync()
            #expect(
                second.updated == 1 && second.unchanged == 1,
                "one is older than its file, the other is from the future")
        }
    }

    @Test func itTakesOptions() async throws {
        try await withAPI { api, folder in
            let synchronizer = Synchronizer(
                processor: ArticleMirror(api: api, folder: folder),
                options: SyncOptions(concurrency: 8, removalLimit: RemovalLimit(fraction: 0.2), retry: RetryPolicy()))
            let report = try await synchronizer.sync()
            print(report)  // 120 listed: 3 inserted, 1 updated, 116 unchanged, 2 removed
            #expect(report.inserted == 2)
        }
    }
}
