import OneWayTestLimits
import SyncModel
import SyncStore
import SyncStoreSQL
import SyncStoreSQLite
import Testing

/// What a batch of links changes about the stored ones.
@Suite(.endsInTime) struct LinkPlanTests {
    private static func model() throws -> DataModel {
        try DataModel {
            SyncEntity("User", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("notes", toMany: "Note", inverse: "user")
                SyncRelationship("tags", toMany: "Note")
                SyncRelationship("list", toOrdered: "Note")
            }
            SyncEntity("Note", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("user", toOne: "User", inverse: "notes")
            }
        }
    }

    /// Links from the object 1, which leads to the object 4.
    @Test(
        arguments: ["notes", "tags", "list", "user"],
        [
            ([4], true, true), ([], false, true), ([5], false, false), ([4, 5], false, false), ([5, 4], false, false),
        ] as [(wanted: [ObjectID], isSame: Bool, isKept: Bool)])
    func aPlanIsEmptyIfNothingChanges(
        relationship: String, links: (wanted: [ObjectID], isSame: Bool, isKept: Bool)
    ) throws {
        let model = try Self.model()
        let layout = try model.layout(of: relationship == "user" ? "Note" : "User")
        let schema = SQLSchema(model, dialect: .sqlite)
        for mode in [LinkBatch.Mode.replace, .add] where relationship != "user" || links.wanted.count < 2 {
            var batch = LinkBatch(try #require(layout.relationship(relationship)), mode: mode)
            batch.append(1, to: links.wanted)
            let plan = SQLLinkPlan(batch, schema: schema, links: [1: [4]]) { _, objects in Set(objects) }
            let isEmpty = mode == .replace ? links.isSame : links.isKept
            #expect(plan.isEmpty == isEmpty, "\(mode)")
            #expect(plan.result.changed.isEmpty == isEmpty, "\(mode)")
        }
    }
}
