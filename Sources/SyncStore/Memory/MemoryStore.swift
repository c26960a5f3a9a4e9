public import JSONMapper
import SyncBase
public import SyncModel

/// A store that keeps its objects in memory; the reference for the behavior of every store.
///
///     let store = try MemoryStore(User.self)
///
/// A transaction copies the parts that it changes, a few hundred objects at a time. Readers never
/// wait, and a rollback costs nothing. Lookups by identity take constant time. Other queries visit
/// all objects of the entity.
public final class MemoryStore: CommitSignals.Source, ReportingStore {
    /// The model of the objects.
    public let model: DataModel

    private let queue = TransactionQueue()
    private let committed: Locked<MemoryState>
    private let broadcaster = Broadcaster.ofCommits()
    package let changeReporter = ChangeReporter()

    /// Creates an empty store for exactly the entities of a model, into which no JSON is synced.
    public init(exactly model: DataModel) {
        self.model = model
        committed = Locked(MemoryState(model))
    }

    /// Creates an empty store for the objects of some types and of all types related to them.
    ///
    /// - Parameters:
    ///   - type: A type.
    ///   - others: Types that the first one does not lead to.
    ///   - mapping: The rules that map JSON to the objects.
    ///   - history: The settings of the history of syncs; nil, the default, records none.
    /// - Throws: `SyncDeclarationError`, `ModelError` or `MappingError` if the declarations or the
    ///   mapping cannot be right.
    public convenience init(
        _ type: any SyncObject.Type, _ others: any SyncObject.Type..., mapping: JSONMapping = JSONMapping(),
        history: SyncHistory? = nil
    ) throws {
        try self.init(DataModel(types: [type] + others), mapping: mapping, history: history)
    }

    /// Creates an empty store for the objects of a model that is known only at run time.
    ///
    /// - Parameters:
    ///   - model: The model.
    ///   - mapping: The rules that map JSON to the objects. Nil, the default, for those of the
    ///     `RecordMapper` that made the model, or the default rules.
    ///   - history: The settings of the history of syncs; nil, the default, records none.
    /// - Throws: `ModelError` or `MappingError` if the mapping does not fit the model.
    public convenience init(
        _ model: DataModel, mapping: JSONMapping? = nil, history: SyncHistory? = nil
    ) throws {
        self.init(exactly: try model.prepared(mapping, history))
    }

    /// Runs a body in a transaction and commits its changes; see ``Store/transaction(_:)``.
    @discardableResult
    public func transaction<Result: Sendable>(
        _ body: @Sendable (any StoreTransaction) async throws -> Result
    ) async throws -> Result {
        try await commitAndReport(body)
    }

    package func commit<Result: Sendable>(
        _ body: @Sendable (any StoreTransaction) async throws -> Result
    ) async throws -> Result {
        try await queue.run {
            let transaction = MemoryTransaction(committed.withLock { $0 })
            // The transaction is unusable after the body, whether it succeeds or fails.
            defer { _ = try? transaction.end() }
            let result = try await body(transaction)
            try Task.checkCancellation()
            if let refused = try await transaction.settleValues().first { throw StoreError.refused(refused) }
            let state = try transaction.end()
            committed.withLock { $0 = state }
            let roots = transaction.changedRoots
            if !roots.isEmpty { broadcaster.send(CommitSignals.Signal(roots: roots)) }
            return result
        }
    }

    /// Adds an observer of the transactions that begin from now on; see ``ChangeSet/Source``.
    public func changes(capacity: Int) -> ChangeSet.Stream {
        observe(capacity: capacity)
    }

    /// Begins to observe commits; see ``CommitSignals/Source``.
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
