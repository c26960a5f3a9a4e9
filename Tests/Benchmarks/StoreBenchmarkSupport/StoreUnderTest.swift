import OneWayBenchmarkSupport
public import JSONMapper
public import StoreSync
import SyncModel

/// Stores to sync into, of the users and orders that the generators make.
public enum StoreUnderTest {
    /// A sync that did something else than its case is about.
    public struct UnexpectedResult: Error {
        /// What it did.
        public let counts: StoreSyncResult.Counts
    }

    /// The mapper of users with a company.
    package static func linkedMapper() throws -> RecordMapper {
        var user = UserGenerator.entity
        user.relationships.append(SyncRelationship("company", toOne: "Company", inverse: "users"))
        let company = SyncEntity("Company", identity: "remoteID") {
            SyncAttribute("remoteID", .int64, optional: false)
            SyncAttribute("name", .string)
            SyncRelationship("users", toMany: "User", inverse: "company")
        }
        return try mapper(of: user, and: company)
    }

    /// The mapper of flat users, or of users with notes.
    public static func mapper(nested: Bool = false) throws -> RecordMapper {
        var user = UserGenerator.entity
        guard nested else { return try RecordMapper(try DataModel { user }) }
        user.relationships.append(SyncRelationship("notes", toMany: "Note", inverse: "user", deleteRule: .cascade))
        let note = SyncEntity("Note", identity: "remoteID") {
            SyncAttribute("remoteID", .int64, optional: false)
            SyncAttribute("text", .string)
            SyncAttribute("createdAt", .date)
            SyncRelationship("user", toOne: "User", inverse: "notes")
        }
        return try mapper(of: user, and: note)
    }

    private static func mapper(of user: SyncEntity, and other: SyncEntity) throws -> RecordMapper {
        try RecordMapper(
            try DataModel {
                user
                other
            })
    }

    /// Returns the mapper of orders with all that is nested in them.
    public static func orderMapper() throws -> RecordMapper {
        try RecordMapper(try OrderGenerator.model)
    }

    /// Syncs a payload, and makes sure that it did what it should.
    ///
    /// - Returns: How many users or orders were in the payload.
    package static func sync(
        _ payload: Payload, into store: JSONStore, expecting isExpected: (StoreSyncResult.Counts) -> Bool
    ) async throws -> Int {
        let result = try await store.sync(.file(payload.path), into: payload.entity)
        guard isExpected(result.counts), result.rejectedCount == 0, result.toleratedCount == 0 else {
            throw UnexpectedResult(counts: result.counts)
        }
        return result.counts.inserted + result.counts.updated + result.counts.unchanged
    }
}
