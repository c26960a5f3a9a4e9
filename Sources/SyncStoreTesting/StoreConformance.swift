public import SyncModel
public import SyncStore
public import Testing

/// The checks that every store must pass.
///
///     @Test func myStoreConforms() async throws {
///         try await StoreConformance.check { model in try await MyStore(model) }
///     }
///
/// Each check runs on a new store. A failed check records an issue in the running test, named after
/// the check. The other checks still run. `MemoryStore` passes all checks.
public struct StoreConformance: Sendable {
    /// Creates an empty store for the objects of a model.
    public typealias MakeStore = @Sendable (DataModel) async throws -> any Store

    typealias Check = @Sendable (any Store) async throws -> Void

    /// Runs all checks.
    ///
    /// - Parameters:
    ///   - sourceLocation: The location of recorded issues; the caller's by default.
    ///   - makeStore: Creates an empty store for the objects of a model; called once per check.
    /// - Throws: The errors of `makeStore`.
    public static func check(
        sourceLocation: SourceLocation = #_sourceLocation, _ makeStore: MakeStore
    ) async throws {
        let model = try ConformanceModel.model()
        for (name, check) in checks {
            let store = try await makeStore(model)
            do {
                try await check(store)
            } catch let broken as ConformanceCheckFailed {
                Issue.record("\(name): \(broken.description)", sourceLocation: sourceLocation)
            } catch {
                Issue.record(error, "\(name)", sourceLocation: sourceLocation)
            }
        }
    }

    /// All checks with their names.
    static let checks: [(String, Check)] =
        MergeChecks.all + EntityChecks.all + LinkChecks.all + RemovalChecks.all + QueryChecks.all
        + TransactionChecks.all + ChangeChecks.all
}

/// A requirement of `Store` that does not hold.
struct ConformanceCheckFailed: Error, CustomStringConvertible {
    let description: String
}

/// A check that is one transaction.
func inTransaction(
    _ check: @escaping @Sendable (any StoreTransaction) async throws -> Void
) -> StoreConformance.Check {
    { try await $0.transaction(check) }
}

/// Fails the check if a value differs from the expected one.
func expect<T: Equatable>(_ found: T, _ wanted: T, _ what: String) throws {
    guard found == wanted else {
        throw ConformanceCheckFailed(description: "\(what): found \(found), expected \(wanted)")
    }
}

/// Fails the check if a call does not throw the expected error.
func expect(_ error: StoreError, _ what: String, _ body: () async throws -> Void) async throws {
    do {
        try await body()
    } catch let found as StoreError {
        return try expect(found, error, what)
    }
    throw ConformanceCheckFailed(description: "\(what): nothing was thrown, expected \(error)")
}
