package import SyncStore

/// A call that code under test makes of a store, its reader or its transaction.
package enum StoreCall: Sendable {
    case transaction, read
    case fetch, count, links
    case find, merge, changeEntity, link, remove
}

/// What a test does about the calls of a store, which pass on to another store otherwise unchanged.
package protocol StoreHook: Sendable {
    /// The size of batches that the store asks for; nil for that of the store behind it.
    var batchRowCount: Int? { get }

    /// Whether its transactions have the refinement `MergeRequest.InitialLinks.Transaction`; true
    /// by default.
    var linksInitially: Bool { get }

    /// Called before each call; the call fails with the error that this throws.
    func willMake(_ call: StoreCall) throws

    /// The policy of a merge into an entity, in place of the one that the caller chose.
    func policy(_ policy: MergeRequest.Policy, of entity: String?) -> MergeRequest.Policy

    /// Makes a call of the store behind.
    func leaving<Value>(_ call: () async throws -> Value) async rethrows -> Value

    /// Runs a body of the caller's, from inside a call of the store behind.
    func returning<Value>(_ body: () async throws -> Value) async rethrows -> Value
}

extension StoreHook {
    package var batchRowCount: Int? { nil }

    package var linksInitially: Bool { true }

    package func willMake(_ call: StoreCall) throws {}

    package func policy(_ policy: MergeRequest.Policy, of entity: String?) -> MergeRequest.Policy { policy }

    package func leaving<Value>(_ call: () async throws -> Value) async rethrows -> Value {
        try await call()
    }

    package func returning<Value>(_ body: () async throws -> Value) async rethrows -> Value {
        try await body()
    }
}

/// Nothing: the calls pass on as they are. The store lacks the refinements of the one behind it,
/// such as the observation of commits.
package struct NoHook: StoreHook {
    package init() {}
}

/// Batches of a few rows, so that small payloads come in many batches, and no optional refinements.
package struct SmallBatches: StoreHook {
    package let batchRowCount: Int?
    package let linksInitially = false

    package init(_ rowCount: Int) {
        batchRowCount = rowCount
    }
}
