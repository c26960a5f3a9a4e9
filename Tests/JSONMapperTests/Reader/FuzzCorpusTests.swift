import Foundation
import JSONMapper
import OneWayTestLimits
import SyncModel
import Testing

/// Inputs that the fuzzers found, kept so that every test run goes where they went.
@Suite(.endsInTime) struct FuzzCorpusTests {
    private static func inputs(_ name: String) throws -> [[UInt8]] {
        let file = try #require(Bundle.module.url(forResource: "Fixtures/\(name)", withExtension: "txt"))
        return try String(contentsOf: file, encoding: .utf8).split(separator: "\n").filter { !$0.hasPrefix("#") }
            .map { Array(try #require(Data(base64Encoded: String($0)))) }
    }

    @Test func piecesOfAFoundInputGiveWhatTheWholeGives() throws {
        let layouts: [JSONReader.Layout] = [
            .document, .array(), .array(at: "a.b"), .lines, .array(at: "a", acceptsSingleObject: true),
        ]
        for input in try Self.inputs("fuzz-json-reader") {
            // The first byte chose layout and options for the fuzzer.
            let bytes = Array(input.dropFirst())
            for layout in layouts {
                let whole = Reading(bytes, layout: layout)
                #expect(Reading(bytes, stride: 1, layout: layout) == whole)
                #expect(Reading(pieces: bytes.map { [$0] }, layout: layout) == whole)
            }
        }
    }

    @Test func aFoundDateIsWrittenAsTheSameDate() throws {
        for input in try Self.inputs("fuzz-date-parser") {
            guard let date = input.withUnsafeBufferPointer({ DateText.microseconds($0) }) else { continue }
            #expect(DateText.microseconds(DateText.text(date, fraction: .shortest)) == date)
        }
    }
}
