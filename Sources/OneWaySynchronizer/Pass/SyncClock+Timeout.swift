import SyncBase

extension SyncClock {
    /// Runs a function, and cancels it when it exceeds a time limit; always waits for its end.
    ///
    /// A function that succeeds after the limit still counts as successful.
    ///
    /// - Throws: The function's error; ``SyncError/Reason/timedOut(after:)`` with `named` if it
    ///   took too long.
    func withTimeout<Value: Sendable>(
        _ limit: Duration, named: Duration, _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask { try await body() }
            group.addTask {
                try await sleep(limit)
                return nil
            }
            defer { group.cancelAll() }
            if let first = try await group.next(), let value = first { return value }
            group.cancelAll()
            if case .success(let value?)? = await group.nextResult() { return value }
            throw SyncError.Reason.timedOut(after: named)
        }
    }
}
