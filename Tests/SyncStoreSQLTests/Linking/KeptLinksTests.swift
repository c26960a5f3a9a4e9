import OneWayTestLimits
import SyncModel
import SyncStore
import SyncStoreSQL
import SyncStoreSQLite
import Testing

/// Links in columns that do not accept null.
@Suite(.endsInTime) struct KeptLinksTests {
    @Test func aRemovedLinkIsSeenFromNeitherEndUntilItsObjectGetsAnother() throws {
        let model = try DataModel {
            SyncEntity("User", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("team", toOne: "Team", inverse: "users")
            }
            SyncEntity("Team", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("users", toMany: "User", inverse: "team")
            }
        }
        let schema = SQLSchema(model, dialect: .sqlite)
        let team = try #require(try model.layout(of: "User").relationship("team"))
        let users = try #require(try model.layout(of: "Team").relationship("users"))
        let link = try #require(schema.columnLink(of: team))
        let links = [1, 2, 3].map { LinkBatch.Link(source: $0, target: 9) }
        let inverse = [1, 2, 3].map { LinkBatch.Link(source: 9, target: $0) }
        var kept = SQLKeptLinks()
        #expect(kept.isEmpty && kept.visible(links, of: team, schema) == links)
        kept.add([1, 2], link)
        #expect(!kept.isEmpty)
        #expect(kept.visible(links, of: team, schema) == Array(links[2...]))
        #expect(kept.visible(inverse, of: users, schema) == Array(inverse[2...]))
        kept.remove([2], link)
        #expect(kept.visible(links, of: team, schema) == Array(links[1...]))
        let taken = kept.take(schema)
        #expect(taken.map(\.relationship) == [team] && taken.map(\.objects) == [[1]])
        #expect(kept.isEmpty)
    }
}
