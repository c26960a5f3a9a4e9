import JSONMapper
import OneWayTestLimits
import Testing

/// What the reader makes of every kind of input that RFC 8259 allows, forbids, or leaves open.
@Suite(.endsInTime) struct JSONDecisionTests {
    struct Decision: Sendable, CustomTestStringConvertible {
        let bytes: [UInt8]
        var value: JSONValue?
        var reason: JSONError.Reason?

        var testDescription: String {
            String(decoding: bytes.prefix(60), as: UTF8.self).debugDescription
        }

        static func reads(_ text: String, as value: JSONValue) -> Decision {
            Decision(bytes: Array(text.utf8), value: value)
        }

        static func reads(_ bytes: [UInt8], as value: JSONValue) -> Decision {
            Decision(bytes: bytes, value: value)
        }

        static func refuses(_ text: String, _ reason: JSONError.Reason) -> Decision {
            Decision(bytes: Array(text.utf8), reason: reason)
        }

        static func refuses(_ bytes: [UInt8], _ reason: JSONError.Reason) -> Decision {
            Decision(bytes: bytes, reason: reason)
        }
    }

    private static let quote = UInt8(ascii: "\"")

    static let structures: [Decision] = [
        .reads("[]", as: .array([])), .reads("{}", as: .object([:])),
        .reads("[[],{}]", as: .array([.array([]), .object([:])])),
        .reads(" \t\r\n[ \n1 , \t2 ]\r\n ", as: .array([.integer(1), .integer(2)])),
        .reads(#" { "a" : [ ] , "" : null } "#, as: .object(["a": .array([]), "": .null])),
        .reads("true", as: .bool(true)), .reads(" false ", as: .bool(false)), .reads("null\n", as: .null),
        .reads("7", as: .integer(7)), .reads(#""""#, as: .string("")),
        .refuses("", .unexpectedEnd), .refuses(" ", .unexpectedEnd), .refuses("\n\n", .unexpectedEnd),
        .refuses("[", .unexpectedEnd), .refuses("[1", .unexpectedEnd), .refuses("[1,", .unexpectedEnd),
        .refuses("{", .unexpectedEnd), .refuses(#"{"a""#, .unexpectedEnd), .refuses(#"{"a":"#, .unexpectedEnd),
        .refuses(#"{"a":1"#, .unexpectedEnd), .refuses(#"{"a":1,"#, .unexpectedEnd),
        .refuses(#"[{"a":[{"#, .unexpectedEnd),
        .refuses("]", .unexpectedByte), .refuses("}", .unexpectedByte), .refuses("[}", .unexpectedByte),
        .refuses("{]", .unexpectedByte), .refuses("[1}", .unexpectedByte), .refuses(#"{"a":1]"#, .unexpectedByte),
        .refuses("[,]", .unexpectedByte), .refuses("[1,]", .unexpectedByte), .refuses("[1,,2]", .unexpectedByte),
        .refuses("[,1]", .unexpectedByte), .refuses("[1 2]", .unexpectedByte), .refuses("[1:2]", .unexpectedByte),
        .refuses("[1;2]", .unexpectedByte), .refuses("[[1][2]]", .unexpectedByte), .refuses(",", .unexpectedByte),
        .refuses("{,}", .unexpectedByte), .refuses(#"{"a":1,}"#, .unexpectedByte),
        .refuses(#"{"a":1,,"b":2}"#, .unexpectedByte),
        .refuses(#"{"a"}"#, .unexpectedByte), .refuses(#"{"a":}"#, .unexpectedByte),
        .refuses(#"{"a" 1}"#, .unexpectedByte),
        .refuses(#"{"a"::1}"#, .unexpectedByte), .refuses(#"{"a",1}"#, .unexpectedByte),
        .refuses(#"{:1}"#, .unexpectedByte),
        .refuses("{a:1}", .unexpectedByte), .refuses("{'a':1}", .unexpectedByte), .refuses("{1:1}", .unexpectedByte),
        .refuses("{null:1}", .unexpectedByte), .refuses("{[]:1}", .unexpectedByte), .refuses("['a']", .unexpectedByte),
        .refuses(#"{"a":1 "b":2}"#, .unexpectedByte),
        .refuses("[] x", .trailingContent), .refuses("[]]", .trailingContent), .refuses("{}}", .trailingContent),
        .refuses("1 2", .trailingContent), .refuses("[],[]", .trailingContent), .refuses(#""a""b""#, .trailingContent),
        .refuses("{} //", .trailingContent), .refuses("{}/**/", .trailingContent), .refuses("null,", .trailingContent),
        .refuses("[1/*no*/]", .unexpectedByte), .refuses("// no\n1", .unexpectedByte), .refuses("#", .unexpectedByte),
        .refuses("<a>", .unexpectedByte), .refuses("*", .unexpectedByte), .refuses("é", .unexpectedByte),
        .refuses("[\u{B}1]", .unexpectedByte), .refuses("[\u{C}]", .unexpectedByte),
        .refuses("\u{A0}[]", .unexpectedByte),
        .refuses("[\u{2060}]", .unexpectedByte), .refuses("\u{0}", .unexpectedByte),
        .refuses("[\u{0}]", .unexpectedByte),
        .refuses("[]\u{0}", .trailingContent),
    ]

    static let words: [Decision] = [
        .refuses("tru", .unexpectedEnd), .refuses("[tru]", .invalidLiteral), .refuses("nul", .unexpectedEnd),
        .refuses("nulll", .trailingContent), .refuses("truefalse", .trailingContent), .refuses("True", .unexpectedByte),
        .refuses("NULL", .unexpectedByte), .refuses("tRue", .invalidLiteral), .refuses("[fals]", .invalidLiteral),
        .refuses("undefined", .unexpectedByte), .refuses("NaN", .unexpectedByte), .refuses("Infinity", .unexpectedByte),
        .refuses("nan", .invalidLiteral), .refuses("[nullé]", .unexpectedByte),
    ]

    static let numbers: [Decision] = [
        .reads("0", as: .integer(0)), .reads("-0", as: .double(-0.0)), .reads("-1", as: .integer(-1)),
        .reads("[0,1e0]", as: .array([.integer(0), .double(1)])), .reads("10", as: .integer(10)),
        .reads("9223372036854775807", as: .integer(.max)), .reads("-9223372036854775808", as: .integer(.min)),
        .reads("9223372036854775808", as: .unsigned(1 << 63)), .reads("18446744073709551615", as: .unsigned(.max)),
        .reads("18446744073709551616", as: .decimal("18446744073709551616")),
        .reads("-9223372036854775809", as: .decimal("-9223372036854775809")),
        .reads("0.5", as: .double(0.5)), .reads("-0.25", as: .double(-0.25)), .reads("1.0", as: .double(1)),
        .reads("2e3", as: .double(2000)), .reads("2E+3", as: .double(2000)), .reads("25e-1", as: .double(2.5)),
        .reads("0e99", as: .double(0)), .reads("1E00", as: .double(1)), .reads("1e-400", as: .double(0)),
        .reads("4.9e-324", as: .double(.leastNonzeroMagnitude)),
        .reads("1.7976931348623157e308", as: .double(.greatestFiniteMagnitude)),
        .reads("1e309", as: .decimal("1e309")), .reads("-1e999", as: .decimal("-1e999")),
        .reads("0.1000000000000000055511151231257827", as: .double(0.1)),
        .refuses("-", .unexpectedEnd), .refuses("[-]", .invalidNumber), .refuses("--1", .invalidNumber),
        .refuses("+1", .unexpectedByte), .refuses("[+1]", .unexpectedByte), .refuses("- 1", .invalidNumber),
        .refuses("00", .invalidNumber), .refuses("01", .invalidNumber), .refuses("-01", .invalidNumber),
        .refuses(".5", .unexpectedByte), .refuses("[-.5]", .invalidNumber), .refuses("[5.]", .invalidNumber),
        .refuses("[5.e1]", .invalidNumber), .refuses("[1e]", .invalidNumber), .refuses("[1e+]", .invalidNumber),
        .refuses("[1ee1]", .invalidNumber), .refuses("[1.2.3]", .unexpectedByte), .refuses("[1e1.5]", .unexpectedByte),
        .refuses("[0x10]", .unexpectedByte), .refuses("[1_000]", .unexpectedByte),
        .refuses("[1,5 000]", .unexpectedByte),
        .refuses("[12a]", .unexpectedByte), .refuses("[-Infinity]", .invalidNumber), .refuses("[-NaN]", .invalidNumber),
        .refuses("[1+1]", .unexpectedByte), .refuses("[\u{FF11}]", .unexpectedByte), .refuses("5.", .unexpectedEnd),
        .refuses("1e", .unexpectedEnd),
    ]

    static let strings: [Decision] = [
        .reads(#""\"\\\/\b\f\n\r\t""#, as: .string("\"\\/\u{8}\u{C}\n\r\t")),
        .reads(#""\u0041\u00e9\u20AC""#, as: .string("Aé€")), .reads(#""\uD83D\uDE00""#, as: .string("😀")),
        .reads(#""\udbff\udfff""#, as: .string("\u{10FFFF}")), .reads(#""\u0000""#, as: .string("\0")),
        .reads(#""\u001f\u007f""#, as: .string("\u{1F}\u{7F}")), .reads("\"\u{7F}\"", as: .string("\u{7F}")),
        .reads("\"\u{2028}\u{2029}\u{FEFF}\"", as: .string("\u{2028}\u{2029}\u{FEFF}")),
        .reads("\"\u{FFFE}\u{1FFFE}\"", as: .string("\u{FFFE}\u{1FFFE}")),
        .reads(#""\uFFFF""#, as: .string("\u{FFFF}")),
        .reads("\"e\u{301}\"", as: .string("e\u{301}")), .reads(#""//""#, as: .string("//")),
        .reads(#""\\u0041""#, as: .string(#"\u0041"#)),
        .reads(#"{"\u0000":1,"a\"b":2}"#, as: .object(["\0": .integer(1), "a\"b": .integer(2)])),
        .refuses("\"", .unexpectedEnd), .refuses("[\"a]", .unexpectedEnd), .refuses("\"a\\\"", .unexpectedEnd),
        .refuses("\"\n\"", .controlCharacter), .refuses("\"\t\"", .controlCharacter),
        .refuses("\"\0\"", .controlCharacter),
        .refuses("\"\u{1F}\"", .controlCharacter), .refuses("{\"a\nb\":1}", .controlCharacter),
        .refuses(#""\x41""#, .invalidEscape), .refuses(#""\a""#, .invalidEscape), .refuses(#""\'""#, .invalidEscape),
        .refuses(#""\U0041""#, .invalidEscape), .refuses(#""\ ""#, .invalidEscape), .refuses(#""\é""#, .invalidEscape),
        .refuses("\"\\\n\"", .invalidEscape), .refuses(#""\0""#, .invalidEscape), .refuses(#""\u004""#, .invalidEscape),
        .refuses(#""\u00G1""#, .invalidEscape), .refuses(#""\u 041""#, .invalidEscape),
        .refuses(#""\u+041""#, .invalidEscape),
        .refuses(#""\ud800""#, .loneSurrogate), .refuses(#""\udc00""#, .loneSurrogate),
        .refuses(#""\ud800\u0041""#, .loneSurrogate), .refuses(#""\ud800\ud800""#, .loneSurrogate),
        .refuses(#""\udc00\ud800""#, .loneSurrogate), .refuses(#""\ud800x""#, .loneSurrogate),
        .refuses(#""\ud800\n""#, .loneSurrogate), .refuses(#"{"\ud800":1}"#, .loneSurrogate),
        .refuses(#"[\u0041]"#, .unexpectedByte), .refuses(#"\u0020[]"#, .unexpectedByte),
    ]

    static let encodings: [Decision] = [
        .reads([0xEF, 0xBB, 0xBF] + Array("[1]".utf8), as: .array([.integer(1)])),
        .refuses([0xEF, 0xBB, 0xBF], .unexpectedEnd), .refuses([0xEF, 0xBB], .unexpectedByte),
        .refuses([0xEF, 0xBB, 0xBF, 0xEF, 0xBB, 0xBF, 0x31], .unexpectedByte),
        .refuses(Array("[".utf8) + [0xEF, 0xBB, 0xBF] + Array("1]".utf8), .unexpectedByte),
        // UTF-16 and UTF-32, with and without a mark.
        .refuses([0xFF, 0xFE, 0x5B, 0, 0x5D, 0], .invalidUTF8),
        .refuses([0xFE, 0xFF, 0, 0x5B, 0, 0x5D], .invalidUTF8),
        .refuses([0x5B, 0, 0x5D, 0], .unexpectedByte), .refuses([0, 0x5B, 0, 0x5D], .unexpectedByte),
        // ISO 8859-1, a lone continuation, overlong forms, cut sequences, encoded surrogates,
        // beyond U+10FFFF.
        .refuses([quote, 0xE9, quote], .invalidUTF8), .refuses([quote, 0x80, quote], .invalidUTF8),
        .refuses([quote, 0xC0, 0xAF, quote], .invalidUTF8), .refuses([quote, 0xC1, 0xBF, quote], .invalidUTF8),
        .refuses([quote, 0xE0, 0x80, 0xAF, quote], .invalidUTF8),
        .refuses([quote, 0xF0, 0x80, 0x80, 0xAF, quote], .invalidUTF8),
        .refuses([quote, 0xC3, quote], .invalidUTF8), .refuses([quote, 0xE2, 0x82, quote], .invalidUTF8),
        .refuses([quote, 0xF0, 0x9F, 0x98, quote], .invalidUTF8),
        .refuses([quote, 0xED, 0xA0, 0x80, quote], .invalidUTF8),
        .refuses([quote, 0xF4, 0x90, 0x80, 0x80, quote], .invalidUTF8),
        .refuses([quote, 0xF8, 0x88, 0x80, 0x80, 0x80, quote], .invalidUTF8),
        .refuses([quote, 0xFF, quote], .invalidUTF8), .refuses([quote, 0xFE, quote], .invalidUTF8),
        .refuses([UInt8(ascii: "{"), quote, 0xE9, quote] + Array(":1}".utf8), .invalidUTF8),
        .reads([quote, 0xF4, 0x8F, 0xBF, 0xBF, quote], as: .string("\u{10FFFF}")),
        .reads([quote, 0xED, 0x9F, 0xBF, 0xEE, 0x80, 0x80, quote], as: .string("\u{D7FF}\u{E000}")),
    ]

    @Test(arguments: structures + words + numbers + strings + encodings)
    func eachInputIsReadOrRefusedAsDecided(decision: Decision) {
        let whole = Reading(decision.bytes)
        // Elements before an error are handed out; a document with an error is refused as a whole.
        #expect((try? JSONValue(parsing: decision.bytes)) == decision.value)
        if let value = decision.value { #expect(whole.elements == [value]) }
        #expect(whole.error?.reason == decision.reason)
        #expect((whole.error?.location == nil) == (decision.reason == nil))
        #expect(Reading(decision.bytes, stride: 1) == whole)
        #expect(Reading(pieces: decision.bytes.map { [$0] }) == whole)
    }

    // MARK: What options decide

    @Test(arguments: [(510, true), (511, true), (512, true), (513, false), (100_000, false)])
    func arraysAndObjectsAreNestedUpToALimit(depth: Int, isRead: Bool) {
        let arrays = Reading(Array((String(repeating: "[", count: depth) + String(repeating: "]", count: depth)).utf8))
        #expect((arrays.error == nil) == isRead)
        if !isRead { #expect(arrays.error?.reason == .depthLimit) }
        let objects = Reading(
            Array((String(repeating: #"{"a":"#, count: depth) + "1" + String(repeating: "}", count: depth)).utf8))
        #expect((objects.error == nil) == isRead)
    }

    @Test func theLastOfEqualKeysCountsUnlessTheyAreForbidden() {
        let equal = [#"{"a":1,"a":2}"#, #"{"a":1,"\u0061":2}"#, #"{"a":2,"b":0,"a":2}"#]
        for text in equal {
            guard case .object(let object) = Reading(Array(text.utf8)).elements.first else {
                Issue.record("\(text) is no object")
                continue
            }
            #expect(object["a"] == .integer(2))
            var options = JSONReader.Options()
            options.duplicateKeys = .fail
            #expect(Reading(Array(text.utf8), options: options).error?.reason == .duplicateKey)
        }
        var options = JSONReader.Options()
        options.duplicateKeys = .fail
        for text in [
            #"{"a":{"a":1},"b":{"a":2}}"#, #"{"a":1,"A":2}"#, "{\"\u{E9}\":1,\"e\u{301}\":2}", #"[{"a":1},{"a":1}]"#,
        ] {
            #expect(Reading(Array(text.utf8), options: options).error == nil)
        }
    }

    @Test(arguments: [
        (#""\ud800""#, "\u{FFFD}"), (#""a\udc00b""#, "a\u{FFFD}b"), (#""\ud800\ud83d\ude00""#, "\u{FFFD}😀"),
        (#""\udc00\ud800""#, "\u{FFFD}\u{FFFD}"), (#""\ud800\n""#, "\u{FFFD}\n"), (#""\ud800\u0041""#, "\u{FFFD}A"),
    ])
    func aLoneSurrogateIsReplacedWhenAskedFor(text: String, expected: String) {
        var options = JSONReader.Options()
        options.loneSurrogates = .replace
        #expect(Reading(Array(text.utf8)).error != nil)
        #expect(Reading(Array(text.utf8), options: options).elements == [.string(expected)])
    }
}
