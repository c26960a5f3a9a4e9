import Foundation
import OneWayFolderTestSupport
import OneWayLoopbackServer
import OneWaySynchronizer
import OneWayTestLimits
import OneWayTestSupport
import SyncBase
import Testing

@testable import SyncFolder

/// Lists without revisions: the server is asked what changed.
@Suite(.endsInTime) struct ConditionalTests {
    /// How a server identifies a content.
    enum Sign: CaseIterable {
        case strongTag, weakTag, date, both, none, headless, deaf, headlessAndDeaf
    }

    private static let oldDate = "Tue, 24 Nov 2026 10:00:00 GMT"
    private static let newDate = "Tue, 24 Nov 2026 10:00:01 GMT"

    /// Answers for a content of a version as such a server does.
    private static func reply(
        _ request: LoopbackRequest, _ sign: Sign, version: Int, text: String? = nil
    ) -> LoopbackResponse {
        let tag = "\(sign == .weakTag ? "W/" : "")\"\(version)\""
        let modified = version == 1 ? oldDate : newDate
        var headers = [("Date", "Tue, 24 Nov 2026 12:00:00 GMT")]
        if sign != .none, sign != .date { headers.append(("ETag", tag)) }
        if sign == .date || sign == .both { headers.append(("Last-Modified", modified)) }
        if [.headless, .headlessAndDeaf].contains(sign), request.method == "HEAD" { return .status(405) }
        let isSame = request.header("if-none-match") == tag || request.header("if-modified-since") == modified
        if isSame, sign != .deaf, sign != .headlessAndDeaf { return .status(304, headers: headers) }
        return .text(text ?? "content \(version)", headers: headers)
    }

