import OneWayTestLimits
import SyncBase
import Testing

@Suite(.endsInTime) struct ReplacingByteTests {
    @Test(arguments: [
        ("", ""), ("a", "a"), ("'", "''"), ("a'b'", "a''b''"), ("'\u{301}", "''\u{301}"), ("é'\r\n'", "é''\r\n''"),
        ("\u{2019}", "\u{2019}"),
    ])
    func everyOccurrenceIsReplaced(text: String, expected: String) {
        let replaced = text.replacing(byte: UInt8(ascii: "'"), with: "''")
        #expect(Array(replaced.utf8) == Array(expected.utf8))
    }
}
