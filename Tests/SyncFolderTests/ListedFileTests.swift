import Foundation
import HTTPTransfer
import OneWayTestLimits
import Testing

@testable import SyncFolder

/// The dates and sizes of an index.
@Suite(.endsInTime) struct ListedFileTests {
    private func url(_ text: String = "http://host/a") throws -> URL { try #require(URL(string: text)) }

    @Test(arguments: [
        (["24-Nov-2026", "10:00", "5"], true), (["2026-11-24", "10:00", "0"], true),
        (["24-Nov-2026", "10:00:59", "5"], true), (["24-Nov-2026", "10:00", "5", "x"], false),
        (["24-Nov-2026", "10:00"], false), (["24-Nov-2026", "10", "5"], false),
        (["24-Nov-2026", "10:00:00:00", "5"], false), (["24-Nov-2026", "9:00", "5"], false),
        (["24-Nov-2026", "10:0", "5"], false), (["24-Nov-2026", "xx:00", "5"], false),
        (["24-Nov-2026", "10:xx", "5"], false), (["24-Nov", "10:00", "5"], false),
        (["24-Nov-2026-1", "10:00", "5"], false), (["24-Nov-026", "10:00", "5"], false),
        (["24-Nov-abcd", "10:00", "5"], false), (["24-Nov-2026", "10:00", "-5"], false),
        (["24-Nov-2026", "10:00", "+5"], false), (["24-Nov-2026", "10:00", "5.0"], false),
        (["24-Nov-2026", "10:00", "99999999999999999999"], false),
    ]) func onlyAMinuteAndAnExactSizeTellOfAFile(words: [String], isListed: Bool) throws {
        #expect((ListedFile(words, of: try url()) != nil) == isListed)
    }

    @Test func theMarkChangesWithTheDateTheSizeAndTheAddress() throws {
        let words = [
            ["24-Nov-2026", "10:00", "5"], ["25-Nov-2026", "10:00", "5"], ["24-Nov-2026", "10:01", "5"],
            ["24-Nov-2026", "10:00", "6"],
        ]
        var marks = try words.map { ListedFile($0, of: try url())?.mark }
        marks.append(ListedFile(words[0], of: try url("http://host/b"))?.mark)
        #expect(Set(marks.compactMap(\.self)).count == 5)
        #expect(ListedFile(words[0], of: try url())?.mark == marks[0])
    }

    /// The index has the minute of the change in any time zone, and the minute is over.
    @Test(
        arguments: [
            ("00:00", "12:02:00", true), ("00:00", "12:01:59", false), ("45:00", "12:02:00", true),
            ("15:59", "12:02:00", true), ("30", "12:02:00", true), ("01", "12:02:00", false),
            ("14", "12:02:00", false), ("59", "12:02:00", false), ("00", nil, false),
        ] as [(String, String?, Bool)])
    func aChangeShowsOnceItsMinuteIsOver(minute: String, time: String?, isSettled: Bool) throws {
        let file = try #require(ListedFile(["24-Nov-2026", "10:\(minute)", "5"], of: try url()))
        var headers = HTTPHeaders()
        headers["Date"] = time.map { "Tue, 24 Nov 2026 \($0) GMT" }
        #expect(!file.isSettled(by: headers))
        headers["Last-Modified"] = "Tue, 24 Nov 2026 12:00:00 GMT"
        #expect(file.isSettled(by: headers) == isSettled)
        // The seconds of the change are not in the index.
        headers["Last-Modified"] = "Tue, 24 Nov 2026 11:45:59 GMT"
        #expect(file.isSettled(by: headers) == (isSettled || time == "12:01:59"))
    }
}
