import Foundation
import HTTPSource
import JSONMapper
import OneWayLoopbackServer
import OneWayTestLimits
import OneWayTestSupport
import StoreSync
import SyncBase
import SyncModel
import SyncStore
import Testing

@testable import Demo

/// The objects from which the model of a server's list is made.
@Suite(.endsInTime) struct ObjectSampleTests {
    private struct User: SyncObject {
        var id: Int
        var name: String
    }

    /// What follows a sample within its page is read by the sync.
    @Test(arguments: [1, 60, 1 << 20]) func aSampleEndsAnywhere(byteLimit: Int) async throws {
        let rows: @Sendable (ClosedRange<Int>) -> String = { ids in
            "[" + ids.map { #"{"id":\#($0),"name":"user \#($0)"}"# }.joined(separator: ",") + "]"
        }
        let handler: LoopbackHTTPServer.Handler = { request in
            switch request.query("page") {
            case "1": .json(rows(1...400))
            case "2": .json(rows(401...500))
            default: .json("[]")
            }
        }
        try await LoopbackHTTPServer.serving(handler) { server in
            let url = try #require(URL(string: "\(server.baseURL)/users"))
            let source = SampledSource(HTTPJSONSource(url, api: HTTPAPI(pages: .page(parameter: "page"))))
            let sample = try await source.sample(at: "", into: ObjectSample(byteLimit: byteLimit))
            #expect(try sample.reader.next { try $0.rawValue().withUTF8 { $0.count } } ?? 0 > 15)
            let store = try MemoryStore(User.self)
            #expect(try await store.sync(User.self, from: source).counts.inserted == 500)
            #expect(try await store.sync(User.self, from: source).counts.unchanged == 500)
        }
    }

    /// The sample ends within a page or between two pages.
    @Test(arguments: [(1, 1, true), (3, 3, true), (4, 4, true), (5, 5, true), (6, 5, false)])
    func aSampleHasTheObjectsThatAreAskedFor(limit: Int, count: Int, isLimited: Bool) async throws {
        let handler: LoopbackHTTPServer.Handler = { request in
            switch request.query("page") {
            case "1": .json(#"[{"id":1,"name":"a"},{"id":2,"name":"b"},{"id":3,"name":"c"}]"#)
            case "2": .json(#"[{"id":4,"name":"d"},{"id":5,"name":"e"}]"#)
            default: .json("[]")
            }
        }
        try await LoopbackHTTPServer.serving(handler) { server in
            let url = try #require(URL(string: "\(server.baseURL)/users"))
            let source = SampledSource(HTTPJSONSource(url, api: HTTPAPI(pages: .page(parameter: "page"))))
            let sample = try await source.sample(at: "", into: ObjectSample(objectLimit: limit))
            #expect(sample.objectCount == count)
            let extent = isLimited ? SampleExtent(objectCount: count, limit: .objects) : nil
            #expect(sample.extent == extent)
            let store = try MemoryStore(User.self)
            #expect(try await store.sync(User.self, from: source).counts.inserted == 5)
        }
    }

    /// A server that answers each page with the same objects never has as many as are asked for.
    @Test func aSampleOfRepeatedPagesEnds() async throws {
        var sample = ObjectSample(objectLimit: 10)
        for page in 0...ObjectSample.pageLimit {
            #expect(!sample.isFull, "\(page)")
            let chunks = ErasedSequence(elements: [Array(#"[{"id":1},{"id":2}]"#.utf8)])
            _ = try await sample.add(chunks.makeAsyncIterator(), layout: .array())
        }
        #expect(sample.objectCount == 2)
        #expect(sample.extent == SampleExtent(objectCount: 2, limit: .pages(ObjectSample.pageLimit + 1)))
    }

    /// What is read is kept for the sync, and blanks have no end.
    @Test func aSampleOfBlanksEnds() async throws {
        let blanks = [UInt8](repeating: UInt8(ascii: " "), count: 1_000)
        let chunks: [[UInt8]] = [Array("[".utf8)] + Array(repeating: blanks, count: 100) + [Array("{}]".utf8)]
        var sample = ObjectSample(readByteLimit: 10_000)
        let bytes = try await sample.add(
            ErasedSequence(elements: chunks).makeAsyncIterator(), layout: .array())
        #expect(bytes.count == 10_001)
        #expect(sample.isFull)
        let full = sample
        let error = #expect(throws: ObjectSample.NoObject.self) { try full.checkObjects() }
        #expect(error?.description.hasPrefix("the first 0.0 MB of the JSON have no whole object") == true)
    }

    /// An object that comes again unchanged hides no key. Whether the list can be complete is
    /// another question, which the user answers.
    @Test func pagesThatOverlapHaveAKey() async throws {
        let pages = Locked([[1, 2, 3], [3, 4, 5]])
        let handler: LoopbackHTTPServer.Handler = { request in
            let page = Int(request.query("page") ?? "") ?? 0
            let ids = pages.withLock { $0.indices.contains(page - 1) ? $0[page - 1] : [] }
            return .json("[\(ids.map { #"{"id":\#($0),"name":"user \#($0)"}"# }.joined(separator: ","))]")
        }
        let folder = try TemporaryDirectory()
        let store = "sqlite:\(folder.url.appending(path: "users.sqlite").path)"
        try await LoopbackHTTPServer.serving(handler) { server in
            let arguments = [
                "sync", "\(server.baseURL)/users", "--entity", "User", "--store", store, "--pages", "page:page",
            ]
            #expect(await CommandRun(arguments).counts(of: "User") == [5, 0, 0, 0])
            pages.withLock { $0 = [[1, 2, 3], [3, 4]] }
            let doubtful = await CommandRun(arguments)
            #expect(doubtful.counts(of: "User") == [0, 0, 4, 0], "\(doubtful.errors)")
            #expect(doubtful.output.contains("repeat objects of earlier pages"), "\(doubtful.output)")
            let sure = await CommandRun(arguments + ["--snapshot"])
            #expect(sure.counts(of: "User") == [0, 0, 4, 1], "\(sure.errors)")
        }
    }
}
