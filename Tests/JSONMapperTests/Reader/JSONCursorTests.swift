import JSONMapper
import OneWayTestLimits
import OneWayTestSupport
import Testing

@Suite(.endsInTime) struct JSONCursorTests {
    /// Reads one document with a cursor.
    private func read<Result>(
        _ text: String, options: JSONReader.Options = JSONReader.Options(), _ body: (inout JSONCursor) throws -> Result
    ) throws -> Result {
        let reader = JSONReader(bytes: Array(text.utf8), layout: .document, options: options)
        let result = try reader.next(body)
        #expect(try reader.next { try $0.skipValue() } == nil)
        #expect(reader.isFinished)
        return try #require(result)
    }

    struct NumberCase: CustomTestStringConvertible {
        var text: String
        var int64: Int64?
        var uint64: UInt64?
        var double: Double?
        var testDescription: String { text }
    }

    @Test(arguments: [
        NumberCase(text: "0", int64: 0, uint64: 0, double: 0),
        NumberCase(text: "-0", int64: 0, uint64: 0, double: -0.0),
        NumberCase(text: "-1", int64: -1, uint64: nil, double: -1),
        NumberCase(text: "1.0", int64: 1, uint64: 1, double: 1),
        NumberCase(text: "1e3", int64: 1000, uint64: 1000, double: 1000),
        NumberCase(text: "12.50E+1", int64: 125, uint64: 125, double: 125),
        NumberCase(text: "0e-999999999999", int64: 0, uint64: 0, double: 0),
        NumberCase(text: "0.1", int64: nil, uint64: nil, double: 0.1),
        NumberCase(
            text: "9007199254740993", int64: 9_007_199_254_740_993, uint64: 9_007_199_254_740_993,
            double: 9_007_199_254_740_992),
        NumberCase(text: "9223372036854775807", int64: .max, uint64: 1 << 63 - 1, double: 0x1p63),
        NumberCase(text: "9223372036854775808", int64: nil, uint64: 1 << 63, double: 0x1p63),
        NumberCase(text: "-9223372036854775808", int64: .min, uint64: nil, double: -0x1p63),
        NumberCase(text: "-9223372036854775809", int64: nil, uint64: nil, double: -0x1p63),
        NumberCase(text: "18446744073709551615", int64: nil, uint64: .max, double: 0x1p64),
        NumberCase(text: "18446744073709551616", int64: nil, uint64: nil, double: 0x1p64),
        NumberCase(text: "1844674407370955161.5", int64: nil, uint64: nil, double: 1844674407370955161.5),
        NumberCase(text: "18446744073709551615e0", int64: nil, uint64: .max, double: 0x1p64),
        NumberCase(text: "1e19", int64: nil, uint64: 10_000_000_000_000_000_000, double: 1e19),
        NumberCase(text: "1e20", int64: nil, uint64: nil, double: 1e20),
        NumberCase(text: "1e400", int64: nil, uint64: nil, double: nil),
        NumberCase(text: "-1e400", int64: nil, uint64: nil, double: nil),
        NumberCase(text: "1e-400", int64: nil, uint64: nil, double: 0),
        NumberCase(text: "5e-324", int64: nil, uint64: nil, double: .leastNonzeroMagnitude),
        NumberCase(text: "1.7976931348623157e308", int64: nil, uint64: nil, double: .greatestFiniteMagnitude),
        NumberCase(text: "2.2250738585072011e-308", int64: nil, uint64: nil, double: .leastNormalMagnitude.nextDown),
        NumberCase(text: "0.30000000000000004", int64: nil, uint64: nil, double: 0.1 + 0.2),
        NumberCase(text: "5.00000000000000000000", int64: 5, uint64: 5, double: 5),
        NumberCase(text: "-0.00000000000000000000", int64: 0, uint64: 0, double: -0.0),
        NumberCase(text: "0.00000000000000000000000015e25", int64: nil, uint64: nil, double: 1.5),
        NumberCase(text: "0.0000000000000000000000001e25", int64: 1, uint64: 1, double: 1),
        NumberCase(text: "100000000000000000000000e-20", int64: 1000, uint64: 1000, double: 1000),
        NumberCase(text: "1.00000000000000000000000001", int64: nil, uint64: nil, double: 1),
        NumberCase(
            text: "123456789012345678901234567890", int64: nil, uint64: nil, double: 123456789012345677877719597056),
    ])
    func aNumberIsExactOrNothing(number: NumberCase) throws {
        for text in [number.text, " \(number.text) "] {
            try read(text) { cursor in
                let value = try cursor.readNumber()
                #expect(value.text.string == number.text)
                #expect(value.int64 == number.int64)
                #expect(value.uint64 == number.uint64)
                #expect(value.double?.bitPattern == number.double?.bitPattern)
            }
        }
    }

