import BenchmarkSupport
import Foundation
import JSONMapper
import StoreSync
import SyncModel
import SyncStore
import SyncStoreSQLite

/// Stores to sync into, of the users that the generator makes.
enum StoreUnderTest {
    /// A sync that did something else than its case is about.
    struct UnexpectedResult: Error {
        let counts: StoreSyncResult.Counts
    }

    /// Secondary indices, for stores and floors alike.
    static let indices = ["name", "email", "createdAt"].map { "CREATE INDEX User_by_\($0) ON User (\($0))" }

    /// The mapper of flat users, or of users with notes.
    static func mapper(nested: Bool = false) throws -> RecordMapper {
        try RecordMapper(try Model(UserModel.entities(nested: nested)))
    }

    /// Opens or makes the store of a file.
    static func sqlite(_ path: String, nested: Bool = false) async throws -> JSONStore {
        let mapper = try mapper(nested: nested)
        return try JSONStore(try await SQLiteStore(mapper.model, at: .file(path)), mapper: mapper)
    }

    /// Makes a store in memory.
    static func memory() throws -> JSONStore {
        let mapper = try mapper()
        return try JSONStore(MemoryStore(mapper.model), mapper: mapper)
    }

    /// Syncs a payload, and makes sure that it did what it should.
    ///
    /// - Returns: How many users were in the payload.
    static func sync(
        _ payload: Payload, into store: JSONStore, expecting isExpected: (StoreSyncResult.Counts) -> Bool
    ) async throws -> Int {
        let result = try await store.sync(.file(payload.path), into: "User")
        guard isExpected(result.counts), result.rejectedCount == 0, result.toleratedCount == 0 else {
            throw UnexpectedResult(counts: result.counts)
        }
        return result.counts.inserted + result.counts.updated + result.counts.unchanged
    }
}
