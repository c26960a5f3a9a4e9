import JSONMapper
import OneWayTestLimits
import SyncModel
import Testing

@Suite(.endsInTime) struct DateStyleTests {
    struct Style: CustomTestStringConvertible {
        let pattern: String
        /// Texts, or numbers, of the style with what they are in UTC.
        let dates: [(written: String, utc: String)]
        /// Texts and numbers that another style writes.
        let others: [String]
        var testDescription: String { pattern }
    }

    private static let texts: [Style] = [
        Style(
            pattern: "yyyy-MM-dd",
            dates: [("2015-06-23", "2015-06-23T00:00:00Z"), ("0001-01-01", "0001-01-01T00:00:00Z")],
            others: ["2015/06/23", "2015-06-23T00:00", "2015-06-31", "2015-06-2", "2015-06/23"]),
        Style(
            pattern: "yyyy/MM/dd", dates: [("2015/06/23", "2015-06-23T00:00:00Z")],
            others: ["2015-06-23", "2015/06-23", "2015/06/23 12:40"]),
        Style(
            pattern: "yyyy-MM-dd'T'HH:mm:ss[.SSS]'Z'",
            dates: [
                ("2015-06-23T00:00:00Z", "2015-06-23T00:00:00Z"),
                ("2015-06-23T23:59:59.120Z", "2015-06-23T23:59:59.120Z"),
                ("2015-06-23T12:40:08.000001Z", "2015-06-23T12:40:08.000001Z"),
            ],
            others: [
                "2015-06-23T12:40:08.000Z", "2015-06-23T12:40:08.12Z", "2015-06-23T12:40:08", "2015-06-23 12:40:08Z",
                "2015-06-23T12:40Z", "2015-06-23T12:40:08+00:00", "2015-06-23T24:00:00Z", "2015-06-23T12:60:00Z",
                "2015-06-23T12:40:60Z", "2015-06-23T12:40:08.Z", "2015-06-23T12:40:08.0000001Z", "2015-06-23T12-40-08Z",
            ]),
        Style(
            pattern: "yyyy-MM-dd'T'HH:mm:ss.SSS'+02:00'",
            dates: [
                ("2015-06-23T00:00:00.000+02:00", "2015-06-22T22:00:00Z"),
                ("2015-06-23T14:40:08.123+02:00", "2015-06-23T12:40:08.123Z"),
            ],
            others: ["2015-06-23T14:40:08.12+02:00", "2015-06-23T14:40:08.123+01:00", "2015-06-23T14:40:08.123+0200"]),
        Style(
            pattern: "yyyy-MM-dd HH:mm:ss[.S*]",
            dates: [
                ("2015-06-23 12:40:08", "2015-06-23T12:40:08Z"), ("2015-06-23 12:40:08.1", "2015-06-23T12:40:08.100Z"),
                ("2015-06-23 12:40:08.000001", "2015-06-23T12:40:08.000001Z"),
                ("2015-06-23 12:40:08.12345", "2015-06-23T12:40:08.123450Z"),
            ],
            others: ["2015-06-23 12:40:08.10", "2015-06-23T12:40:08.1", "2015-06-23 12:40:08.0"]),
        Style(
            pattern: "yyyy-MM-dd HH:mm:ss[.SSSSSS]'-0330'",
            dates: [
                ("2015-06-23 12:40:08-0330", "2015-06-23T16:10:08Z"),
                ("2015-06-23 23:40:08.100000-0330", "2015-06-24T03:10:08.100Z"),
            ],
            others: ["2015-06-23 12:40:08.1-0330", "2015-06-23 12:40:08.100-0330", "2015-06-23 12:40:08.000000-0330"]),
        Style(
            pattern: "yyyy-MM-dd'T'HH:mm'Z'", dates: [("2015-06-23T12:40Z", "2015-06-23T12:40:00Z")],
            others: ["2015-06-23T12:40:08Z", "2015-06-23 12:40Z", "2015-06-23T12:40:Z", "2015-06-23T12:40.5Z"]),
        Style(
            pattern: "yyyy-MM-dd HH:mm", dates: [("2015-06-23 00:00", "2015-06-23T00:00:00Z")],
            others: ["2015-06-23T12:40", "2015-06-23 12:4", "2015-06-23 12:40 "]),
        Style(
            pattern: "EEE, dd MMM yyyy HH:mm:ss[.SSS]' GMT'",
            dates: [
                ("Tue, 23 Jun 2015 12:40:08 GMT", "2015-06-23T12:40:08Z"),
                ("Thu, 01 Jan 1970 00:00:00 GMT", "1970-01-01T00:00:00Z"),
                ("Wed, 31 Dec 1969 23:59:59 GMT", "1969-12-31T23:59:59Z"),
                ("Sun, 09 Feb 2014 00:00:00 GMT", "2014-02-09T00:00:00Z"),
            ],
            others: [
                "Wed, 23 Jun 2015 12:40:08 GMT", "Thu, 1 Jan 1970 00:00:00 GMT", "Tue, 23 Jun 2015 12:40 GMT",
                "Tue, 23 Jum 2015 12:40:08 GMT", "Tue, 23 Jun 2015 12:40:08 UTC", "Tue 23 Jun 2015 12:40:08 GMT",
                "Die, 23 Jun 2015 12:40:08 GMT",
            ]),
        Style(
            pattern: "EEE, d MMM yyyy HH:mm:ss[.SSS]' +0200'",
            dates: [
                ("Thu, 1 Jan 1970 01:00:00 +0200", "1969-12-31T23:00:00Z"),
                ("Fri, 9 Jan 1970 12:00:00 +0200", "1970-01-09T10:00:00Z"),
                // With two digits where one is not enough.
                ("Sat, 10 Jan 1970 12:00:00 +0200", "1970-01-10T10:00:00Z"),
                ("Tue, 23 Jun 2015 12:40:08 +0200", "2015-06-23T10:40:08Z"),
            ],
            others: ["Thu, 01 Jan 1970 01:00:00 +0200", "Fri, 1 Jan 1970 01:00:00 +0200", "Thu, 1 Jan 1970 01:00:00"]),
        Style(
            pattern: "EEE MMM dd HH:mm:ss[.SSS]' +0000' yyyy",
            dates: [("Sun Aug 31 00:29:15 +0000 2014", "2014-08-31T00:29:15Z")],
            others: [
                "Mon Aug 31 00:29:15 +0000 2014", "Sun Aug 31 00:29 +0000 2014", "Sun, Aug 31 00:29:15 +0000 2014",
            ]),
    ]

