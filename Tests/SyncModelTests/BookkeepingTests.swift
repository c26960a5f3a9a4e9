import OneWayTestLimits
import SyncModel
import Testing

/// The entities that record the progress of syncs. Their tables are in databases of users.
@Suite(.endsInTime) struct BookkeepingTests {
    /// The attributes as names, types and question marks for those that may be null.
    @Test(arguments: [
        (
            SyncEntity.pendingLink, "_sync_pending_links", ["relationship", "object", "position"],
            "relationship string, object int64, position int64, identifier string, objectKey string?"
        ),
        (
            .bookmark, "_sync_bookmarks", ["name"],
            "name string, fingerprint string?, cursor string?, lastFullPass date?, pages string?"
        ),
        (
            .pass, "_sync_passes", ["number"],
            "number int64, name string, entity string?, started date?, finished date?, seconds double?, "
                + "status string?, inserted int64?, updated int64?, unchanged int64?, deleted int64?, kept int64?, "
                + "rejected int64?, pages int64?, bytes int64?, error string?"
        ),
    ])
    func theirTablesStayTheSame(entity: SyncEntity, table: String, identity: [String], attributes: String) {
        #expect(entity.bookkeepingTable == table && entity.identity == identity)
        let found = entity.attributes.map { "\($0.name) \($0.type.rawValue)\($0.isOptional ? "?" : "")" }
        #expect(found.joined(separator: ", ") == attributes)
        #expect(entity.relationships.isEmpty && entity.isBookkeeping && !entity.isInferred)
        #expect(SyncEntity.bookkeeping.contains(entity))
    }

    @Test func modelsAreComparedWithoutThem() throws {
        let user = SyncEntity("User", attributes: [SyncAttribute("id", .int64)], relationships: [])
        let note = SyncEntity("Note", attributes: [], relationships: [], userInfo: [SyncEntity.inferredAnnotation: "x"])
        #expect(!user.isBookkeeping && user.bookkeepingTable == nil && !user.isInferred && note.isInferred)
        let model = try DataModel([user, note])
        #expect(try model.isData(of: DataModel([.bookmark, user, .pass, note])))
        #expect(try DataModel([user, .pendingLink, note]).isData(of: model))
        #expect(try !model.isData(of: DataModel([note, user])))
        #expect(try !model.isData(of: DataModel([user])))
    }

    /// An app may have an entity of the same name.
    @Test func bookmarksAreFoundByTheirAttributes() throws {
        #expect(try DataModel([.bookmark]).bookmarks?.name == "SyncBookmark")
        #expect(try DataModel([.pass]).bookmarks == nil)
        let other = SyncEntity("SyncBookmark", attributes: [SyncAttribute("name", .string)], relationships: [])
        #expect(try DataModel([other]).bookmarks == nil)
    }
}
