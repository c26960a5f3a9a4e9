import OneWayTestLimits
import SyncModel
import SyncStore
import Testing

/// Notices of commits name the root entities that a commit has changed, and no others.
@Suite(.endsInTime) struct CommitSignalTests {
    private let store: MemoryStore

    init() throws {
        store = MemoryStore(
            exactly:
                try DataModel {
                    SyncEntity("Owner", identity: "id") {
                        SyncAttribute("id", .int64)
                        SyncAttribute("name", .string)
                        SyncRelationship("things", toMany: "Thing", inverse: "owner", deleteRule: .cascade)
                    }
                    SyncEntity("Thing", identity: "id") {
                        SyncAttribute("id", .int64)
                        SyncRelationship("owner", toOne: "Owner", inverse: "things")
                    }
                    SyncEntity("Tool", parent: "Thing") { SyncAttribute("size", .int64) }
                    SyncEntity("Mark", identity: "id") {
                        SyncAttribute("id", .int64)
                        SyncRelationship("place", toOne: "Thing")
                    }
                })
    }

    private func root(_ entity: String) throws -> Int { try store.model.layout(of: entity).root }

    private func batch(_ entity: String, _ ids: [Int64]) throws -> RecordBatch {
        var batch = RecordBatch(of: try store.model.layout(of: entity))
        for id in ids {
            batch.beginRecord()
            batch.setValue(.int(id), at: 0)
            batch.endRecord()
        }
        return batch
    }

    private func insert(_ entity: String, _ ids: Int64...) async throws -> [ObjectID] {
        let request = MergeRequest(try batch(entity, ids))
        return try await store.transaction { try await $0.merge(request).objects.compactMap(\.self) }
    }

    private func link(_ source: ObjectID, _ entity: String, _ name: String, to targets: [ObjectID]) async throws {
        let relationship = try #require(try store.model.layout(of: entity).relationship(name))
        var batch = LinkBatch(relationship, mode: .replace)
        batch.append(source, to: targets)
        _ = try await store.transaction { [batch] in try await $0.link(batch) }
    }

    @Test func aRemovalOfNoObjectsChangesNothing() throws {
        var roots = ChangedRoots()
        roots.add(RemovalResult(counts: ["Mark": 0]), in: store.model)
        #expect(roots.roots.isEmpty)
        roots.add(RemovalResult(counts: ["Tool": 1]), in: store.model)
        #expect(roots.roots == [try root("Thing")])
    }

    @Test(arguments: [(false, false, false), (true, false, true), (false, true, true), (true, true, true)])
    func aPolicyWritesIfItAllowsAnyChange(inserts: Bool, updates: Bool, writes: Bool) {
        #expect(MergeRequest.Policy(inserts: inserts, updates: updates).writes == writes)
    }

    @Test func aCommitNamesTheRootsOfWhatItChanged() async throws {
        let (owners, things, marks) = (try root("Owner"), try root("Thing"), try root("Mark"))
        let signals = store.commits()
        let owner = try await insert("Owner", 1)[0]
        #expect(await signals.next() == CommitSignals.Signal(roots: [owners]))
        let tools = try await insert("Tool", 1, 2)
        #expect(await signals.next() == CommitSignals.Signal(roots: [things]))
        let mark = try await insert("Mark", 1)[0]
        #expect(await signals.next() == CommitSignals.Signal(roots: [marks]))
        // What is the same causes no notice: the next one is the next change's.
        _ = try await insert("Owner", 1)
        try await link(owner, "Owner", "things", to: [])
        try await link(mark, "Mark", "place", to: [])
        try await store.transaction { _ = try await $0.count(StoreQuery("Owner")) }
        try await link(owner, "Owner", "things", to: tools)
        #expect(await signals.next() == CommitSignals.Signal(roots: [owners, things]))
        _ = try await insert("Tool", 1, 2)
        try await link(tools[0], "Tool", "owner", to: [owner])
        try await link(mark, "Mark", "place", to: [tools[1]])
        #expect(await signals.next() == CommitSignals.Signal(roots: [marks, things]))
        try await link(tools[0], "Tool", "owner", to: [])
        #expect(await signals.next() == CommitSignals.Signal(roots: [owners, things]))
        try await store.transaction { transaction in
            try await transaction.remove(StoreQuery("Mark", where: PropertyPath("id") == 9))
            try await transaction.remove(StoreQuery("Owner"))
        }
        #expect(await signals.next() == CommitSignals.Signal(roots: [owners, things]))
    }

    @Test func objectsInsertedWithALinkChangeTheOtherEndAsWell() async throws {
        let owner = try await insert("Owner", 1)[0]
        let relationship = try #require(try store.model.layout(of: "Tool").relationship("owner"))
        let request = MergeRequest(try batch("Tool", [1, 2]))
        let signals = store.commits()
        let result = try await store.transaction {
            try await $0.merge(request, linking: [MergeRequest.InitialLinks(relationship, targets: [owner, nil])])
        }
        #expect(result.rows.map { $0?.change } == [.inserted, .inserted])
        #expect(await signals.next() == CommitSignals.Signal(roots: [try root("Owner"), try root("Thing")]))
        let tools = try await store.records(StoreQuery("Tool", where: PropertyPath("owner.id") == 1))
        #expect(tools.map(\.object) == [result.rows[0]?.object])
    }

    @Test func aRowThatIsLeftOutIsNoChange() async throws {
        _ = try await insert("Owner", 1)
        let signals = store.commits()
        let request = MergeRequest(
            try batch("Owner", [1, 2, 3]), matches: [.identity, .skipped, .identity],
            policy: MergeRequest.Policy(inserts: false))
        let rows = try await store.transaction { try await $0.merge(request).rows }
        #expect(rows.map { $0?.change } == [.unchanged, nil, nil])
        _ = try await insert("Mark", 1)
        #expect(await signals.next() == CommitSignals.Signal(roots: [try root("Mark")]))
    }

    @Test func noticesThatWaitAreMerged() async throws {
        let signals = store.commits()
        for id in 1...3 { _ = try await insert("Owner", Int64(id)) }
        _ = try await insert("Mark", 1)
        #expect(await signals.next() == CommitSignals.Signal(roots: [try root("Owner"), try root("Mark")]))
        _ = try await insert("Tool", 1)
        #expect(await signals.next() == CommitSignals.Signal(roots: [try root("Thing")]))
    }
}
