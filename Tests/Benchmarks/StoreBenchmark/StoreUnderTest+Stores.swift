import JSONMapper
import OneWayStoreBenchmarkSupport
import StoreSync
import SyncStore
import SyncStoreSQLite

extension StoreUnderTest {
    /// Secondary indices, for stores and floors alike.
    static let indices = ["name", "email", "createdAt"].map { "CREATE INDEX User_by_\($0) ON User (\($0))" }

    /// Opens or makes the store of a file.
    static func sqlite(_ path: String, nested: Bool = false) async throws -> JSONStore {
        let mapper = try mapper(nested: nested)
        return try JSONStore(try await SQLiteStore(exactly: mapper.model, at: .file(path)), mapper: mapper)
    }

    /// Opens or makes the store of orders of a file.
    static func sqliteOrders(_ path: String) async throws -> JSONStore {
        let mapper = try orderMapper()
        return try JSONStore(try await SQLiteStore(exactly: mapper.model, at: .file(path)), mapper: mapper)
    }

    /// Makes a store in memory.
    static func memory() throws -> JSONStore {
        let mapper = try mapper()
        return try JSONStore(MemoryStore(exactly: mapper.model), mapper: mapper)
    }
}
