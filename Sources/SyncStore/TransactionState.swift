import SyncModel

/// Whether a transaction can still be used.
///
/// A change that failed in the middle may have been made in part; it must not be committed, even if its error was caught.
package enum TransactionState: Sendable {
    case running
    /// A change failed.
    case failed(any Error)
    case ended

    /// - Throws: ``StoreError/transactionEnded``, or what a change failed by.
    package func check() throws {
        switch self {
        case .running: break
        case .failed(let error): throw error
        case .ended: throw StoreError.transactionEnded
        }
    }

    /// Takes note of what a change failed by.
    package mutating func note(_ error: any Error) {
        if case .running = self, !Self.isRefusal(error) { self = .failed(error) }
    }

    /// Makes the transaction of no use.
    ///
    /// - Throws: What a change failed by.
    package mutating func end() throws {
        defer { self = .ended }
        if case .failed(let error) = self { throw error }
    }

    /// Whether an error says that nothing has been done.
    private static func isRefusal(_ error: any Error) -> Bool {
        switch error as? StoreError {
        case .deletionDenied, .foreignBatch, .foreignRelationship, .unsuitableHandles: true
        default: error is RecordPredicateError
        }
    }
}
