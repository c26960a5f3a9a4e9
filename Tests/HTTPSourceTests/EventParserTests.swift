import OneWayTestLimits
import Testing

@testable import HTTPSource

@Suite(.endsInTime) struct EventParserTests {
    private func event(_ data: String, type: String = "message", id: String? = nil) -> EventParser.Item {
        .event(HTTPEventStream.Event(type: type, id: id, data: Array(data.utf8)))
    }

    private func items(_ text: String, limit: Int = 1_000, pieces: Int = 1) throws -> [EventParser.Item] {
        var parser = EventParser(limit: limit)
        var items: [EventParser.Item] = []
        let bytes = Array(text.utf8)
        for start in stride(from: 0, to: bytes.count, by: max(1, bytes.count / pieces)) {
            items += try parser.append(bytes[start..<min(start + max(1, bytes.count / pieces), bytes.count)])
        }
        return items
    }

    /// The examples of the HTML Standard, section 9.2.6, and what they leave open.
    @Test(arguments: [1, 2, 3, 7, 1_000], ["\n", "\r", "\r\n"])
    func eventsAreRead(pieces: Int, end: String) throws {
        let lines = [
            ": test stream", "", "data: first event", "id: 1", "", "data:second event", "id", "", "data:  third event",
            "", "event: add", "data: 73857293", "ignored: x", "", "event: none", "", "data", "", "data", "data", "",
            "data: YHOO", "data: +2", "data: 10", "", "id: 7\0", "data: x", "", "data: an event without its end",
        ]
        let expected = [
            event("first event", id: "1"), event("second event"), event(" third event"),
            event("73857293", type: "add"), event(""), event("\n"), event("YHOO\n+2\n10"), event("x"),
        ]
        #expect(try items("\u{FEFF}" + lines.joined(separator: end) + end, pieces: pieces) == expected)
    }

    /// A byte order mark is part of the name of a field anywhere else.
    @Test func onlyTheFirstLineMayHaveAByteOrderMark() throws {
        #expect(try items("\n\u{FEFF}data: 1\n\ndata: 2\n\n") == [event("2")])
    }

    @Test func anIdentifierHoldsForTheEventsThatFollow() throws {
        var parser = EventParser(limit: 100, lastID: "0")
        #expect(
            try parser.append("data: a\n\nid: 1\n\ndata: b\n\nid: 2\ndata: c".utf8) == [
                event("a", id: "0"), event("b", id: "1"),
            ])
        // An event that has not ended is not the last one.
        #expect(parser.lastID == "1")
    }

    @Test(arguments: [
        ("5000", Duration.seconds(5)), ("0", .zero), ("99999999999999999999", .seconds(86_400)), ("-1", nil),
        ("1s", nil),
        ("", nil),
    ])
    func pausesAreRead(text: String, pause: Duration?) throws {
        #expect(try items("retry: \(text)\n") == (pause.map { [.retry($0)] } ?? []))
    }

    @Test func anEventThatIsTooLargeIsLeftOut() throws {
        let text = "data: 1\n\nid: 9\ndata: \(String(repeating: "x", count: 200))\ndata: y\n\ndata: 2\n\n"
        #expect(try items(text, limit: 100) == [event("1"), .tooLarge(id: "9"), event("2", id: "9")])
        let many = String(repeating: "data:\n", count: 30)
        #expect(try items(many + "\ndata: 2\n\n", limit: 100) == [.tooLarge(id: nil), event("2")])
        // Comments are signs of life, however long.
        #expect(try items(":" + String(repeating: "x", count: 100_000) + "\ndata: 2\n\n", limit: 100) == [event("2")])
    }

    @Test(arguments: ["data: ", "x", "data: 1\ndata: "]) func anEventWithoutEndIsAnError(beginning: String) {
        #expect(throws: EventParser.TooLarge.self) {
            try items(beginning + String(repeating: "x", count: 10_000), limit: 100)
        }
    }

    /// The limit and one more byte, sixteen times, are an event without an end; a byte less is not.
    @Test func anEventThatIsTooLargeMayStillEnd() throws {
        let event = "data: " + String(repeating: "x", count: 16 * 101 - 1 - "data: ".count)
        #expect(try items(event + "\n\n", limit: 100) == [.tooLarge(id: nil)])
        #expect(throws: EventParser.TooLarge.self) { try items(event + "x\n\n", limit: 100) }
    }

    @Test func anIdentifierOfTheHighestLengthIsTaken() throws {
        let id = String(repeating: "x", count: 1_024)
        #expect(try items("id: \(id)\ndata: 1\n\n", limit: 10_000) == [event("1", id: id)])
    }

    @Test(arguments: [String(repeating: "x", count: 1_025), "a\u{1}", "a\u{7F}b", " a", "a\t"])
    func anIdentifierThatCannotBeSentBackIsNotTaken(id: String) throws {
        var parser = EventParser(limit: 10_000, lastID: "0")
        _ = try parser.append("id: \(id)\ndata: 1\n\n".utf8)
        #expect(parser.lastID == "0")
    }
}
