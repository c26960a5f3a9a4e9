import Foundation
import JSONMapper
import OneWayTestLimits
import SyncModel
import Testing

@Suite(.endsInTime) struct ConversionTests {
    private static let model = Result {
        try DataModel {
            SyncEntity("Thing") {
                for type in AttributeType.allCases { SyncAttribute(type.rawValue, type) }
            }
        }
    }

    /// What an attribute of a type becomes of a JSON value; nil where the contract refuses it.
    private func converted(_ json: String, _ type: AttributeType) throws -> AttributeValue? {
        let mapper = try RecordMapper(
            try Self.model.get(), JSONMapping(contract: ValueContract(wrongType: .reject, unreadableDate: .reject)))
        var record = Record(of: try mapper.model.layout(of: "Thing"))
        do {
            _ = try mapper.fill(&record, from: Array("{\"\(type.rawValue)\":\(json)}".utf8))
        } catch MappingError.unfit {
            return nil
        }
        return record[type.rawValue]
    }

    @Test(
        arguments: [
            (.int16, "32767", .int(32767)), (.int16, "-32768", .int(-32768)),
            (.int16, "1.0", .int(1)),
            (.int16, "1e3", .int(1000)), (.int32, "\"16\"", .int(16)), (.int32, "\" +0016 \"", .int(16)),
            (.int64, "9223372036854775807", .int(.max)), (.int64, "\"-9223372036854775808\"", .int(.min)),
            (.int64, "true", .int(1)), (.int64, "false", .int(0)),
            (.double, "12.2", .double(12.2)), (.double, "\"12.2\"", .double(12.2)), (.double, "\".5\"", .double(0.5)),
            (.double, "3", .double(3)), (.double, "true", .double(1)),
            (.float, "12.2", .double(Double(Float(12.2)))), (.float, "\"0.1\"", .double(Double(Float(0.1)))),
            (.string, "\"a\\u00e9\\n\"", .string("aé\n")), (.string, "0", .string("0")), (.string, "1.0", .string("1")),
            (.string, "12.50", .string("12.5")), (.string, "18446744073709551616", .string("18446744073709551616")),
            (.string, "true", .string("true")),
            (.string, "1.00000000000000000000", .string("1")), (.int32, "5.00000000000000000000", .int(5)),
            (.bool, "0.00000000000000000000", .bool(false)), (.bool, "0.00000000000000000000001", .bool(true)),
            (.bool, "true", .bool(true)), (.bool, "0", .bool(false)), (.bool, "2", .bool(true)),
            (.bool, "\"1\"", .bool(true)),
            (.bool, "\"False\"", .bool(false)), (.bool, "\"true\"", .bool(true)), (.bool, "\"TRUE\"", .bool(true)),
            (.bool, "0.0", .bool(false)),
            (.date, "\"2014-01-02T00:00:00+00:00\"", .date(Timestamp(microseconds: 1_388_620_800_000_000))),
            (.date, "1441843200", .date(Timestamp(microseconds: 1_441_843_200_000_000))),
            (.date, "\"1441843200\"", .date(Timestamp(microseconds: 1_441_843_200_000_000))),
            (.uri, "\"https:\\/\\/a.b\\/\"", .uri("https://a.b/")),
            (.binary, "[1, {\"a\": null}]", .binary(Data("[1, {\"a\": null}]".utf8))),
            (.binary, "\"text\"", .binary(Data("\"text\"".utf8))), (.binary, "false", .binary(Data("false".utf8))),
            (.json, "[1, {\"b\": null, \"a\": 1.0}]", CanonicalJSON("[1,{\"a\":1,\"b\":null}]")?.value ?? .null),
            (.json, "\"\\u0061\"", CanonicalJSON("\"a\"")?.value ?? .null), (.json, "null", .null),
            (.string, "null", .null), (.int16, "null", .null), (.binary, "null", .null), (.date, "null", .null),
        ] as [(AttributeType, String, AttributeValue)])
    func valuesBecomeTheAttributesType(type: AttributeType, json: String, value: AttributeValue) throws {
        #expect(try converted(json, type) == value)
    }

