import Foundation
import OneWayTestLimits
import SyncModel
import OneWayTestSupport
import Testing

@Suite(.endsInTime) struct CanonicalJSONTests {
    @Test(arguments: [
        (" { \"b\" : [ 1 , 2 ] , \"a\" : { } }\n", #"{"a":{},"b":[1,2]}"#), ("[]", "[]"), ("[ ]", "[]"),
        ("null", "null"),
        (#"{"a":1,"a":2}"#, #"{"a":2}"#),
        (#"{"b":1,"a":{"y":1,"x":2},"b":{"d":1,"c":2}}"#, #"{"a":{"x":2,"y":1},"b":{"c":2,"d":1}}"#),
        (#"{"aa":1,"a":2,"":3,"a!":4}"#, #"{"":3,"a":2,"a!":4,"aa":1}"#), (#"{"\u0061":1,"a":2}"#, #"{"a":2}"#),
        (#""\u00e9\/\u0041\"\\\b\f\n\r\t\u000a""#, #""é/A\"\\\b\f\n\r\t\n""#),
        (#""\u0000\u001F\u007f\u0022\u005C""#, "\"\\u0000\\u001f\u{7F}\\\"\\\\\""),
        (#""\ud83d\ude00\ud83d\ud83d\ude00\udc00""#, "\"😀\u{FFFD}😀\u{FFFD}\""), (#""\ud83dx""#, "\"\u{FFFD}x\""),
        ("-0", "0"), ("-0.0e5", "0"), ("1.0", "1"), ("10e-1", "1"), ("1.50", "1.5"), ("-12.340E+1", "-123.4"),
        ("12345678901234567890123", "12345678901234567890123"),
        ("0.1000000000000000000000000000001", "0.1000000000000000000000000000001"),
        ("1e20", "100000000000000000000"), ("1e21", "1e21"), ("-1.25e300", "-1.25e300"), ("0.0000001", "0.0000001"),
        ("1e-8", "1e-8"), ("0.0000000123", "1.23e-8"), ("120e-9", "0.00000012"), ("1e400", "1e400"),
        ("1e-400", "1e-400"),
    ])
    func textsOfOneValueBecomeOneText(text: String, canonical: String) throws {
        let json = try #require(CanonicalJSON(text))
        #expect(json.text == canonical)
        #expect(CanonicalJSON(canonical) == json)
    }

    @Test(arguments: [
        "", " ", "{", "[1", "[1,]", "[,1]", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}", "01", "-", "1.", ".5", "1e",
        "+1",
        "1 2", "nul", "nullx", "truefalse", "\"a", "\"\\x\"", "\"\\u12\"", "\"\n\"", "]", "[}", "{]", "NaN", "1e401",
        "1e-401", "\"a\\", "{\"\\",
        "1e999999999999999999999",
    ])
    func otherTextsAreNoJSON(text: String) {
        #expect(CanonicalJSON(text) == nil)
        var bytes: [UInt8] = [1, 2]
        let reading = Array(text.utf8).withUnsafeBufferPointer { CanonicalJSONWriter.append(canonical: $0, to: &bytes) }
        #expect(reading == .failed && bytes == [1, 2])
    }

    @Test func depthIsLimited() {
        let nested = { (depth: Int) in
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        #expect(CanonicalJSON(nested(1000))?.text == nested(1000))
        #expect(CanonicalJSON(nested(1001)) == nil)
    }

    @Test func anArrayKeepsItsOrder() {
        #expect(CanonicalJSON("[2,1]") != CanonicalJSON("[1,2]"))
        #expect(CanonicalJSON("\"e\u{301}\"") != CanonicalJSON("\"é\""))
    }

    /// Shuffles keys, spaces, escapes and number forms of random values.
    @Test func anyFormOfAValueIsTheSameValue() throws {
        var random = SeededRandom(seed: 20)
        for _ in 0..<500 {
            let tree = Tree(depth: 4, &random)
            let one = tree.text(&random)
            let canonical = try #require(CanonicalJSON(one), "\(one)")
            let another = tree.text(&random)
            #expect(CanonicalJSON(another) == canonical, "\(one) and \(another)")
            #expect(CanonicalJSON(canonical.text) == canonical)
        }
    }

    private indirect enum Tree {
        case word(String)
        case number(Int, exponent: Int)
        case string([Unicode.Scalar])
        case array([Tree])
        case object([String: Tree])

        init(depth: Int, _ random: inout SeededRandom) {
            let scalars: [Unicode.Scalar] = ["a", "\"", "\\", "/", "\n", "\u{0}", "\u{1}", "é", "😀", "u"]
            let text = (0..<Int.random(in: 0..<4, using: &random)).map { _ in
                scalars[Int.random(in: scalars.indices, using: &random)]
            }
            switch Int.random(in: 0..<(depth == 0 ? 3 : 5), using: &random) {
            case 0: self = .word(["true", "false", "null"][Int.random(in: 0..<3, using: &random)])
            case 1:
                self = .number(
                    Int.random(in: -1000...1000, using: &random), exponent: Int.random(in: -30...30, using: &random))
            case 2: self = .string(text)
            case 3: self = .array((0..<text.count).map { _ in Tree(depth: depth - 1, &random) })
            default:
                var members: [String: Tree] = [:]
                for scalar in text { members[String(scalar)] = Tree(depth: depth - 1, &random) }
                self = .object(members)
            }
        }

        func text(_ random: inout SeededRandom) -> String {
            let space = [" ", "", "\n\t"][Int.random(in: 0..<3, using: &random)]
            switch self {
            case .word(let word): return space + word
            case .number(let number, let exponent):
                return Bool.random(using: &random) ? "\(number)e\(exponent)" : "\(number).000E\(exponent)\(space)"
            case .string(let scalars): return Self.quoted(scalars, &random)
            case .array(let elements):
                return "[" + elements.map { $0.text(&random) }.joined(separator: "\(space),") + space + "]"
            case .object(let members):
                let texts = members.keys.sorted().shuffled(using: &random).map { key in
                    Self.quoted(Array(key.unicodeScalars), &random) + "\(space):" + (members[key]?.text(&random) ?? "")
                }
                return "{" + texts.joined(separator: ", ") + space + "}"
            }
        }

        private static func quoted(_ scalars: [Unicode.Scalar], _ random: inout SeededRandom) -> String {
            var text = "\""
            for scalar in scalars {
                let isPlain = scalar.value >= 0x20 && scalar != "\"" && scalar != "\\"
                if isPlain, Bool.random(using: &random) {
                    text.unicodeScalars.append(scalar)
                } else {
                    for unit in String(scalar).utf16 {
                        let digits = String(unit, radix: 16, uppercase: .random(using: &random))
                        text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                    }
                }
            }
            return text + "\""
        }
    }

    // MARK: Records

    private static func layout() throws -> EntityLayout {
        try DataModel {
            SyncEntity("Thing", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("meta", .json)
            }
        }.layout(of: "Thing")
    }

    @Test func jsonNullIsNull() throws {
        let null = try #require(CanonicalJSON(" null"))
        #expect(null.value == .null)
        #expect(!AttributeType.json.accepts(.json(null)))
        #expect(AttributeType.json.accepts(.json(try #require(CanonicalJSON("0")))))
    }

    @Test func batchesStoreTheCanonicalForm() throws {
        var batch = RecordBatch(of: try Self.layout())
        for text in [#"{"b":1,"a":2.0}"#, #"{ "a": 2, "b": 1 }"#, "null", "[", ""] {
            batch.beginRecord()
            var text = text
            let isSet = text.withUTF8 { batch.setJSON($0, at: 1) }
            #expect(isSet == (batch.openKind(at: 1) != .absent))
            batch.endRecord()
        }
        let json = try #require(CanonicalJSON(#"{"a":2,"b":1}"#))
        #expect((0..<5).map { batch.value(row: $0, column: 1) } == [.json(json), .json(json), .null, nil, nil])
        batch.withReader { #expect($0.isEqual(row: 0, column: 1, to: $0, row: 1, column: 1)) }
        batch.truncate(to: 1)
        #expect(batch.value(row: 0, column: 1) == .json(json))
    }

    @Test func recordsAreCodedWithAnyType() throws {
        struct Meta: Codable, Equatable {
            var tags: [String]
            var at: Date
        }
        struct Thing: Codable, Equatable {
            var id: Int
            var meta: Meta?
        }
        struct Titled: Codable {
            var meta: String
        }
        struct Raw: Codable {
            var meta: CanonicalJSON?
        }
        var record = Record(of: try Self.layout())
        let thing = Thing(id: 1, meta: Meta(tags: ["é", ""], at: Date(timeIntervalSince1970: 0.5)))
        try record.encode(thing)
        #expect(record["meta"] == CanonicalJSON(#"{"tags":["é",""],"at":"1970-01-01T00:00:00.500000Z"}"#)?.value)
        #expect(try record.decode(Thing.self) == thing)
        #expect(try record.decode(Raw.self).meta == CanonicalJSON(record["meta"]))
        record["meta"] = .null
        #expect(try record.decode(Thing.self).meta == nil)
        try record.encode(Raw(meta: CanonicalJSON("[1.0]")))
        #expect(record["meta"] == CanonicalJSON("[1]")?.value)
        try record.encode(["meta": "text"])
        #expect(record["meta"] == CanonicalJSON("\"text\"")?.value)
        #expect(try record.decode(Titled.self).meta == "text")
        #expect(throws: (any Error).self) { try record.decode(Thing.self) }
    }

    @Test func onlyEqualityIsAPredicate() throws {
        let layout = try Self.layout()
        let entity = layout.entity
        let model = try DataModel { entity }
        let path = PropertyPath("meta")
        let json = try #require(CanonicalJSON("[1]"))
        let bound = try (path == "[1.0]").bound(to: layout, in: model)
        #expect(bound == .comparison(try path.bound(to: layout, in: model), .equal, .json(json)))
        #expect(try RecordPredicate(parsing: "meta == '[ 1 ]'").bound(to: layout, in: model) == bound)
        _ = try path.isNull.bound(to: layout, in: model)
        #expect(throws: RecordPredicateError.wrongType(entity: "Thing", key: "meta", type: .json)) {
            try (path == "[").bound(to: layout, in: model)
        }
        let unsuitable = RecordPredicateError.unsuitableProperty(entity: "Thing", key: "meta", name: "meta")
        #expect(throws: unsuitable) { try (path < "[1]").bound(to: layout, in: model) }
        #expect(throws: unsuitable) { try Ordering("meta").bound(to: layout, in: model) }
    }

    @Test func jsonIdentifiesNoObject() {
        #expect(throws: ModelError.unsuitableIdentity(entity: "A", attribute: "a", type: .json)) {
            try DataModel { SyncEntity("A", identity: "a") { SyncAttribute("a", .json) } }
        }
    }

    /// The last of equal keys counts.
    @Test(arguments: [
        (#"{"a":1,"b":2,"A":3}"#, #"{"A":3,"a":1,"b":2}"#, true), (#"{"a":1,"a":2}"#, #"{"a":2}"#, false),
        (#"{"c":{"a":1,"b":0,"a":1}}"#, #"{"c":{"a":1,"b":0}}"#, false),
        (#"[{"a":1},{"a":2}]"#, #"[{"a":1},{"a":2}]"#, true),
    ])
    func repeatedKeysAreNoted(text: String, canonical: String, isComplete: Bool) {
        var bytes: [UInt8] = []
        let reading = Array(text.utf8).withUnsafeBufferPointer { CanonicalJSONWriter.append(canonical: $0, to: &bytes) }
        #expect(String(decoding: bytes, as: UTF8.self) == canonical)
        #expect(reading == (isComplete ? .complete : .withoutRepeatedKeys))
    }
}