    @Test(arguments: Sign.allCases) func onlyWhatChangedIsStoredAgain(_ sign: Sign) async throws {
        try await FolderWorld.with { world in
            let version = Locked(1)
            world.reply { request in
                request.path == "/list.json"
                    ? .json(#"[{"key": "a", "url": "/a"}]"#)
                    : Self.reply(request, sign, version: version.withLock(\.self))
            }
            #expect(try await world.synchronizer.sync().inserted == 1)
            let before = try Self.identity(world.mirror.file(for: "a"))
            let again = try await world.synchronizer.sync()
            #expect(again.unchanged == (sign == .none ? 0 : 1))
            #expect(again.updated == (sign == .none ? 1 : 0))
            #expect(try (Self.identity(world.mirror.file(for: "a")) == before) == (sign != .none))
            version.withLock { $0 = 2 }
            #expect(try await world.synchronizer.sync().updated == 1)
            #expect(try world.contents == ["a": "content 2"])
        }
    }

    private static func identity(_ file: URL) throws -> String {
        let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
        return "\(attributes[.systemFileNumber] ?? 0)"
    }

    /// A second change in the same second would have the same date.
    @Test(arguments: [0, 1, 2]) func aDateThatIsTooYoungIsNoSign(age: Int) async throws {
        try await FolderWorld.with { world in
            let text = Locked("one")
            world.reply { request in
                if request.path == "/list.json" { return .json(#"[{"key": "a", "url": "/a"}]"#) }
                if request.header("if-modified-since") != nil { return .status(304) }
                return .text(
                    text.withLock(\.self),
                    headers: [("Last-Modified", Self.oldDate), ("Date", "Tue, 24 Nov 2026 10:00:0\(age) GMT")])
            }
            try await world.synchronizer.sync()
            text.withLock { $0 = "two" }
            _ = try await world.synchronizer.sync()
            #expect(try world.contents == ["a": age >= 2 ? "one" : "two"])
        }
    }

    /// The index of a folder with one file, which changed at 10:00 GMT and has 7 bytes.
    private static func index(date: String = "24-Nov-2026 11:00", size: Int = 7) -> LoopbackResponse {
        .text(
            "<html><title>Index of /</title><a href=\"/a\">a</a>  \(date)  \(size)\n</html>",
            headers: [("Content-Type", "text/html")])
    }

    /// Serves the index and its file, in responses that are some minutes younger than the file.
    private static func serveIndex(
        in world: FolderWorld, _ index: LoopbackResponse, text: String = "content", minutes: Int = 60
    ) {
        let tag = "\"\(text)\""
        let headers = [
            ("Last-Modified", oldDate), ("ETag", tag),
            ("Date", "Tue, 24 Nov 2026 \(10 + minutes / 60):0\(minutes % 60):00 GMT"),
        ]
        world.reply { request in
            if request.path == "/list.json" { return index }
            return request.header("if-none-match") == tag
                ? .status(304, headers: headers) : .text(text, headers: headers)
        }
    }

    /// A server that follows links may have circles.
    @Test(arguments: [64, 65]) func foldersAreReadToALimitedDepth(depth: Int) async throws {
        try await FolderWorld.with { world in
            world.reply { request in
                if request.path.hasSuffix("f") { return .text("x") }
                let level = request.path.split(separator: "/").count { $0 == "d" }
                let name = level < depth ? "d/" : "f"
                return .text(
                    "<html><title>Index of /</title><a href=\"\(name)\">\(name)</a></html>",
                    headers: [("Content-Type", "text/html")])
            }
            let path = String(repeating: "d/", count: depth) + "f"
            do {
                try await world.synchronizer.sync()
                #expect(try world.contents == [path: "x"] && depth <= 64)
            } catch {
                let last = String(repeating: "d/", count: 65) + ": folders are nested too deeply"
                #expect(depth > 64 && "\(error)".hasSuffix(last), "\(error)")
            }
        }
    }

    /// How often the server was asked about the file in a pass.
    private static func questions(in world: FolderWorld, _ mirror: FolderMirror? = nil) async throws -> Int {
        let count = world.requests.events.count
        _ = try await Synchronizer(processor: mirror ?? world.mirror).sync()
        return world.transfers(after: count).count
    }

    @Test func aServerIsNotAskedAboutAFileWhoseDateAndSizeAreAsBefore() async throws {
        try await FolderWorld.with { world in
            Self.serveIndex(in: world, Self.index())
            #expect(try await Self.questions(in: world) == 1)
            #expect(try await Self.questions(in: world) == 0)
            // The file was touched: the server is asked once.
            Self.serveIndex(in: world, Self.index(date: "24-Nov-2026 12:30"))
            #expect(try await Self.questions(in: world) == 1)
            #expect(try await Self.questions(in: world) == 0)
            Self.serveIndex(in: world, Self.index(date: "24-Nov-2026 12:45"), text: "another")
            #expect(try await Self.questions(in: world) == 2)
            #expect(try world.contents == ["a": "another"])
            #expect(try await Self.questions(in: world) == 0)
            // A file that is no longer the mirror's is looked at again.
            try world.write("changed", to: "a")
            await #expect(throws: SyncFailure.self) { try await world.synchronizer.sync() }
        }
    }

    /// Which index does not say enough.
    @Test(arguments: [
        (index(date: "24-Nov-2026 11:07"), 60), (index(size: 8), 60), (index(), 1), (index(date: "today at 11:00"), 60),
    ])
    func aServerIsAskedWhereItsIndexWouldNotShowAChange(index: LoopbackResponse, minutes: Int) async throws {
        try await FolderWorld.with { world in
            Self.serveIndex(in: world, index, minutes: minutes)
            for _ in 1...3 {
                let count = try await Self.questions(in: world)
                #expect(count == 1)
            }
            // The same file, later: from now on the index shows each change.
            Self.serveIndex(in: world, Self.index(), minutes: 2)
            #expect(try await Self.questions(in: world) == 1)
            #expect(try await Self.questions(in: world) == 0)
        }
    }

    /// The pass may be about to replace the file.
    @Test func aPlanDuringAPassWritesNothing() async throws {
        try await FolderWorld.with { world in
            Self.serveIndex(in: world, Self.index())
            try await world.synchronizer.sync()
            let url = try #require(URL(string: world.server.baseURL + "/a"))
            let item = Locked(FolderItem("a", at: url))
            item.withLock { $0.listed = ListedFile(["24-Nov-2026", "12:30", "7"], of: url) }
            let index = world.folder.appending(path: ".mirror/index")
            let planner = Locked<Synchronizer<FolderMirror>?>(nil)
            let mirror = world.another {
                if let planner = planner.withLock({ $0.take() }) {
                    let before = try Data(contentsOf: index)
                    let plan = try await Task.detached { try await planner.plan() }.value
                    #expect(plan.counts[.leave] == 1)
                    #expect(try Data(contentsOf: index) == before)
                }
                return SourceList([item.withLock(\.self)])
            }
            planner.withLock { $0 = Synchronizer(processor: mirror) }
            let before = try Data(contentsOf: index)
            #expect(try await Self.questions(in: world, mirror) == 2)
            #expect(try Data(contentsOf: index) != before)
            #expect(try await Self.questions(in: world, mirror) == 0)
        }
    }

    @Test func whatAnIndexShowsIsRecordedOnlyForTheCheckedContent() async throws {
        try await FolderWorld.with { world in
            Self.serveIndex(in: world, Self.index())
            try await world.synchronizer.sync()
            let open = try OpenFolder.writing(world.folder)
            let item = FolderItem("a", at: world.listURL)
            let checked = try #require(open.intactContent(of: item))
            let listed = try #require(ListedFile(["24-Nov-2026", "12:30", "7"], of: item.url))
            // Another content is about to be moved into place.
            let stamp = FileStamp(byteCount: 7, modified: 1)
            try open.append(.content("a", stamp, ContentVersion()))
            try open.note(listed, of: "a", checked)
            #expect(open.entry(of: "a")?.content == checked.content + [stamp])
            try open.note(listed, of: "a", try #require(open.entry(of: "a")))
            #expect(open.entry(of: "a")?.content == [stamp] && open.entry(of: "a")?.version.listed == listed.mark)
            await open.release()
        }
    }

    @Test func aServerWhoseDatesAreNotTrustedIsAskedAboutEachFile() async throws {
        try await FolderWorld.with { world in
            Self.serveIndex(in: world, Self.index())
            let mirror = FolderMirror(of: world.listURL, in: world.folder, trustsDates: false)
            for _ in 1...2 {
                let count = try await Self.questions(in: world, mirror)
                #expect(count == 1)
            }
            // An equal size at the same minute.
            Self.serveIndex(in: world, Self.index(), text: "another")
            #expect(try await Self.questions(in: world, mirror) == 2)
            #expect(try world.contents == ["a": "another"])
        }
    }

    @Test func aServerThatDoesNotAnswerChangesNothing() async throws {
        try await FolderWorld.with { world in
            let isDown = Locked(false)
            world.reply { request in
                if request.path == "/list.json" { return .json(#"[{"key": "a", "url": "/a"}]"#) }
                return isDown.withLock(\.self) ? .closing : .text("content", headers: [("ETag", "\"1\"")])
            }
            try await world.synchronizer.sync()
            isDown.withLock { $0 = true }
            let failure = try await world.failure()
            #expect(failure.errors.first?.key as? SyncKey == "a")
            #expect(try world.contents == ["a": "content"])
        }
    }

    /// Each status is one that another attempt may change; nil is a closed connection.
    @Test(arguments: [500, 503, 429, nil]) func anItemWithoutAnAnswerDoesNotStopOthers(status: Int?) async throws {
        try await FolderWorld.with { world in
            func serve(_ keys: [String], failing: String?) {
                let list = keys.map { #"{"key": "\#($0)", "url": "/\#($0)"}"# }.joined(separator: ",")
                world.reply { request in
                    if request.path == "/list.json" { return .json("[\(list)]") }
                    guard request.path == failing else {
                        let isKnown = request.header("if-none-match") == "\"1\""
                        return isKnown ? .status(304) : .text("content", headers: [("ETag", "\"1\"")])
                    }
                    return status.map { .status($0) } ?? .closing
                }
            }
            serve(["a", "b"], failing: nil)
            try await world.synchronizer.sync()
            serve(["a", "b", "new"], failing: "/a")
            let patient = Synchronizer(processor: world.mirror, options: SyncOptions(stopOnError: false))
            let failure = try await #require(throws: SyncFailure.self) { try await patient.sync() }
            #expect(failure.errors.map { $0.key as? SyncKey } == ["a"])
            #expect(failure.errors.first?.stage == .content)
            #expect(failure.report.unchanged == 1 && failure.report.inserted == 1 && failure.report.failed == 1)
            #expect(try world.contents == ["a": "content", "b": "content", "new": "content"])
        }
    }

    /// Each question could take as long as the time limit.
    @Test func aServerThatIsAwayIsAskedAboutFewItems() async throws {
        try await FolderWorld.with { world in
            let isDown = Locked(false)
            let list = (0..<100).map { #"{"key": "\#($0)", "url": "/\#($0)"}"# }.joined(separator: ",")
            world.reply { request in
                if request.path == "/list.json" { return .json("[\(list)]") }
                return isDown.withLock(\.self) ? .closing : .text("content", headers: [("ETag", "\"1\"")])
            }
            try await world.synchronizer.sync()
            isDown.withLock { $0 = true }
            let count = world.requests.events.count
            let failure = try await world.failure()
            #expect(world.transfers(after: count).count < 50)
            // Nothing is known of those that it was not asked about.
            #expect(failure.report.unchanged == 0)
        }
    }

    /// The tags of two addresses can be equal.
    @Test func aTagIsThatOfItsAddress() async throws {
        try await FolderWorld.with { world in
            func serve(_ address: String) {
                world.reply { request in
                    if request.path == "/list.json" { return .json(#"[{"key": "a", "url": "\#(address)"}]"#) }
                    if request.header("if-none-match") == "\"1\"" { return .status(304) }
                    return .text("\(request.path) \(request.query("id") ?? "")", headers: [("ETag", "\"1\"")])
                }
            }
            serve("/v2?id=1&X-Amz-Date=1")
            try await world.synchronizer.sync()
            for address in ["/v1?id=1", "/v1?id=2"] {
                serve(address)
                #expect(try await world.synchronizer.sync().updated == 1)
                // A signature is no part of the address.
                serve(address + "&X-Amz-Date=2")
                #expect(try await world.synchronizer.sync().unchanged == 1)
            }
            #expect(try world.contents == ["a": "/v1 2"])
        }
    }

    /// A redirect can lead to another file with an equal tag or date.
    @Test(arguments: Sign.allCases.filter { $0 != .none })
    func aSignIsThatOfTheAddressThatARedirectLeadsTo(_ sign: Sign) async throws {
        try await FolderWorld.with { world in
            let target = Locked("/one?X-Amz-Date=1")
            world.reply { request in
                switch request.path {
                case "/list.json": .json(#"[{"key": "a", "url": "/a"}]"#)
                case "/a": .status(302, headers: [("Location", target.withLock(\.self))])
                default: Self.reply(request, sign, version: 1, text: request.path)
                }
            }
            try await world.synchronizer.sync()
            // A signature is no part of the address.
            target.withLock { $0 = "/one?X-Amz-Date=2" }
            #expect(try await world.synchronizer.sync().unchanged == 1)
            target.withLock { $0 = "/two?X-Amz-Date=2" }
            #expect(try await world.synchronizer.sync().updated == 1)
            #expect(try world.contents == ["a": "/two"])
            #expect(try await world.synchronizer.sync().unchanged == 1)
        }
    }

    @Test(arguments: [false, true]) func anotherSizeOrChecksumIsAChange(hasDigest: Bool) async throws {
        try await FolderWorld.with { world in
            func serve(_ text: String) {
                let digest = Hexadecimal.text(of: SHA256.digest(of: text.utf8))
                let field = hasDigest ? #""sha256": "\#(digest)""# : #""size": \#(text.utf8.count)"#
                world.reply { request in
                    request.path == "/list.json"
                        ? .json(#"[{"key": "a", "url": "/a", "revision": 1, \#(field)}]"#) : .text(text)
                }
            }
            serve("one")
            try await world.synchronizer.sync()
            #expect(try await world.synchronizer.sync().unchanged == 1)
            serve("four")
            #expect(try await world.synchronizer.sync().updated == 1)
            #expect(try world.contents == ["a": "four"])
            #expect(try await world.synchronizer.sync().unchanged == 1)
        }
    }

    @Test func aChecksumTakesThePlaceOfARevision() async throws {
        try await FolderWorld.with { world in
            func serve(_ text: String) {
                let digest = Hexadecimal.text(of: SHA256.digest(of: text.utf8)).uppercased()
                world.reply { request in
                    request.path == "/list.json"
                        ? .json(#"[{"key": "a", "url": "/a", "sha256": "\#(digest)"}]"#) : .text(text)
                }
            }
            serve("one")
            try await world.synchronizer.sync()
            let count = world.requests.events.count
            #expect(try await world.synchronizer.sync().unchanged == 1)
            #expect(world.transfers(after: count).isEmpty)
            serve("two")
            #expect(try await world.synchronizer.sync().updated == 1)
        }
    }

    /// Some servers refuse only the method, and are asked in another way. A busy one is not.
    @Test(
        arguments: [
            (405, nil, true), (403, nil, true), (404, nil, true), (500, nil, true), (501, nil, true),
            (408, nil, false), (425, nil, false), (429, nil, false), (503, nil, false), (405, "0", false),
        ] as [(Int, String?, Bool)])
    func aServerThatRefusesTheQuestionIsAskedOnceMore(status: Int, retryAfter: String?, isAsked: Bool) async throws {
        try await FolderWorld.with { world in
            world.reply { request in
                if request.path == "/list.json" { return .json(#"[{"key": "a", "url": "/a"}]"#) }
                if request.method == "HEAD" {
                    return .status(status, headers: retryAfter.map { [("Retry-After", $0)] } ?? [])
                }
                if request.header("if-none-match") == "\"1\"" { return .status(304) }
                return .text("content", headers: [("ETag", "\"1\"")])
            }
            try await world.synchronizer.sync()
            // The download finds out, too.
            #expect(try await world.synchronizer.sync().unchanged == (isAsked ? 1 : 0))
            #expect(try world.contents == ["a": "content"])
        }
    }
}
