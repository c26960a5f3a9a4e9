import Foundation
import OneWaySynchronizer
import OneWayTestLimits
import OneWayTestSupport
import Testing

@testable import SyncFolder

/// The journal of what the mirror wrote.
@Suite(.endsInTime) struct FolderIndexTests {
    private let root: TemporaryDirectory
    private let folder: Directory

    init() throws {
        root = try TemporaryDirectory()
        folder = try #require(try Directory.open(root.url.path))
    }

    private static let lines: [IndexLine] = [
        .boot("abc"), .planned("a\tb\n%\u{7F}"), .doubtful("e\u{301}"), .synced, .removed(""), .removed("-"),
        .removed("%2D"),
        .content("k", FileStamp(byteCount: 5, modified: -7), ContentVersion()),
        .content(
            "k", FileStamp(byteCount: 0, modified: 1),
            ContentVersion(revision: "-", tag: "\"x y\"", modified: "", listed: "a b")),
        .preview("p", FileStamp(byteCount: 1, modified: 2)), .preview("p", nil), .part("d", nil),
        .part("d", DownloadPart(number: 3, address: "http://host/a%20b", tag: "\"1\"", byteCount: nil)),
        .part("d", DownloadPart(number: 3, address: "", tag: "-", byteCount: 9)),
        .part("d", DownloadPart(number: 3, address: "", tag: "t", byteCount: nil, revision: "-")),
        .part("d", DownloadPart(number: 3, address: "", tag: "t", byteCount: 9, sha256: "ab")),
        .content("k", FileStamp(byteCount: 5, modified: 7), ContentVersion(address: "http://host/a")),
        .content("k", FileStamp(byteCount: 5, modified: 7), ContentVersion(revision: "1", sha256: "ab")),
    ]

