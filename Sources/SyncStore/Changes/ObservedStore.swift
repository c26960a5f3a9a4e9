import SyncBase
public import SyncModel

/// A store that wraps a store of your own, reports the changes of each commit, and makes live
/// queries possible.
///
///     let store = ObservedStore(FileStore(model))
///     let changes = store.changes()
///     Task {
///         for await changes in changes {
///             changes["User"].deleted  // the keys of the users that are gone
///         }
///     }
///
/// The loop ends with the store. A task that names the store keeps it alive, and never ends by
/// itself.
///
/// The stores of this package do both themselves. Only changes made through this store are
/// reported, not changes made directly to the wrapped store or to its file. Without observers,
/// there is no cost. With observers, a transaction records the numbers of the objects that it
/// changes, and looks up their keys before the commit.
public final class ObservedStore: CommitSignals.Source {
    private let base: any Store
    private let signals = Broadcaster.ofCommits()
    package let changeReporter = ChangeReporter()

    /// Creates a store that wraps another.
    public init(_ base: any Store) {
        self.base = base
    }

    /// The model of the objects.
    public var model: DataModel {
        base.model
    }

    /// Begins to observe commits, as reported by the wrapped store or, if it reports none, by this
    /// store's own transactions.
    ///
    /// - Throws: The errors of the wrapped store.
    public func commits() async throws -> CommitSignals {
        if let observable = base as? any CommitSignals.Source { return try await observable.commits() }
        return CommitSignals(signals)
    }

    /// Runs a body in a transaction and reports its changes after the commit; see
    /// ``Store/transaction(_:)``.
    @discardableResult
    public func transaction<Result: Sendable>(
        _ body: @Sendable (any StoreTransaction) async throws -> Result
    ) async throws -> Result {
        let result = try await commitAndReport(body)
        signals.send(CommitSignals.Signal(roots: nil))
        return result
    }

    /// Runs a body that reads one snapshot; see ``Store/read(_:)``.
    public func read<Result: Sendable>(
        _ body: @Sendable (any StoreReader) async throws -> Result
    ) async throws -> Result {
        try await base.read(body)
    }
}

extension ObservedStore: ReportingStore {
    /// Adds an observer of the transactions that begin from now on; see ``ChangeSet/Source``.
    public func changes(capacity: Int) -> ChangeSet.Stream {
        observe(capacity: capacity)
    }

    package func commit<Result: Sendable>(
        _ body: @Sendable (any StoreTransaction) async throws -> Result
    ) async throws -> Result {
        try await base.transaction(body)
    }
}

extension ObservedStore: ThreadedStore {
    package func readOnThread<Result: Sendable>(
        _ body: @Sendable (any StoreReader) async throws -> Result
    ) async throws -> Result {
        try await base.readAtOnce(body)
    }
}