    @Test func doublesAreReadAsTheStandardLibraryReadsThem() throws {
        var random = SeededRandom(seed: 3)
        for _ in 0..<20_000 {
            let bits = Double(bitPattern: random.next())
            let short = Double(Int64.random(in: -999_999_999...999_999_999, using: &random)) / 1e4
            for value in [bits, short] where value.isFinite {
                #expect(try JSONValue(parsing: "[\(value)]")[0].flatMap(\.asDouble) == value)
            }
            let digits = "\(random.next()).\(random.next())e\(Int.random(in: -330...300, using: &random))"
            #expect(try JSONValue(parsing: "[\(digits)]")[0].flatMap(\.asDouble) == Double(digits))
        }
    }

    @Test(arguments: [
        ("\"\"", ""), (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"),
        (#""\u0000a\u007F\u0080\u07ff\u0800\uFFFF""#, "\0a\u{7F}\u{80}\u{7FF}\u{800}\u{FFFF}"),
        (#""\ud83d\ude00x\uDBFF\uDFFF""#, "😀x\u{10FFFF}"), ("\"\u{7F}é水😀12345678\"", "\u{7F}é水😀12345678"),
    ])
    func aStringIsUnescaped(json: String, expected: String) throws {
        try read(json) { cursor in
            let slice = try cursor.readString()
            #expect(slice.string == expected)
            #expect(slice.equals(Array(expected.utf8)))
            #expect(!slice.equals(Array("\(expected)x".utf8)))
            #expect(slice.withUTF8 { Array($0) } == Array(expected.utf8))
        }
    }

    @Test func stringsOfEveryLengthAreScannedToTheirEnd() throws {
        for length in 0...40 {
            for special in ["", "\\n", "é", "😀"] {
                for place in 0...length {
                    let text =
                        String(repeating: "a", count: place) + special + String(repeating: "b", count: length - place)
                    let plain = text.replacing("\\n", with: "\n")
                    #expect(try JSONValue(parsing: "\"\(text)\"") == .string(plain))
                }
            }
        }
    }

    @Test func everyByteThatMustNotStandInAStringIsRefused() {
        for length in 0...17 {
            for byte in UInt8(0)...255 {
                let filler = [UInt8](repeating: 0x61, count: length)
                let error = Reading([0x22] + filler + [byte] + filler + [0x22]).error
                switch byte {
                case 0..<0x20: #expect(error?.reason == .controlCharacter)
                case 0x80...: #expect(error?.reason == .invalidUTF8)
                case 0x22: #expect(error?.reason == .trailingContent)
                case 0x5C: break
                default: #expect(error == nil)
                }
                if byte < 0x20 || byte >= 0x80 { #expect(error?.location?.byteOffset == length + 1) }
            }
        }
    }

    @Test func expectedKeysAreTakenAndOthersAreNot() throws {
        let id = Array("\"id\":".utf8)
        let name = Array("\"name\":".utf8)
        try read(#"{"id":1,"name":"a", "id":2}"#) { cursor in
            try cursor.beginObject()
            #expect(!name.withUnsafeBufferPointer { cursor.takeKey($0) })
            #expect(id.withUnsafeBufferPointer { cursor.takeKey($0) })
            #expect(try cursor.readNumber().int64 == 1)
            #expect(!id.withUnsafeBufferPointer { cursor.takeKey($0) })
            #expect(name.withUnsafeBufferPointer { cursor.takeKey($0) })
            #expect(try cursor.rawValue().bytes.elementsEqual(Array("\"a\"".utf8)))
            #expect(!id.withUnsafeBufferPointer { cursor.takeKey($0) })
            #expect(try cursor.nextKey()?.string == "id")
            #expect(try !cursor.takeNull())
            #expect(try cursor.kind() == .number)
            try cursor.skipValue()
            #expect(try cursor.nextKey() == nil)
        }
    }

    @Test func aValueOfAnotherKindIsAMismatch() throws {
        func reason(_ body: @escaping (inout JSONCursor) throws -> Void) -> JSONError.Reason? {
            let reader = JSONReader(bytes: Array("[{\"a\":7},8]".utf8))
            do {
                _ = try reader.next { cursor in
                    try cursor.beginObject()
                    _ = try cursor.nextKey()
                    try body(&cursor)
                }
                return nil
            } catch let error as JSONError {
                #expect(error.location == JSONError.Location(byteOffset: 6, line: 1, column: 7, keyPath: "[0].a"))
                // The reader still stands before the element.
                #expect((try? reader.next { try JSONValue(&$0) }) == .object(["a": .integer(7)]))
                guard case .mismatched(let reason, _) = error else { return nil }
                return reason
            } catch { return nil }
        }
        #expect(reason { _ = try $0.beginObject() } == .notAnObject)
        #expect(reason { _ = try $0.beginArray() } == .notAnArray)
        #expect(reason { _ = try $0.readString() } == .notAString)
        #expect(reason { _ = try $0.readBool() } == .notABoolean)
        #expect(reason { try $0.readNull() } == .notNull)
        #expect(throws: JSONError.self) { try read("\"x\"") { _ = try $0.readNumber() } }
    }
}

extension JSONValue {
    /// Any number as a double.
    var asDouble: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .unsigned(let value): Double(value)
        case .double(let value): value
        case .decimal(let text): Double(text)
        default: nil
        }
    }
}
