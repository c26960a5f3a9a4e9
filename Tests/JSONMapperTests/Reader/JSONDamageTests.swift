import JSONMapper
import OneWayTestLimits
import Testing

/// Every damage to an input gives a value or an error with a place in the input, whatever pieces it
/// comes in.
@Suite(.endsInTime) struct JSONDamageTests {
    static let layouts: [JSONReader.Layout] = [.document, .array(), .array(at: "data.items"), .lines]

    private func expectPlace(_ reading: Reading, in bytes: [UInt8]) {
        guard let error = reading.error else { return }
        guard let location = error.location else {
            Issue.record("no place: \(error)")
            return
        }
        #expect(location.byteOffset >= 0 && location.byteOffset <= bytes.count)
        #expect(location.line >= 1 && location.column >= 1)
    }

    @Test(arguments: Documents.legal)
    func everyPrefixGivesAValueOrAnError(document: String) {
        let bytes = Array(document.utf8)
        for count in 0...bytes.count {
            for layout in Self.layouts {
                let prefix = Array(bytes.prefix(count))
                expectPlace(Reading(prefix, layout: layout), in: prefix)
            }
        }
    }

    @Test(arguments: Documents.legal)
    func everyFlippedBitGivesAValueOrAnError(document: String) {
        let bytes = Array(document.utf8)
        for index in bytes.indices {
            for bit in 0..<8 {
                var damaged = bytes
                damaged[index] ^= 1 << bit
                for layout in Self.layouts {
                    let whole = Reading(damaged, layout: layout)
                    expectPlace(whole, in: damaged)
                    #expect(Reading(damaged, stride: 3, layout: layout) == whole)
                }
            }
        }
    }

    @Test(arguments: Documents.legal)
    func aCopyThatReadsAheadWaitsForBytesThatHaveNotArrived(document: String) throws {
        let bytes = Array(document.utf8)
        for cut in 0...bytes.count {
            let reader = JSONReader(layout: .document)
            try reader.append(bytes[..<cut])
            func read() throws -> JSONValue? {
                try reader.next { cursor in
                    var copy = cursor
                    return try JSONValue(&copy)
                }
            }
            let early = try read()
            try reader.append(bytes[cut...])
            reader.finish()
            let value = try early ?? read()
            #expect(value == Reading(bytes).elements.first, "cut at \(cut)")
        }
    }

    @Test(arguments: Documents.legal + Documents.illegal)
    func aCutAtAnyOffsetChangesNothing(document: String) {
        let bytes = Array(document.utf8)
        for layout in Self.layouts {
            let whole = Reading(bytes, layout: layout)
            for cut in 0...bytes.count {
                let pieces = [Array(bytes[..<cut]), Array(bytes[cut...])]
                #expect(Reading(pieces: pieces, layout: layout) == whole, "cut at \(cut)")
            }
            #expect(Reading(pieces: bytes.map { [$0] }, layout: layout) == whole)
            for stride in 1...17 {
                #expect(Reading(bytes, stride: stride, layout: layout) == whole, "stride \(stride)")
            }
        }
    }

    @Test func nestingBeyondTheLimitIsAnErrorAndNotACrash() {
        for (open, close) in [("[", "]"), (#"{"a":"#, "}")] {
            let inner = open == "[" ? "" : "1"
            func nested(_ depth: Int) -> [UInt8] {
                Array((String(repeating: open, count: depth) + inner + String(repeating: close, count: depth)).utf8)
            }
            #expect(Reading(nested(512)).error == nil)
            #expect(Reading(nested(513)).error?.reason == .depthLimit)
            #expect(Reading(nested(100_000)).error?.reason == .depthLimit)
            #expect(Reading(Array(nested(100_000).prefix(100_000))).error?.reason == .depthLimit)
            var deep = JSONReader.Options()
            deep.maximumDepth = 1_000_000
            #expect(deep.maximumDepth == 2048)
            let reader = JSONReader(bytes: nested(2048), layout: .document, options: deep)
            #expect(throws: Never.self) { while try reader.next({ try $0.skipValue() }) != nil {} }
            deep.maximumDepth = 0
            #expect(Reading(nested(1), options: deep).error == nil)
            #expect(Reading(nested(2), options: deep).error?.reason == .depthLimit)
        }
    }

    /// What fits no other type is kept as it is written.
    @Test func aMillionDigitsAreReadInLinearTime() {
        let digits = String(repeating: "7", count: 1_000_000)
        #expect(Reading(Array(digits.utf8)).elements == [.decimal(digits)])
        #expect(Reading(Array("-0.\(digits)".utf8)).elements == [.double(-0.7777777777777778)])
        #expect(Reading(Array("0.\(String(repeating: "9", count: 1_000_000))".utf8)).elements == [.double(1)])
        #expect(Reading(Array("1e\(digits)".utf8)).elements == [.decimal("1e\(digits)")])
        #expect(Reading(Array("1e-\(digits)".utf8)).elements == [.double(0)])
        #expect(Reading(Array("0.\(digits)x".utf8)).error?.reason == .trailingContent)
    }

    @Test func aLongElementInTinyPiecesIsReadInLinearTime() {
        let element = "[\"" + String(repeating: "ab\\n", count: 50_000) + "\"]"
        #expect(Reading(pieces: Array(element.utf8).map { [$0] }).elements.count == 1)
        let spaces = String(repeating: " ", count: 100_000) + "[]" + String(repeating: "\n", count: 100_000)
        #expect(Reading(pieces: Array(spaces.utf8).map { [$0] }).elements == [.array([])])
    }
}
