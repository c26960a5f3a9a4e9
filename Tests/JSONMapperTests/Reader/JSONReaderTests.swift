import Foundation
import JSONMapper
import OneWayTestLimits
import Testing

@Suite(.endsInTime) struct JSONReaderTests {
    private func integers(_ text: String, _ layout: JSONReader.Layout) throws -> [Int64] {
        let reader = JSONReader(bytes: Array(text.utf8), layout: layout)
        var result: [Int64] = []
        while let value = try reader.next({ try $0.readNumber().int64 ?? -1 }) { result.append(value) }
        #expect(reader.isFinished)
        #expect(reader.elementCount == result.count)
        return result
    }

    private func error(
        _ text: String, _ layout: JSONReader.Layout = .array(), _ change: (inout JSONReader.Options) -> Void = { _ in }
    ) -> JSONError? {
        var options = JSONReader.Options()
        change(&options)
        return Reading(Array(text.utf8), layout: layout, options: options).error
    }

    @Test func elementsComeFromTheArrayAtTheKeyPath() throws {
        #expect(try integers("[1,2,3]", .array()) == [1, 2, 3])
        #expect(try integers("[]", .array()) == [])
        #expect(try integers(#"{"data":{"items":[1,2]}}"#, .array(at: "data.items")) == [1, 2])
        let around =
            #" { "a" : [ 9 ] , "data" : { "x" : {"items":[8]} , "items" : [ 1 , 2 ] , "y" : "z" } , "b" : null } "#
        #expect(try integers(around, .array(at: "data.items")) == [1, 2])
        #expect(try integers(#"{"a.b":{"\u0063":[7]}}"#, .array(at: ["a.b", "c"])) == [7])
    }

