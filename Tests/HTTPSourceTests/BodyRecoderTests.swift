import JSONMapper
import OneWayTestLimits
import OneWayTestSupport
import Testing

@testable import HTTPSource

/// Bodies of lines and events become lines of objects, however they arrive.
@Suite(.endsInTime) struct BodyRecoderTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let format: HTTPAPI.Format
        let body: String
        /// Nil for a body that is no array afterwards.
        let expected: String?

        var testDescription: String { body }
    }

    private static let lines: [(String, String?)] = [
        ("{\"a\":1}\n{\"b\":\"\\n\"}\r\n\n [1]\n2", #"[{"a":1},{"b":"\n"},[1],2]"#), ("", "[]"), ("\n\n", "[]"),
        ("\u{FEFF}1\n", "[1]"), ("{\"a\":", nil), ("{\"a\":\"}", nil),
    ]

    private static let events: [(String, String?)] = [
        ("data: {\"a\":1}\n\ndata: 2\n\n", #"[{"a":1},2]"#),
        ("event: x\ndata: 1\n\n: c\n\ndata: 2\n\n", "[1,2]"), ("", "[]"), ("data: 1\n\ndata: 2\n", nil),
        ("data: 1\n\nevent: error\ndata: 2\n\n", nil), ("data: {\ndata:  \"a\":1}\n\n", #"[{"a":1}]"#),
        ("<html>\n", nil), ("{\"a\":1}\n", nil), ("<html>\n\ndata: 1\n\n", "[1]"),
    ]

    static let cases =
        lines.map { Case(format: .lines, body: $0.0, expected: $0.1) }
        + events.map { Case(format: .events(types: []), body: $0.0, expected: $0.1) }

    /// The elements that a reader finds; nil if the body is no list.
    private func elements(_ pieces: [[UInt8]], _ format: HTTPAPI.Format) throws -> JSONValue? {
        var recoder = try #require(BodyRecoder(format, endSign: .line(keyPath: "end")))
        let reader = JSONReader(layout: .lines)
        var elements: [JSONValue] = []
        do {
            for piece in pieces {
                try reader.append(recoder.recode(piece))
                while let element = try reader.nextValue(exactDecimals: true) { elements.append(element) }
            }
            try reader.append(recoder.finish())
            reader.finish()
            while let element = try reader.nextValue(exactDecimals: true) { elements.append(element) }
        } catch is JSONError {
            return nil
        }
        return .array(elements)
    }

    @Test(arguments: cases) func everyValueIsAnElement(example: Case) throws {
        let bytes = Array(example.body.utf8)
        let expected = try example.expected.map { try JSONValue(parsing: Array($0.utf8), exactDecimals: true) }
        for arrival in Axes.arrivals(of: bytes.count) {
            #expect(try elements(arrival.pieces(of: bytes), example.format) == expected, "\(arrival)")
        }
    }

    /// What follows an error, or an event that is too large, could complete the value that has no
    /// end.
    @Test(arguments: ["event: error\ndata: 1\n\n", "data: \(String(repeating: "1", count: 200))\n\n"])
    func nothingFollowsAStreamThatHasEnded(end: String) throws {
        var recoder = try #require(BodyRecoder(.events(types: []), limit: 100))
        let written = recoder.recode(Array(end.utf8))
        let rest = recoder.recode(Array("data: \"a\":1}\n\ndata: 2".utf8)) + recoder.finish()
        #expect(written == Array("{".utf8))
        #expect(rest.isEmpty)
    }

    /// Only the last line can be the sign of the end, with blank lines after it or without.
    @Test(arguments: [
        ("{\"a\":1}\n{\"end\":true}\n", 1, true), ("{\"a\":1}\r\n{\"end\":1}\r\n\r\n \n", 1, true),
        ("{\"end\":true}", 0, true), ("{\"end\":true}\n{\"a\":1}", 2, false), ("{\"a\":1}\n{\"end\":false}", 2, false),
        ("\n\n", 0, false), ("", 0, false),
    ])
    func theLastLineMayBeTheSignOfTheEnd(body: String, count: Int, hasEndSign: Bool) throws {
        let bytes = Array(body.utf8)
        for arrival in Axes.arrivals(of: bytes.count) {
            var recoder = try #require(BodyRecoder(.lines, endSign: .line(keyPath: "end")))
            let reader = JSONReader(layout: .lines)
            for piece in arrival.pieces(of: bytes) { try reader.append(recoder.recode(piece)) }
            try reader.append(recoder.finish())
            reader.finish()
            while try reader.nextValue() != nil {}
            #expect(reader.elementCount == count, "\(arrival)")
            #expect(recoder.hasEndSign == hasEndSign, "\(arrival)")
        }
    }
}
