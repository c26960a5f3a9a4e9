import Foundation
import OneWayTestLimits
import OneWayTestSupport
import SyncModel
import Testing

@Suite(.endsInTime) struct DateTextTests {
    /// Text, and what it is in UTC; nil is no date.
    static let texts: [(String, String?)] = [
        ("2015-06-23T14:40:08.123+02:00", "2015-06-23T12:40:08.123Z"),
        ("2014-01-01T12:40:08+00:00", "2014-01-01T12:40:08.000Z"),
        ("2014-01-02", "2014-01-02T00:00:00.000Z"), ("2014-01-02T12:40:08.123000+00:00", "2014-01-02T12:40:08.123Z"),
        ("2015-09-10T12:40:08.123+0000", "2015-09-10T12:40:08.123Z"),
        ("2015-09-10T12:40:08.123999Z", "2015-09-10T12:40:08.123999Z"),
        ("2016-01-09T12:40:08.12", "2016-01-09T12:40:08.120Z"), ("2016-01-09T12:40:08,1z", "2016-01-09T12:40:08.100Z"),
        ("2009-10-09 12:40:08", "2009-10-09T12:40:08.000Z"), ("2009-10-09t12:40", "2009-10-09T12:40:00.000Z"),
        ("2009-10-09 12:40:08 +0530", "2009-10-09T07:10:08.000Z"),
        ("2009-10-09T12:40:08-08", "2009-10-09T20:40:08.000Z"),
        ("2009-10-09T12:40:08-00:00", "2009-10-09T12:40:08.000Z"),
        ("2009-10-09T12:40:08+23:59", "2009-10-08T12:41:08.000Z"), (" 2014-01-02\n", "2014-01-02T00:00:00.000Z"),
        ("2015-09-10T12:40:08." + String(repeating: "9", count: 100), "2015-09-10T12:40:08.999999Z"),
        ("1969-12-31T23:59:59.999Z", "1969-12-31T23:59:59.999Z"), ("0000-01-01", "0000-01-01T00:00:00.000Z"),
        ("9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"),
        // Leap years.
        ("2000-02-29", "2000-02-29T00:00:00.000Z"), ("2016-02-29", "2016-02-29T00:00:00.000Z"), ("1900-02-29", nil),
        ("2015-02-29", nil),
        // The hour 24 and the 60th second.
        ("2015-12-31T24:00:00Z", "2016-01-01T00:00:00.000Z"), ("2015-12-31T24:00Z", "2016-01-01T00:00:00.000Z"),
        ("2015-12-31T24:00:00.000Z", "2016-01-01T00:00:00.000Z"), ("2015-12-31T24:00:00.0001Z", nil),
        ("2015-12-31T24:01:00Z", nil),
        ("2015-12-31T25:00:00Z", nil), ("2016-12-31T23:59:60Z", "2017-01-01T00:00:00.000Z"),
        ("2017-01-01T00:59:60+01:00", "2017-01-01T00:00:00.000Z"), ("2016-12-31T23:58:60Z", nil),
        ("2016-12-31T23:59:61Z", nil),
        // Days and months.
        ("2015-04-31", nil), ("2015-01-32", nil), ("2015-01-00", nil), ("2015-00-10", nil), ("2015-13-10", nil),
        ("0000-00-00", nil),
        ("2015-12-31T23:60:00Z", nil), ("2015-12-31T23:59:59+24:00", nil), ("2015-12-31T23:59:59+01:60", nil),
        ("0000-01-01T00:00:00+01:00", nil), ("9999-12-31T23:59:59-01:00", nil),
        // Nonsense.
        ("2014-01-02T00:monsterofthelakeI'mhere00:00.007450+00:00", nil), ("", nil), (" ", nil), ("today", nil),
        ("-", nil), ("2014-01", nil),
        ("2014-1-2", nil), ("2014-01-02T", nil), ("2014-01-02T1", nil), ("2014-01-02T12", nil), ("2014-01-02T12:", nil),
        ("2014-01-02T12:40:", nil), ("2014-01-02T12:40:8", nil), ("2014-01-02T12:40:08.", nil),
        ("2014-01-02T12:40:08.Z", nil),
        ("2014-01-02T12:40:08ZZ", nil), ("2014-01-02T12:40:08+", nil), ("2014-01-02T12:40:08+1", nil),
        ("2014-01-02T12:40:08+01:", nil),
        ("2014-01-02T12:40:08+01:0", nil), ("2014-01-02T12:40:08+01:000", nil),
        ("2014-01-02T12:40:08 ", "2014-01-02T12:40:08.000Z"),
        ("2014-01-02X12:40:08", nil), ("2014/01/02", nil), ("２０１４-01-02", nil), ("2014-01-02-12:40:08", nil),
        // The basic format, which looks like a number.
        ("20140102", "2014-01-02T00:00:00.000Z"), ("20140102T124008Z", "2014-01-02T12:40:08.000Z"),
        ("20140102t1240", "2014-01-02T12:40:00.000Z"), ("20140102T124008.5+0200", "2014-01-02T10:40:08.500Z"),
        ("20140102124008", "2014-01-02T12:40:08.000Z"), ("20140102124008Z", "2014-01-02T12:40:08.000Z"),
        ("20141302", nil), ("20140230", nil), ("86400000", nil), ("20140102.5", nil), ("20140102T", nil),
        ("20140102TT1240", nil), ("20140102T12400", nil), ("20140102T12:40:08", nil), ("20140102-1240", nil),
        ("20140102T1240:08", nil), ("20140102T124", nil), ("20140102T1240Z", "2014-01-02T12:40:00.000Z"),
        ("20140102T1240+02", "2014-01-02T10:40:00.000Z"), ("201401021240", "1976-05-20T00:43:41.240Z"),
        ("2014", nil), ("201401", "1970-01-03T07:56:41.000Z"), ("99999999999999", "5138-11-16T09:46:39.999Z"),
        // Timestamps as text.
        ("1441888808", "2015-09-10T12:40:08.000Z"), ("1441888808000000", "2015-09-10T12:40:08.000Z"),
        ("1441888808123", "2015-09-10T12:40:08.123Z"), ("1441888808123456", "2015-09-10T12:40:08.123456Z"),
        ("1441888808123456789", "2015-09-10T12:40:08.123456Z"), ("1441888808.5", "2015-09-10T12:40:08.500Z"),
        ("1441888808.12345678901234567890", "2015-09-10T12:40:08.123456Z"), ("0", "1970-01-01T00:00:00.000Z"),
        ("99999999999", "5138-11-16T09:46:39.000Z"), ("100000000000", "1973-03-03T09:46:40.000Z"), ("-1441888808", nil),
        ("+1", nil), ("1.", nil), ("144188880:", nil), ("144188880/", nil),
        (".5", nil), ("1.2.3", nil), ("1e9", nil), ("99999999999999999999", nil), ("999999999999999999999999", nil),
    ]

