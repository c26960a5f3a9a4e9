import Foundation
import OneWayTestLimits
import SyncModel
import Testing

@Suite(.endsInTime) struct ValueCodingTests {
    static let values: [AttributeValue] = [
        .null, .bool(true), .int(0), .int(1), .int(.min), .int(.max), .double(1), .double(0.1), .double(.nan),
        .double(-.infinity), .decimal(1), .decimal(Decimal(sign: .minus, exponent: -20, significand: 123)), .string(""),
        .string("1"), .string("é\u{0}\"{"), .date(Timestamp(microseconds: .min)), .date(Timestamp(microseconds: 1)),
        .binary(Data()), .binary(Data([0, 255])),
        .uuid(UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))),
        .uri("http://x/ä"),
    ]

    @Test func everyKindOfValueSurvives() throws {
        let json = try #require(CanonicalJSON(#"{"a":[1,null,123456789012345678901234567890]}"#))
        let values = Self.values + [.json(json)]
        #expect(try JSONDecoder().decode([AttributeValue].self, from: JSONEncoder().encode(values)) == values)
    }

    @Test func keysSurviveAndAreShort() throws {
        let keys: [Record.Key] = [.identity(5), .identity(["a", .uuid(UUID())]), .object(7)]
        #expect(try JSONDecoder().decode([Record.Key].self, from: JSONEncoder().encode(keys)) == keys)
        #expect(
            String(decoding: try JSONEncoder().encode([keys[0], keys[2]]), as: UTF8.self) == #"[[5],{"object":7}]"#)
    }

    @Test(arguments: [
        #"{"uuid":"5"}"#, #"{"binary":"!"}"#, #"{"decimal":"x"}"#, #"{"json":"{"}"#, #"{"uri":"a","date":1}"#, "{}",
        "[]",
        #"{"later":1}"#,
    ])
    func whatIsNoValueIsAnError(text: String) {
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(AttributeValue.self, from: Data(text.utf8))
        }
    }
}
