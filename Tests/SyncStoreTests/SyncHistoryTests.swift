import OneWayTestLimits
import SyncModel
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

    /// Without a history, a store has no entity for passes.
    @Test func onlyAStoreWithAHistoryHasPasses() throws {
        let model = try DataModel { SyncEntity("Thing", identity: "id") { SyncAttribute("id", .int64) } }
        let pass = SyncEntity.pass.name
        #expect(try MemoryStore(model).model[pass] == nil)
        #expect(try MemoryStore(model, history: SyncHistory()).model[pass] != nil)
        #expect(try MemoryStore(Thing.self).model[pass] == nil)
        #expect(try MemoryStore(Thing.self, history: SyncHistory()).model[pass] != nil)
    }

    struct Thing: SyncObject {
        var id: Int
        static let declaration = SyncDeclaration<Thing>(.identity(\.id))
    }
}
