import OneWayTestLimits
import Testing

@testable import HTTPSource

/// What is held back of a body is bounded.
@Suite(.endsInTime) struct RecoderLimitTests {
    private static let text = "\"" + String(repeating: "x", count: 5_000) + "\""

    /// The bytes that a recoder returns for a body in pieces of 100 bytes, and the most that it
    /// held back at a time.
    private func recode(_ recoder: BodyRecoder?, _ body: String) throws -> (written: String, held: Int) {
        var recoder = try #require(recoder)
        var written: [UInt8] = []
        var read = 0
        var held = 0
        let bytes = Array(body.utf8)
        for start in stride(from: 0, to: bytes.count, by: 100) {
            let piece = Array(bytes[start..<min(start + 100, bytes.count)])
            written += recoder.recode(piece)
            read += piece.count
            held = max(held, read - written.count)
        }
        return (String(decoding: written + recoder.finish(), as: UTF8.self), held)
    }

    @Test func aLineIsHeldBackUpToALimit() throws {
        let lines = "{\"id\":1}\n{\"id\":2,\"name\":\(Self.text)}\n{\"end\":true}\n"
        let short = try recode(BodyRecoder(.lines, endSign: .line(keyPath: "end")), lines)
        let (written, held) = try recode(BodyRecoder(.lines, endSign: .line(keyPath: "end"), limit: 1_000), lines)
        #expect(written == "{\"id\":1}\n{\"id\":2,\"name\":\(Self.text)}\n")
        #expect(written == short.written)
        #expect(held < 1_200 && short.held > 4_000)
    }

    /// With its newline, the sign of the end has 13 bytes.
    @Test(arguments: [(13, ""), (12, "{\"end\":true}\n")]) func aSignOfTheEndMayFillTheLimit(limit: Int, rest: String)
        throws
    {
        let recoder = BodyRecoder(.lines, endSign: .line(keyPath: "end"), limit: limit)
        #expect(try recode(recoder, "{\"id\":1}\n{\"end\":true}\n").written == "{\"id\":1}\n" + rest)
    }
}
