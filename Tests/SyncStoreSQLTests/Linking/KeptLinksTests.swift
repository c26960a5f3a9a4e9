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

    /// A link that its column must keep is none until its object gets another one. An object that
    /// gets none is refused.
    @Test(arguments: [true, false]) func anObjectNeedsAnotherLinkInTheEnd(getsAnother: Bool) async throws {
        try await SQLDatabase.kinds[0].use { database in
            _ = try await database.run(#"CREATE TABLE "User" ("_id" INTEGER PRIMARY KEY, "id" INTEGER, "name" TEXT)"#)
            _ = try await database.run(
                #"CREATE TABLE "Note" ("_id" INTEGER PRIMARY KEY, "id" INTEGER, "text" TEXT, "#
                    + #""user" INTEGER NOT NULL REFERENCES "User")"#)
            _ = try await database.run(#"INSERT INTO "User" VALUES (1, 1, NULL), (2, 2, NULL)"#)
            _ = try await database.run(#"INSERT INTO "Note" VALUES (5, 50, NULL, 1), (6, 60, NULL, 1)"#)
            let model = try UserModel.withNotes()
            let store = try await database.open(model, 1)
            let user = try #require(try model.layout(of: "Note").relationship("user"))
            try await store.transaction { transaction in
                func link(_ targets: [ObjectID]) async throws {
                    var batch = LinkBatch(user, mode: .replace)
                    batch.append(5, to: targets)
                    _ = try await transaction.link(batch)
                }
                func links() async throws -> [LinkBatch.Link] {
                    try await transaction.links(user, of: [5, 6]).sorted { $0.source < $1.source }
                }
                let other = LinkBatch.Link(source: 6, target: 1)
                try await link([])
                #expect(try await links() == [other])
                if getsAnother {
                    try await link([2])
                    #expect(try await links() == [LinkBatch.Link(source: 5, target: 2), other])
                }
                let refused = try await transaction.settleValues()
                #expect(refused.map(\.key) == (getsAnother ? [] : [.identity(50)]))
                #expect(refused.allSatisfy { $0.reason == .null && $0.attributes == ["user"] })
            }
        }
    }
}
