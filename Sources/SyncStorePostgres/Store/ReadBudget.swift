#if Postgres
import OneWayPostgresClient
import SyncBase

/// Limits the number of a store's concurrent reads. Further reads wait in order, for a limited
/// time.
final class ReadBudget: Sendable {
    private struct State {
        var freeCount: Int
        var waiters = Waiters<Void>()
    }

    /// The budgets in which the task has a place, or from which it is exempt.
    @TaskLocal private static var held: Set<ObjectIdentifier> = []

    private let state: Locked<State>
    private let count: Int
    private let limit: Duration

    /// - Parameter limit: The longest wait for a place.
    init(_ count: Int, waitingFor limit: Duration) {
        self.count = max(count, 1)
        self.limit = limit
        state = Locked(State(freeCount: self.count))
    }

    /// Runs a function when there is a free place. A nested call runs immediately.
    ///
    /// - Throws: The function's error; `CancellationError` if the task is cancelled while it waits;
    ///   `PostgresError` if no place is free for too long.
    func run<Result>(_ body: () async throws -> Result) async throws -> Result {
        guard !Self.held.contains(ObjectIdentifier(self)) else { return try await body() }
        do {
            try await state.wait(in: \.waiters, until: Deadline(in: limit)) { state in
                guard state.freeCount > 0 else { return nil }
                state.freeCount -= 1
                return .success(())
            }
        } catch is DeadlineExceeded {
            throw PostgresError(
                code: .tooManyConnections,
                message: "other reads have used all connections of this store for reading (\(count)) for \(limit); end "
                    + "reads sooner, or raise maximumReaderCount or connectionWait of its options")
        }
        defer {
            let next = state.withLock { state in
                let next = state.waiters.removeFirst()
                if next == nil { state.freeCount += 1 }
                return next
            }
            next?.resume(returning: ())
        }
        return try await exempting(body)
    }

    /// Runs a function whose reads do not wait.
    func exempting<Result>(_ body: () async throws -> Result) async throws -> Result {
        try await Self.$held.withValue(Self.held.union([ObjectIdentifier(self)])) { try await body() }
    }
}
#endif
