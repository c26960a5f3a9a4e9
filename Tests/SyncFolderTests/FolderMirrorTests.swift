import OneWayTestLimits
import SyncBase
import Foundation
import HTTPTransfer
import OneWayFolderTestSupport
import OneWayLoopbackServer
import OneWaySynchronizer
import OneWayTestSupport
import Testing

@testable import SyncFolder

@Suite(.endsInTime) struct FolderMirrorTests {
    // MARK: The work

    @Test func aMirrorEqualsItsSource() async throws {
        try await FolderWorld.with { world in
            world.serve([("a", 1), ("b", 1)])
            let report = try await world.synchronizer.sync()
            #expect(report.inserted == 2)
            #expect(try world.contents == ["a": "a 1", "b": "b 1"])
        }
    }

    /// The addresses of a list are those of its server, whoever asks for it.
    @Test func theUserOfTheListsAddressIsSentWithItsItems() async throws {
        try await FolderWorld.with { world in
            let basic = "Basic " + Data("me:pw".utf8).base64EncodedString()
            let base = world.server.baseURL
            world.reply { request in
                guard request.header("authorization") == basic else { return .text("who?", status: 401) }
                let list = #"[{"key": "a", "url": "/c"}, {"key": "b", "url": "\#(base)/c"}]"#
                return request.path == "/c" ? .text("content") : .json(list)
            }
            let url = try #require(URL(string: base.replacing("http://", with: "http://me:pw@") + "/list.json"))
            let processor = FolderMirror(of: url, in: world.folder)
            #expect(try await Synchronizer(processor: processor).sync().inserted == 2)
        }
    }

