import OneWayTestLimits
import SyncModel
import Testing

/// The entities that syncs keep in a store beside its objects. Existing databases have these
/// columns.
@Suite(.endsInTime) struct StoredEntitiesTests {
    private static func lines(_ entity: SyncEntity) -> [String] {
        ["\(entity.name) by \(entity.identity.joined(separator: ", "))"]
            + entity.attributes.map { "\($0.name) \($0.type.rawValue)\($0.isOptional ? "" : ", mandatory")" }
    }

    @Test func historiesStayReadable() {
        #expect(
            Self.lines(SyncEntity.pass) == [
                "SyncPass by number", "number int64, mandatory", "name string, mandatory", "entity string",
                "started date", "finished date", "seconds double", "status string", "inserted int64",
                "updated int64", "unchanged int64", "deleted int64", "kept int64", "rejected int64",
                "pages int64", "bytes int64", "error string",
            ])
    }

    @Test func pendingLinksStayReadable() {
        #expect(
            Self.lines(SyncEntity.pendingLink) == [
                "SyncPendingLink by relationship, object, position", "relationship string, mandatory",
                "object int64, mandatory", "position int64, mandatory", "identifier string, mandatory",
                "objectKey string",
            ])
    }

    @Test func bookmarksStayReadable() {
        #expect(
            Self.lines(SyncEntity.bookmark) == [
                "SyncBookmark by name", "name string, mandatory", "fingerprint string", "cursor string",
                "lastFullPass date", "pages string",
            ])
    }
}
