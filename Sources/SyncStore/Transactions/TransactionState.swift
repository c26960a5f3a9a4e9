import SyncModel

/// The state of a transaction: running, failed or ended.
///
/// A change that failed halfway may be incomplete. It must not be committed, even if the caller
/// caught its error.
package enum TransactionState: Sendable {
    case running
    /// A change failed.
    case failed(any Error)
    case ended

    /// Verifies that the transaction is usable.
    ///
    /// - Throws: ``StoreError/transactionEnded``, or the error of a failed change.
    package func check() throws {
        switch self {
        case .running: break
        case .failed(let error): throw error
        case .ended: throw StoreError.transactionEnded
        }
    }

    /// Records the error of a failed change.
    package mutating func note(_ error: any Error) {
        if case .running = self, !Self.isRefusal(error) { self = .failed(error) }
    }

    /// Ends the transaction.
    ///
    /// - Throws: The error of a failed change.
    package mutating func end() throws {
        defer { self = .ended }
        if case .failed(let error) = self { throw error }
    }

    /// Whether an error guarantees that nothing was changed.
    private static func isRefusal(_ error: any Error) -> Bool {
        switch error as? StoreError {
        case .deletionDenied, .batchOfOtherModel, .relationshipOfOtherModel, .wrongMatchCount: true
        default: error is RecordPredicateError
        }
    }
}
