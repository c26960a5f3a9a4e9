import Foundation
import HTTPTransfer
import OneWayFolderTestSupport
import OneWayLoopbackServer
import OneWaySynchronizer
import OneWayTestLimits
import OneWayTestSupport
import SyncBase
import Testing

@testable import SyncFolder

/// Downloads that are interrupted, and continued by another pass.
@Suite(.endsInTime) struct PartTests {
    private static let body = (0..<3_000_000 as Range<UInt32>).map {
        UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 24)
    }
    private static let cut = 2_000_000

    /// A server of one large file.
    private final class Server: Sendable {
        struct State {
            var body = PartTests.body
            var tag: String? = "\"1\""
            /// Whether bodies end after `cut` bytes.
            var isCut = true
            var cut = PartTests.cut
            /// Whether bodies come without their length.
            var isChunked = false
            /// The status of requests for a range of this version; nil to serve it.
            var rangeStatus: Int?
            /// The ranges that were asked for.
            var ranges: [String] = []
            var list: [String: String] = [:]
            var address = "/a?id=1&X-Amz-Date=1"
            /// Where the path `/a` redirects to; nil if it has the file.
            var target: String?
            var revision = 1
        }

        let state = Locked(State())

        func reply(_ request: LoopbackRequest) -> LoopbackResponse {
            state.withLock { state in
                if request.path == "/list.json" {
                    let fields = state.list.map { ", \"\($0)\": \($1)" }.joined()
                    let (address, revision) = (state.address, state.revision)
                    return .json(#"[{"key": "s/a", "url": "\#(address)", "revision": \#(revision)\#(fields)}]"#)
                }
                if let target = state.target, request.path == "/a" {
                    return .status(302, headers: [("Location", target)])
                }
                let tags = state.tag.map { [("ETag", $0)] } ?? []
                let range = request.header("range")
                state.ranges.append(range ?? "whole")
                if range != nil, request.header("if-range") == state.tag, let status = state.rangeStatus {
                    return .status(status, headers: [("Content-Range", "bytes */7")])
                }
                let first = range.flatMap { Int($0.dropFirst("bytes=".count).dropLast()) } ?? 0
                let isRange = range != nil && request.header("if-range") == state.tag && first < state.body.count
                let body = isRange ? state.body[first...] : state.body[...]
                let part = [("Content-Range", "bytes \(first)-\(state.body.count - 1)/\(state.body.count)")]
                let sentCount = state.isCut ? state.cut : body.count
                return .stream(
                    status: isRange ? 206 : 200, headers: tags + (isRange ? part : []),
                    byteCount: state.isChunked ? nil : body.count
                ) { try $0.write(Array(body.prefix(sentCount))) }
            }
        }
    }

    /// A folder with a part that a pass left.
    private func interrupted(
        target: String? = nil, _ body: (FolderWorld, Server) async throws -> Void
    ) async throws {
        try await FolderWorld.with(keepsParts: true) { world in
            let server = Server()
            world.reply(server.reply)
            // The client's own attempts end, too.
            server.state.withLock { state in
                state.rangeStatus = 503
                state.target = target
            }
            _ = try await world.failure()
            #expect(world.files.contains { $0.hasPrefix(".mirror/parts/") })
            server.state.withLock { state in
                state.rangeStatus = nil
                state.isCut = false
                state.ranges = []
            }
            try await body(world, server)
        }
    }

    private func parts(_ world: FolderWorld) -> [String] { world.files.filter { $0.hasPrefix(".mirror/parts/") } }

    private func expectWhole(_ world: FolderWorld, _ body: [UInt8] = Self.body) throws {
        #expect(try Data(contentsOf: world.mirror.file(for: "s/a")) == Data(body))
        #expect(parts(world).isEmpty)
    }

    @Test(arguments: [false, true]) func aPartIsContinuedByTheNextPass(hasDigest: Bool) async throws {
        try await interrupted { world, server in
            if hasDigest {
                let digest = Hexadecimal.text(of: SHA256.digest(of: Self.body))
                server.state.withLock { $0.list = ["sha256": "\"\(digest)\"", "size": "3000000"] }
            }
            try await world.synchronizer.sync()
            #expect(server.state.withLock(\.ranges) == ["bytes=\(Self.cut)-"])
            try expectWhole(world)
            let internals = try #require(try Directory.open(world.folder.appending(path: ".mirror").path))
            let entry = try #require(try FolderIndex(in: internals).entries["s/a"])
            #expect(entry.part == nil && entry.content.count == 1)
        }
    }

    @Test func aDownloadThatBreaksOffAfterAMebibyteContinuesInTheSameAttempt() async throws {
        try await FolderWorld.with { world in
            let server = Server()
            world.reply(server.reply)
            #expect(try await world.synchronizer.sync().retries == 0)
            #expect(server.state.withLock(\.ranges) == ["whole", "bytes=\(Self.cut)-"])
            try expectWhole(world)
        }
    }

    @Test func aPartWithoutAContinuationIsRequestedAsAWhole() async throws {
        try await interrupted { world, server in
            world.reply { request in
                guard request.header("range") != nil else { return server.reply(request) }
                let range = "bytes \(Self.cut)-2999999/3000000"
                return .stream(
                    status: 206, headers: [("ETag", "\"2\""), ("Content-Range", range)], byteCount: 1_000_000
                ) { try $0.write(Array(Self.body[Self.cut...])) }
            }
            #expect(try await world.synchronizer.sync().retries == 0)
            #expect(server.state.withLock(\.ranges) == ["whole"])
            try expectWhole(world)
        }
    }

    @Test(arguments: [412, 416, 400, 403, 500, 501, 505, 204, 207, 302, 304])
    func aServerThatRefusesThePartSendsTheWhole(status: Int) async throws {
        try await interrupted { world, server in
            server.state.withLock { $0.rangeStatus = status }
            try await world.synchronizer.sync()
            #expect(server.state.withLock(\.ranges).last == "whole")
            try expectWhole(world)
        }
    }

    @Test func aServerThatRefusesThePartInTheSamePassSendsTheWhole() async throws {
        try await FolderWorld.with { world in
            let server = Server()
            server.state.withLock { $0.rangeStatus = 501 }
            world.reply { request in
                let response = server.reply(request)
                server.state.withLock { $0.isCut = $0.ranges.isEmpty }
                return response
            }
            try await world.synchronizer.sync()
            #expect(server.state.withLock(\.ranges) == ["whole", "bytes=\(Self.cut)-", "whole"])
            try expectWhole(world)
        }
    }

    @Test(arguments: [404, 500]) func aServerThatRefusesTheWholeTooLeavesThePart(status: Int) async throws {
        try await interrupted { world, server in
            world.reply { $0.path == "/list.json" ? server.reply($0) : .status(status) }
            _ = try await world.failure()
            world.reply(server.reply)
            try await world.synchronizer.sync()
            #expect(server.state.withLock(\.ranges) == ["bytes=\(Self.cut)-"])
            try expectWhole(world)
        }
    }

    @Test(arguments: ["\"2\"", nil]) func aPartOfAnotherVersionIsReplaced(tag: String?) async throws {
        try await interrupted { world, server in
            let other = Array(Self.body.reversed().dropLast(1_500_000))
            server.state.withLock { state in
                state.body = other
                state.tag = tag
            }
            try await world.synchronizer.sync()
            try expectWhole(world, other)
        }
    }

    @Test(arguments: [("/a?id=2&X-Amz-Date=1", 1), ("/a?id=1&X-Amz-Date=1", 2), ("/b?id=1", 1)])
    func aPartOfAnotherAddressOrRevisionIsNotContinued(address: String, revision: Int) async throws {
        try await interrupted { world, server in
            // The tag is that of the part, as if the server had counted.
            let other = Array(Self.body.reversed())
            server.state.withLock { state in
                state.body = other
                state.address = address
                state.revision = revision
            }
            try await world.synchronizer.sync()
            // Another address could redirect to the same file.
            let expected = revision == 1 ? ["bytes=\(Self.cut)-", "whole"] : ["whole"]
            #expect(server.state.withLock(\.ranges) == expected)
            try expectWhole(world, other)
        }
    }

    /// The tag is that of the part, as if the server had counted.
    @Test(arguments: [("/c?id=1&X-Amz-Date=2", true), ("/c?id=2", false), ("/d?id=1", false)])
    func aPartIsContinuedOnlyWhereARedirectLedTo(target: String, isContinued: Bool) async throws {
        try await interrupted(target: "/c?id=1&X-Amz-Date=1") { world, server in
            let body = isContinued ? Self.body : Array(Self.body.reversed())
            server.state.withLock { state in
                state.body = body
                state.target = target
            }
            try await world.synchronizer.sync()
            let range = "bytes=\(Self.cut)-"
            #expect(server.state.withLock(\.ranges) == (isContinued ? [range] : [range, "whole"]))
            try expectWhole(world, body)
        }
    }

    @Test func aPartIsContinuedAtAnAddressWithAnotherSignature() async throws {
        try await interrupted { world, server in
            server.state.withLock { $0.address = "/a?id=1&X-Amz-Date=2" }
            try await world.synchronizer.sync()
            #expect(server.state.withLock(\.ranges) == ["bytes=\(Self.cut)-"])
            try expectWhole(world)
        }
    }

    /// Hosts of a server may have different versions for a while.
    @Test(arguments: ["\"2\"", nil]) func aPartThatAnotherVersionReplacedIsNotContinued(tag: String?) async throws {
        try await interrupted { world, server in
            // Too little of the other version arrives for a part of its own.
            server.state.withLock { state in
                state.body = Self.body.reversed()
                state.tag = tag
                state.isCut = true
                state.cut = 500_000
                state.rangeStatus = 503
            }
            _ = try await world.failure()
            #expect(parts(world).isEmpty)
            server.state.withLock { state in
                state = Server.State()
                state.isCut = false
            }
            try await world.synchronizer.sync()
            #expect(server.state.withLock(\.ranges) == ["whole"])
            try expectWhole(world)
        }
    }

    /// A process may be killed in between.
    @Test func theIndexForgetsAPartBeforeItsBytesAreDropped() throws {
        let folder = try TemporaryDirectory()
        let file = folder.url.appending(path: "part")
        try Data(Self.body.prefix(10)).write(to: file)
        let sizes = Locked<[Int]>([])
        let resumption = Resumption(byteCount: 10, total: nil, tag: BodyTag(text: "\"1\"", address: "a"))
        let part = try PartFile(1, open(file.path, O_RDWR), resumption, isHashed: false) { tag, _ in
            #expect(tag == nil)
            let size = try Data(contentsOf: file).count
            sizes.withLock { $0.append(size) }
        }
        try part.begin(resumption)
        #expect(part.isKept && sizes.withLock(\.isEmpty))
        try part.begin(Resumption())
        #expect(!part.isKept && sizes.withLock(\.self) == [10])
        #expect(try Data(contentsOf: file).isEmpty)
    }

    @Test func aPartThatSomebodyChangedIsFoundByTheDigest() async throws {
        try await interrupted { world, server in
            let digest = Hexadecimal.text(of: SHA256.digest(of: Self.body))
            server.state.withLock { $0.list = ["sha256": "\"\(digest)\""] }
            let file = world.folder.appending(path: try #require(parts(world).first))
            var bytes = [UInt8](try Data(contentsOf: file))
            bytes[100] ^= 1
            try Data(bytes).write(to: file)
            let failure = try await world.failure()
            guard case .wrongChecksum? = failure.errors.first?.underlying as? FolderError else { throw failure }
            #expect(parts(world).isEmpty)
            try await world.synchronizer.sync()
            try expectWhole(world)
        }
    }

    @Test func aPartOfAnItemThatIsNoLongerListedIsRemoved() async throws {
        try await interrupted { world, _ in
            world.serve([("b", 1)])
            try await world.synchronizer.sync()
            #expect(parts(world).isEmpty)
        }
    }

    @Test func aPartThatIsALinkIsNotWrittenTo() async throws {
        try await interrupted { world, _ in
            let outside = world.folder.deletingLastPathComponent().appending(path: "outside")
            try Data(Self.body.prefix(1_000)).write(to: outside)
            let file = world.folder.appending(path: try #require(parts(world).first))
            try FileManager.default.removeItem(at: file)
            try FileManager.default.createSymbolicLink(at: file, withDestinationURL: outside)
            try await world.synchronizer.sync()
            try expectWhole(world)
            #expect(try Data(contentsOf: outside).count == 1_000)
            try FileManager.default.removeItem(at: outside)
        }
    }

    @Test func leftoversAreRemovedAndOtherFilesStay() async throws {
        try await FolderWorld.with(keepsParts: true) { world in
            world.serve([("a", 1)])
            try await world.synchronizer.sync()
            for name in ["7", "12", "notes.txt", "07", "-1"] { try world.write("left", to: ".mirror/parts/\(name)") }
            try world.write("left", to: ".mirror/index.new")
            try await world.synchronizer.sync()
            #expect(Set(parts(world)) == [".mirror/parts/notes.txt", ".mirror/parts/07", ".mirror/parts/-1"])
        }
    }

    /// Appends a line to the index of a folder in which no pass runs.
    private func append(_ line: IndexLine, to world: FolderWorld) throws {
        let index = world.folder.appending(path: ".mirror/index")
        var bytes = try Data(contentsOf: index)
        bytes.append(contentsOf: line.bytes)
        try bytes.write(to: index)
    }

    @Test(arguments: [false, true]) func aPartWithTheLargestNumberIsALeftover(isInIndex: Bool) async throws {
        try await FolderWorld.with { world in
            world.serve([("a", 1)])
            try await world.synchronizer.sync()
            try world.write("left", to: ".mirror/parts/\(Int.max)")
            if isInIndex {
                try append(.part("a", DownloadPart(number: .max, address: "", tag: "t", byteCount: nil)), to: world)
            }
            world.serve([("a", 2)])
            try await world.synchronizer.sync()
            #expect(try world.contents == ["a": "a 2"])
            #expect(parts(world).isEmpty)
        }
    }

    /// Otherwise two items could have one part.
    @Test func theNumberOfAPartThatIsGoneIsNotGivenAgain() async throws {
        try await FolderWorld.with { world in
            world.serve([("a", 1)])
            try await world.synchronizer.sync()
            try append(.part("b", DownloadPart(number: 7, address: "", tag: "t", byteCount: nil)), to: world)
            let folder = try OpenFolder.writing(world.folder)
            let part = try folder.previewPart()
            #expect(part.number == 8)
            folder.abandon(part)
            await folder.release()
        }
    }

    // MARK: Sizes and checksums

    @Test(arguments: [
        ("size", "2999999"), ("size", "3000001"), ("size", "0"), ("sha256", "\"\(String(repeating: "0", count: 64))\""),
    ]) func contentOfAnotherSizeOrDigestIsNotStored(field: String, value: String) async throws {
        try await FolderWorld.with { world in
            let server = Server()
            world.reply(server.reply)
            server.state.withLock { state in
                state.isCut = false
                state.list = [field: value]
            }
            let failure = try await world.failure()
            switch failure.errors.first?.underlying as? FolderError {
            case .wrongSize("s/a", expected: Int(value), let received):
                #expect(received == (Int(value) ?? 0 > 3_000_000 ? 3_000_000 : nil))
            case .wrongChecksum("s/a", _, let received):
                #expect(field == "sha256" && received == Hexadecimal.text(of: SHA256.digest(of: Self.body)))
            default: throw failure
            }
            #expect(failure.errors.first?.isRetryable == true)
            #expect(try world.contents.isEmpty && parts(world).isEmpty)
        }
    }

    /// Otherwise each pass would continue a part that can never become the file.
    @Test(arguments: [false, true]) func aPartOfAFileThatIsLongerThanListedIsRemoved(isChunked: Bool) async throws {
        try await interrupted { world, server in
            server.state.withLock { state in
                state.list = ["size": "2500000"]
                state.isChunked = isChunked
            }
            let failure = try await world.failure()
            guard
                case .wrongSize("s/a", expected: 2_500_000, received: nil) =
                    failure.errors.first?.underlying as? FolderError
            else { throw failure }
            #expect(parts(world).isEmpty)
            let internals = try #require(try Directory.open(world.folder.appending(path: ".mirror").path))
            #expect(try FolderIndex(in: internals).entries["s/a"]?.part == nil)
        }
    }

    /// A body that is longer or shorter than its head says.
    @Test(arguments: [2_999_999, 3_000_001]) func aServerThatLiesAboutTheLengthIsAnError(byteCount: Int) async throws {
        try await FolderWorld.with(keepsParts: true) { world in
            world.reply { request in
                if request.path == "/list.json" { return .json(#"[{"key": "a", "url": "/a"}]"#) }
                return .stream(byteCount: byteCount) { try $0.write(Self.body) }
            }
            // What is longer than its head says is cut there by HTTP itself.
            if byteCount > 3_000_000 {
                _ = try await world.failure()
                #expect(try world.contents.isEmpty)
            } else {
                _ = try? await world.synchronizer.sync()
                #expect((try? Data(contentsOf: world.mirror.file(for: "a")).count).map { $0 == byteCount } ?? true)
            }
        }
    }

    /// What the file has beyond the received bytes is not in the digest.
    @Test(arguments: [0, 1, (1 << 20) - 1, 1 << 20, (1 << 20) + 3])
    func theDigestOfAContinuedPartIsThatOfItsBytes(byteCount: Int) throws {
        let folder = try TemporaryDirectory()
        let path = folder.url.appending(path: "part").path
        try Data(Self.body[..<(byteCount + 5)]).write(to: URL(filePath: path))
        let resumption = Resumption(byteCount: byteCount, total: nil, tag: BodyTag(text: "\"1\"", address: "a"))
        let part = try PartFile(1, open(path, O_RDWR), resumption, isHashed: true) { _, _ in }
        var whole = SHA256()
        whole.update(Self.body[..<byteCount])
        #expect(part.digest == Hexadecimal.text(of: whole.digest()))
    }

    // MARK: The disk

    @Test func aFullDiskIsAnErrorAndLeavesTheOldFile() async throws {
        // Writing to it fails as on a full disk.
        guard FileManager.default.fileExists(atPath: "/dev/full") else { return }
        let file = open("/dev/full", O_RDWR)
        let part = try PartFile(1, file, Resumption(), isHashed: false) { _, _ in }
        let error = try #require(throws: FolderError.self) { try part.write([1], Resumption()) }
        #expect(error.description == "cannot write part 1: No space left on device")
        var index = try FolderIndex(in: try #require(try Directory.open("/tmp")))
        #expect(throws: FolderError.system("cannot write the index: No space left on device")) {
            try index.append([.planned("a")], to: file)
        }
    }
}
