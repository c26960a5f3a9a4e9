import OneWayStoreKinds
import OneWayTestLimits
import SyncModel
import SyncStore
import Testing

/// Deletions that reach further objects through long chains.
@Suite(.endsInTime) struct DeepCascadeTests {
    /// SQLite limits how deep foreign keys delete further rows.
    private static let depth = 3000

    private static func model() throws -> DataModel {
        try DataModel {
            SyncEntity("Node", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("children", toMany: "Node", inverse: "parent", deleteRule: .cascade)
                SyncRelationship("parent", toOne: "Node", inverse: "children")
                SyncRelationship("leaves", toMany: "Leaf", inverse: "node", deleteRule: .cascade)
            }
            SyncEntity("Leaf", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("node", toOne: "Node", inverse: "leaves")
            }
        }
    }

    private static func records(_ entity: EntityLayout, count: Int) -> RecordBatch {
        var batch = RecordBatch(of: entity)
        for id in 0..<count {
            batch.beginRecord()
            batch.setInt(Int64(id), at: 0)
            batch.endRecord()
        }
        return batch
    }

    /// Fills a store with a chain of nodes, the last of which has a leaf.
    private static func fill(_ store: any Store, isCircle: Bool) async throws {
        let nodes = try store.model.layout(of: "Node")
        let parent = try #require(nodes.relationship("parent"))
        let leaves = try #require(nodes.relationship("leaves"))
        let leaf = try store.model.layout(of: "Leaf")
        try await store.transaction { transaction in
            let objects = try await transaction.merge(MergeRequest(records(nodes, count: depth))).objects
                .compactMap(\.self)
            let leaf = try await transaction.merge(MergeRequest(records(leaf, count: 1))).objects.compactMap(\.self)
            var links = LinkBatch(parent, mode: .replace)
            for (one, other) in zip(objects.dropFirst(), objects) { links.append(one, to: [other]) }
            if isCircle { links.append(objects[0], to: [objects[depth - 1]]) }
            _ = try await transaction.link(links)
            var ends = LinkBatch(leaves, mode: .replace)
            ends.append(objects[depth - 1], to: leaf)
            _ = try await transaction.link(ends)
        }
    }

    @Test(arguments: StoreKind.all, [true, false])
    func aChainOfAnyLengthIsDeletedWithItsFirstObject(kind: StoreKind, isCircle: Bool) async throws {
        try await kind.use { make in
            let store = try await make(try Self.model())
            try await Self.fill(store, isCircle: isCircle)
            let result = try await store.transaction { transaction in
                try await transaction.remove(StoreQuery("Node", where: PropertyPath("id") == 0))
            }
            #expect(result.counts == ["Node": Self.depth, "Leaf": 1])
            #expect(try await store.count(StoreQuery("Node")) == 0)
            #expect(try await store.count(StoreQuery("Leaf")) == 0)
        }
    }
}
