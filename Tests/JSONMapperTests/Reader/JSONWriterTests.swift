import JSONMapper
import OneWayTestLimits
import SyncModel
import OneWayTestSupport
import Testing

@Suite(.endsInTime) struct JSONWriterTests {
    private func text(style: JSONWriter.Style = .compact, _ write: (inout JSONWriter) throws -> Void) rethrows -> String
    {
        var writer = JSONWriter(style: style)
        try write(&writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    private func text(_ value: JSONValue, style: JSONWriter.Style = .compact) throws -> String {
        try text(style: style) { try $0.value(value) }
    }

    @Test func containersAreSeparatedByThemselves() throws {
        let value = try JSONValue(parsing: #"{"b":[1,[],{},[2,{"c":null}]],"a":true,"d":"x"}"#)
        #expect(try text(value) == #"{"b":[1,[],{},[2,{"c":null}]],"a":true,"d":"x"}"#)
        #expect(
            try text(value, style: .pretty) == """
                {
                  "b": [
                    1,
                    [],
                    {},
                    [
                      2,
                      {
                        "c": null
                      }
                    ]
                  ],
                  "a": true,
                  "d": "x"
                }
                """)
    }

    @Test func numbersAreExact() throws {
        #expect(text { $0.integer(.min) } == "-9223372036854775808")
        #expect(text { $0.integer(.max) } == "9223372036854775807")
        #expect(text { $0.unsigned(.max) } == "18446744073709551615")
        #expect(text { $0.integer(0) } == "0")
        #expect(text { $0.raw("1.50".utf8) } == "1.50")
        for (value, expected) in [
            (0.0, "0.0"), (-0.0, "-0.0"), (1, "1.0"), (-1.5, "-1.5"), (593.293, "593.293"),
            (0.1 + 0.2, "0.30000000000000004"),
            (1e15, "1000000000000000.0"), (1e-7, "1e-07"), (0.000001, "1e-06"), (123456.789012, "123456.789012"),
            (100, "100.0"),
            (0.05, "0.05"), (1e22, "1e+22"), (Double.leastNonzeroMagnitude, "5e-324"),
        ] {
            let written = try text { try $0.double(value) }
            #expect(Double(written)?.bitPattern == value.bitPattern)
            if !expected.contains("e-0") { #expect(written == expected) }
        }
        #expect(throws: JSONError.nonFiniteNumber) { try text { try $0.double(.nan) } }
        #expect(throws: JSONError.nonFiniteNumber) { try text(.array([.double(-.infinity)])) }
    }

    @Test func doublesAreTheShortestThatReadBack() throws {
        var random = SeededRandom(seed: 9)
        for _ in 0..<20_000 {
            let places = Int.random(in: 0...9, using: &random)
            let decimal =
                Double(Int64.random(in: -999_999_999_999...999_999_999_999, using: &random))
                / [1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9][places]
            for value in [decimal, Double(bitPattern: random.next())] where value.isFinite {
                let written = try text { try $0.double(value) }
                #expect(Double(written)?.bitPattern == value.bitPattern)
                #expect(written.count <= max(value.description.count, 3), "\(written)")
            }
        }
    }

    @Test func stringsAreEscapedOnlyWhereTheyMustBe() throws {
        #expect(
            text { $0.string("\"\\/\u{8}\u{C}\n\r\t\u{0}\u{1F}\u{7F}é水😀") }
                == "\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0000\\u001f\u{7F}é水😀\"")
        #expect(text { $0.string("") } == "\"\"")
        #expect(text { writer in Array("a\"b".utf8).withUnsafeBufferPointer { writer.string(utf8: $0) } } == #""a\"b""#)
        for length in 0...40 {
            for special in ["\"", "\n", "é", "😀", "\u{1}\u{2}\u{3}"] {
                for place in 0...length {
                    let plain =
                        String(repeating: "a", count: place) + special + String(repeating: "b", count: length - place)
                    #expect(try JSONValue(parsing: text { $0.string(plain) }) == .string(plain))
                }
            }
        }
        let controls = String(repeating: "\u{1}", count: 10_000)
        #expect(try JSONValue(parsing: text { $0.string(controls) }) == .string(controls))
    }

    @Test func keysKnownBeforehandAreWrittenAlike() {
        let quoted = JSONWriter.quotedKey("a\"b")
        let written = text { writer in
            writer.beginObject()
            writer.key(quoted: quoted)
            writer.date(Timestamp(microseconds: 1_435_063_208_120_000))
            writer.key("c")
            writer.date(Timestamp(microseconds: 0))
            writer.endObject()
        }
        #expect(written == #"{"a\"b":"2015-06-23T12:40:08.120Z","c":"1970-01-01T00:00:00Z"}"#)
    }

    @Test func theBufferIsEmptiedIntoASink() throws {
        struct Full: Error {}
        var sunk: [UInt8] = []
        var writer = JSONWriter()
        writer.beginArray()
        for value in 0..<10_000 {
            writer.integer(Int64(value))
            writer.flush(minimumByteCount: 1000) { sunk += $0 }
            #expect(writer.byteCount < 1000)
        }
        writer.endArray()
        let rest = writer.byteCount
        #expect(throws: Full.self) { try writer.flush { _ throws(Full) in throw Full() } }
        #expect(writer.byteCount == rest)
        writer.flush { sunk += $0 }
        writer.flush { _ in Issue.record("nothing is left") }
        #expect(try JSONValue(parsing: sunk) == .array((0..<10_000).map { .integer($0) }))
    }

    @Test func whatIsWrittenReadsBack() throws {
        var random = SeededRandom(seed: 1)
        for _ in 0..<500 {
            let value = Self.value(depth: 0, &random)
            #expect(try JSONValue(parsing: text(value)) == value)
            #expect(try JSONValue(parsing: text(value, style: .pretty)) == value)
            #expect(try text(JSONValue(parsing: text(value))) == text(value))
        }
    }

    private static func value(depth: Int, _ random: inout SeededRandom) -> JSONValue {
        switch Int.random(in: 0..<(depth < 5 ? 9 : 7), using: &random) {
        case 0: .null
        case 1: .bool(.random(using: &random))
        case 2: .integer(Int64(truncatingIfNeeded: random.next() >> UInt64.random(in: 0...63, using: &random)))
        case 3: .unsigned(random.next() | 1 << 63)
        case 4: .double(Double(Int32.random(in: .min ... .max, using: &random)) / 1000)
        case 5: .decimal("\(random.next())\(random.next())")
        case 6: .string(string(&random))
        case 7: .array((0..<Int.random(in: 0...5, using: &random)).map { _ in value(depth: depth + 1, &random) })
        default: object(depth: depth, &random)
        }
    }

    private static func object(depth: Int, _ random: inout SeededRandom) -> JSONValue {
        var object = JSONValue.Object()
        for _ in 0..<Int.random(in: 0...20, using: &random) {
            object[string(&random)] = value(depth: depth + 1, &random)
        }
        return .object(object)
    }

    private static func string(_ random: inout SeededRandom) -> String {
        let scalars = Array("ab\"\\\n\u{0}é水😀 12345678".unicodeScalars)
        var text = ""
        for _ in 0..<Int.random(in: 0...20, using: &random) {
            text.unicodeScalars.append(scalars[Int.random(in: 0..<scalars.count, using: &random)])
        }
        return text
    }

    /// A buffer grows by its own size or by what is written, whichever is more: texts just below,
    /// at and above every power of two, after nothing, one byte and a long text.
    @Test func aTextOfAnySizeFitsIntoTheBuffer() throws {
        var sizes = [5 << 20]
        for power in 8...16 {
            for distance in -3...1 { sizes.append((1 << power) + distance) }
        }
        for size in sizes {
            let long = String(repeating: "a", count: size)
            for first in ["", "b", String(repeating: "c", count: 5_000)] {
                var writer = JSONWriter()
                try writer.value(.array([.string(first), .string(long), .integer(1)]))
                #expect(writer.bytes.count == first.utf8.count + size + 9)
                #expect(try JSONValue(parsing: writer.bytes) == .array([.string(first), .string(long), .integer(1)]))
            }
        }
    }

    /// What every value reserves: each kind of value at every place near the end of the buffer.
    ///
    /// A byte beyond the buffer is noticed under the Address Sanitizer.
    @Test func everyValueFitsAtTheEndOfTheBuffer() throws {
        let values: [(String, (inout JSONWriter) throws -> Void)] = [
            ("-9223372036854775808", { $0.integer(.min) }), ("18446744073709551615", { $0.unsigned(.max) }),
            ("-2.2250738585072014e-308", { try $0.double(-0x1p-1022) }),
            ("-4503599627370495.5", { try $0.double(-0x1.fffffffffffffp51) }),
            ("-1234.5678", { try $0.double(-1234.5678) }), ("false", { $0.bool(false) }), ("null", { $0.null() }),
            (#""\u0001\u0001""#, { $0.string("\u{1}\u{1}") }), (#""\"12345678""#, { $0.string("\"12345678") }),
            (#""12345678\"""#, { $0.string("12345678\"") }),
            (#""2015-06-23T12:40:08.123456Z""#, { $0.date(Timestamp(microseconds: 1_435_063_208_123_456)) }),
        ]
        for (expected, write) in values {
            for fill in 4_000...4_096 {
                let text = String(repeating: "a", count: fill)
                for style in [JSONWriter.Style.compact, .pretty] {
                    let written = try self.text(style: style) { writer in
                        writer.beginArray()
                        writer.string(text)
                        try write(&writer)
                        writer.endArray()
                    }
                    let (gap, end) = style == .pretty ? ("\n  ", "\n") : ("", "")
                    #expect(written == "[\(gap)\"\(text)\",\(gap)\(expected)\(end)]")
                }
            }
        }
    }
}
