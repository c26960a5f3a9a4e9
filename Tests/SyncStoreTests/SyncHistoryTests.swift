import OneWayTestLimits
import SyncStore
import Testing

@Suite(.endsInTime) struct SyncHistoryTests {
    @Test(arguments: [(0, 1), (-5, 1), (1, 1), (2, 2), (5000, 5000)])
    func aHistoryKeepsAtLeastOnePass(limit: Int, expected: Int) {
        #expect(SyncHistory(limit: limit).limit == expected)
        #expect(SyncHistory(totalLimit: limit).totalLimit == expected)
        var changed = SyncHistory()
        changed.limit = limit
        changed.totalLimit = limit
        #expect(changed.limit == expected && changed.totalLimit == expected)
    }
}
