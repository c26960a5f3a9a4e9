import SyncBase
public import SyncModel

/// A store that keeps its objects in memory; the reference for the behavior of every store.
///
///     let store = MemoryStore(model)
///
/// A transaction copies the parts that it changes, a few hundred objects at a time. Readers never
/// wait, and a rollback costs nothing. Lookups by identity take constant time. Other queries visit
/// all objects of the entity.
public final class MemoryStore: CommitObservable {
    /// The model of the objects.
    public let model: DataModel

    private let queue = TransactionQueue()
    private let committed: Locked<MemoryState>
    private let broadcaster = Broadcaster.ofCommits()

    /// Creates an empty store.
    ///
    /// - Parameter model: The model of the objects; for example `RecordMapper.model`.
    public init(_ model: DataModel) {
        self.model = model
        committed = Locked(MemoryState(model))
    }

    /// Runs a body in a transaction and commits its changes; see ``Store/transaction(_:)``.
    @discardableResult
    public func transaction<Result: Sendable>(
        _ body: @Sendable (any StoreTransaction) async throws -> Result
    ) async throws -> Result {
        try await queue.run {
            let transaction = MemoryTransaction(committed.withLock { $0 })
            // The transaction is unusable after the body, whether it succeeds or fails.
            defer { _ = try? transaction.end() }
            let result = try await body(transaction)
            try Task.checkCancellation()
            let state = try transaction.end()
            committed.withLock { $0 = state }
            let roots = transaction.changedRoots
            if !roots.isEmpty { broadcaster.send(CommitSignal(roots: roots)) }
            return result
        }
    }

    /// Begins to observe commits; see ``CommitObservable``.
    public func commits() -> CommitSignals {
        CommitSignals(broadcaster)
    }

    /// Runs a body that reads one snapshot; see ``Store/read(_:)``.
    public func read<Result: Sendable>(
        _ body: @Sendable (any StoreReader) async throws -> Result
    ) async throws -> Result {
        let reader = MemoryTransaction(committed.withLock { $0 })
        defer { _ = try? reader.end() }
        return try await body(reader)
    }
}
