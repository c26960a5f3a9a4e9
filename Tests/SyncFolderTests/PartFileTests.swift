import Foundation
import HTTPTransfer
import OneWaySynchronizer
import OneWayTestLimits
import OneWayTestSupport
import SyncBase
import Testing

@testable import SyncFolder

/// The files that receive downloads.
@Suite(.endsInTime) struct PartFileTests {
    private static let body = [UInt8](repeating: 7, count: 1 << 20)

    /// Smaller parts, and those without a tag, are not worth a line of the index.
    @Test func aPartIsKeptFromAMebibyteOn() throws {
        let folder = try TemporaryDirectory()
        let path = folder.url.appending(path: "part").path
        let kept = Locked<[String]>([])
        let part = try PartFile(
            1, open(path, O_RDWR | O_CREAT, 0o600), Resumption(), isHashed: false
        ) { tag, byteCount in kept.withLock { $0.append("\(tag?.text ?? "none") \(byteCount ?? 0)") } }
        let (tagged, another) = (
            Resumption(byteCount: 0, total: 9_000_000, tag: BodyTag(text: "\"1\"", address: "a")),
            Resumption(byteCount: 0, total: nil, tag: BodyTag(text: "\"2\"", address: "a"))
        )
        try part.begin(tagged)
        try part.write(Array(Self.body.prefix((1 << 20) - 1)), tagged)
        #expect(!part.isKept && kept.withLock(\.isEmpty))
        try part.write([1], Resumption())
        #expect(!part.isKept && kept.withLock(\.isEmpty))
        for piece in [[], [2], [3]] as [[UInt8]] { try part.write(piece, tagged) }
        #expect(part.isKept && kept.withLock(\.self) == ["\"1\" 9000000"])
        try part.write([4], another)
        #expect(part.isKept && kept.withLock(\.self) == ["\"1\" 9000000", "\"2\" 0"])
    }

    /// What a part's file has must be a beginning of the content.
    @Test(
        arguments: [
            (nil, 5, 0), (0, 5, 0), (1, 5, 1), (5, 5, 5), (6, 5, 0), (6, nil, 6),
        ] as [(Int?, Int?, Int)])
    func onlyAPartThatCanBeABeginningIsContinued(byteCount: Int?, total: Int?, expected: Int) async throws {
        let folder = try TemporaryDirectory()
        let item = FolderItem("a", at: try #require(URL(string: "http://host/a")))
        let tag = BodyTag(text: "\"1\"", address: "b")
        let known = DownloadPart(number: 3, address: "b", tag: "\"1\"", byteCount: total)
        let open = try OpenFolder.writing(folder.url)
        try open.append(.part("a", known))
        let parts = folder.url.appending(path: ".mirror/parts")
        if let byteCount { try Data(Self.body.prefix(byteCount)).write(to: parts.appending(path: "3")) }
        let part = try open.contentPart(of: item)
        #expect(part.resumption.byteCount == expected && part.resumption.tag == (expected > 0 ? tag : nil))
        #expect((part.number == 3) == (expected > 0) && (open.entry(of: "a")?.part == known) == (expected > 0))
        #expect(try FileManager.default.contentsOfDirectory(atPath: parts.path) == ["\(part.number)"])
        await open.release()
    }

    /// In a copy that consists of hard links, a part is a file of two folders.
    @Test func aPartOfAnotherFolderIsNotWritten() async throws {
        let folder = try TemporaryDirectory()
        let item = FolderItem("a", at: try #require(URL(string: "http://host/a")))
        let open = try OpenFolder.writing(folder.url)
        try open.append(.part("a", DownloadPart(number: 3, address: "b", tag: "\"1\"", byteCount: 5)))
        let file = folder.url.appending(path: ".mirror/parts/3")
        let another = folder.url.appending(path: "another")
        try Data(Self.body.prefix(2)).write(to: file)
        try FileManager.default.linkItem(at: file, to: another)
        let part = try open.contentPart(of: item)
        try part.begin(part.resumption)
        try part.write([9, 9, 9], part.resumption)
        #expect(part.number != 3 && part.resumption == Resumption())
        #expect(try Array(Data(contentsOf: another)) == [7, 7])
        await open.release()
    }

    /// The index forgets a part that begins anew or has another version, and the digest is that of
    /// what is left.
    @Test(arguments: [(10, "1", true), (5, "1", true), (0, "1", false), (10, "2", false), (5, "2", false)])
    func aPartIsForgottenWithItsVersion(byteCount: Int, tag: String, isKept: Bool) throws {
        let folder = try TemporaryDirectory()
        let file = folder.url.appending(path: "part")
        try Data(Self.body.prefix(10)).write(to: file)
        let forgotten = Locked(0)
        let part = try PartFile(
            1, open(file.path, O_RDWR),
            Resumption(byteCount: 10, total: nil, tag: BodyTag(text: "1", address: "a")), isHashed: true
        ) { tag, _ in
            #expect(tag == nil)
            forgotten.withLock { $0 += 1 }
        }
        try part.begin(Resumption(byteCount: byteCount, total: nil, tag: BodyTag(text: tag, address: "a")))
        #expect(part.isKept == isKept && forgotten.value == (isKept ? 0 : 1))
        #expect(try Data(contentsOf: file).count == byteCount)
        try part.write([9], Resumption())
        let expected = Array(Self.body.prefix(byteCount)) + [9]
        #expect(try Array(Data(contentsOf: file)) == expected)
        guard byteCount != 5 else { return }
        #expect(part.digest == Hexadecimal.text(of: SHA256.digest(of: expected)))
    }
}
