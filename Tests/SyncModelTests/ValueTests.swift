import Foundation
import OneWayTestLimits
import SyncModel
import Testing

@Suite(.endsInTime) struct ValueTests {
    private let decimals = ["1.50", "1.5"].map { AttributeValue.decimal(Decimal(string: $0) ?? 0) }

    @Test func valuesOfDifferentKindsAreNeverEqual() {
        let values: [AttributeValue] = [
            .null, .bool(true), .int(1), .double(1), .decimal(1), .string("1"), .date(Timestamp(microseconds: 1)),
            .binary(Data([1])), .uuid(UUID()), .uri("1"),
        ]
        for (index, one) in values.enumerated() {
            for (place, other) in values.enumerated() {
                #expect((one == other) == (index == place))
            }
        }
        #expect(Set(values).count == values.count)
    }

    @Test func equalityIsThatOfTheContent() {
        #expect(decimals[0] == decimals[1])
        #expect(decimals[0].hashValue == decimals[1].hashValue)
        #expect(AttributeValue.double(.nan) == .double(-.nan))
        #expect(AttributeValue.double(.nan).hashValue == AttributeValue.double(-.nan).hashValue)
        #expect(AttributeValue.double(0) == .double(-0.0))
        #expect(AttributeValue.double(0).hashValue == AttributeValue.double(-0.0).hashValue)
        #expect(AttributeValue.string("é") != .string("e\u{301}"))
        #expect(Set([AttributeValue.string("é"), .string("e\u{301}")]).count == 2)
        #expect(AttributeValue.int(9_007_199_254_740_993) != .int(9_007_199_254_740_992))
    }

    /// Otherwise, sets of many values would be slow.
    @Test func differentValuesHaveDifferentHashes() throws {
        var values: [AttributeValue] = [.null, true, false, .uri("a"), .uri("b")]
        for number in 1...2 {
            values.append(.int(Int64(number)))
            values.append(.double(Double(number)))
            values.append(.decimal(Decimal(number)))
            values.append(.date(Timestamp(microseconds: Int64(number))))
            values.append(.binary(Data([UInt8(number)])))
            values.append(.uuid(UUID()))
        }
        for text in ["", "a", "b", "ab"] { values.append(.string(text)) }
        for text in ["1", "[]", "[1]"] { values.append(.json(try #require(CanonicalJSON(text)))) }
        #expect(Set(values.map(\.hashValue)).count == values.count)
    }

    private enum Role: String, AttributeRepresentable { case reader }

    /// Each database orders JSON in its own way, so a condition or an ordering by it does not
    /// compile.
    @Test func allTypesHaveAnOrderExceptJSON() {
        func isOrdered<Value: AttributeValue.Convertible>(_ type: Value.Type) -> Bool { Value.Ordered.self == type }
        #expect(isOrdered(String.self) && isOrdered(Int?.self) && isOrdered(Role.self) && isOrdered(Role?.self))
        #expect(!isOrdered(CanonicalJSON.self) && !isOrdered(CanonicalJSON?.self))
    }

    @Test func numbersOfDifferentTypesAreComparedByTheirValues() {
        #expect(AttributeValue.int(1).compare(.double(1)) == .orderedSame)
        #expect(AttributeValue.decimal(Decimal(1)).compare(.int(1)) == .orderedSame)
        #expect(AttributeValue.int(1).compare(.decimal(Decimal(string: "1.5") ?? 0)) == .orderedAscending)
        #expect(AttributeValue.double(1.5).compare(.decimal(Decimal(string: "1.5") ?? 0)) == .orderedSame)
        #expect(AttributeValue.int(9_007_199_254_740_993).compare(.double(9_007_199_254_740_992)) == .orderedDescending)
        #expect(AttributeValue.int(.max).compare(.double(0x1p63)) == .orderedAscending)
        #expect(AttributeValue.int(.min).compare(.double(-0x1p63)) == .orderedSame)
        #expect(AttributeValue.int(.min).compare(.double(-.infinity)) == .orderedDescending)
        #expect(AttributeValue.int(-1).compare(.double(-1.5)) == .orderedDescending)
        #expect(AttributeValue.double(.nan).compare(.int(.min)) == .orderedAscending)
        #expect(AttributeValue.double(.nan).compare(.double(.nan)) == .orderedSame)
        #expect(AttributeValue.double(-.infinity).compare(.double(.nan)) == .orderedDescending)
    }

    @Test func theOrderIsTotalAndConsistent() {
        let ordered: [AttributeValue] = [
            .null, false, true, .double(.nan), .double(-.infinity), .int(.min), -1, .double(-0.5), 0,
            .decimal(Decimal(string: "0.25") ?? 0), 0.5, .int(.max), .double(.infinity), "", "A", "B", "a", "é",
            .date(Timestamp(microseconds: -1)), .date(Timestamp(microseconds: 0)), .binary(Data()),
            .binary(Data([0])), .binary(Data([1])), .binary(Data([1, 0])),
            .uuid(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1))),
            .uuid(UUID(uuid: (128, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))), .uri("a"), .uri("b"),
        ]
        for (index, one) in ordered.enumerated() {
            for (place, other) in ordered.enumerated() {
                let expected: ComparisonResult =
                    index < place ? .orderedAscending : index > place ? .orderedDescending : .orderedSame
                #expect(one.compare(other) == expected, "\(one) and \(other)")
            }
        }
    }

    @Test func literalsAndSwiftTypesBecomeValues() throws {
        let values: [AttributeValue] = [1, 1.5, "a", true]
        #expect(values == [.int(1), .double(1.5), .string("a"), .bool(true)])
        let url = try #require(URL(string: "https://a.b/c?d=e"))
        #expect(url.value == .uri("https://a.b/c?d=e"))
        #expect(Date(timeIntervalSince1970: 1.5).value == .date(Timestamp(microseconds: 1_500_000)))
        #expect(Int?.none.value == .null)
        #expect(Int?.some(2).value == .int(2))
        #expect([Int16(1).value, Int32(1).value, Int64(1).value, Float(1.5).value] == [1, 1, 1, 1.5])
    }
}

@Suite(.endsInTime) struct TimestampTests {
    @Test func wholeMicrosecondsSurviveTheWayThroughADate() {
        // 1716 to 2286: where a `Date` can tell microseconds apart.
        let samples: [Int64] = [
            -8_000_000_000_000_000, -1, 0, 1, 978_307_200_000_000, 1_700_000_000_123_457, 1_413_936_000_000_001,
            9_900_000_000_000_000,
        ]
        for microseconds in samples {
            let moment = Timestamp(microseconds: microseconds)
            #expect(Timestamp(moment.date) == moment)
        }
    }

    @Test func timestampsAreClampedToTheRangeOfDates() {
        #expect(Timestamp(.distantFuture).microseconds == 64_092_211_200_000_000)
        #expect(Timestamp(Date(timeIntervalSinceReferenceDate: .infinity)) > Timestamp(.distantFuture))
        #expect(Timestamp(Date(timeIntervalSinceReferenceDate: -.infinity)) < Timestamp(.distantPast))
        #expect(Timestamp(Date(timeIntervalSinceReferenceDate: .nan)) < Timestamp(.distantPast))
        #expect(Timestamp(microseconds: .max).date > .distantFuture)
        #expect(Timestamp(microseconds: .min).date < .distantPast)
    }
}
