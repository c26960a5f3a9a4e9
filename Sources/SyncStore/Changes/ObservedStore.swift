import SyncBase
public import SyncModel

/// A store that wraps another store and reports the changes of each commit.
///
///     let store = ObservedStore(try await SQLiteStore(model, at: .file("data.sqlite")))
///     Task {
///         for await changes in store.changes() {
///             changes["User"].deleted  // the keys of the users that are gone
///         }
///     }
///
/// Only changes made through this store are reported, not changes made directly to the wrapped
/// store or to its file. Without observers, there is no cost. With observers, a transaction records
/// the numbers of the objects that it changes, and looks up their keys before the commit.
public final class ObservedStore: CommitSignals.Source {
    private let base: any Store
    private let broadcaster = Broadcaster.ofChanges()
    private let signals = Broadcaster.ofCommits()
    /// Delays the next commit until the changes of the previous one are sent.
    private let queue = TransactionQueue()

    /// Creates a store that wraps another.
    public init(_ base: any Store) {
        self.base = base
    }

    /// The model of the objects.
    public var model: DataModel {
        base.model
    }

    /// Adds an observer of the transactions that begin from now on.
    ///
    /// The observer sees either all changes or none of a transaction that is already running.
    /// Transactions that fail or change nothing are not reported. Slow observers never block
    /// commits; see ``ChangeSet/Stream``.
    ///
    /// - Parameter capacity: The number of change sets that wait for the observer before the newest
    ///   are merged; 100 by default, at least 1.
    public func changes(capacity: Int = 100) -> ChangeSet.Stream {
        ChangeSet.Stream(broadcaster.subscribe(capacity: capacity))
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
        try await queue.run {
            guard broadcaster.isObserved else {
                let result = try await base.transaction(body)
                signals.send(CommitSignals.Signal(roots: nil))
                return result
            }
            let (result, changes) = try await base.transaction { transaction in
                let observed = ObservedTransaction(transaction)
                let result = try await body(observed)
                return (result, try await observed.changes())
            }
            if !changes.isEmpty { broadcaster.send(changes) }
            signals.send(CommitSignals.Signal(roots: nil))
            return result
        }
    }

    /// Runs a body that reads one snapshot; see ``Store/read(_:)``.
    public func read<Result: Sendable>(
        _ body: @Sendable (any StoreReader) async throws -> Result
    ) async throws -> Result {
        try await base.read(body)
    }
}

extension ObservedStore: ThreadedStore {
    package func readOnThread<Result: Sendable>(
        _ body: @Sendable (any StoreReader) async throws -> Result
    ) async throws -> Result {
        try await base.readAtOnce(body)
    }
}
