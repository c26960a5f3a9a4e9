import SyncModel
import SyncStore
import SyncStoreSQLite
import Testing

/// A kind of store that every scenario is run on.
struct StoreKind: Sendable, CustomTestStringConvertible {
    let name: String
    /// Makes an empty store for the objects of a model.
    let make: @Sendable (Model) async throws -> any Store

    static let all = [
        StoreKind(name: "MemoryStore") { MemoryStore($0) },
        StoreKind(name: "SQLiteStore") { try await SQLiteStore($0, at: .memory) },
    ]

    var testDescription: String { name }
}
