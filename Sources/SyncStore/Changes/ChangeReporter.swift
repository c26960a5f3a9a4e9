import SyncBase

extension ChangeSet {
    /// A store that reports the changes of its own transactions.
    public protocol Source: Store {
        /// Adds an observer of the transactions that begin from now on.
        ///
        /// The observer sees either all changes or none of a transaction that is already running.
        /// Transactions that fail or change nothing are not reported, nor are those of other
        /// stores on the same database. Slow observers never block commits; see
        /// ``ChangeSet/Stream``.
        ///
        /// - Parameter capacity: The number of change sets that wait for the observer before the
        ///   newest are merged; at least 1.
        func changes(capacity: Int) -> ChangeSet.Stream
    }
}

extension ChangeSet.Source {
    /// Adds an observer of the transactions that begin from now on, for whom 100 change sets can
    /// wait; see ``changes(capacity:)``.
    public func changes() -> ChangeSet.Stream {
        changes(capacity: 100)
    }
}

/// The observers of the changes of a store.
package final class ChangeReporter: Sendable {
    fileprivate let broadcaster = Broadcaster.ofChanges()
    /// Delays the next commit until the changes of the previous one are sent.
    fileprivate let queue = TransactionQueue()

    package init() {}
}

/// A store whose transactions are observed by a ``ChangeReporter``.
package protocol ReportingStore: ChangeSet.Source {
    var changeReporter: ChangeReporter { get }

    /// Runs a body in a transaction that is not observed.
    func commit<Result: Sendable>(
        _ body: @Sendable (any StoreTransaction) async throws -> Result
    ) async throws -> Result
}

extension ReportingStore {
    /// Runs a body in a transaction, and reports its changes after the commit if there are
    /// observers.
    package func commitAndReport<Result: Sendable>(
        _ body: @Sendable (any StoreTransaction) async throws -> Result
    ) async throws -> Result {
        let reporter = changeReporter
        guard reporter.broadcaster.isObserved else { return try await commit(body) }
        return try await reporter.queue.run {
            let (result, changes) = try await commit { transaction in
                let observed = ObservedTransaction(transaction)
                let result = try await body(observed)
                return (result, try await observed.changes())
            }
            if !changes.isEmpty { reporter.broadcaster.send(changes) }
            return result
        }
    }

    package func observe(capacity: Int) -> ChangeSet.Stream {
        ChangeSet.Stream(changeReporter.broadcaster.subscribe(capacity: capacity))
    }
}
