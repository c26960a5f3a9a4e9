import SyncBase

extension SyncClock {
    /// Runs `body`, and cancels it when it takes longer than `limit`. Awaits it in any case.
    func withTimeout<Value: Sendable>(
        _ limit: Duration, _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask { try await body() }
            group.addTask {
                try await sleep(limit)
                return nil
            }
            defer { group.cancelAll() }
            guard let first = try await group.next(), let value = first else {
                throw SyncError.Reason.timedOut(after: limit)
            }
            return value
        }
    }
}
