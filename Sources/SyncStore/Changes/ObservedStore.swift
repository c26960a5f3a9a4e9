import SyncBase
public import SyncModel

/// A store that tells what each commit changed, around any other.
///
///     let store = ObservedStore(try await SQLiteStore(model, at: .file("data.sqlite")))
///     Task {
///         for await changes in store.changes() {
///             changes["User"].deleted  // the keys of the users that are gone
///         }
///     }
///
/// It tells what was done through it: not what others do to the store within, or to its file. While nobody observes, it costs nothing; while
/// somebody does, a transaction remembers the numbers of the objects that it changes and looks up their keys before it is committed.
public final class ObservedStore: Store {
    private let base: any Store
    private let broadcaster = Broadcaster.ofChanges()
    /// Keeps the next transaction from being committed before the last one's changes are sent.
    private let queue = TransactionQueue()

    /// Makes a store around another.
    public init(_ base: any Store) {
        self.base = base
    }

    /// What the objects are of.
    public var model: DataModel {
        base.model
    }

    /// A new observer, who sees the changes of transactions that begin from now on; of one that is running, all or nothing.
    ///
    /// A transaction that fails, or changes nothing, is not seen. ``ChangeSets`` says what becomes of slow observers.
    ///
    /// - Parameter capacity: How many change sets wait for the observer before they are told as one; 100 by default, at least 1.
    public func changes(capacity: Int = 100) -> ChangeSets {
        ChangeSets(broadcaster.subscribe(capacity: capacity))
    }

    /// Changes the store, all or nothing, and tells observers afterwards; see `Store`.
    @discardableResult
    public func transaction<Result: Sendable>(
        _ body: @Sendable (any StoreTransaction) async throws -> Result
    ) async throws -> Result {
        try await queue.run {
            guard broadcaster.isObserved else { return try await base.transaction(body) }
            let (result, changes) = try await base.transaction { transaction in
                let observed = ObservedTransaction(transaction)
                let result = try await body(observed)
                return (result, try await observed.changes())
            }
            if !changes.isEmpty { broadcaster.send(changes) }
            return result
        }
    }

    /// Reads what was committed last; see `Store`.
    public func read<Result: Sendable>(
        _ body: @Sendable (any StoreReader) async throws -> Result
    ) async throws -> Result {
        try await base.read(body)
    }
}