    @Test(arguments: lines) func aLineIsReadAsItWasWritten(_ line: IndexLine) {
        let bytes = line.bytes
        #expect(bytes.filter { $0 == IndexLine.lineEnd }.count == 1 && bytes.last == IndexLine.lineEnd)
        #expect(IndexLine(bytes.dropLast()) == line)
        // For other readers, no field has blanks.
        #expect(bytes.allSatisfy { $0 > 0x20 && $0 != 0x7F || $0 == UInt8(ascii: "\t") || $0 == IndexLine.lineEnd })
        for count in 1..<bytes.count { #expect(IndexLine(bytes.dropLast(count + 1)) != line) }
    }

    @Test func theLinesOfAnOlderIndexAreRead() {
        let stamp = FileStamp(byteCount: 5, modified: 7)
        #expect(
            IndexLine(Array("c\tk\t5\t7\t1\t-\t-\t-".utf8)[...])
                == .content("k", stamp, ContentVersion(revision: "1")))
        #expect(
            IndexLine(Array("d\tk\t3\thttp://host/a\tt\t9".utf8)[...])
                == .part("k", DownloadPart(number: 3, address: "http://host/a", tag: "t", byteCount: 9)))
    }

    @Test(arguments: [
        "", "x", "c", "c\ta", "s\ta", "c\ta\t1\tx\t-\t-\t-\t-", "n\t-", "n\t%4", "n\t%zz", "n\t%ff",
        "d\ta\t-1\tx\ty\t-", "d\ta\t0\tx\ty\t-", "d\ta\t9223372036854775807\tx\ty\t-",
    ])
    func adamagedLineIsNone(_ text: String) {
        #expect(IndexLine(Array(text.utf8)[...]) == nil)
    }

    /// Opens the index as a pass does.
    private func opened() throws -> (FolderIndex, Int32) {
        var index = try FolderIndex(in: folder)
        let file = try index.open(in: folder)
        return (index, file)
    }

    private func stamp(_ number: Int) -> FileStamp { FileStamp(byteCount: number, modified: Int64(number)) }

    @Test func whatWasAppendedIsThereAndAnIncompleteLineIsNot() throws {
        var (index, file) = try opened()
        try index.append([.content("a", stamp(1), ContentVersion(revision: "1"))], to: file)
        try index.append([.preview("a", stamp(2))], to: file)
        close(file)
        let path = root.url.appending(path: "index")
        let whole = try Data(contentsOf: path)
        for count in 0..<whole.count {
            try whole.prefix(count).write(to: path)
            let (index, file) = try opened()
            close(file)
            let entry = index.entries["a"]
            #expect(entry == nil || entry?.content == [stamp(1)])
            // A line that follows an incomplete one is readable.
            var (next, other) = try opened()
            try next.append([.planned("z"), .removed("y")], to: other)
            close(other)
            #expect(try FolderIndex(in: folder).damagedLineCount == 0)
        }
        try whole.write(to: path)
        #expect(try FolderIndex(in: folder).entries["a"]?.preview == [stamp(2)])
    }

    @Test func aPartIsNoFileOfTheMirror() throws {
        var (index, file) = try opened()
        try index.append([.part("a", DownloadPart(number: 1, address: "", tag: "t", byteCount: 5))], to: file)
        close(file)
        let entry = try #require(try FolderIndex(in: folder).entries["a"])
        #expect(entry.part != nil && !entry.isDoubtful && !entry.isStored)
    }

    @Test func anotherFileIsNoIndex() throws {
        try Data("mine".utf8).write(to: root.url.appending(path: "index"))
        #expect(throws: FolderError.damagedIndex(path: root.url.path + "/index")) { try FolderIndex(in: folder) }
    }

    @Test func outdatedLinesAreRemoved() throws {
        var (index, file) = try opened()
        for number in 0..<3_000 { try index.append([.content("a", stamp(number), ContentVersion())], to: file) }
        try index.append([.removed("b"), .content("c", stamp(7), ContentVersion(tag: "\"t\""))], to: file)
        close(file)
        let before = try FolderIndex(in: folder).entries
        let (after, other) = try opened()
        close(other)
        #expect(after.entries == before && before.count == 2)
        #expect(before["a"]?.content == (2_996..<3_000).map(stamp))
        #expect(try Data(contentsOf: root.url.appending(path: "index")).count < 500)
        #expect(try FolderIndex(in: folder).entries == before)
    }

    /// On a full disk, a pass that only removes files would never begin otherwise.
    @Test func anIndexThatCannotBeReplacedIsUsedAsItIs() throws {
        var (index, file) = try opened()
        for number in 0..<3_000 { try index.append([.content("a", stamp(number), ContentVersion())], to: file) }
        close(file)
        let path = root.url.appending(path: "index")
        let before = try Data(contentsOf: path)
        // A folder cannot be written to.
        let obstacle = root.url.appending(path: "index.new")
        try FileManager.default.createDirectory(at: obstacle, withIntermediateDirectories: false)
        var (next, other) = try opened()
        #expect(try Data(contentsOf: path) == before)
        try next.append([.removed("a")], to: other)
        close(other)
        try FileManager.default.removeItem(at: obstacle)
        let (last, third) = try opened()
        close(third)
        #expect(last.entries.isEmpty)
        #expect(try Data(contentsOf: path).count < 500)
    }

    /// A copy that consists of hard links can also have the file of a killed process.
    @Test func theIndexOfAnotherFolderIsNotChanged() throws {
        var (index, file) = try opened()
        try index.append([.content("a", stamp(1), ContentVersion())], to: file)
        close(file)
        let path = root.url.appending(path: "index")
        let another = root.url.appending(path: "another")
        for link in [another, root.url.appending(path: "index.new")] {
            try FileManager.default.linkItem(at: path, to: link)
        }
        let before = try Data(contentsOf: path)
        var (next, other) = try opened()
        try next.append([.removed("a")], to: other)
        close(other)
        #expect(try Data(contentsOf: another) == before)
        #expect(try FolderIndex(in: folder).entries.isEmpty)
    }

    /// After the death of the system, what was not known to be on the disk is doubted, until it is
    /// stored again.
    @Test(arguments: [true, false]) func theFilesOfAKilledSystemAreDoubted(wasKilled: Bool) throws {
        var (index, file) = try opened()
        try index.plan(["old"], in: file)
        try index.append([.content("old", stamp(1), ContentVersion())], to: file)
        try index.markSynced(in: file)
        let boot: IndexLine = .boot(wasKilled ? "another" : SystemBoot.identifier)
        try index.append([boot, .planned("new"), .planned("lost")], to: file)
        try index.append([.content("new", stamp(2), ContentVersion())], to: file)
        close(file)
        for _ in 0..<2 {
            let (index, file) = try opened()
            close(file)
            #expect(index.entries["old"]?.isDoubtful == false)
            #expect(index.entries["new"]?.isDoubtful == wasKilled)
            #expect(index.entries["lost"]?.isDoubtful == (wasKilled ? true : nil))
        }
        var (next, other) = try opened()
        try next.plan(["new"], in: other)
        try next.append([.content("new", stamp(3), ContentVersion())], to: other)
        try next.markSynced(in: other)
        close(other)
        let last = try FolderIndex(in: folder).entries
        #expect(last["new"]?.isDoubtful == false)
        #expect(last["lost"]?.isDoubtful == (wasKilled ? true : nil))
    }

    /// As many lines as are cheap to read: 1,000, and three of each entry.
    @Test(arguments: [(1_003, 1_003), (1_004, 4), (1_005, 4)])
    func anIndexIsReplacedAboveALimit(lineCount: Int, expected: Int) throws {
        var (index, file) = try opened()
        try index.append((1...lineCount).map { .content("a", stamp($0), ContentVersion()) }, to: file)
        close(file)
        let path = root.url.appending(path: "index")
        for _ in 0..<2 {
            let (_, other) = try opened()
            close(other)
            #expect(try Data(contentsOf: path).count { $0 == IndexLine.lineEnd } == 1 + expected)
        }
    }

    @Test func damagedLinesAreCountedAndLeftOut() throws {
        var (index, file) = try opened()
        try index.append([.content("a", stamp(1), ContentVersion())], to: file)
        close(file)
        let path = root.url.appending(path: "index")
        try Data(try Data(contentsOf: path) + Array("x\n\nn\t%zz\n".utf8)).write(to: path)
        #expect(try FolderIndex(in: folder).damagedLineCount == 3)
        let (next, other) = try opened()
        close(other)
        #expect(next.damagedLineCount == 0 && next.entries["a"]?.content == [stamp(1)])
        #expect(try Data(contentsOf: path).count { $0 == IndexLine.lineEnd } == 2)
    }

    @Test(arguments: lines) func aLineWithAnotherFieldIsNone(_ line: IndexLine) {
        #expect(IndexLine((line.bytes.dropLast() + Array("\tx".utf8))[...]) == nil)
    }

    @Test func numbersOfPartsAreLimited() {
        func number(_ text: String) -> Int? {
            guard case .part(_, let part?) = IndexLine(Array("d\ta\t\(text)\tx\ty\t-".utf8)[...]) else { return nil }
            return part.number
        }
        #expect(number("1") == 1 && number("\(Int.max / 2)") == Int.max / 2)
        #expect(number("0") == nil && number("\(Int.max / 2 + 1)") == nil && number("-") == nil)
    }

    /// Only what is known on both sides can differ.
    @Test func aPartIsTheBeginningOfWhatTheListDescribes() throws {
        let url = try #require(URL(string: "http://host/a"))
        let part = DownloadPart(
            number: 1, address: "a", tag: "t", byteCount: 5, revision: "1", sha256: "ab")
        let item = FolderItem("a", at: url, revision: "1", byteCount: 5, sha256: "AB")
        #expect(part.isBeginning(of: item))
        let changes: [(Bool, (inout FolderItem, inout DownloadPart) -> Void)] = [
            (true, { item, _ in item.byteCount = nil }), (true, { item, _ in item.sha256 = nil }),
            (true, { $1.sha256 = nil }), (false, { $1.byteCount = nil }), (false, { item, _ in item.byteCount = 6 }),
            (false, { item, _ in item.sha256 = "ac" }), (false, { item, _ in item.revision = nil }),
            (false, { $1.revision = nil }), (false, { item, _ in item.revision = "2" }), (true, { $1.address = "" }),
        ]
        for (index, (isBeginning, change)) in changes.enumerated() {
            var (item, part) = (item, part)
            change(&item, &part)
            #expect(part.isBeginning(of: item) == isBeginning, "\(index)")
        }
    }

    @Test(
        arguments: [
            ("ab", "AB", true), ("ab", "ac", false), (nil, "ab", false), ("ab", nil, true), (nil, nil, true),
        ] as [(String?, String?, Bool)])
    func aVersionAgreesWithTheListedChecksum(stored: String?, listed: String?, agrees: Bool) throws {
        let item = FolderItem("a", at: try #require(URL(string: "http://host/a")), sha256: listed)
        #expect(ContentVersion(sha256: stored).agrees(with: item) == agrees)
        #expect(item.owsRevision == listed?.lowercased() && item.owsDownloadOrder == 0)
    }
}
