import OneWayStoreTestSupport
import OneWayTestLimits
import SyncModel
import SyncStore
import SyncStoreTesting
import Testing

@Suite(.endsInTime) struct InitialLinksTests {
    @Test func aStoreWithoutTheRefinementLinksAfterTheMerge() async throws {
        try await StoreConformance.check { PlainStore(MemoryStore(exactly: $0)) }
    }

    @Test func aResultKnowsOnlyTheLinksThatItStates() {
        var result = MergeRequest.Result([MergeRequest.Result.Row(7, .unchanged)])
        #expect(!result.isLinked(row: 0, by: 0))
        result.isLinked = [[true]]
        #expect(result.isLinked(row: 0, by: 0) && !result.isLinked(row: 0, by: 1))
    }

    /// Only a to-one relationship whose inverse is to-many.
    @Test func onlySomeRelationshipsCanBeLinkedAtInsertion() throws {
        let model = try DataModel {
            SyncEntity("A", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("one", toOne: "B", inverse: "many")
                SyncRelationship("ordered", toOne: "B", inverse: "list")
                SyncRelationship("pair", toOne: "B", inverse: "other")
                SyncRelationship("alone", toOne: "B")
                SyncRelationship("all", toMany: "B", inverse: "everybody")
                SyncRelationship("loose", toMany: "B")
            }
            SyncEntity("B", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("many", toMany: "A", inverse: "one")
                SyncRelationship("list", toOrdered: "A", inverse: "ordered")
                SyncRelationship("other", toOne: "A", inverse: "pair")
                SyncRelationship("everybody", toMany: "A", inverse: "all")
            }
        }
        let possible = model.layouts.flatMap(\.relationships).filter {
            MergeRequest.InitialLinks.isPossible($0, in: model)
        }
        #expect(possible.map(\.name) == ["one", "ordered"])
    }
}

/// A store whose transactions have only what `StoreTransaction` requires.
private struct PlainStore: Store {
    let base: MemoryStore

    var model: DataModel { base.model }

    init(_ base: MemoryStore) {
        self.base = base
    }

    func transaction<Result: Sendable>(
        _ body: @Sendable (any StoreTransaction) async throws -> Result
    ) async throws -> Result {
        try await base.transaction { try await body(PlainTransaction(base: $0)) }
    }

    func read<Result: Sendable>(
        _ body: @Sendable (any StoreReader) async throws -> Result
    ) async throws -> Result {
        try await base.read(body)
    }
}
