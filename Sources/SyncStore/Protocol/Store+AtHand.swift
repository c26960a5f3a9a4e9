/// Whether transactions of the current task may begin with their first call.
package enum TransactionBeginning {
    /// False by default: a transaction holds its store before its body runs.
    @TaskLocal package static var mayWait = false
}

extension Store {
    /// Runs a body that only writes what was known before the call; see ``Store/transaction(_:)``.
    ///
    /// Nothing is lost if other transactions go first, so a store on a server may begin together
    /// with the first change, which saves a message.
    ///
    /// - Parameter isAtHand: False to begin before the body, as for a list that is fetched in it.
    ///   Of two lists, the older one could otherwise be written last.
    package func transaction<Result: Sendable>(
        isAtHand: Bool, _ body: @Sendable (any StoreTransaction) async throws -> Result
    ) async throws -> Result {
        guard isAtHand else { return try await transaction(body) }
        return try await TransactionBeginning.$mayWait.withValue(true) {
            try await transaction { transaction in
                try await TransactionBeginning.$mayWait.withValue(false) { try await body(transaction) }
            }
        }
    }
}
