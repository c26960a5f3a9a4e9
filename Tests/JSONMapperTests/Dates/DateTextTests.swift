import Foundation
import JSONMapper
import OneWayTestLimits
import SyncModel
import Testing

@Suite(.endsInTime) struct DateTextTests {
    private func text(_ microseconds: Int64?) -> String? {
        microseconds.map {
            let text = DateText.text($0, fraction: .shortest)
            return text.contains(".") ? text : text.dropLast() + ".000Z"
        }
    }

    @Test(
        arguments: [
            ("2015-06-23T14:40:08.123+02:00", "2015-06-23T12:40:08.123Z"),
            (" 2014-01-02\n", "2014-01-02T00:00:00.000Z"),
            ("20140102T124008Z", "2014-01-02T12:40:08.000Z"), ("1441888808.5", "2015-09-10T12:40:08.500Z"),
            ("2014-13-02", nil), ("-1441888808", nil), ("", nil), ("today", nil),
        ] as [(String, String?)])
    func aStringIsADateHoweverItIsEscaped(input: String, expected: String?) throws {
        let plain = input.replacingOccurrences(of: "\n", with: "\\n")
        for json in [plain, plain.replacingOccurrences(of: "0", with: "\\u0030")] {
            let reader = JSONReader(bytes: Array("[\"\(json)\"]".utf8))
            #expect(try reader.next { text(DateText.microseconds(try $0.readString())) } == .some(expected))
        }
    }

    @Test(arguments: [
        ("1441888808", "2015-09-10T12:40:08.000Z"), ("1441888808123", "2015-09-10T12:40:08.123Z"),
        ("1441888808000000.0", "2015-09-10T12:40:08.000Z"), ("1441888808.123", "2015-09-10T12:40:08.123Z"),
        ("1.441888808123e9", "2015-09-10T12:40:08.123Z"), ("-1", "1969-12-31T23:59:59.000Z"),
        ("-0.0001", "1969-12-31T23:59:59.999900Z"), ("-0.0000001", "1969-12-31T23:59:59.999999Z"),
        ("-1.5", "1969-12-31T23:59:58.500Z"), ("0", "1970-01-01T00:00:00.000Z"), ("1e-30", "1970-01-01T00:00:00.000Z"),
        ("1441888808.12300000000000000001", "2015-09-10T12:40:08.123Z"), ("1e25", nil), ("-1e99", nil), ("1e400", nil),
        ("12345678901234567890e-20", "1970-01-01T00:00:00.123456Z"),
        ("-12345678901234567890e-20", "1969-12-31T23:59:59.876543Z"),
        ("12345678901234567890e-26", "1970-01-01T00:00:00.000Z"),
        ("1437000000.12345678901", "2015-07-15T22:40:00.123456Z"),
        ("-1437000000.00000000000000000001", "1924-06-19T01:19:59.999999Z"),
        ("18446744073709551615", "2554-07-21T23:34:33.709551Z"), ("-62167219200", "0000-01-01T00:00:00.000Z"),
        ("-62167219201", nil),
    ])
    func aNumberIsATimestamp(input: String, expected: String?) throws {
        let reader = JSONReader(bytes: Array("[\(input)]".utf8))
        #expect(try reader.next { text(DateText.microseconds(try $0.readNumber())) } == .some(expected))
    }

    @Test func aPatternIsWrittenInUTC() {
        let format = RecordMapper.Exporter.Options.DateFormat.pattern("yyyy-MM-dd'T'HH:mm")
        #expect(format.string(from: Timestamp(microseconds: 0)) == "1970-01-01T00:00")
        #expect(
            RecordMapper.Exporter.Options.DateFormat.pattern("d MMM yyyy").string(
                from: Timestamp(microseconds: 1_441_888_808_123_000))
                == "10 Sep 2015")
    }
}
