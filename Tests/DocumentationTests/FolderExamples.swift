import Foundation
import HTTPTransfer
import OneWayLoopbackServer
import OneWaySynchronizer
import OneWayTestLimits
import OneWayTestSupport
import SyncBase
import SyncFolder
import Testing

private struct Photo: Decodable {
    var path: String
    var address: URL
    var version: String
    var size: Int
}

struct Bucket {
    let address: URL
    let signature: AWSSignature
    let objects: @Sendable () async throws -> [(key: String, tag: String, size: Int)]

    func mirror(into folder: URL) async throws -> SyncReport {
        let client = FolderMirror.client(sign: { [signature] in signature.sign(&$0) })
        let mirror = FolderMirror(in: folder, client: client) { [address, objects] in
            SourceList(
                try await objects().map { object in
                    FolderItem(
                        SyncKey(object.key), at: address.appending(path: object.key), revision: object.tag,
                        byteCount: object.size, previewURL: address.appending(path: "previews/\(object.key)"))
                })
        }
        let synchronizer = Synchronizer(
            processor: mirror,
            options: SyncOptions(
                concurrency: 16, downloadPreview: true, removalLimit: RemovalLimit(fraction: 0.2, atLeast: 10),
                retry: RetryPolicy(maxAttempts: 5)))
        let events = synchronizer.events
        let bar = Task { for await case .progress(let progress) in events { show(progress) } }
        defer { bar.cancel() }
        let lease = FileLease(at: folder.appendingPathExtension("lease"))
        let report = try await lease.withLease(waiting: .upTo(.seconds(60))) { try await synchronizer.sync() }
        for note in mirror.takeNotes() { print(note) }
        return report
    }

    func show(_ progress: SyncStatus.Progress) {
        let total = max(progress.total ?? 0, progress.done, 1)
        let width = 40 * progress.done / total
        let bar = String(repeating: "#", count: width) + String(repeating: ".", count: 40 - width)
        print("\r\(progress.stage.rawValue) \(bar) \(progress.done) of \(total)", terminator: "")
    }
}

/// The documentation of mirrored folders.
@Suite(.endsInTime) struct FolderExamples {
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
            print(report)  // 120 listed: 3 inserted, 1 updated, 116 unchanged, 2 deleted
            for note in mirror.takeNotes() { print(note) }
            #expect(report.inserted == 1)
            #expect(try String(contentsOf: folder.appending(path: "docs/a.txt"), encoding: .utf8) == "hello")
        }
    }

    @Test func aBucketIsMirrored() async throws {
        let folder = root.url.appending(path: "bucket")
        let failures = Locked(3)
        try await LoopbackHTTPServer.serving({ request in
            guard request.header("authorization")?.hasPrefix("AWS4-HMAC-SHA256 Credential=key/") == true else {
                return .status(403)
            }
            let isBusy = failures.withLock { count in
                count -= 1
                return count >= 0
            }
            return isBusy ? .status(503, headers: [("Retry-After", "0")]) : .text(request.path)
        }) { server in
            let bucket = Bucket(
                address: try #require(URL(string: server.baseURL)),
                signature: AWSSignature(accessKey: "key", secretKey: "secret", region: "us-east-1"),
                objects: { (0..<50).map { (key: "photos/\($0).jpg", tag: "1", size: "/photos/\($0).jpg".count) } })
            #expect(try await bucket.mirror(into: folder).inserted == 50)
            #expect(try await bucket.mirror(into: folder).unchanged == 50)
            let file = folder.appending(path: "photos/7.jpg")
            #expect(try String(contentsOf: file, encoding: .utf8) == "/photos/7.jpg")
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
