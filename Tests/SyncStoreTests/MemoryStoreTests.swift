import SyncModel
import SyncStore
import SyncStoreTesting
import Testing

@Suite struct MemoryStoreTests {
    @Test func isAStore() async throws {
        try await StoreConformance.check { MemoryStore($0) }
    }
}
