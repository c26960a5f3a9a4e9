package import Foundation
package import HTTPTransfer
package import OneWayLoopbackServer
package import OneWaySynchronizer
package import OneWayTestSupport
import SyncBase
package import SyncFolder
import Testing

/// A server whose every reply a test scripts, and a mirror of it in a folder of its own.
package final class FolderWorld: Sendable {
    /// A reply for a path; nil is a 404.
    package typealias Script = @Sendable (LoopbackRequest) -> LoopbackResponse?

    package let server: LoopbackHTTPServer
    package let folder: URL
    package let synchronizer: Synchronizer<FolderMirror>
    package let listURL: URL
    /// The paths that were asked for, in order.
    package let requests: EventLog<String>
    /// Whether parts of downloads may remain in the end.
    package let keepsParts: Bool
    private let script: Scripted
    private let root: TemporaryDirectory

    private final class Scripted: Sendable {
        let script = Locked<Script>({ _ in nil })
    }

    private init(client: HTTPClient, keepsParts: Bool) throws {
        self.keepsParts = keepsParts
        let script = Scripted()
        let requests = EventLog<String>()
        server = try LoopbackHTTPServer { request in
            requests.append(request.path)
            return script.script.withLock(\.self)(request) ?? .status(404)
        }
        self.script = script
        self.requests = requests
        root = try TemporaryDirectory()
        folder = root.url.appending(path: "mirror", directoryHint: .isDirectory)
        listURL = try #require(URL(string: server.baseURL + "/list.json"))
        synchronizer = Synchronizer(
            processor: FolderMirror(of: listURL, in: folder, client: client),
            options: SyncOptions(concurrency: 2, downloadPreview: true))
    }

    /// Builds a world and takes it down again; nothing may be half downloaded by then.
    package static func with(
        limits: HTTPClient.Limits = HTTPClient.Limits(), keepsParts: Bool = false,
        _ body: (FolderWorld) async throws -> Void
    ) async throws {
        let client = HTTPClient(
            limits: limits, retry: RetryPolicy(maxAttempts: 2, baseDelay: .zero), connectionCount: 64)
        let world = try FolderWorld(client: client, keepsParts: keepsParts)
        do {
            try await body(world)
        } catch {
            await world.server.stop()
            throw error
        }
        await world.server.stop()
        #expect(world.files.allSatisfy { !$0.hasPrefix(".mirror/parts/") || world.keepsParts })
    }

    package func reply(_ script: @escaping Script) {
        self.script.script.withLock { $0 = script }
    }

    /// Serves a list of texts: every key's content is the key and its revision.
    package func serve(_ revisions: [(key: String, revision: Int)]) {
        serve(revisions) { _ in nil }
    }

    /// The same, but replies that `exception` gives come first.
    package func serve(_ revisions: [(key: String, revision: Int)], except exception: @escaping Script) {
        let entries = revisions.enumerated().map { index, item in
            ["key": item.key, "url": "items/\(index)", "revision": "\(item.revision)"]
        }
        let list = (try? JSONEncoder().encode(entries)) ?? Data()
        reply { request in
            if let reply = exception(request) { return reply }
            if request.path == "/list.json" { return .json(String(decoding: list, as: UTF8.self)) }
            guard let index = Int(request.path.dropFirst("/items/".count)), revisions.indices.contains(index) else {
                return nil
            }
            return .text("\(revisions[index].key) \(revisions[index].revision)")
        }
    }

    /// The mirror.
    package var mirror: FolderMirror { synchronizer.processor }

    /// A mirror of another process, so to speak.
    package func another(list: @escaping @Sendable () async throws -> SourceList<FolderItem>) -> FolderMirror {
        FolderMirror(in: folder, list: list)
    }

    /// Writes a file that is not the mirror's.
    package func write(_ text: String, to path: String) throws {
        let file = folder.appending(path: path)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
    }

    /// Runs a pass that must fail.
    package func failure() async throws -> SyncFailure {
        try await #require(throws: SyncFailure.self) { try await synchronizer.sync() }
    }

    /// Every file of the mirror, by its path in it.
    package var files: [String] {
        let paths = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
        return paths.filter { path in
            var isFolder: ObjCBool = false
            let file = folder.appending(path: path).path
            return FileManager.default.fileExists(atPath: file, isDirectory: &isFolder) && !isFolder.boolValue
        }
    }

    /// The contents, by the path of the file.
    package var contents: [String: String] {
        get throws {
            var contents: [String: String] = [:]
            for path in files where !path.hasPrefix(".mirror/") {
                contents[path] = try String(contentsOf: folder.appending(path: path), encoding: .utf8)
            }
            return contents
        }
    }

    /// The requests since the last time somebody asked, without the list's.
    package func transfers(after count: Int) -> [String] {
        requests.events.dropFirst(count).filter { $0 != "/list.json" }
    }
}
