import JSONMapper
import OneWayTestLimits
import Testing

@Suite(.endsInTime) struct JSONValueTests {
    @Test func aDocumentBecomesATree() throws {
        let value = try JSONValue(parsing: #"{"a": [1, -2.5, "x\u00e9\n", true, null], "b": {}}"#)
        let array = JSONValue.array([.integer(1), .double(-2.5), .string("xé\n"), .bool(true), .null])
        #expect(value == .object(["a": array, "b": .object([:])]))
        #expect(value["a"]?[1] == .double(-2.5))
        #expect(value["a"]?[5] == nil && value["c"] == nil && value[0] == nil && value["a"]?["b"] == nil)
    }

    @Test func decimalsAreKeptWhenAskedFor() throws {
        let text = "[0.10, 1, 1e2, -0, 1e999, 123456789012345678901]"
        #expect(
            try JSONValue(parsing: text, exactDecimals: true)
                == .array([
                    .decimal("0.10"), .integer(1), .decimal("1e2"), .double(-0.0), .decimal("1e999"),
                    .decimal("123456789012345678901"),
                ]))
        #expect(
            try JSONValue(parsing: text)
                == .array([
                    .double(0.1), .integer(1), .double(100), .double(-0.0), .decimal("1e999"),
                    .decimal("123456789012345678901"),
                ]))
    }

    /// Beside every limit of the exact conversion: 2⁵³, 10²² and 19 digits.
    @Test func aNumberIsTheNearestDouble() throws {
        let digits = [
            "1", "9", "9007199254740991", "9007199254740992", "9007199254740993", "9007199254740995",
            "1234567890123456789", "9223372036854775807", "18446744073709551615", "18446744073709551616",
            "123456789012345678901234567890",
        ]
        for digits in digits {
            for exponent in [-400, -330, -324, -310, -24, -23, -22, -21, -1, 1, 21, 22, 23, 24, 280] {
                for text in ["\(digits)e\(exponent)", "-\(digits)E\(exponent)", "0.\(digits)e\(exponent)"] {
                    guard let number = Double(text), number.isFinite,
                        case .double(let read) = try JSONValue(parsing: text)
                    else { continue }
                    #expect(read.bitPattern == number.bitPattern, "\(text)")
                }
            }
        }
    }

    @Test(arguments: [("", 1), ("  ", 3)])
    func anEmptyDocumentEndsTooEarly(text: String, column: Int) {
        let error = #expect(throws: JSONError.self) { try JSONValue(parsing: text) }
        #expect(error?.location?.byteOffset == text.utf8.count && error?.location?.column == column)
    }

    @Test func ofTwoEqualKeysTheLastValueStaysInTheFirstPlace() throws {
        guard case .object(let object) = try JSONValue(parsing: #"{"a":1,"b":2,"a":3}"#) else {
            Issue.record("not an object")
            return
        }
        #expect(object.entries.map(\.key) == ["a", "b"])
        #expect(object["a"] == .integer(3))
    }

    @Test func anObjectKeepsItsOrderHoweverManyKeysItHas() {
        var object = JSONValue.Object()
        for index in 0..<100 { object["k\(index)"] = .integer(Int64(index)) }
        object["k50"] = nil
        object["k7"] = .null
        object["absent"] = nil
        #expect(object.count == 99)
        #expect(object.entries.map(\.key) == (0..<100).filter { $0 != 50 }.map { "k\($0)" })
        for index in 0..<100 where index != 50 && index != 7 { #expect(object["k\(index)"] == .integer(Int64(index))) }
        #expect(object["k50"] == nil && object["k7"] == .null)
        for index in 5..<100 { object["k\(index)"] = nil }
        #expect(object.count == 5 && object["k4"] == .integer(4))
        #expect(
            object == ["k4": .integer(4), "k3": .integer(3), "k2": .integer(2), "k1": .integer(1), "k0": .integer(0)])
        #expect(object != ["k4": .integer(4)])
    }
}