    private func text(_ microseconds: Int64?) -> String? {
        microseconds.map {
            let text = DateText.text($0, fraction: .shortest)
            return text.contains(".") ? text : text.dropLast() + ".000Z"
        }
    }

    @Test(arguments: texts)
    func aTextIsReadAsDecided(input: String, expected: String?) {
        #expect(text(DateText.microseconds(input)) == expected)
    }

    /// Each unit at its limits. Each number is rounded down. Other digits follow `…`.
    @Test(
        arguments: [
            ("15e-1", "1500000"), ("-15e-1", "-1500000"), ("15e-5", "150"), ("-15e-5", "-150"), ("15e-6", "15"),
            ("-15e-6", "-15"), ("15e-7", "1"), ("-15e-7", "-2"), ("15e-18", "0"), ("-15e-18", "-1"), ("15e-19", "0"),
            ("-15e-19", "-1"), ("15e-20", "0"), ("-15e-20", "-1"), ("15e-21", "0"), ("-15e-21", "-1"),
            ("-10000000000000000000e-19", "-1000000"), ("-10000000000000000000e-20", "-100000"),
            ("-10000000000000000001e-20", "-100001"), ("-10000000000000000000e-26", "-1"), ("-1e-100000", "-1"),
            ("-0e-100000", "0"), ("0e100000", "0"), ("-0e100000", "0"), ("99999999999", "99999999999000000"),
            ("100000000000", "100000000000000"), ("99999999999999", "99999999999999000"),
            ("100000000000000", "100000000000000"), ("99999999999999999", "99999999999999999"),
            ("100000000000000000", "100000000000000"), ("999999999995e-1", "99999999999500000"),
            ("1000000000005e-1", "100000000000500"),
            ("-1000000000005e-1", "-100000000000500"), ("-10000000000000005e-4", "-1000000000000001"),
            ("999999999999995e-1", "99999999999999500"),
            ("1000000000000005e-1", "100000000000000"), ("999999999999999995e-1", "99999999999999999"),
            ("1000000000000000005e-1", "100000000000000"), ("1441888808123456500", "1441888808123456"),
            ("-1441888808123456000", "-1441888808123456"), ("-1441888808123456001", "-1441888808123457"),
            ("1e19", "10000000000000000"), ("2e19", nil), ("1e20", nil), ("1e21", nil), ("5e3", "5000000000"),
            ("18446744073709551615", "18446744073709551"), ("-7…", "-7000001"), ("7…", "7000000"), ("-0…", "-1"),
            ("-62167219200", "-62167219200000000"), ("-62167219201", nil), ("-62167219200000001e-6", nil),
            ("-62167219200…", nil), ("-62167219199999999e-6", "-62167219199999999"),
        ] as [(String, String?)])
    func theSizeOfANumberDecidesItsUnit(number: String, microseconds: String?) throws {
        let parts = number.split(separator: "e")
        let digits = parts[0].filter(\.isNumber)
        let found = DateText.microseconds(
            mantissa: try #require(UInt64(digits)), exponent: parts.count > 1 ? try #require(Int(parts[1])) : 0,
            isNegative: number.hasPrefix("-"), isTruncated: number.contains("…"))
        #expect(found.map { "\($0)" } == microseconds)
    }

