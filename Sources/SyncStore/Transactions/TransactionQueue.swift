import SyncBase

/// Runs transactions one after another, in the order of the calls; stores build `transaction` on it.
package final class TransactionQueue: Sendable {
    private struct State {
        var isBusy = false
        var nextTicket: UInt64 = 0
        var waiting: [(ticket: UInt64, continuation: CheckedContinuation<Void, any Error>)] = []
        /// The number of the turn that began last.
        var turn: UInt64 = 0
        /// Tickets that were cancelled before they started to wait.
        var cancelled: Set<UInt64> = []
    }

    /// The queues whose turn the current task has.
    ///
    /// A task that outlives the turn inherits the value, which is of no meaning then.
    @TaskLocal private static var held: [ObjectIdentifier: UInt64] = [:]

    private let state = Locked(State())

    /// Creates an empty queue.
    package init() {}

    /// Runs a function when its turn comes.
    ///
    /// - Throws: The function's error; `CancellationError` if the task is cancelled before its turn;
    ///   `StoreError.nestedTransaction` if the task already has the turn.
    package func run<Result>(_ body: () async throws -> Result) async throws -> Result {
        let id = ObjectIdentifier(self)
        if let turn = Self.held[id], state.withLock({ $0.isBusy && $0.turn == turn }) {
            throw StoreError.nestedTransaction
        }
        try await waitForTurn()
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
        state.withLock { $0.waiting.count }
    }

    private func waitForTurn() async throws {
        let ticket: UInt64? = state.withLock { state in
            guard state.isBusy else {
                state.isBusy = true
                return nil
            }
            state.nextTicket += 1
            return state.nextTicket
        }
        guard let ticket else { return }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                enum Answer { case wait, go, cancelled }
                let answer: Answer = state.withLock { state in
                    if state.cancelled.remove(ticket) != nil { return .cancelled }
                    // The turn may have ended since the ticket was drawn.
                    if !state.isBusy {
                        state.isBusy = true
                        return .go
                    }
                    let place = state.waiting.firstIndex { $0.ticket > ticket } ?? state.waiting.endIndex
                    state.waiting.insert((ticket, continuation), at: place)
                    return .wait
                }
                switch answer {
                case .wait: break
                case .go: continuation.resume()
                case .cancelled: continuation.resume(throwing: CancellationError())
                }
            }
        } onCancel: {
            let continuation = state.withLock { state -> CheckedContinuation<Void, any Error>? in
                guard let place = state.waiting.firstIndex(where: { $0.ticket == ticket }) else {
                    state.cancelled.insert(ticket)
                    return nil
                }
                return state.waiting.remove(at: place).continuation
            }
            continuation?.resume(throwing: CancellationError())
        }
        state.withLock { _ = $0.cancelled.remove(ticket) }
    }

    private func endTurn() {
        let next = state.withLock { state -> CheckedContinuation<Void, any Error>? in
            guard !state.waiting.isEmpty else {
                state.isBusy = false
                return nil
            }
            return state.waiting.removeFirst().continuation
        }
        next?.resume()
    }
}
