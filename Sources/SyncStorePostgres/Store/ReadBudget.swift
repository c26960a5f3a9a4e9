#if Postgres
import SyncBase

/// Limits how many reads of a store have a connection at a time; the others wait in order.
final class ReadBudget: Sendable {
    private struct State {
        var freeCount: Int
        var waiters = Waiters<Void>()
    }

    /// The budgets that the task has a share of, or is exempt from.
    @TaskLocal private static var held: Set<ObjectIdentifier> = []

    private let state: Locked<State>

    init(_ count: Int) {
        state = Locked(State(freeCount: max(count, 1)))
    }

    /// Runs a function when a connection is free; at once inside of another such function.
    ///
    /// - Throws: What the function throws; `CancellationError` if the task is cancelled while it
    ///   waits.
    func run<Result>(_ body: () async throws -> Result) async throws -> Result {
        guard !Self.held.contains(ObjectIdentifier(self)) else { return try await body() }
        try await state.wait(in: \.waiters) { state in
            guard state.freeCount > 0 else { return nil }
            state.freeCount -= 1
            return .success(())
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
