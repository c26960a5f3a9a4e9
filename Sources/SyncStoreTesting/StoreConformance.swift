public import SyncModel
public import SyncStore
public import Testing

/// Checks that a store does what `Store` says; `MemoryStore` gives the right answers.
///
///     @Test func isAStore() async throws {
///         try await StoreConformance.check { model in try MyStore(model) }
///     }
///
/// Each check runs on a store of its own. What does not hold is recorded as an issue of the running test, named after the check.
public struct StoreConformance: Sendable {
    /// Makes an empty store for the objects of a model.
    public typealias MakeStore = @Sendable (DataModel) async throws -> any Store

    private typealias Check = @Sendable (any Store) async throws -> Void

    /// Runs all checks.
    ///
    /// - Parameters:
    ///   - sourceLocation: Where issues are recorded; the caller's place by default.
    ///   - makeStore: Makes an empty store for the objects of a model.
    /// - Throws: What making a store throws.
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

    private static let checks: [(String, Check)] =
        MergeChecks.all + LinkChecks.all + RemovalChecks.all + QueryChecks.all
        + TransactionChecks.all + ChangeChecks.all
}

/// Something that a store promises does not hold.
struct ConformanceCheckFailed: Error, CustomStringConvertible {
    let description: String
}

/// Goes on only where something holds.
func expect<T: Equatable>(_ found: T, _ wanted: T, _ what: String) throws {
    guard found == wanted else {
        throw ConformanceCheckFailed(description: "\(what): found \(found), expected \(wanted)")
    }
}

/// Goes on only where something is refused in a certain way.
func expect(_ error: StoreError, _ what: String, _ body: () async throws -> Void) async throws {
    do {
        try await body()
    } catch let found as StoreError {
        return try expect(found, error, what)
    }
    throw ConformanceCheckFailed(description: "\(what): nothing was thrown, expected \(error)")
}
