/// A clock of any type, as the two things that a pass needs of it.
package struct SyncClock: Sendable {
    /// The time since some fixed moment.
    package let now: @Sendable () -> Duration

    /// Waits that long. Throws `CancellationError` when the task is cancelled.
    package let sleep: @Sendable (Duration) async throws -> Void

    package init(_ clock: some Clock<Duration>) {
        let start = clock.now
        now = { start.duration(to: clock.now) }
        sleep = { try await clock.sleep(for: $0) }
    }

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
