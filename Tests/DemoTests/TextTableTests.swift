import OneWayTestLimits
import Testing

@testable import Demo

@Suite(.endsInTime) struct TextTableTests {
    private static let plain = TextStyle(isTerminal: false, environment: [:])

    private func table() -> TextTable {
        var table = TextTable(columns: [
            .init(title: "id", isNumeric: true), .init(title: "title"), .init(title: "comment"),
        ])
        table.add(["7", "映画", "a short comment"])
        table.add(["1234", "Alien", "a comment that goes on and on and on"])
        return table
    }

    @Test func columnsAreAligned() {
        let (lines, omitted) = table().lines(width: nil, style: Self.plain)
        #expect(
            lines == [
                "  id  title  comment", "   7  映画   a short comment",
                "1234  Alien  a comment that goes on and on and on",
            ])
        #expect(omitted.isEmpty)
    }

    @Test(arguments: [10, 20, 30, 40, 50])
    func noLineIsWiderThanTheTerminal(width: Int) {
        let (lines, omitted) = table().lines(width: width, style: Self.plain)
        #expect(lines.allSatisfy { $0.columnCount <= width })
        #expect(omitted == (width == 10 ? ["title", "comment"] : width == 20 ? ["comment"] : []), "\(lines)")
        // Numbers are never cut.
        #expect(lines.last?.hasPrefix("1234") == true)
    }

    @Test func aTextIsCutByItsColumns() {
        #expect("Alien".fitted(to: 5) == "Alien")
        #expect("Aliens".fitted(to: 5) == "Alie…")
        #expect("映画映画".fitted(to: 5) == "映画…")
        #expect("映画映画".fitted(to: 4) == "映…")
        #expect("e\u{301}🎬".columnCount == 3)
        #expect("x".fitted(to: 0).isEmpty)
    }

    @Test(
        arguments: [
            (true, [:], true), (false, [:], false), (true, ["NO_COLOR": "1"], false), (true, ["NO_COLOR": ""], true),
            (true, ["TERM": "dumb"], false), (true, ["TERM": "xterm"], true),
        ] as [(Bool, [String: String], Bool)])
    func coloursAreForTerminals(isTerminal: Bool, environment: [String: String], isColored: Bool) {
        let style = TextStyle(isTerminal: isTerminal, environment: environment)
        #expect(style("x", .added) == (isColored ? "\u{1B}[32mx\u{1B}[0m" : "x"))
        #expect(style("x", nil) == "x")
    }

    @Test(arguments: [
        (999, "999 bytes"), (1, "1 byte"), (1_500, "1.5 kB"), (99_999, "99.9 kB"), (1_250_000, "1.3 MB"),
    ])
    func anAmountHasAUnit(count: Int, text: String) {
        #expect(Quantity.bytes(count) == text)
    }

    @Test func timesAndNumbersAreReadable() {
        #expect(Quantity.time(.milliseconds(12)) == "12 ms")
        #expect(Quantity.time(.milliseconds(1_260)) == "1.3 s")
        #expect(Quantity.time(.seconds(125)) == "2 min 5 s")
        #expect(Quantity.grouped(1_234_567) == "1,234,567" && Quantity.grouped(-1_000) == "-1,000")
        #expect(Quantity.count(1, "object") == "1 object" && Quantity.count(1_200, "object") == "1,200 objects")
    }
}
