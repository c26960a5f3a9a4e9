import OneWayTestLimits
import SyncModel
import SyncStore
import SyncStoreSQL
import Testing

@Suite(.endsInTime) struct LinkComparisonTests {
    private static func batch(
        _ relationship: String = "notes", _ mode: LinkBatch.Mode = .replace, _ wanted: [(ObjectID, [ObjectID])]
    ) throws -> LinkBatch {
        let model = try DataModel {
            SyncEntity("User", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("notes", toMany: "Note", inverse: "user")
                SyncRelationship("tags", toOrdered: "Note")
            }
            SyncEntity("Note", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("user", toOne: "User", inverse: "notes")
            }
        }
        let found = try #require(model["User"]?.relationship(relationship))
        var batch = LinkBatch(found, mode: mode)
        for (source, targets) in wanted { batch.append(source, to: targets) }
        return batch
    }

    private static func links(_ pairs: (ObjectID, ObjectID)...) -> [LinkBatch.Link] {
        pairs.map { LinkBatch.Link(source: $0.0, target: $0.1) }
    }

    /// The stored links if they are not the wanted ones.
    private static func difference(_ batch: LinkBatch, _ links: [LinkBatch.Link]) -> [LinkBatch.Link]? {
        var comparison = LinkComparison(batch)
        for link in links { comparison.add(link) }
        return comparison.difference().map { found in
            found.sorted { $0.key < $1.key }.flatMap { source, targets in
                targets.map { LinkBatch.Link(source: source, target: $0) }
            }
        }
    }

    @Test func theSameLinksInAnyOrderOfSourcesAndTargetsNeedNothing() throws {
        let links = Self.links((1, 4), (1, 5), (3, 6))
        #expect(try Self.difference(Self.batch("notes", .replace, [(1, [4, 5]), (2, []), (3, [6])]), links) == nil)
        #expect(try Self.difference(Self.batch("notes", .replace, [(3, [6]), (2, []), (1, [5, 4])]), links) == nil)
        #expect(try Self.difference(Self.batch("notes", .replace, [(1, []), (2, [])]), []) == nil)
    }

    @Test func otherLinksNeedAPlan() throws {
        let links = Self.links((1, 4), (1, 5), (3, 6))
        for wanted: [(ObjectID, [ObjectID])] in [
            [(1, [4, 5]), (3, [])], [(1, [4]), (3, [6])], [(1, [4, 5]), (2, [6]), (3, [])], [(1, [4, 4]), (3, [6])],
            [(1, [4, 5]), (3, [6, 7])], [(1, [4, 6]), (3, [5])],
        ] {
            #expect(try Self.difference(Self.batch("notes", .replace, wanted), links) == links, "\(wanted)")
        }
    }

    @Test func anOrderedRelationshipMindsTheOrder() throws {
        let links = Self.links((1, 5), (1, 4))
        #expect(try Self.difference(Self.batch("tags", .replace, [(1, [5, 4])]), links) == nil)
        #expect(try Self.difference(Self.batch("tags", .replace, [(1, [4, 5])]), links) == links)
    }

    @Test func otherModesAndNewTargetsNeedAPlan() throws {
        let links = Self.links((1, 4))
        #expect(try Self.difference(Self.batch("notes", .add, [(1, [4])]), links) == links)
        var batch = try Self.batch("notes", .replace, [(1, [4])])
        batch.newTargets = ObjectSet([4])
        #expect(Self.difference(batch, links) == links)
    }
}