    private static let numbers: [Style] = [
        Style(
            pattern: "epochSeconds", dates: [("1441888808", "2015-09-10T12:40:08Z"), ("-1", "1969-12-31T23:59:59Z")],
            others: ["1441888808.0", "99999999999999", #""1441888808""#]),
        Style(
            pattern: "epochSeconds.0", dates: [("1441888808.0", "2015-09-10T12:40:08Z")],
            others: ["1441888808", "1441888808.5"]),
        Style(
            pattern: "epochMilliseconds",
            dates: [("1441888808123", "2015-09-10T12:40:08.123Z"), ("-1", "1969-12-31T23:59:59.999Z")],
            others: ["1441888808123.0", "9223372036854775807"]),
    ]

    /// All styles with their dates as JSON.
    private static var styles: [Style] {
        texts.map { style in
            Style(
                pattern: style.pattern, dates: style.dates.map { (#""\#($0.written)""#, $0.utc) },
                others: style.others.map { #""\#($0)""# })
        } + numbers
    }

    private func model(_ pattern: String) throws -> DataModel {
        try DataModel {
            SyncEntity("Event") {
                SyncAttribute("at", .date, userInfo: [JSONDialect.dateFormatAnnotation: pattern])
            }
        }
    }

    @Test(arguments: styles)
    func datesAreReadAndWrittenInTheirStyle(style: Style) throws {
        let model = try model(style.pattern)
        let mapper = try RecordMapper(model)
        for (written, utc) in style.dates {
            let json = #"[{"at":\#(written)}]"#
            let records = try mapper.records(of: "Event", bytes: Array(json.utf8))
            let expected = DateText.microseconds(utc).map { AttributeValue.date(Timestamp(microseconds: $0)) }
            #expect(records.map(\.values) == [[expected ?? .null]], "\(written)")
            let exported = try RecordMapper.Exporter(model).bytes(ofRecords: records)
            #expect(String(decoding: exported, as: UTF8.self) == json)
        }
    }

    /// A year that four digits cannot express in the time zone of the style is an error.
    @Test(
        arguments: [
            ("yyyy-MM-dd'T'HH:mm:ss'+02:00'", 253_402_300_799, nil),
            ("yyyy-MM-dd'T'HH:mm:ss'+02:00'", 253_402_293_599, "9999-12-31T23:59:59+02:00"),
            ("yyyy-MM-dd'T'HH:mm:ss'-05:00'", -62_167_219_200, nil),
            ("yyyy-MM-dd'T'HH:mm:ss'-05:00'", -62_167_201_200, "0000-01-01T00:00:00-05:00"),
            ("yyyy-MM-dd'T'HH:mm:ss'-05:00'", 253_402_318_799, "9999-12-31T23:59:59-05:00"),
            ("yyyy-MM-dd'T'HH:mm:ss'+02:00'", Int64.max / 1_000_000, nil),
        ] as [(String, Int64, String?)])
    func theYearCountsInTheTimeZoneOfTheStyle(pattern: String, seconds: Int64, written: String?) throws {
        let model = try model(pattern)
        var record = Record(of: try model.layout(of: "Event"))
        record["at"] = .date(Timestamp(microseconds: seconds * 1_000_000))
        let exported = Result { try RecordMapper.Exporter(model).bytes(ofRecords: [record]) }
        guard let written else {
            #expect(throws: MappingError.self) { try exported.get() }
            return
        }
        #expect(String(decoding: try exported.get(), as: UTF8.self) == #"[{"at":"\#(written)"}]"#)
    }

    @Test(arguments: styles)
    func textsOfOtherStylesAreNotRead(style: Style) throws {
        let contract = ValueContract(wrongType: .reject, unreadableDate: .reject)
        let mapper = try RecordMapper(try model(style.pattern), JSONMapping(contract: contract))
        for written in style.others {
            let result = try mapper.reader(of: "Event", bytes: Array(#"[{"at":\#(written)}]"#.utf8)).readAll()
            #expect(result.records.isEmpty && result.rejected.count == 1, "\(written)")
        }
    }

    @Test(arguments: [
        "", "yyyy", "yyyy-MM-dd'Z'", "yyyy-MM-dd.SSS", "yyyy-MM-dd'T'HH:mm.SSS", "yyyy-MM-dd'T'HH:mm:ss'CET'",
        "yyyy-MM-dd'T'HH:mm:ss'", "yyyy-MM-dd'T'HH:mm:ss''", "yyyy-MM-dd'T'HH:mm:ssZ", "yyyy-MM-dd'T'HH:mm:ss'+24:00'",
        "yyyy-MM-dd'T'HH:mm:ss'+01:60'", "yyyy-MM-dd'T'HH:mm:ss.SSSSSSS", "EEE MMM dd HH:mm:ss' +0000'", "epochMinutes",
    ])
    func otherPatternsAreNoStyle(pattern: String) {
        #expect(DateStyle(pattern: pattern) == nil)
    }

    @Test(arguments: texts)
    func aStyleIsFoundInItsTexts(style: Style) {
        #expect(sampled(style.dates.map(\.written))?.pattern == style.pattern)
        for other in style.others { #expect(sampled(style.dates.map(\.written) + [other])?.pattern != style.pattern) }
        #expect(DateStyle(pattern: style.pattern)?.pattern == style.pattern)
    }

    /// Most digits after the second fit several styles; the first of them is taken.
    @Test(arguments: [
        (["2015-06-23T12:40:08.123Z"], "[.SSS]"), (["2015-06-23T12:40:08.120Z", "2015-06-23T12:40:08.000Z"], ".SSS"),
        (["2015-06-23T12:40:08Z"], "[.SSS]"), (["2015-06-23T12:40:08.000000Z"], ".SSSSSS"),
        (["2015-06-23T12:40:08.10Z"], ".SS"), (["2015-06-23T12:40:08Z", "2015-06-23T12:40:08.120000Z"], "[.SSSSSS]"),
        (["2015-06-23T12:40:08.12Z", "2015-06-23T12:40:08.1Z"], "[.S*]"),
    ])
    func theFirstCommonStyleOfFractionsIsTaken(texts: [String], fraction: String) {
        #expect(sampled(texts)?.pattern == "yyyy-MM-dd'T'HH:mm:ss\(fraction)'Z'")
    }

    @Test(arguments: [
        ["2015-06-23", "2015/06/23"], ["2015-06-23T12:40:08Z", "2015-06-23T12:40:08+00:00"],
        ["2015-06-23T12:40:08.10Z", "2015-06-23T12:40:08.123Z"], ["2015-06-23", "soon"],
        ["Thu, 1 Jan 1970 01:00:00", "Thu, 01 Jan 1970 01:00:00"],
        ["Sat, 10 Jan 1970 12:00:00", "Thu, 1 Jan 1970 01:00:00", "Thu, 01 Jan 1970 01:00:00"],
    ])
    func mixedStylesAreText(texts: [String]) {
        #expect(sampled(texts) == nil)
        #expect(sampled(texts.reversed()) == nil)
        #expect(merged([texts[0]], Array(texts.dropFirst())) == nil)
    }

    /// A day of two digits is written alike by two layouts, until another day shows which it is.
    @Test func ambiguousDaysTakeTheStyleOfTheOthers() {
        let (long, short) = ("EEE, dd MMM yyyy HH:mm:ss[.SSS]", "EEE, d MMM yyyy HH:mm:ss[.SSS]")
        let (tenth, first, padded) = (
            "Sat, 10 Jan 1970 12:00:00", "Thu, 1 Jan 1970 01:00:00", "Thu, 01 Jan 1970 01:00:00"
        )
        #expect(sampled([tenth])?.pattern == long)
        #expect(sampled([tenth, first])?.pattern == short)
        #expect(sampled([first, tenth])?.pattern == short)
        #expect(sampled([tenth, padded])?.pattern == long)
        #expect(merged([tenth], [first])?.pattern == short)
        #expect(merged([first], [tenth])?.pattern == short)
        #expect(merged([], [tenth])?.pattern == long)
        #expect(merged([tenth], [])?.pattern == long)
    }

    // MARK: Samples

    private func sample(_ json: String) -> ShapeSampler {
        var sampler = ShapeSampler(entity: "Event", key: [])
        let reader = JSONReader(bytes: Array(json.utf8), layout: .array())
        do {
            while try reader.next({ cursor in try sampler.add(&cursor) }) != nil {}
        } catch {
            Issue.record(error)
        }
        return sampler
    }

    private func sampled(_ texts: [String]) -> DateStyle? {
        let sampler = sample("[\(texts.map { #"{"at":"\#($0)"}"# }.joined(separator: ","))]")
        return sampler.root.property("at")?.dateStyle
    }

    /// The style of the texts of two places that become one.
    private func merged(_ some: [String], _ others: [String]) -> DateStyle? {
        let places = [("a", some), ("b", others)].map { key, texts in
            let elements = [#"{"id":1}"#] + texts.map { #"{"at":"\#($0)"}"# }
            return #""\#(key)":[\#(elements.joined(separator: ","))]"#
        }
        let sampler = sample("[{\(places.joined(separator: ","))}]")
        guard let one = sampler.root.property("a")?.element, let other = sampler.root.property("b")?.element else {
            return nil
        }
        one.absorb(other)
        return one.property("at")?.dateStyle
    }
}
