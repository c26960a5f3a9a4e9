import SyncBase

/// Runs transactions one after another, in the order of the calls; stores build `transaction` on it.
package final class TransactionQueue: Sendable {
    private struct State: Sendable {
        var isBusy = false
        var waiters = Waiters<Void>()
    }

    /// The queues whose turn the current task has.
    @TaskLocal private static var held: [ObjectIdentifier] = []

    private let state = Locked(State())

    /// Creates an empty queue.
    package init() {}

    /// Runs a function when its turn comes.
    ///
    /// - Throws: The function's error; `CancellationError` if the task is cancelled before its turn;
    ///   `StoreError.nestedTransaction` if the task already has the turn.
    package func run<Result>(_ body: () async throws -> Result) async throws -> Result {
        let id = ObjectIdentifier(self)
        guard !Self.held.contains(id) else { throw StoreError.nestedTransaction }
        try await state.wait(in: \.waiters) { state in
            guard !state.isBusy else { return nil }
            state.isBusy = true
            return .success(())
        }
        defer { endTurn() }
        try Task.checkCancellation()
        return try await Self.$held.withValue(Self.held + [id]) { try await body() }
    }

    /// The number of waiting calls.
    package var waitingCount: Int {
        state.withLock(\.waiters.count)
    }

    private func endTurn() {
        // The next one takes the turn over: the queue stays busy.
        let next = state.withLock { state in
            let next = state.waiters.removeFirst()
            state.isBusy = next != nil
            return next
        }
        next?.resume()
    }
}
