import OneWayTestLimits
import SyncStore
import Testing

@Suite(.endsInTime) struct ObjectSetTests {
    @Test func containsExactlyTheInsertedObjects() {
        let objects: [Int64] = [1, 63, 64, 4095, 4096, 1_000_000, .max]
        var set = ObjectSet(objects)
        #expect(set.count == 7)
        #expect(set.objects == objects)
        let isNew = set.insert(64)
        #expect(!isNew)
        #expect(set.contains(4096))
        #expect(!set.contains(4097))
        #expect(!set.contains(0))
        #expect(!set.contains(-1))
    }
}
