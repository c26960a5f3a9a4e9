import JSONMapper
import OneWayTestLimits
import Testing

@testable import HTTPSource

@Suite(.endsInTime) struct SyncCursorTests {
    @Test(arguments: [
        ("2026-01-01T00:00:30Z", "2025-12-31T23:59:30Z"), ("2026-01-01T00:00:30.250Z", "2025-12-31T23:59:30.250Z"),
        ("2026-01-01T02:00:30+02:00", "2026-01-01T01:59:30+02:00"), ("2026-01-01 00:00:30", "2025-12-31 23:59:30"),
        ("2026-01-01T12:00:00.000Z", "2026-01-01T11:59:00.000Z"),
        ("2026-01-01T12:00:00.000000Z", "2026-01-01T11:59:00.000000Z"),
        ("2026-01-01T12:00:00.1234567Z", "2026-01-01T11:59:00.1234560Z"),
        ("2026-01-01T12:00:00,5z", "2026-01-01T11:59:00,5z"),
        ("2026-01-01T12:00:00.000+0000", "2026-01-01T11:59:00.000+0000"),
        ("2026-01-01T12:00:00+00:00", "2026-01-01T11:59:00+00:00"),
        ("2026-01-01T00:00:00-0330", "2025-12-31T23:59:00-0330"), ("2026-01-01T12:00", "2026-01-01T11:59"),
        ("2026-01-01 23:00", "2026-01-01 22:59"), ("2026-01-01 12:00:00.000000", "2026-01-01 11:59:00.000000"),
        ("2026-01-01 12:00:00 +02", "2026-01-01 11:59:00 +02"),
        ("2026-01-01", "2025-12-31"), ("1767225630", "1767225570"), ("1767225630250", "1767225570250"),
        // Sequence numbers and tokens are no times.
        ("12345", "12345"), ("v1:abc", "v1:abc"),
    ])
    func anOverlapIsWrittenInTheSameWay(cursor: String, earlier: String) {
        #expect(SyncCursor(text: cursor).earlier(by: .seconds(60)).text == earlier)
    }

    @Test(arguments: [
        ("2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z"), ("2026-01-01T01:59:59+02:00", "2026-01-01T00:00:00Z"),
        ("9", "10"), ("99.5", "100"), ("a", "b"), ("unknown", "2026-01-01"), ("x", "10"), ("infinity", "10"),
    ])
    func laterPositionsAreGreaterInAnySpelling(earlier: String, later: String) {
        #expect(SyncCursor(text: earlier) < SyncCursor(text: later))
        #expect(!(SyncCursor(text: later) < SyncCursor(text: earlier)))
    }

    /// A leap second is the one after it; days of 23 and 25 hours are nothing to UTC.
    @Test func leapSecondsAndOffsetsAreNoObstacle() {
        #expect(!(SyncCursor(text: "2016-12-31T23:59:60Z") < SyncCursor(text: "2017-01-01T00:00:00Z")))
        #expect(SyncCursor(text: "2025-10-26T02:30:00+02:00") < SyncCursor(text: "2025-10-26T02:30:00+01:00"))
        #expect(
            SyncCursor(text: "2025-03-30T03:30:00+02:00").earlier(by: .seconds(3_600)).text
                == "2025-03-30T02:30:00+02:00")
    }

    /// A time between two minutes is written as the earlier one, and a fraction is cut.
    @Test func aTimeThatTheDigitsCannotShowIsNotLater() {
        #expect(SyncCursor(text: "2026-01-01T12:00").earlier(by: .seconds(30)).text == "2026-01-01T11:59")
        let tenths = SyncCursor(text: "2026-01-01T12:00:00.0Z")
        #expect(tenths.earlier(by: .milliseconds(50)).text == "2026-01-01T11:59:59.9Z")
    }

    /// What is written for an earlier time could not have the format.
    @Test(arguments: ["20250330T033000Z", "20250330T033000", "unknown"])
    func otherTextsAreKept(text: String) {
        #expect(SyncCursor(text: text).earlier(by: .seconds(3_600)).text == text)
    }

    @Test func numbersKeepEveryDigit() throws {
        let value = try JSONValue(parsing: "[1767225630.123456,9007199254740993,1.50]", exactDecimals: true)
        let texts = (0..<3).map { value[$0].flatMap { SyncCursor($0)?.text } }
        #expect(texts == ["1767225630.123456", "9007199254740993", "1.50"])
        #expect(SyncCursor(.null) == nil)
        #expect(SyncCursor(.string("")) == nil)
        #expect(SyncCursor(.bool(true)) == nil)
    }

    /// What was asked for, the values of two pages, and the cursor that they reach.
    static let mixtures: [(String?, [[String]], String?)] = [
        (nil, [["2026-01-01", "unknown"], ["2026-01-02", "zzz"]], "2026-01-02"),
        (nil, [["never", "never"], ["2026-01-02"]], "2026-01-02"),
        (nil, [["0", "2026-01-01"], ["2026-01-02"]], "2026-01-02"),
        (nil, [["7", "n/a"], ["9", "nan"]], "9"), (nil, [["7", "8"], ["2026-01-01"]], "8"),
        // Texts that happen to be numbers.
        (nil, [["a1", "99"], ["b2"]], "b2"), (nil, [["unknown"], []], "unknown"), (nil, [[], []], nil),
        ("2026-01-01", [["unknown"], ["7"]], nil), ("2026-01-01", [["x", "x"], ["2026-01-02"]], "2026-01-02"),
        ("5", [["x", "2026-01-01"], []], nil), ("unknown", [["unknown"], ["2026-01-02"]], "2026-01-02"),
    ]

    @Test(arguments: mixtures)
    func aValueOfAnotherKindDoesNotMoveTheCursor(since: String?, pages: [[String]], latest: String?) {
        var reach = CursorReach(since: since)
        for (index, values) in pages.enumerated() {
            var facts = PageFacts()
            for value in values { facts.note(SyncCursor(text: value)) }
            reach.extend(by: facts.cursors, isFirstPage: index == 0)
        }
        #expect(reach.latest?.text == latest)
    }

    /// Whether pages continue where the previous one ended: only the earliest cursor of a page
    /// tells, not its latest one.
    @Test(
        arguments: [
            ([(5, 6), (6, 9)], true), ([(5, 6), (7, 9)], true), ([(5, 6), (3, 9)], false), ([(5, 6), (5, 9)], false),
            ([(5, 6)], true), ([(1, 2), (3, 4), (2, 9)], false), ([(5, 6), (1, 2)], false),
        ] as [([(Int, Int)], Bool)])
    func pagesAreInOrderIfEachBeginsWhereTheLastOneEnded(pages: [(Int, Int)], isAscending: Bool) {
        var reach = CursorReach()
        for (index, page) in pages.enumerated() {
            let cursors = PageFacts.Cursors(
                earliest: SyncCursor(text: "\(page.0)"), latest: SyncCursor(text: "\(page.1)"))
            reach.extend(by: [cursors], isFirstPage: index == 0)
            reach.extend(by: [], isFirstPage: false)
        }
        #expect(reach.isAscending == isAscending)
        #expect(reach.latest?.text == pages.map(\.1).max().map { "\($0)" })
        #expect(reach.latestOfFirstPage?.text == pages.first.map { "\($0.1)" })
    }
}