    @Test func whatIsWrittenReadsBackAsFoundationReadsIt() throws {
        var random = SeededRandom(seed: 5)
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        for index in 0..<5000 {
            var microseconds = Int64.random(in: DateText.range, using: &random)
            if index % 2 == 0 { microseconds -= microseconds % 1000 }
            let text = DateText.text(microseconds, fraction: .shortest)
            #expect(DateText.microseconds(text) == microseconds)
            #expect(DateText.microseconds(DateText.text(microseconds, fraction: .microseconds)) == microseconds)
            // Foundation's calendar turns Julian before 1582, and reads milliseconds.
            guard microseconds > -12_219_292_800_000_000, text.utf8.count == 24 else { continue }
            let date = try style.parse(text)
            #expect(Int64((date.timeIntervalSince1970 * 1000).rounded()) * 1000 == microseconds)
        }
        for end in [DateText.range.lowerBound, DateText.range.upperBound] {
            #expect(DateText.microseconds(DateText.text(end, fraction: .shortest)) == end)
        }
        #expect(DateText.text(.max, fraction: .shortest) == "9999-12-31T23:59:59.999999Z")
        #expect(DateText.text(.min, fraction: .shortest) == "0000-01-01T00:00:00Z")
    }

    @Test func everyDayOfFourCenturiesIsTheOneAfterTheLast() {
        var expected: Int64 = -62_167_219_200_000_000
        for year in 0..<2100 {
            let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
            for (month, length) in [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31].enumerated() {
                guard year < 4 || year > 1500 else {
                    expected += Int64(length) * 86_400_000_000
                    continue
                }
                for day in 1...length {
                    let text = "\(padded(year, 4))-\(padded(month + 1, 2))-\(padded(day, 2))"
                    #expect(DateText.microseconds(text) == expected)
                    #expect(DateText.text(expected, fraction: .none) == text + "T00:00:00Z")
                    expected += 86_400_000_000
                }
                #expect(DateText.microseconds("\(padded(year, 4))-\(padded(month + 1, 2))-\(length + 1)") == nil)
            }
        }
    }

    private func padded(_ value: Int, _ count: Int) -> String {
        String(repeating: "0", count: count - "\(value)".count) + "\(value)"
    }

    @Test(arguments: texts)
    func everyPrefixAndFlippedBitIsADateOrNone(input: String, expected: String?) {
        let bytes = Array(input.utf8)
        for count in 0..<bytes.count { bytes.prefix(count).withUnsafeBufferPointer { _ = DateText.microseconds($0) } }
        for index in bytes.indices {
            for bit in 0..<8 {
                var damaged = bytes
                damaged[index] ^= 1 << bit
                let value = damaged.withUnsafeBufferPointer { DateText.microseconds($0) }
                #expect(value.map(DateText.range.contains) ?? true)
            }
        }
    }
}
