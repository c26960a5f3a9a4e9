/// A store that runs each read on a thread of its own.
package protocol ThreadedStore: Store {
    /// Runs a body that reads one snapshot on the reader's thread; see ``Store/read(_:)``.
    func readOnThread<Result: Sendable>(
        _ body: @Sendable (any StoreReader) async throws -> Result
    ) async throws -> Result
}

extension Store {
    /// Runs a body that reads one snapshot on the reader's thread, if there is one. A short read
    /// then costs only one switch to the thread and one back.
    ///
    /// Only for bodies that do little besides reading. Never pass code of the user, because
    /// everything that it starts would share the thread.
    func readAtOnce<Result: Sendable>(
        _ body: @Sendable (any StoreReader) async throws -> Result
    ) async throws -> Result {
        guard let store = self as? any ThreadedStore else { return try await read(body) }
        return try await store.readOnThread(body)
    }
}
