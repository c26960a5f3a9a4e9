import OneWayStoreKinds
import JSONMapper
import OneWayTestLimits
import StoreSync
import SyncModel
import SyncStore
import Testing

/// The change sets of syncs; on every store.
@Suite(.endsInTime) struct ChangeSetTests {
    /// The change sets of syncs into a store, one for each.
    private func changes(
        _ kind: StoreKind, _ model: DataModel, _ syncs: [(json: String, entity: String)],
        _ body: @escaping @Sendable ([ChangeSet]) throws -> Void
    ) async throws {
        let mapper = try RecordMapper(model)
        for isWrapped in [false, true] {
            try await kind.use { makeStore in
                let made = try await makeStore(mapper.model)
                let observed = isWrapped ? ObservedStore(made) : try #require(made as? any ChangeSet.Source)
                let store = try JSONStore(observed, mapper: mapper)
                var observer = observed.changes().makeAsyncIterator()
                var found: [ChangeSet] = []
                for (json, entity) in syncs {
                    let result = try await store.sync(.bytes(Array(json.utf8)), into: entity)
                    if !result.isUnchanged, let changes = await observer.next() { found.append(changes) }
                }
                try body(found)
            }
        }
    }

    @Test(arguments: StoreKind.all)
    func objectsThatADeletionUnlinkedAreUpdates(kind: StoreKind) async throws {
        try await changes(
            kind, try RealJSONModel.staff(),
            [
                (#"[{"id":1,"company":{"id":5}},{"id":2,"company":{"id":6}}]"#, "Employee"),
                (#"[{"id":6}]"#, "Company"),
            ]
        ) { changes in
            try #require(changes.count == 2)
            #expect(changes[1]["Company"] == ChangeSet.Keys(deleted: [.identity(5)]))
            #expect(changes[1]["Employee"] == ChangeSet.Keys(updated: [.identity(1)]))
        }
    }

    @Test(arguments: StoreKind.all)
    func ownersOfDeletedObjectsAreUpdatesAndOwnedOnesAreDeleted(kind: StoreKind) async throws {
        try await changes(
            kind, try RealJSONModel.orders(),
            [
                (#"[{"id":1,"customer":{"id":5},"lines":[{"id":1}]},{"id":2,"customer":{"id":5}}]"#, "Order"),
                (#"[{"id":2,"customer":{"id":5}}]"#, "Order"),
            ]
        ) { changes in
            try #require(changes.count == 2)
            #expect(changes[1]["Order"] == ChangeSet.Keys(deleted: [.identity(1)]))
            #expect(changes[1]["Line"].deleted.count == 1)
            #expect(changes[1]["Customer"] == ChangeSet.Keys(updated: [.identity(5)]))
        }
    }

    @Test(arguments: StoreKind.all)
    func bookkeepingIsNoChange(kind: StoreKind) async throws {
        try await changes(kind, try RealJSONModel.staff(), [(#"[{"id":1,"company_id":5}]"#, "Employee")]) { changes in
            #expect(changes.map { Set($0.entities.keys) } == [["Employee"]])
        }
    }
}