    @Test func aSingleObjectCountsAsAnArrayOfItWhenAskedFor() throws {
        let layout = JSONReader.Layout.array(at: "data", acceptsSingleObject: true)
        #expect(
            Reading(Array(#"{"data":{"id":1},"n":2}"#.utf8), layout: layout).elements == [.object(["id": .integer(1)])])
        #expect(Reading(Array(#"{"data":[{"id":1}]}"#.utf8), layout: layout).elements.count == 1)
        #expect(error(#"{"data":{"id":1}}"#, .array(at: "data"))?.reason == .notAnArray)
        #expect(error(#"{"data":7}"#, layout)?.reason == .notAnArray)
        #expect(Reading(Array("{}".utf8), layout: .array(acceptsSingleObject: true)).elements == [.object([:])])
    }

    @Test func anErrorNamesTheListsThatAreThere() throws {
        let text = #"{"a":[1,[2]],"b":{"c":[],"d":{"e":[3]}},"f":[{"g":[4]}],"h":5}"#
        let lists = [("a", 2), ("b.c", 0), ("b.d.e", 1), ("f", 1)].map {
            JSONError.List(keyPath: $0.0, elementCount: $0.1)
        }
        for layout in [JSONReader.Layout.array(), .array(at: "list"), .array(at: "list.items")] {
            #expect(error(text, layout)?.location?.lists == lists)
        }
        #expect(
            error(#"{"a":[1],"b":{"c":[2,3]}}"#, .array(at: "b.d"))?.location?.lists.map(\.keyPath) == ["a", "b.c"])
        #expect(error(#"{"a":{"b":[1,{"#, .array())?.location?.lists.map { "\($0)" } == ["a.b (at least 1 element)"])
        #expect(error(#"{"a":[1],"b":[2"#, .array(at: "list"))?.location?.lists == [])
    }

    @Test(arguments: [
        "{}", #"{"data":{}}"#, #"{"data":null}"#, #"{"data":{"items":null}}"#, #"{"error":"no"}"#, "[]", "7",
        #"{"data":[1]}"#,
    ])
    func aMissingKeyPathIsAnErrorAndNotAnEmptyList(text: String) {
        let reading = Reading(Array(text.utf8), layout: .array(at: "data.items"))
        #expect(reading.elements.isEmpty)
        guard case .mismatched = reading.error else {
            Issue.record("\(String(describing: reading.error))")
            return
        }
    }

    @Test func theKeyPathMustNotOccurTwice() {
        let found = error(#"{"a":[1],"a":[2]}"#, .array(at: "a"))
        #expect(found?.reason == .duplicateKey)
        #expect(found?.location?.byteOffset == 9)
    }

    @Test func linesAreElements() throws {
        #expect(try integers("1\n2\r\n\n  3 \n", .lines) == [1, 2, 3])
        #expect(try integers("", .lines) == [])
        #expect(try integers("\n \n", .lines) == [])
        #expect(error("1 2\n", .lines)?.reason == .trailingContent)
        #expect(
            error("[1]\n{\"a\":x}", .lines)?.location
                == JSONError.Location(byteOffset: 9, line: 2, column: 6, keyPath: "[1].a"))
    }

    @Test func elementsAppearAsSoonAsTheyAreWhole() throws {
        let reader = JSONReader(layout: .lines)
        try reader.append(Array("{\"a\":1}\n{\"a\"".utf8))
        #expect(try reader.next { try JSONValue(&$0) } == .object(["a": .integer(1)]))
        #expect(try reader.next { try JSONValue(&$0) } == nil)
        #expect(!reader.isFinished)
        try reader.append(Data(":2}".utf8))
        #expect(try reader.next { try JSONValue(&$0) } == .object(["a": .integer(2)]))
        reader.finish()
        #expect(try reader.next { try JSONValue(&$0) } == nil)
        #expect(reader.isFinished)
    }

    @Test func aBodyThatReadsPartOrNothingLeavesTheRestToTheReader() throws {
        let reader = JSONReader(bytes: Array(#"[{"a":[1,2],"b":3},{"a":[4]},{"a":]}]"#.utf8))
        #expect(
            try reader.next { cursor in
                try cursor.beginObject()
                return try cursor.nextKey()?.string ?? ""
            } == "a")
        #expect(try reader.next { _ in 7 } == 7)
        #expect(throws: JSONError.self) { try reader.next { _ in 7 } }
        #expect(throws: JSONError.self) { try reader.next { _ in 7 } }
    }

    @Test func anErrorOfTheBodyLeavesTheReaderBeforeTheElement() throws {
        struct Refusal: Error {}
        let reader = JSONReader(bytes: Array("[1,2]".utf8))
        #expect(throws: Refusal.self) { try reader.next { _ in throw Refusal() } }
        #expect(try reader.next { try $0.readNumber().int64 } == 1)
        #expect(throws: JSONError.self) { try reader.next { _ = try $0.readString() } }
        #expect(try reader.next { try $0.readNumber().int64 } == 2)
        #expect(try reader.next { try $0.readNumber().int64 } == nil)
    }

    @Test func aBodyThatSwallowsFaultsStillSeesWholeElements() throws {
        var pieces = Array(#"[{"a":1},{"a":2}]"#.utf8)[...]
        let reader = JSONReader(windowByteCount: 16) { buffer in
            guard let byte = pieces.popFirst() else { return 0 }
            buffer[0] = byte
            return 1
        }
        var values: [JSONValue?] = []
        while let value = try reader.next({ cursor in [try? JSONValue(&cursor)] }) { values += value }
        #expect(values == [.object(["a": .integer(1)]), .object(["a": .integer(2)])])
    }

    @Test func anExpectedKeyThatIsCutIsTakenOnceItIsWhole() throws {
        struct Missing: Error {}
        let key = Array("\"identifier\":".utf8)
        let bytes = Array(#"[{"identifier":1},{"identifier":2}]"#.utf8)
        for cut in 0...bytes.count {
            let reader = JSONReader()
            var values: [Int64?] = []
            for piece in [bytes[..<cut], bytes[cut...]] {
                try reader.append(piece)
                while let value = try reader.next({ cursor in
                    try cursor.beginObject()
                    guard key.withUnsafeBufferPointer({ cursor.takeKey($0) }) else { throw Missing() }
                    return [try cursor.readNumber().int64]
                }) {
                    values += value
                }
            }
            #expect(values == [1, 2])
        }
    }

    @Test func limitsAreKept() {
        /// Appends pieces of these sizes to a reader with a limit of three bytes, without reading.
        func appending(_ byteCounts: [Int]) throws {
            var options = JSONReader.Options()
            options.maximumTotalByteCount = 3
            let reader = JSONReader(options: options)
            for count in byteCounts { try reader.append(repeatElement(0x20, count: count)) }
        }
        #expect(error("[[1]]") { $0.maximumDepth = 1 } == nil)
        #expect(error("[[[1]]]") { $0.maximumDepth = 1 }?.reason == .depthLimit)
        #expect(error("[12345]") { $0.maximumElementByteCount = 5 } == nil)
        #expect(error("[123456]") { $0.maximumElementByteCount = 5 }?.reason == .elementSizeLimit)
        #expect(error("[1]") { $0.maximumTotalByteCount = 3 } == nil)
        #expect(error("[1] ") { $0.maximumTotalByteCount = 3 }?.reason == .totalSizeLimit)
        #expect(throws: Never.self) { try appending([2, 1]) }
        #expect(throws: JSONError.self) { try appending([2, 1, 1]) }
        let endless = JSONReader(
            options: {
                var options = JSONReader.Options(); options.maximumElementByteCount = 1000; return options
            }()
        ) { buffer in
            buffer.copyBytes(from: repeatElement(UInt8(ascii: "["), count: buffer.count))
            return buffer.count
        }
        #expect(throws: JSONError.self) { try endless.next { try $0.skipValue() } }
    }

    @Test func duplicateKeysAreAnErrorWhenAskedFor() {
        let text = #"[{"a":1,"b":[{"c":1,"\u0063":2}]}]"#
        #expect(error(text) == nil)
        let found = error(text) { $0.duplicateKeys = .fail }
        #expect(
            found
                == .malformed(
                    .duplicateKey, JSONError.Location(byteOffset: 20, line: 1, column: 21, keyPath: "[0].b[0]")))
        #expect(error(#"[{"a":{"a":1},"b":{"a":1}},{"a":1}]"#) { $0.duplicateKeys = .fail } == nil)
        #expect(error("[{\"é\":1,\"e\u{301}\":2}]") { $0.duplicateKeys = .fail } == nil)
    }

    struct Place: CustomTestStringConvertible {
        var text: String
        var layout: JSONReader.Layout = .array()
        var reason: JSONError.Reason
        var location: JSONError.Location
        var testDescription: String { text }
    }

    @Test(arguments: [
        Place(text: "", reason: .unexpectedEnd, location: JSONError.Location(byteOffset: 0, line: 1, column: 1)),
        Place(text: " \n ", reason: .unexpectedEnd, location: JSONError.Location(byteOffset: 3, line: 2, column: 2)),
        Place(
            text: "[1,\n 2,\n  x]", reason: .unexpectedByte,
            location: JSONError.Location(byteOffset: 10, line: 3, column: 3, keyPath: "[2]")),
        Place(text: "[1] x", reason: .trailingContent, location: JSONError.Location(byteOffset: 4, line: 1, column: 5)),
        Place(
            text: "[{\"a\": {\"b\": [0, 01]}}]", reason: .invalidNumber,
            location: JSONError.Location(byteOffset: 17, line: 1, column: 18, keyPath: "[0].a.b[1]")),
        Place(
            text: "[\"\u{1}\"]", reason: .controlCharacter,
            location: JSONError.Location(byteOffset: 2, line: 1, column: 3, keyPath: "[0]")),
        Place(
            text: "[\"ab\\q\"]", reason: .invalidEscape,
            location: JSONError.Location(byteOffset: 4, line: 1, column: 5, keyPath: "[0]")),
        Place(
            text: "[\"\\ud800\"]", reason: .loneSurrogate,
            location: JSONError.Location(byteOffset: 2, line: 1, column: 3, keyPath: "[0]")),
        Place(
            text: "[nulL]", reason: .invalidLiteral,
            location: JSONError.Location(byteOffset: 4, line: 1, column: 5, keyPath: "[0]")),
        Place(
            text: "[fals", reason: .unexpectedEnd,
            location: JSONError.Location(byteOffset: 5, line: 1, column: 6, keyPath: "[0]")),
        Place(
            text: "[{\"é\":1,}]", reason: .unexpectedByte,
            location: JSONError.Location(byteOffset: 9, line: 1, column: 10, keyPath: "[0]")),
        Place(
            text: "{\"data\":{\"items\":[1,{\"k\":tru}]}}", layout: .array(at: "data.items"), reason: .invalidLiteral,
            location: JSONError.Location(byteOffset: 28, line: 1, column: 29, keyPath: "data.items[1].k")),
        Place(
            text: "{\"data\":\n[]}", layout: .array(at: "data.items"), reason: .notAnObject,
            location: JSONError.Location(byteOffset: 9, line: 2, column: 1, keyPath: "data")),
        Place(
            text: "{\"other\":@}", layout: .array(at: "data"), reason: .unexpectedByte,
            location: JSONError.Location(byteOffset: 9, line: 1, column: 10)),
    ])
    func anErrorKnowsItsPlace(place: Place) {
        let bytes = Array(place.text.utf8)
        for reading in [Reading(bytes, layout: place.layout), Reading(bytes, stride: 2, layout: place.layout)] {
            #expect(reading.error?.reason == place.reason)
            #expect(reading.error?.location == place.location)
        }
    }

    @Test func everyReasonBelongsToOneCase() {
        #expect(Set(JSONError.Reason.allCases.map(\.rawValue)).count == JSONError.Reason.allCases.count)
        #expect(Set(JSONError.Reason.allCases.map(\.description)).count == JSONError.Reason.allCases.count)
        #expect(
            error("[-")?.description == "malformed JSON: the text ends too early at line 1, column 3 (byte 2) at [0]")
        #expect(error("{}")?.description == "unexpected JSON: not an array at line 1, column 1 (byte 0)")
        #expect(
            error("[[1]]", .document) { $0.maximumDepth = 1 }?.description
                == "JSON beyond a limit: too many levels at line 1, column 2 (byte 1) at [0]")
        #expect(JSONError.nonFiniteNumber.location == nil && JSONError.nonFiniteNumber.reason == nil)
    }

    @Test func aFileIsReadInPieces() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).json")
        defer { try? FileManager.default.removeItem(at: file) }
        let records = (0..<20_000).map { "{\"id\":\($0),\"text\":\"some text that fills the file é\"}" }
        try Data("[\n\(records.joined(separator: ",\n"))\n]\n".utf8).write(to: file)
        let reader = try JSONReader(file: file.path)
        var next: Int64 = 0
        while let value = try reader.next({ try JSONValue(&$0) }) {
            #expect(value["id"] == .integer(next))
            next += 1
        }
        #expect(next == 20_000)
    }

    /// As Windows PowerShell writes the output of a program.
    @Test(arguments: [[0xFF, 0xFE, 0x5B, 0, 0x5D, 0], [0xFE, 0xFF, 0, 0x5B, 0, 0x5D], [0xFF, 0xFE]] as [[UInt8]])
    func anotherEncodingIsNamed(bytes: [UInt8]) throws {
        for layout in [JSONReader.Layout.array(), .lines, .document] {
            let reader = JSONReader(bytes: bytes, layout: layout)
            let error = #expect(throws: JSONError.self) { while try reader.next({ try $0.skipValue() }) != nil {} }
            #expect(error?.reason == .invalidUTF8 && error?.location?.byteOffset == 0)
        }
    }

    @Test func anUnreadableFileIsAnError() throws {
        let error = #expect(throws: JSONError.unreadableFile(path: "/nowhere/at/all", code: ENOENT)) {
            try JSONReader(file: "/nowhere/at/all")
        }
        #expect(error?.description == "cannot read /nowhere/at/all: No such file or directory")
        let folder = try JSONReader(file: FileManager.default.temporaryDirectory.path)
        #expect(throws: JSONError.self) { try folder.next { try $0.skipValue() } }
    }

