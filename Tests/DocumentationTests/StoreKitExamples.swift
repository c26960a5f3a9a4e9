import SyncModel
import SyncStore
import SyncStoreTesting
import Testing

/// Stands for a store of your own.
private typealias MyStore = MemoryStore

/// The documentation of the conformance suite for stores.
@Suite struct StoreKitExamples {
    @Test func myStoreConforms() async throws {
        try await StoreConformance.check { model in MyStore(model) }
    }
}
