import OneWayTestLimits
import SyncModel
import SyncStore
import Testing

/// Links that a trigger of others refuses.
@Suite(.endsInTime) struct RefusedLinkTests {
    /// The only link of a batch, the first of several, the last, and those between them.
    @Test(arguments: [(1, 1), (2, 1), (2, 2), (3, 1), (3, 2), (3, 3), (7, 4), (7, 5), (8, 8)])
    func theErrorNamesTheObject(count: Int64, refused: Int64) async throws {
        let model = try DataModel {
            SyncEntity("Person", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("boss", toOne: "Person", inverse: "staff")
                SyncRelationship("staff", toMany: "Person", inverse: "boss")
            }
        }
        try await SQLDatabase.kinds[0].use { database in
            let store = try await database.open(model, 1)
            let layout = try model.layout(of: "Person")
            var people = RecordBatch(of: layout)
            for id in 0...count {
                people.beginRecord()
                people.setInt(id, at: 0)
                people.endRecord()
            }
            let objects = try await store.transaction { [people] in
                try await $0.merge(MergeRequest(people)).objects.compactMap(\.self)
            }
            _ = try await database.run(
                """
                CREATE TRIGGER kept BEFORE UPDATE ON "Person" WHEN NEW.boss IS NOT NULL AND NEW.id = \(refused)
                BEGIN SELECT RAISE(ABORT, 'no'); END
                """)
            var batch = LinkBatch(try #require(layout.relationship("boss")), mode: .replace)
            for object in objects.dropFirst() { batch.append(object, to: [objects[0]]) }
            let error = await #expect(throws: StoreError.self) {
                try await store.transaction { [batch] in _ = try await $0.link(batch) }
            }
            guard case .refused(let refusal) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(refusal.key == .identity([.int(refused)]) && refusal.attributes == ["boss"])
        }
    }
}
