import SyncStore
import Testing

@Suite struct RowSetTests {
    @Test func holdsWhatWasPutIn() {
        let rows: [Int64] = [1, 63, 64, 4095, 4096, 1_000_000, .max]
        var set = RowSet(rows)
        #expect(set.count == 7)
        #expect(set.rows == rows)
        let isNew = set.insert(64)
        #expect(!isNew)
        #expect(set.contains(4096))
        #expect(!set.contains(4097))
        #expect(!set.contains(0))
        #expect(!set.contains(-1))
    }
}