    @Test(
        arguments: [
            (.int16, "32768"), (.int32, "2147483648"), (.int64, "9223372036854775808"), (.int16, "1.5"),
            (.int64, "\"\""), (.int64, "\"a\""), (.int64, "\"+-5\""), (.int64, "\"0x10\""), (.int64, "[]"),
            (.int64, "{}"),
            (.double, "1e999"), (.json, "[1e999]"), (.double, "\"nan\""), (.double, "\"1 2\""), (.float, "1e300"),
            (.decimal, "1e200"),
            (.decimal, "\"one\""), (.bool, "\"yes\""), (.bool, "[]"), (.string, "[]"), (.string, "{\"a\":1}"),
            (.date, "\"yesterday\""), (.date, "true"), (.date, "[]"), (.date, "\"\""),
            (.uuid, "\"E621E1F8-C36C-495A-93FC-0C247A3E6E5\""), (.uuid, "\"E621E1F8C36C-495A-93FC-0C247A3E6E5F-\""),
            (.uuid, "1"),
            (.uri, "1"), (.uri, "true"),
        ] as [(AttributeType, String)])
    func whatCannotBecomeTheTypeIsRefused(type: AttributeType, json: String) throws {
        #expect(try converted(json, type) == nil)
    }

    @Test(
        arguments: [
            ("9007199254740992", false), ("9007199254740993", true), ("9007199254740994", false),
            ("-9007199254740993", true), ("-9007199254740994", false), ("18446744073709551615", true),
            ("9223372036854775808", false), ("123456789012345678901", true), ("5.0", false),
            ("0.12345678901234567", false), ("0.123456789012345678", true), ("0.12345678901234567000", false),
        ])
    func aRoundedNumberIsReported(json: String, isRounded: Bool) throws {
        let mapper = try RecordMapper(try Self.model.get())
        for value in [json, "\"\(json)\""] {
            let reader = try mapper.reader(of: "Thing", bytes: Array("[{\"double\":\(value)}]".utf8))
            let drift = try #require(try reader.next()).drift
            #expect(drift.count(of: .rounded) == (isRounded ? 1 : 0), "\(value)")
        }
    }

    @Test func decimalsStayExact() throws {
        for json in ["12.2", "\"12.2\"", "12.20"] {
            #expect(try converted(json, .decimal) == .decimal(try #require(Decimal(string: "12.2"))))
        }
        let long = "1234567890123456789012345678901234.5678"
        #expect(try converted(long, .decimal) == .decimal(try #require(Decimal(string: long))))
        #expect(try converted("true", .decimal) == .decimal(1))
    }

    @Test func uuidsAreReadInEitherCase() throws {
        let uuid = try #require(UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"))
        #expect(try converted("\"E621E1F8-C36C-495A-93FC-0C247A3E6E5F\"", .uuid) == .uuid(uuid))
        #expect(try converted("\"e621e1f8-c36c-495a-93fc-0c247a3e6e5f\"", .uuid) == .uuid(uuid))
    }

    @Test func aTransformableAttributeWithoutATransformerIsNeverFilled() throws {
        #expect(try converted("\"I stay out\"", .transformable) == .null)
        #expect(try converted("[1]", .transformable) == .null)
    }

    @Test func nullClearsAndAnAbsentKeyLeavesTheValue() throws {
        let mapper = try RecordMapper(
            try DataModel {
                SyncEntity("A") {
                    SyncAttribute("a", .int64, default: 5)
                    SyncAttribute("b", .string)
                }
            })
        var record = Record(of: try mapper.model.layout(of: "A"))
        record["b"] = "kept"
        #expect(try mapper.fill(&record, from: .object(["a": .null])))
        #expect(record["a"] == .null)
        #expect(record["b"] == "kept")
        #expect(try mapper.fill(&record, from: .object(["b": .string("kept")])) == false)
    }

    @Test func aNewRecordHasTheDefaultsOfWhatIsAbsent() throws {
        let mapper = try RecordMapper(
            try DataModel {
                SyncEntity("A") {
                    SyncAttribute("a", .int64, default: 5)
                    SyncAttribute("b", .int64, default: 6)
                }
            })
        let records = try mapper.records(of: "A", bytes: Array(#"[{"a":1},{"b":null}]"#.utf8))
        #expect(records.map(\.values) == [[1, 6], [5, .null]])
    }
}
