@testable import HTTPSource
import OneWayTestLimits
import Testing

/// Lines that arrive in pieces.
@Suite(.endsInTime) struct LineBufferTests {
    /// The lines of a text that arrives in pieces.
    private func lines(_ text: String, by count: Int, limit: Int = 10) -> [String?] {
        var buffer = LineBuffer(limit: limit)
        let bytes = Array(text.utf8)
        return stride(from: 0, to: bytes.count, by: count).flatMap { start in
            buffer.append(Array(bytes[start...].prefix(count))).map { $0.map { String(decoding: $0, as: UTF8.self) } }
        }
    }

    @Test(arguments: 1...12) func howALineArrivesMakesNoDifference(byteCount: Int) {
        #expect(lines("ab\n\n \r\ncd\r\nlast", by: byteCount) == ["ab", "cd\r"])
    }

    @Test(arguments: 1...14, [9, 10, 11]) func aLineMayBeAsLongAsTheLimit(byteCount: Int, length: Int) {
        let long = String(repeating: "x", count: length)
        #expect(lines("\(long)\nab\n", by: byteCount) == [length > 10 ? nil : long, "ab"])
    }
}
