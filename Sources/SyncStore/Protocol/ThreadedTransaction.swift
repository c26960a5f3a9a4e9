package import SyncBase

/// A transaction whose calls run on a thread of their own.
package protocol ThreadedTransaction: StoreTransaction {
    /// Runs the calls; nil if there is no such thread.
    var executor: BlockingExecutor? { get }
}

extension StoreTransaction {
    /// Runs an operation on the thread that runs the calls of the transaction, if there is one.
    package func onItsThread<Result>(_ operation: () async throws -> Result) async rethrows -> Result {
        guard let executor = (self as? any ThreadedTransaction)?.executor else { return try await operation() }
        return try await executor.run(operation)
    }
}
