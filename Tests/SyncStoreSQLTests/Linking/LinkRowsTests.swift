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
            let position = seed.isMultiple(of: 2) ? Int64.random(in: 0...3, using: &random) : 0
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

    @Test(arguments: [0, 10]) func listsAreRowsToo(capacity: Int) {
        let long = Array(ObjectID(100)..<1200)
        var rows = SQLLinkRows(capacity: capacity)
        rows.append([4, 2, 3], of: 1, isOrdered: true)
        rows.append([], of: 5, isOrdered: true)
        rows.append(long, of: 3, isOrdered: true)
        rows.append([6, 7], of: 2, isOrdered: false)
        rows.append(SQLLinkRows.Element(object: 8, other: 2, position: 0))
        rows.append(long, of: 3, isOrdered: false)
        var expected: [[Int64?]] = [[4, 1, 0], [2, 1, 1], [3, 1, 2]]
        expected += long.map { [$0, 3, $0 - 100] }
        expected += [[6, 2, 0], [7, 2, 0], [8, 2, 0]]
        expected += long.map { [$0, 3, 0] }
        #expect(rows.count == expected.count)
        #expect(content(rows) == expected)
        for start in [0, 1, 3, 4, 1102, 1103, 1105, 1106, 1107, expected.count] {
            #expect(content(rows.rows(from: start)) == Array(expected[start...]))
        }
    }
}
