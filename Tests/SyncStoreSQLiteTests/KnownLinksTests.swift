import OneWayTestLimits
import SyncModel
import SyncStore
import SyncStoreSQLite
import Testing

/// Links that a merge reads together with the objects, for those who ask for them afterwards.
@Suite(.endsInTime) struct KnownLinksTests {
    private static func merge(
        _ entity: String, _ ids: ClosedRange<Int64>, _ transaction: any StoreTransaction
    ) async throws -> [ObjectID] {
        var batch = RecordBatch(of: try transaction.model.layout(of: entity))
        for id in ids {
            batch.beginRecord()
            batch.setInt(id, at: 0)
            batch.endRecord()
        }
        return try await transaction.merge(MergeRequest(batch)).objects.compactMap(\.self)
    }

    /// Links in a table of their own are between those in columns, and are not read with them.
    @Test func aMergeReadsTheLinksOfEachColumn() async throws {
        let model = try DataModel {
            SyncEntity("Person", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("boss", toOne: "Person")
                SyncRelationship("tags", toMany: "Tag")
                SyncRelationship("heir", toOne: "Person")
            }
            SyncEntity("Tag", identity: "id") { SyncAttribute("id", .int64) }
        }
        let store = try await SQLiteStore(exactly: model, at: .memory)
        let relationships = try model.layout(of: "Person").relationships
        let (people, tags) = try await store.transaction { transaction in
            let tags = try await Self.merge("Tag", 1...20, transaction)
            let people = try await Self.merge("Person", 1...3, transaction)
            for (relationship, target) in zip(relationships, [people[2], tags[19], people[1]]) {
                var batch = LinkBatch(relationship, mode: .replace)
                batch.append(people[0], to: [target])
                _ = try await transaction.link(batch)
            }
            return (people, tags)
        }
        try await store.transaction { transaction in
            for round in 0..<2 {
                for (relationship, target) in zip(relationships, [people[2], tags[19], people[1]]) {
                    let links = try await transaction.links(relationship, of: people)
                    #expect(links == [LinkBatch.Link(source: people[0], target: target)], "\(round)")
                }
                #expect(try await Self.merge("Person", 1...3, transaction) == people)
            }
        }
        // A link that changes after a merge has read it is read again.
        try await store.transaction { transaction in
            for target in [people[1], people[2]] {
                _ = try await transaction.links(relationships[0], of: people)
                _ = try await Self.merge("Person", 1...3, transaction)
                var batch = LinkBatch(relationships[0], mode: .replace)
                batch.append(people[0], to: [target])
                _ = try await transaction.link(batch)
                let links = try await transaction.links(relationships[0], of: people)
                #expect(links == [LinkBatch.Link(source: people[0], target: target)])
            }
        }
    }
}
