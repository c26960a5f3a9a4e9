import OneWayTestLimits
import SyncBase
import Testing

/// Texts at the ends of errors.
@Suite(.endsInTime) struct ErrorTextTests {
    @Test func aStatementIsShownInOneShortLine() {
        #expect(ErrorText.place(in: nil) == "")
        #expect(ErrorText.place(in: "SELECT 1") == " in: SELECT 1")
        #expect(ErrorText.place(in: "SELECT a,\n       b\n") == " in: SELECT a, b")
        let exact = String(repeating: "a", count: 120)
        #expect(ErrorText.place(in: exact) == " in: " + exact)
        #expect(ErrorText.place(in: exact + "a") == " in: " + exact + "…")
        #expect(ErrorText.place(in: "a" + String(repeating: " ", count: 10_000) + "b") == " in: a…")
    }
}
