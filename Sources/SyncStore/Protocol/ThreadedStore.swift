/// A store whose reads each run on a thread of their own.
package protocol ThreadedStore: Store {
    /// Runs a body that reads one snapshot on the thread that reads; see ``Store/read(_:)``.
    func readOnThread<Result: Sendable>(
        _ body: @Sendable (any StoreReader) async throws -> Result
    ) async throws -> Result
}

extension Store {
    /// Runs a body that reads one snapshot on the thread that reads, if there is one: a short read
    /// then costs one switch of threads there and one back.
    ///
    /// It is for bodies that do little beside reading. What a user's body starts would have to
    /// share the thread.
    func readAtOnce<Result: Sendable>(
        _ body: @Sendable (any StoreReader) async throws -> Result
    ) async throws -> Result {
        guard let store = self as? any ThreadedStore else { return try await read(body) }
        return try await store.readOnThread(body)
    }
}
