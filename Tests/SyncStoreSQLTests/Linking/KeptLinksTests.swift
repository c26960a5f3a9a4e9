import OneWayStoreTestSupport
import OneWayTestLimits
import SyncModel
import SyncStore
import SyncStoreSQL
import SyncStoreSQLite
import Testing

/// Links in columns that do not accept null.
@Suite(.endsInTime) struct KeptLinksTests {
    @Test func aRemovedLinkIsSeenFromNeitherEndUntilItsObjectGetsAnother() throws {
        let model = try UserModel.withNotes()
        let schema = SQLSchema(model, dialect: .sqlite)
        let user = try #require(try model.layout(of: "Note").relationship("user"))
        let notes = try #require(try model.layout(of: "User").relationship("notes"))
        let link = try #require(schema.columnLink(of: user))
        let links = [1, 2, 3].map { LinkBatch.Link(source: $0, target: 9) }
        let inverse = [1, 2, 3].map { LinkBatch.Link(source: 9, target: $0) }
        var kept = SQLKeptLinks()
        #expect(kept.isEmpty && kept.visible(links, of: user, schema) == links)
        kept.add([1, 2], link)
        #expect(!kept.isEmpty)
        #expect(kept.visible(links, of: user, schema) == Array(links[2...]))
        #expect(kept.visible(inverse, of: notes, schema) == Array(inverse[2...]))
        kept.remove([2], link)
        #expect(kept.visible(links, of: user, schema) == Array(links[1...]))
        let taken = kept.take(schema)
        #expect(taken.map(\.relationship) == [user] && taken.map(\.objects) == [[1]])
        #expect(kept.isEmpty)
    }
}
