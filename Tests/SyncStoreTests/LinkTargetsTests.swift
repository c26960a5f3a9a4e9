import OneWayTestLimits
import SyncModel
import Testing

@testable import SyncStore

/// What replace, add and retain make of the links of an object.
@Suite(.endsInTime) struct LinkTargetsTests {
    /// A statement about an object that leads to objects 3, 1 and 2, or to the first of them.
    struct Row: Sendable, CustomTestStringConvertible {
        let relationship: String
        let mode: LinkBatch.Mode
        let stated: [ObjectID]
        let targets: [ObjectID]

        var testDescription: String { "\(mode) \(stated) in \(relationship)" }
    }

    static let rows = [
        Row(relationship: "tags", mode: .replace, stated: [5, 1, 5], targets: [1, 5]),
        Row(relationship: "tags", mode: .replace, stated: [], targets: []),
        Row(relationship: "tags", mode: .add, stated: [5, 1, 4, 5], targets: [1, 2, 3, 4, 5]),
        Row(relationship: "tags", mode: .retain, stated: [5, 1], targets: [1]),
        Row(relationship: "list", mode: .replace, stated: [5, 1, 5], targets: [5, 1]),
        Row(relationship: "list", mode: .add, stated: [5, 1, 4, 5], targets: [3, 1, 2, 5, 4]),
        Row(relationship: "list", mode: .retain, stated: [2, 3], targets: [3, 2]),
        Row(relationship: "one", mode: .replace, stated: [5, 4], targets: [4]),
        Row(relationship: "one", mode: .replace, stated: [], targets: []),
        Row(relationship: "one", mode: .add, stated: [5, 4], targets: [4]),
        Row(relationship: "one", mode: .add, stated: [], targets: [3]),
        Row(relationship: "one", mode: .retain, stated: [4], targets: []),
        Row(relationship: "one", mode: .retain, stated: [3], targets: [3]),
    ]

    private static func relationship(_ name: String) throws -> EntityLayout.Relationship {
        let model = try DataModel {
            SyncEntity("Item", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("one", toOne: "Item")
                SyncRelationship("tags", toMany: "Item")
                SyncRelationship("list", toOrdered: "Item")
            }
        }
        return try #require(model.layout(of: "Item").relationship(name))
    }

    @Test(arguments: rows) func statementsChangeTheTargets(row: Row) throws {
        let relationship = try Self.relationship(row.relationship)
        let current: [ObjectID] = !relationship.isToMany ? [3] : relationship.isOrdered ? [3, 1, 2] : [1, 2, 3]
        #expect(row.mode.targets(stated: row.stated, after: current, by: relationship) == row.targets)
    }

    @Test func aResultNamesChangedSourcesAndLostTargets() throws {
        var batch = LinkBatch(try Self.relationship("tags"), mode: .replace)
        for source: ObjectID in [1, 2, 3, 4] { batch.append(source, to: []) }
        batch.newTargets = ObjectSet([9])
        let former: [ObjectID: [ObjectID]] = [1: [5, 6], 2: [5], 3: [7], 4: [9]]
        let current: [ObjectID: [ObjectID]] = [1: [6], 3: [7], 4: [9]]
        let result = batch.result(from: former) { current[$0] ?? [] }
        #expect(result.changed == [1, 2, 4] && result.detached == [5])
    }
}
