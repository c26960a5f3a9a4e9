import OneWayTestLimits
import SyncModel
import SyncStore
import SyncStoreTesting
import Testing

/// Stands for the initializer of a store of your own.
// swift-format-ignore: AlwaysUseLowerCamelCase
private func MyStore(_ model: DataModel) -> MemoryStore { MemoryStore(exactly: model) }

/// The documentation of the conformance suite for stores.
@Suite(.endsInTime) struct StoreKitExamples {
    @Test func myStoreConforms() async throws {
        try await StoreConformance.check { model in MyStore(model) }
    }
}
