package import SyncBase

/// A transaction that runs its calls on a thread of its own.
package protocol ThreadedTransaction: StoreTransaction {
    /// The executor of that thread; nil if there is none.
    var executor: BlockingExecutor? { get }
}

extension StoreTransaction {
    /// Runs an operation on the transaction's thread, if there is one.
    package func onItsThread<Result>(_ operation: () async throws -> Result) async rethrows -> Result {
        guard let executor = (self as? any ThreadedTransaction)?.executor else { return try await operation() }
        return try await executor.run(operation)
    }
}
