import Foundation
#if Postgres
import OneWayPostgresTestSupport
import SyncStorePostgres
#endif
import OneWayStoreTestSupport
package import SyncModel
package import SyncStore
import SyncStoreSQLite
import Testing

/// A kind of store that every scenario is run on.
///
/// `STORE_KIND=PostgresStore swift test --traits Postgres` runs only the cases of one kind.
package struct StoreKind: Sendable, CustomTestStringConvertible {
    package let name: String
    /// Runs a function with what makes an empty store for the objects of a model.
    package let use: @Sendable (@Sendable (@escaping MakeStore) async throws -> Void) async throws -> Void

    package typealias MakeStore = @Sendable (DataModel) async throws -> any Store

    package static let all = chosen(
        [
            StoreKind(name: "MemoryStore") { try await $0 { MemoryStore(exactly: $0) } },
            StoreKind(name: "SQLiteStore") { try await $0 { try await SQLiteStore(exactly: $0, at: .memory) } },
        ] + postgres)

    /// All kinds, and one whose batches have a row each: the size of batches must not matter.
    package static let ofScenarios = chosen(
        all + [
            StoreKind(name: "MemoryStore, row by row") {
                try await $0 { HookedStore(MemoryStore(exactly: $0), SmallBatches(1)) }
            }
        ])

    /// The kind that the environment names; all kinds if it names none of them.
    private static func chosen(_ kinds: [StoreKind]) -> [StoreKind] {
        let name = ProcessInfo.processInfo.environment["STORE_KIND"]
        let own = kinds.filter { $0.name == name }
        return own.isEmpty ? kinds : own
    }

    #if Postgres
    private static let postgres =
        SharedPostgres.isAvailable
        ? [
            StoreKind(name: "PostgresStore") { body in
                try await SharedPostgres.withSchemas { schemas in
                    try await body {
                        try await PostgresStore(exactly: $0, at: schemas.url, options: schemas.emptyStore())
                    }
                }
            }
        ] : []
    #else
    private static let postgres: [StoreKind] = []
    #endif

    package var testDescription: String { name }
}
