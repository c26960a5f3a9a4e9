import SyncBase
import Foundation
import HTTPTransfer
import OneWayLoopbackServer
import OneWaySynchronizer
import OneWayTestSupport
import Testing

@testable import Demo

/// A server whose every reply a test scripts, and a mirror of it in a folder of its own.
final class MirrorWorld: Sendable {
    /// A reply for a path; nil is a 404.
    typealias Script = @Sendable (LoopbackRequest) -> LoopbackResponse?

    let server: LoopbackHTTPServer
    let folder: MirrorFolder
    let synchronizer: Synchronizer<MirrorProcessor>
    let listURL: URL
    /// The paths that were asked for, in order.
    let requests: EventLog<String>
    private let script: Scripted
    private let root: TemporaryDirectory

    private final class Scripted: Sendable {
        let script = Locked<Script>({ _ in nil })
    }

    private init(limits: HTTPClient.Limits, client: HTTPClient) throws {
        let script = Scripted()
        let requests = EventLog<String>()
        server = try LoopbackHTTPServer { request in
            requests.append(request.path)
            return script.script.withLock(\.self)(request) ?? .status(404)
        }
        self.script = script
        self.requests = requests
        root = try TemporaryDirectory()
        folder = MirrorFolder(url: root.url.appending(path: "mirror"))
        listURL = try #require(URL(string: server.baseURL + "/list.json"))
        synchronizer = Synchronizer(
            processor: MirrorProcessor(listURL: listURL, folder: folder, client: client),
            options: SyncOptions(concurrency: 2, downloadPreview: true))
    }

    /// Builds a world and takes it down again; nothing may be half downloaded by then.
    static func with(
        limits: HTTPClient.Limits = HTTPClient.Limits(), _ body: (MirrorWorld) async throws -> Void
    ) async throws {
        let client = MirrorProcessor.client(limits: limits)
        let world = try MirrorWorld(limits: limits, client: client)
        do {
            try await body(world)
        } catch {
            await world.server.stop()
            throw error
        }
        await world.server.stop()
        #expect(world.files.allSatisfy { !$0.hasPrefix(".mirror/incoming/") })
    }

    func reply(_ script: @escaping Script) {
        self.script.script.withLock { $0 = script }
    }

    /// Serves a list of texts: every key's content is the key and its revision.
    func serve(_ revisions: [(key: String, revision: Int)]) {
        serve(revisions) { _ in nil }
    }

    /// The same, but replies that `exception` gives come first.
    func serve(_ revisions: [(key: String, revision: Int)], except exception: @escaping Script) {
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

    /// Runs a pass that must fail.
    func failure() async throws -> SyncFailure {
        try await #require(throws: SyncFailure.self) { try await synchronizer.sync() }
    }

    /// Every file of the mirror, by its path in it.
    var files: [String] {
        let paths = FileManager.default.enumerator(atPath: folder.url.path)?.compactMap { $0 as? String } ?? []
        return paths.filter { path in
            var isFolder: ObjCBool = false
            let file = folder.url.appending(path: path).path
            return FileManager.default.fileExists(atPath: file, isDirectory: &isFolder) && !isFolder.boolValue
        }
    }

    /// The contents, by file name.
    var contents: [String: String] {
        get throws {
            var contents: [String: String] = [:]
            for path in files where !path.hasPrefix(".mirror") && !path.hasPrefix("previews") {
                contents[path] = try String(contentsOf: folder.url.appending(path: path), encoding: .utf8)
            }
            return contents
        }
    }

    /// The requests since the last time somebody asked, without the list's.
    func transfers(after count: Int) -> [String] {
        requests.events.dropFirst(count).filter { $0 != "/list.json" }
    }
}
