import OneWayStoreKinds
import OneWayTestLimits
import OneWayTestSupport
import SyncModel
import SyncStore
import Testing

/// Relationships of every kind under contradictory batches: every store links as `MemoryStore`.
@Suite(.endsInTime) struct LinkTests {
    private static func model() throws -> DataModel {
        try DataModel {
            SyncEntity("Person", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("spouse", toOne: "Person", inverse: "spouse")
                SyncRelationship("friends", toMany: "Person", inverse: "friends")
                SyncRelationship("queue", toOrdered: "Person", inverse: "queue")
                SyncRelationship("boss", toOne: "Person", inverse: "staff")
                SyncRelationship("staff", toMany: "Person", inverse: "boss")
                SyncRelationship("tutor", toOne: "Person", inverse: "pupil")
                SyncRelationship("pupil", toOne: "Person", inverse: "tutor")
                SyncRelationship("rows", toOrdered: "Person", inverse: "row")
                SyncRelationship("row", toOne: "Person", inverse: "rows")
                SyncRelationship("hero", toOne: "Person")
                SyncRelationship("likes", toOrdered: "Person", inverse: "likedBy")
                SyncRelationship("likedBy", toMany: "Person", inverse: "likes")
            }
        }
    }

    @Test(arguments: StoreKind.all, sampled(1...20 as ClosedRange<UInt64>))
    func everyStoreLinksAlike(kind: StoreKind, seed: UInt64) async throws {
        let model = try Self.model()
        try await kind.use { makeStore in
            let stores: [any Store] = [try await makeStore(model), MemoryStore(exactly: model)]
            var objects: [[ObjectID]] = []
            let layout = try model.layout(of: "Person")
            var people = RecordBatch(of: layout)
            for id in 1...6 {
                people.beginRecord()
                people.setInt(Int64(id), at: 0)
                people.endRecord()
            }
            for store in stores {
                objects.append(
                    try await store.transaction { [people] in
                        try await $0.merge(MergeRequest(people)).objects.compactMap(\.self)
                    })
            }
            var random = SeededRandom(seed: seed)
            for step in 0..<40 {
                let relationship = layout.relationships[
                    Int.random(in: layout.relationships.indices, using: &random)]
                let mode = [LinkBatch.Mode.replace, .replace, .add, .retain][Int.random(in: 0..<4, using: &random)]
                let sources = (0..<6).shuffled(using: &random).prefix(Int.random(in: 1...6, using: &random))
                let targets = sources.map { _ in
                    (0..<Int.random(in: 0...3, using: &random)).map { _ in Int.random(in: 0..<6, using: &random) }
                }
                var results: [[[Int]]] = []
                for (store, objects) in zip(stores, objects) {
                    var batch = LinkBatch(relationship, mode: mode)
                    for (source, targets) in zip(sources, targets) {
                        batch.append(objects[source], to: targets.map { objects[$0] })
                    }
                    let numbers = Dictionary(uniqueKeysWithValues: zip(objects, 0...))
                    let links = try await store.transaction { [batch] transaction in
                        let result = try await transaction.link(batch)
                        let again = try await transaction.link(batch)
                        var found = [
                            result.changed.compactMap { numbers[$0] }.sorted(),
                            result.detached.compactMap { numbers[$0] }.sorted(),
                            again.changed.compactMap { numbers[$0] }.sorted(),
                        ]
                        for relationship in layout.relationships {
                            // The links of each source are in order, but sources are in any order.
                            let links = try await transaction.links(relationship, of: objects)
                            for object in objects {
                                for link in links where link.source == object {
                                    found.append([
                                        relationship.index, numbers[object] ?? -1, numbers[link.target] ?? -1,
                                    ])
                                }
                            }
                        }
                        return found
                    }
                    results.append(links)
                }
                try #require(
                    results[0] == results[1],
                    "step \(step): \(relationship.name) \(mode) \(Array(sources)) to \(targets)")
            }
        }
    }
}
