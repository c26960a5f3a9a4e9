import Foundation
import HTTPTransfer
import OneWayLoopbackServer
import OneWaySynchronizer
import OneWayTestLimits
import OneWayTestSupport
import SyncProcessorTesting
import Testing

struct Article: SyncItem, Decodable {
    let id: Int
    let modified: Int  // milliseconds since 1970
    var owsPrimaryKey: Int { id }
}

struct ArticleMirror: SyncProcessor {
    let api: URL
    let folder: URL
    let client = HTTPClient()

    func owsSyncBegin() async throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    func owsFetchSourceList() async throws -> SourceList<Article> {
        SourceList(try await JSONDecoder().decode([Article].self, from: Data(client.data(from: api))))
    }

    func owsGetLocalKeys() async throws -> Set<Int> {
        // `plan()` makes no folder.
        guard FileManager.default.fileExists(atPath: folder.path) else { return [] }
        return Set(try FileManager.default.contentsOfDirectory(atPath: folder.path).compactMap(Int.init))
    }

    func owsRemoveLocalItems(for keys: Set<Int>) async throws {
        for file in keys.map(file) where FileManager.default.fileExists(atPath: file.path) {
            try FileManager.default.removeItem(at: file)
        }
    }

    func owsShouldUpdateItem(forKey key: Int, with item: Article) async throws -> Bool {
        let attributes = try FileManager.default.attributesOfItem(atPath: file(key).path)
        let seconds = (attributes[.modificationDate] as? Date)?.timeIntervalSince1970
        return seconds.map { Int(($0 * 1000).rounded()) } != item.modified
    }

    func owsDownloadItem(for item: Article) async throws {
        let content = try await client.data(from: api.appending(path: "\(item.id)"))
        try Data(content).write(to: file(item.id), options: .atomic)
        // The date of the listed version. If the process ends before, the article is downloaded
        // again.
        let date = Date(timeIntervalSince1970: Double(item.modified) / 1000)
        try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: file(item.id).path)
    }

    private func file(_ key: Int) -> URL { folder.appending(path: "\(key)") }
}

@Suite(.endsInTime) struct ReadmeExample {
    private func withAPI(_ body: (URL, URL) async throws -> Void) async throws {
        let folder = try TemporaryDirectory()
        try await LoopbackHTTPServer.serving({ request in
            switch request.path {
            case "/articles":
                .json(#"[{"id": 1, "modified": 978307200123}, {"id": 2, "modified": 4102444800456}]"#)
            case "/articles/1": .text("one")
            case "/articles/2": .text("two")
            default: .status(404)
            }
        }) { server in
            let api = try #require(URL(string: server.baseURL + "/articles"))
            try await body(api, folder.url.appending(path: "articles"))
        }
    }

    @Test func itMirrorsAnAPI() async throws {
        try await withAPI { api, folder in
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try Data("old".utf8).write(to: folder.appending(path: "3"))
            let synchronizer = Synchronizer(processor: ArticleMirror(api: api, folder: folder))
            let first = try await synchronizer.sync()
            #expect(first.inserted == 2 && first.deleted == 1)
            #expect(try String(contentsOf: folder.appending(path: "2"), encoding: .utf8) == "two")
            let second = try await synchronizer.sync()
            #expect(second.unchanged == 2, "one is older than its file, the other is from the future")
        }
    }

    @Test func itConforms() async throws {
        try await withAPI { api, folder in
            func article(_ id: Int, _ modified: Int) -> Article { Article(id: id, modified: modified) }
            try await ProcessorConformance.check(
                ArticleMirror(api: api, folder: folder),
                steps: [
                    .init([article(1, 978_307_200_123), article(2, 978_307_200_123)]),
                    // Neither the clock of this machine nor the order of the versions matters.
                    .init([article(1, 978_307_200_124), article(2, 978_307_100_000)], changedKeys: [1, 2]),
                    .init([article(2, 978_307_100_000)]),
                ])
        }
    }

    @Test func itTakesOptions() async throws {
        try await withAPI { api, folder in
            let synchronizer = Synchronizer(
                processor: ArticleMirror(api: api, folder: folder),
                options: SyncOptions(
                    concurrency: 8, removalLimit: RemovalLimit(fraction: 0.2, atLeast: 10), retry: RetryPolicy()))
            let report = try await synchronizer.sync()
            print(report)  // 120 listed: 3 inserted, 1 updated, 116 unchanged, 2 deleted
            #expect(report.inserted == 2)
        }
    }
}
