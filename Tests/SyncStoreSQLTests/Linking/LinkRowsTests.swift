import OneWayTestLimits
import OneWayTestSupport
import SyncModel
import SyncStoreSQL
import Testing

@Suite(.endsInTime) struct LinkRowsTests {
    private func content(_ rows: some Sequence<SQLLinkRows.Element>) -> [[Int64?]] {
        rows.map { [$0.object, $0.other, $0.position] }
    }

    @Test(arguments: seeds(10, thorough: 100)) func rowsAreReadAsTheyWereAdded(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let expected: [[Int64?]] = (0..<Int.random(in: 0...30, using: &random)).map { index in
            let other = Int64.random(in: 0...2, using: &random)
            let position = seed.isMultiple(of: 2) ? Int64.random(in: 0...1, using: &random) : 0
            return [Int64(index), other == 0 ? nil : other, position]
        }
        var rows = SQLLinkRows()
        for row in expected {
            rows.append(SQLLinkRows.Element(object: row[0] ?? 0, other: row[1], position: row[2] ?? 0))
        }
        #expect(rows.count == expected.count && rows.isEmpty == expected.isEmpty)
        #expect(content(rows) == expected)
        for start in 0...expected.count {
            #expect(content(rows.rows(from: start)) == Array(expected[start...]))
            var first = rows
            first.truncate(to: start)
            #expect(content(first) == Array(expected[..<start]))
        }
    }
}