    @Test func anErrorOfTheSourceComesOutAsItIs() {
        struct Broken: Error {}
        let reader = JSONReader { _ in throw Broken() }
        #expect(throws: Broken.self) { try reader.next { try $0.skipValue() } }
    }

    @Test func linesAreCountedAcrossWindows() {
        var text = "[\n"
        for index in 0..<3000 { text += "\"\(index)\",\n" }
        text += "  oops]"
        let expected = JSONError.Location(byteOffset: text.utf8.count - 5, line: 3002, column: 3, keyPath: "[3000]")
        #expect(Reading(Array(text.utf8), stride: 7, layout: .array()).error?.location == expected)
        #expect(Reading(Array(text.utf8), layout: .array()).error?.location == expected)
    }

    /// After an element of several megabytes, the window becomes small again.
    @Test func elementsAfterALongOneAreReadAsAnyOthers() throws {
        let long = String(repeating: "x", count: 5 << 20)
        let json = Array("[\"\(long)\",\n\(String(repeating: "1,\n", count: 100_000))}".utf8)
        var rest = json[...]
        let reader = JSONReader { buffer in
            let part = rest.prefix(min(buffer.count, 50_000))
            buffer.copyBytes(from: part)
            rest = rest.dropFirst(part.count)
            return part.count
        }
        #expect(try reader.nextValue() == .string(long))
        for _ in 0..<100_000 { try #require(try reader.nextValue() == .integer(1)) }
        let error = #expect(throws: JSONError.self) { try reader.nextValue() }
        #expect(error?.location?.line == 100_002 && error?.location?.byteOffset == json.count - 1)
    }
}
