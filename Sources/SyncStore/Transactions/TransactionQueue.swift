import SyncBase

/// Runs transactions one at a time, in the order of the calls. Stores use it to implement
/// `transaction`.
package final class TransactionQueue: Sendable {
    private struct State: Sendable {
        var isBusy = false
        var waiters = Waiters<Void>()
        /// The number of the turn that began last.
        var turn: UInt64 = 0
    }

    /// The turns of the current task, by queue.
    ///
    /// A task that outlives its turn inherits the value, but the turn's number no longer matches.
    @TaskLocal private static var held: [ObjectIdentifier: UInt64] = [:]

    private let state = Locked(State())

    /// Creates an empty queue.
    package init() {}

    /// Runs a function when its turn comes.
    ///
    /// - Throws: The function's error; `CancellationError` if the task is cancelled before its
    ///   turn; `StoreError.nestedTransaction` if the task already has the turn.
    package func run<Result>(_ body: () async throws -> Result) async throws -> Result {
        let id = ObjectIdentifier(self)
        if let turn = Self.held[id], state.withLock({ $0.isBusy && $0.turn == turn }) {
            throw StoreError.nestedTransaction
        }
        try await state.wait(in: \.waiters) { state in
            guard !state.isBusy else { return nil }
            state.isBusy = true
            return .success(())
        }
        defer { endTurn() }
        try Task.checkCancellation()
        let turn = state.withLock { state in
            state.turn += 1
            return state.turn
        }
        var held = Self.held
        held[id] = turn
        return try await Self.$held.withValue(held) { try await body() }
    }

    /// The number of waiting calls.
    package var waitingCount: Int {
        state.withLock(\.waiters.count)
    }

    private func endTurn() {
        // The turn passes to the next waiter, so the queue stays busy.
        let next = state.withLock { state in
            let next = state.waiters.removeFirst()
            state.isBusy = next != nil
            // No task has the turn until the next one begins.
            state.turn += 1
            return next
        }
        next?.resume()
    }
}
