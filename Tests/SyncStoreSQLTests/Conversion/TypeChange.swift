import Foundation
import SyncModel

/// A stored value, and what it is as every other type.
struct TypeChange: CustomStringConvertible {
    let type: AttributeType
    let value: AttributeValue
    /// The value as each type that it fits; it fits no other.
    let results: [AttributeType: AttributeValue]

    var description: String { "\(type) \(value)" }

    private init(_ type: AttributeType, _ value: AttributeValue, _ results: [AttributeType: AttributeValue]) {
        self.type = type
        self.value = value
        self.results = results
    }

    private static func json(_ text: String) -> AttributeValue { CanonicalJSON(text)?.value ?? .null }
    private static func decimal(_ text: String) -> AttributeValue {
        Decimal(string: text).map { .decimal($0) } ?? .null
    }
    private static let uuid = UUID(uuid: (0xAB, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
    private static let moment = Timestamp(microseconds: 1_392_336_000_123_456)
    private static let momentText = "2014-02-14T00:00:00.123456Z"
    /// The results of 0 and 1 as an integer.
    private static func flags(_ number: Int64, besides type: AttributeType) -> [AttributeType: AttributeValue] {
        var results: [AttributeType: AttributeValue] = [
            .int16: .int(number), .int32: .int(number), .int64: .int(number), .double: .double(Double(number)),
            .float: .double(Double(number)), .decimal: .decimal(Decimal(number)), .bool: .bool(number == 1),
            .string: .string("\(number)"), .uri: .uri("\(number)"), .json: json("\(number)"),
        ]
        results[type] = nil
        return results
    }
    /// The results of a whole number.
    private static func whole(
        _ number: Int64, besides types: Set<AttributeType>
    ) -> [AttributeType: AttributeValue] {
        flags(number, besides: .bool).filter { !types.contains($0.key) }
    }

    static let all: [TypeChange] = [
        TypeChange(.int16, 7, whole(7, besides: [.int16])),
        TypeChange(.int16, 1, flags(1, besides: .int16)),
        TypeChange(.int32, 70_000, whole(70_000, besides: [.int16, .int32])),
        // One more than a `Float` holds.
        TypeChange(.int32, 16_777_217, whole(16_777_217, besides: [.int16, .int32, .float])),
        TypeChange(.int64, 36, whole(36, besides: [.int64])),
        // One more than a `Double` holds.
        TypeChange(
            .int64, 9_007_199_254_740_993,
            whole(9_007_199_254_740_993, besides: [.int16, .int32, .int64, .float, .double])),
        TypeChange(.double, .double(36), whole(36, besides: [.double])),
        TypeChange(.double, .double(0), flags(0, besides: .double)),
        TypeChange(
            .double, .double(0.1), [.decimal: decimal("0.1"), .string: "0.1", .uri: .uri("0.1"), .json: json("0.1")]),
        // More digits than SQLite writes by itself.
        TypeChange(
            .double, .double(0.12345678901234568),
            [
                .decimal: decimal("0.12345678901234568"), .string: "0.12345678901234568",
                .uri: .uri("0.12345678901234568"), .json: json("0.12345678901234568"),
            ]),
        TypeChange(
            .double, .double(1e300),
            [.string: "1e300", .uri: .uri("1e300"), .json: json("1e300")]),
        TypeChange(
            .float, .double(Double(0.1 as Float)),
            [
                .double: .double(Double(0.1 as Float)), .decimal: decimal("0.1"), .string: "0.1", .uri: .uri("0.1"),
                .json: json("0.1"),
            ]),
        TypeChange(
            .decimal, decimal("1.5"),
            [.double: .double(1.5), .float: .double(1.5), .string: "1.5", .uri: .uri("1.5"), .json: json("1.5")]),
        TypeChange(.decimal, decimal("7"), whole(7, besides: [.decimal])),
        TypeChange(
            .decimal, decimal("0.12345678901234567890123"),
            [
                .string: "0.12345678901234567890123", .uri: .uri("0.12345678901234567890123"),
                .json: json("0.12345678901234567890123"),
            ]),
        TypeChange(
            .bool, true,
            flags(1, besides: .bool).merging([.string: "true", .uri: .uri("true"), .json: json("true")]) { $1 }),
        TypeChange(
            .bool, false,
            flags(0, besides: .bool).merging([.string: "false", .uri: .uri("false"), .json: json("false")]) { $1 }),
        TypeChange(.string, "7", whole(7, besides: [.string]).merging([.json: json(#""7""#)]) { $1 }),
        TypeChange(
            .string, "0.1",
            [
                .double: .double(0.1), .float: .double(Double(0.1 as Float)), .decimal: decimal("0.1"),
                .uri: .uri("0.1"), .json: json(#""0.1""#),
            ]),
        // Zeros that a number does not keep.
        TypeChange(.string, "007", [.uri: .uri("007"), .json: json(#""007""#)]),
        TypeChange(.string, "7.50", [.uri: .uri("7.50"), .json: json(#""7.50""#)]),
        TypeChange(.string, "true", [.bool: true, .uri: .uri("true"), .json: json(#""true""#)]),
        TypeChange(.string, "false", [.bool: false, .uri: .uri("false"), .json: json(#""false""#)]),
        TypeChange(.string, "yes", [.uri: .uri("yes"), .json: json(#""yes""#)]),
        TypeChange(.string, "null", [.uri: .uri("null"), .json: json(#""null""#)]),
        TypeChange(
            .string, .string(momentText),
            [.date: .date(moment), .uri: .uri(momentText), .json: json("\"\(momentText)\"")]),
        TypeChange(
            .string, .string(uuid.uuidString),
            [.uuid: .uuid(uuid), .uri: .uri(uuid.uuidString), .json: json("\"\(uuid.uuidString)\"")]),
        TypeChange(.uri, .uri("http://a/b"), [.string: "http://a/b", .json: json(#""http://a/b""#)]),
        TypeChange(
            .uuid, .uuid(uuid),
            [.string: .string(uuid.uuidString), .uri: .uri(uuid.uuidString), .json: json("\"\(uuid.uuidString)\"")]),
        TypeChange(
            .date, .date(moment),
            [.string: .string(momentText), .uri: .uri(momentText), .json: json("\"\(momentText)\"")]),
        TypeChange(.json, json("7"), whole(7, besides: [.json]).merging([.binary: .binary(Data("7".utf8))]) { $1 }),
        TypeChange(
            .json, json(#""a\u0001b""#),
            [
                .string: "a\u{1}b", .uri: .uri("a\u{1}b"), .binary: .binary(Data(#""a\u0001b""#.utf8)),
            ]),
        TypeChange(
            .json, json("true"),
            flags(1, besides: .json).merging([
                .string: "true", .uri: .uri("true"), .binary: .binary(Data("true".utf8)),
            ]) { $1 }),
        TypeChange(.json, json(#"{"a":[1]}"#), [.binary: .binary(Data(#"{"a":[1]}"#.utf8))]),
        TypeChange(.binary, .binary(Data(#"{"a": "\"\\"}"#.utf8)), [.json: json(#"{"a":"\"\\"}"#)]),
        TypeChange(.binary, .binary(Data([0xFF, 0])), [:]),
        TypeChange(.transformable, .binary(Data("7".utf8)), [.binary: .binary(Data("7".utf8))]),
    ]
}
