import Foundation
import JSONMapper
import OneWayTestLimits
import OneWayTestSupport
import Testing

@testable import HTTPSource

/// Bodies of other formats become arrays of objects, however they arrive.
@Suite(.endsInTime) struct BodyRecoderTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let format: HTTPAPI.Format
        let body: String
        /// Nil for a body that is no array afterwards.
        let expected: String?

        var testDescription: String { body }
    }

    /// One value of each kind, and each kind after and inside each other.
    private static let keyed: [(String, String?)] = [
        (
            #"{"a":1,"b":"x","c":[1,[2]],"d":{"e":1},"f":{},"g":null,"h":[],"i":"}],","j":true,"l":-1.5e3}"#,
            #"[{"k":"a","value":1},{"k":"b","value":"x"},{"k":"c","value":[1,[2]]},{"k":"d","e":1},{"k":"f"},{"k":"g","value":null},{"k":"h","value":[]},{"k":"i","value":"}],"},{"k":"j","value":true},{"k":"l","value":-1.5e3}]"#
        ),
        (#"{"a":[{"b":"]"}]}"#, #"[{"k":"a","value":[{"b":"]"}]}]"#),
        (#"{"a":{"b":[1,{"c":"}"}],"d":"\""}}"#, #"[{"k":"a","b":[1,{"c":"}"}],"d":"\""}]"#),
        (#" { "a\"b" : { "k" : 2 } , "c" : { "k" : "c" } } "#, #"[{"k":"a\"b","own_k":2},{"k":"c"}]"#),
        ("{}", "[]"), ("null", "[]"), ("[]", "[]"), (" [ ] ", "[]"), ("nulls", nil), ("nul", nil), ("true", nil),
        (#"[{"a":1},null,5]"#, #"[{"k":"0","a":1},{"k":"2","value":5}]"#),
        (#"[[1],"x",null]"#, #"[{"k":"0","value":[1]},{"k":"1","value":"x"}]"#), (#"{"a":1"#, nil), (#"{"a""#, nil),
    ]

    private static let lines: [(String, String?)] = [
        ("{\"a\":1}\n{\"b\":\"\\n\"}\r\n\n [1]\n2", #"[{"a":1},{"b":"\n"},[1],2]"#), ("", "[]"), ("\n\n", "[]"),
        ("\u{FEFF}1\n", "[1]"), ("{\"a\":", nil), ("{\"a\":\"}", nil),
    ]

    private static let events: [(String, String?)] = [
        ("data: {\"a\":1}\n\ndata: 2\n\n", #"[{"a":1},2]"#),
        ("event: x\ndata: 1\n\n: c\n\ndata: 2\n\n", "[1,2]"), ("", "[]"), ("data: 1\n\ndata: 2\n", nil),
        ("data: 1\n\nevent: error\ndata: 2\n\n", nil),
    ]

    static let cases: [Case] = {
        var cases = keyed.map { Case(format: .keyed(by: "k"), body: $0.0, expected: $0.1) }
        cases += lines.map { Case(format: .lines, body: $0.0, expected: $0.1) }
        cases += events.map { Case(format: .events(types: []), body: $0.0, expected: $0.1) }
        return cases
    }()

    private func recoded(_ pieces: [[UInt8]], _ format: HTTPAPI.Format) throws -> JSONValue? {
        var recoder = try #require(BodyRecoder(format))
        let bytes = pieces.flatMap { recoder.recode($0) } + recoder.finish()
        return try? JSONValue(parsing: bytes, exactDecimals: true)
    }

    @Test(arguments: cases) func everyValueIsAnObjectOfTheArray(example: Case) throws {
        let bytes = Array(example.body.utf8)
        var expected = try example.expected.map { try JSONValue(parsing: Array($0.utf8), exactDecimals: true) }
        if case .array = expected {} else { expected = nil }
        for arrival in Axes.arrivals(of: bytes.count) {
            var found = try recoded(arrival.pieces(of: bytes), example.format)
            if case .array = found {} else { found = nil }
            #expect(found == expected, "\(arrival)")
        }
    }
}