    /// Other servers get neither the header fields nor the user of the list.
    @Test func anotherServerGetsNoHeaderFields() async throws {
        let fields = Locked<[[String?]]>([])
        let names = ["authorization", "x-key"]
        try await LoopbackHTTPServer.serving({ request in
            fields.withLock { $0.append(names.map { request.header($0) }) }
            return .text("content")
        }) { other in
            try await FolderWorld.with { world in
                let own = Locked<[[String?]]>([])
                world.reply { request in
                    own.withLock { $0.append(names.map { request.header($0) }) }
                    guard request.path == "/list.json" else { return .text("content") }
                    return .json(#"[{"key": "a", "url": "\#(other.baseURL)/a"}, {"key": "b", "url": "/b"}]"#)
                }
                let base = world.server.baseURL.replacing("http://", with: "http://me:pw@")
                var headers = HTTPHeaders()
                headers["X-Key"] = "secret"
                let mirror = FolderMirror(
                    of: try #require(URL(string: base + "/list.json")), in: world.folder, headers: headers)
                #expect(try await Synchronizer(processor: mirror).sync().inserted == 2)
                #expect(own.withLock { $0 }.count == 2)
                #expect(own.withLock { $0 }.allSatisfy { $0[0]?.hasPrefix("Basic ") == true && $0[1] == "secret" })
                #expect(fields.withLock { $0 } == [[nil, nil]])
            }
        }
    }

    @Test func whatIsUnchangedIsNotFetchedAgain() async throws {
        try await FolderWorld.with { world in
            world.serve([("a", 1), ("b", 1)])
            try await world.synchronizer.sync()
            let count = world.requests.events.count
            let report = try await world.synchronizer.sync()
            #expect(report.unchanged == 2)
            #expect(world.transfers(after: count).isEmpty)
        }
    }

    @Test func onlyTheDifferenceIsTransferred() async throws {
        try await FolderWorld.with { world in
            world.serve([("a", 1), ("b", 1), ("c", 1)])
            try await world.synchronizer.sync()
            let count = world.requests.events.count
            world.serve([("a", 1), ("b", 2), ("d", 1)])
            let report = try await world.synchronizer.sync()
            #expect(report.inserted == 1 && report.updated == 1 && report.deleted == 1 && report.unchanged == 1)
            #expect(try world.contents == ["a": "a 1", "b": "b 2", "d": "d 1"])
            #expect(Set(world.transfers(after: count)) == ["/items/1", "/items/2"])
        }
    }

    @Test func aDryRunChangesNothing() async throws {
        try await FolderWorld.with { world in
            world.serve([("a", 1), ("b", 1)])
            #expect(try await world.synchronizer.plan().counts == [.insert: 2])
            #expect(!FileManager.default.fileExists(atPath: world.folder.path))
            try await world.synchronizer.sync()
            let files = world.files
            world.serve([("a", 2), ("c", 1)])
            let plan = try await world.synchronizer.plan()
            #expect(plan.counts == [.insert: 1, .update: 1, .delete: 1])
            #expect(world.files == files)
        }
    }

    @Test func previewsAreKeptBesideTheContents() async throws {
        try await FolderWorld.with { world in
            world.reply { request in
                switch request.path {
                case "/list.json": .json(#"[{"key": "a", "url": "/c", "revision": 1, "preview_url": "/p"}]"#)
                case "/c": .text("content")
                case "/p": .text("preview")
                default: nil
                }
            }
            try await world.synchronizer.sync()
            let preview = world.mirror.previewFile(for: "a")
            #expect(try String(contentsOf: preview, encoding: .utf8) == "preview")
            #expect(world.transfers(after: 0) == ["/p", "/c"])
            world.serve([])
            try await world.synchronizer.sync()
            #expect(Set(world.files) == [".mirror/lock", ".mirror/index"])
        }
    }

    @Test func anEmptyContentIsAContent() async throws {
        try await FolderWorld.with { world in
            world.serve([("a", 1)]) { $0.path == "/items/0" ? .bytes([]) : nil }
            try await world.synchronizer.sync()
            #expect(try world.contents == ["a": ""])
            #expect(try await world.synchronizer.sync().unchanged == 1)
        }
    }

    // MARK: Bad servers, when they list

    /// A way in which a server fails to list, and what the error must say after the URL.
    struct BadList: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let message: String
        let reply: @Sendable () -> LoopbackResponse
    }

    static let badLists = [
        BadList(
            testDescription: "a length beyond 64 bits", message: "the response is unusable: the length of the body"
        ) {
            .garbage(Array("HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999\r\n\r\n[]".utf8))
        },
        BadList(testDescription: "404", message: "status 404") { .text("no such list", status: 404) },
        BadList(testDescription: "500", message: "status 500") { .status(500) },
        BadList(testDescription: "429", message: "status 429, asks to wait 7 s") {
            .status(429, headers: [("Retry-After", "7")])
        },
        BadList(testDescription: "cut short", message: "the body was cut short after 2 of 100 bytes") {
            .cutShort(Array("[]".utf8), promising: 100)
        },
        BadList(testDescription: "cut short, chunked", message: "the body was cut short after 2 bytes") {
            .cutShortChunked(Array("[]".utf8))
        },
        BadList(testDescription: "never ends", message: "the body is longer than 50000 bytes") { .endless() },
        BadList(testDescription: "never ends, in JSON", message: "the body is longer than 50000 bytes") {
            .endless(of: Array("[],".utf8) + Array(repeating: 0x20, count: 5_000))
        },
        BadList(testDescription: "not JSON", message: "the list is not JSON") {
            .json("hello")
        },
        BadList(testDescription: "half a JSON", message: "the list is not JSON") { .json("[{") },
        BadList(testDescription: "another shape", message: "the list: expected an array") { .json(#"{"items": []}"#) },
        BadList(testDescription: "an entry of another shape", message: "[0].url: is missing") {
            .json(#"[{"key": "a"}]"#)
        },
        BadList(testDescription: "HTML", message: "it is an HTML page, but not an index of a folder") {
            .text("<html>\nPlease log in</html>", type: "text/html")
        },
        BadList(testDescription: "not ready", message: "status 202, a body that is not ready yet") {
            .text("[]", status: 202)
        },
        BadList(testDescription: "changed by a proxy", message: "status 203, a body that was changed on its way") {
            .text("[]", status: 203)
        },
        BadList(testDescription: "gzip that is cut", message: "the body was cut short after 17 bytes") {
            .gzippedJSON("[]", byteCount: 17)
        },
        BadList(testDescription: "closes", message: "no usable reply") { .closing },
        BadList(testDescription: "garbage", message: "") { .garbage(Array("\u{1}\u{2}\u{3}\r\n\r\n".utf8)) },
    ]

    @Test(arguments: badLists)
    func aBadListIsAClearErrorAndRemovesNothing(_ bad: BadList) async throws {
        var limits = HTTPClient.Limits()
        limits.bodyByteCount = 50_000
        try await FolderWorld.with(limits: limits) { world in
            world.serve([("a", 1), ("b", 1)])
            try await world.synchronizer.sync()
            let files = world.files
            world.serve([]) { request in request.path == "/list.json" ? bad.reply() : nil }
            let failure = try await world.failure()
            #expect(failure.errors.count == 1)
            let error = try #require(failure.errors.first)
            #expect(error.stage == .list)
            let prefix = "list: \(world.listURL.absoluteString): \(bad.message)"
            #expect(error.description.hasPrefix(prefix), "\(error)")
            #expect(!error.description.contains("\n"))
            #expect(world.files == files)
            #expect(try world.contents == ["a": "a 1", "b": "b 1"])
        }
    }

    @Test func aServerThatIsGoneIsAClearErrorAndRemovesNothing() async throws {
        try await FolderWorld.with { world in
            world.serve([("a", 1)])
            try await world.synchronizer.sync()
            let files = world.files
            let refusal = try LoopbackRefusal()
            let processor = FolderMirror(
                of: try #require(URL(string: refusal.baseURL + "/list.json")), in: world.folder)
            let failure = try await #require(throws: SyncFailure.self) {
                try await Synchronizer(processor: processor).sync()
            }
            #expect(failure.description == "list: \(refusal.baseURL)/list.json: cannot connect")
            #expect(world.files == files)
            withExtendedLifetime(refusal) {}
        }
    }

    @Test func duplicateKeysAreAClearErrorAndRemoveNothing() async throws {
        try await FolderWorld.with { world in
            world.serve([("a", 1)])
            try await world.synchronizer.sync()
            world.serve([("b", 1), ("c", 1), ("b", 2)])
            let failure = try await world.failure()
            #expect(failure.description.hasSuffix(#"the source lists keys more than once: "b""#))
            #expect(try world.contents == ["a": "a 1"])
        }
    }

    // MARK: Bad servers, when they serve an item

    static let badItems = [
        BadList(testDescription: "404", message: "status 404") { .status(404) },
        BadList(testDescription: "500", message: "status 500") { .text("oops", status: 500) },
        BadList(testDescription: "part", message: "status 206") { .text("part", status: 206) },
        BadList(testDescription: "not ready", message: "status 202") { .text("soon", status: 202) },
        BadList(testDescription: "changed", message: "status 203") { .text("changed", status: 203) },
        BadList(testDescription: "nothing", message: "status 204") { .status(204) },
        BadList(testDescription: "gzip that is cut", message: "the body was cut short after 200 bytes") {
            .gzippedJSON(String(repeating: "text", count: 100), byteCount: 200)
        },
        BadList(testDescription: "cut short", message: "the body was cut short after 4 of 100 bytes") {
            .cutShort(Array("half".utf8), promising: 100)
        },
        BadList(testDescription: "cut short, chunked", message: "the body was cut short after 4 bytes") {
            .cutShortChunked(Array("half".utf8))
        },
        BadList(testDescription: "never ends", message: "the body is longer than 50000 bytes") { .endless() },
        BadList(testDescription: "closes", message: "no usable reply") { .closing },
    ]

    @Test(arguments: badItems)
    func aBadItemIsAClearErrorAndLeavesTheOldFile(_ bad: BadList) async throws {
        var limits = HTTPClient.Limits()
        limits.bodyByteCount = 50_000
        try await FolderWorld.with(limits: limits) { world in
            world.synchronizer.options.stopOnError = false
            world.serve([("a", 1), ("b", 1)])
            try await world.synchronizer.sync()
            world.serve([("a", 2), ("b", 2), ("c", 2)]) { request in
                ["/items/0", "/items/2"].contains(request.path) ? bad.reply() : nil
            }
            let failure = try await world.failure()
            #expect(failure.errors.count == 2)
            let errors = Set(failure.errors.map(\.description))
            for (key, index) in [("a", 0), ("c", 2)] {
                let prefix = "content of \"\(key)\": \(world.server.baseURL)/items/\(index): \(bad.message)"
                #expect(errors.contains { $0.hasPrefix(prefix) }, "\(errors)")
            }
            #expect(try world.contents == ["a": "a 1", "b": "b 2"])
            world.serve([("a", 2), ("b", 2), ("c", 2)])
            try await world.synchronizer.sync()
            #expect(try world.contents == ["a": "a 2", "b": "b 2", "c": "c 2"])
        }
    }

    @Test func aPassingErrorIsTriedAgain() async throws {
        try await FolderWorld.with { world in
            world.synchronizer.options.retry = RetryPolicy(maxAttempts: 3, baseDelay: .zero)
            let replies = Locked<[LoopbackResponse]>([
                .status(500), .status(429, headers: [("Retry-After", "0")]),
            ])
            world.serve([("a", 1)]) { request in
                guard request.path == "/items/0" else { return nil }
                return replies.withLock { $0.isEmpty ? nil : $0.removeFirst() }
            }
            let report = try await world.synchronizer.sync()
            #expect(report.retries == 2)
            #expect(try world.contents == ["a": "a 1"])
        }
    }

    /// Otherwise the attempts of the client and of the synchronizer would multiply.
    @Test(arguments: ["/c", "/p"]) func onlyTheSynchronizerCountsAttempts(path: String) async throws {
        try await FolderWorld.with { world in
            world.synchronizer.options.retry = RetryPolicy(maxAttempts: 3, baseDelay: .zero)
            world.reply { request in
                switch request.path {
                case path:
                    .stream(headers: [("ETag", "\"1\"")], byteCount: 10) { try $0.write(Array("half".utf8)) }
                case "/list.json": .json(#"[{"key": "a", "url": "/c", "revision": 1, "preview_url": "/p"}]"#)
                default: .text("whole")
                }
            }
            let failure = try await world.failure()
            #expect(failure.report.retries == 2)
            #expect(world.requests.events.count { $0 == path } == 3)
        }
    }

    @Test func theWaitBeforeATryIsWhatTheServerAsksFor() async throws {
        try await FolderWorld.with { world in
            let clock = ManualClock()
            let synchronizer = Synchronizer(
                processor: world.synchronizer.processor, options: SyncOptions(retry: RetryPolicy()), clock: clock)
            let isBusy = Locked(true)
            world.serve([("a", 1)]) { request in
                guard request.path == "/list.json" else { return nil }
                let wasBusy = isBusy.withLock { isBusy in
                    defer { isBusy = false }
                    return isBusy
                }
                return wasBusy ? .status(429, headers: [("Retry-After", "40")]) : nil
            }
            async let report = synchronizer.sync()
            try await clock.waitForPendingDelays([.seconds(40)])
            clock.advance(by: .seconds(40))
            #expect(try await report.inserted == 1)
        }
    }

    /// A clock on which each wait passes at once.
    private struct JumpingClock: Clock {
        let time = ManualClock()
        var now: ManualClock.Instant { time.now }
        var minimumResolution: Duration { .zero }

        func sleep(until deadline: ManualClock.Instant, tolerance: Duration?) async throws {
            time.advance(by: max(now.duration(to: deadline), .zero))
        }
    }

    /// A server that restarts fails the list and the downloads for a while.
    @Test func aServerMayBeAwayForThirtySeconds() async throws {
        try await FolderWorld.with { world in
            let clock = JumpingClock()
            let synchronizer = Synchronizer(
                processor: world.synchronizer.processor, options: SyncOptions(retry: RetryPolicy()), clock: clock)
            let backAt = Locked(Duration.seconds(30))
            world.serve([("a", 1)]) { request in
                let now = clock.now.offset
                return backAt.withLock { backAt in
                    if now < backAt { return .status(503) }
                    // It is away once more after it has sent the list.
                    if request.path == "/list.json" { backAt = now + .seconds(30) }
                    return nil
                }
            }
            let report = try await synchronizer.sync()
            #expect(report.inserted == 1)
            #expect(report.retries > 10)
            #expect(try world.contents == ["a": "a 1"])
        }
    }

    // MARK: Two passes

    @Test func aPassThatIsRefusedLeavesTheFolderToTheOther() async throws {
        try await FolderWorld.with { world in
            let gate = try LoopbackGate()
            world.serve([("a", 1), ("b", 1)]) { request in
                request.path != "/items/0"
                    ? nil
                    : .stream(byteCount: 3) { writer in
                        try writer.wait(at: gate)
                        try writer.write(Array("a 1".utf8))
                    }
            }
            // The second item begins after the second pass has ended.
            world.synchronizer.options.concurrency = 1
            async let report = world.synchronizer.sync()
            try await world.requests.wait(for: "/items/0")
            let other = Synchronizer(processor: world.mirror)
            for _ in 0..<2 {
                let failure = try await #require(throws: SyncFailure.self) { try await other.sync() }
                guard case .inUse? = failure.errors.first?.underlying as? FolderError else { throw failure }
            }
            // One that is cancelled before it begins has no error.
            let isEnded = Gate()
            other.sync { _ in isEnded.open() }
            other.cancel()
            try await isEnded.pass()
            gate.open()
            #expect(try await report.inserted == 2)
            #expect(try world.contents == ["a": "a 1", "b": "b 1"])
            #expect(try await other.sync().unchanged == 2)
        }
    }

    // MARK: A cancel

    @Test func aCancelInTheMiddleOfABodyLeavesNothingHalfWritten() async throws {
        try await FolderWorld.with { world in
            world.serve([("a", 1)])
            try await world.synchronizer.sync()
            let gate = Gate()
            world.serve([("a", 2), ("b", 1)]) { request in
                guard request.path.hasPrefix("/items/") else { return nil }
                return .stream(byteCount: 100) { writer in
                    try writer.write(Array("half".utf8))
                    gate.open()
                    try writer.hang()
                }
            }
            async let failure = world.failure()
            try await gate.pass()
            world.synchronizer.cancel()
            #expect(try await failure.isCancelled)
            #expect(try world.contents == ["a": "a 1"])
            world.serve([("a", 2), ("b", 1)])
            try await world.synchronizer.sync()
            #expect(try world.contents == ["a": "a 2", "b": "b 1"])
        }
    }
}
