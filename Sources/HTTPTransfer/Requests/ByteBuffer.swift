import OneWaySynchronizer
import SyncBase

/// A bounded buffer of bytes between one task that brings them and one that takes them.
final class ByteBuffer: Sendable {
    private struct State {
        var bytes: [UInt8] = []
        var end: Result<Void, any Error>?
        var taker: CheckedContinuation<[UInt8]?, any Error>?
        var bringer: CheckedContinuation<Void, any Error>?
    }

    private let capacity: Int
    private let state = Locked(State())

    /// - Parameter capacity: The number of bytes after which the bringing task waits for room.
    init(capacity: Int) {
        self.capacity = capacity
    }

    /// Adds bytes, and waits until there is room for more.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    func bring(_ bytes: [UInt8]) async throws {
        let (taker, isFull) = state.withLock { state in
            if let taker = state.taker {
                state.taker = nil
                return (taker, false) as (CheckedContinuation<[UInt8]?, any Error>?, Bool)
            }
            state.bytes += bytes
            return (nil, state.bytes.count >= capacity)
        }
        taker?.resume(returning: bytes)
        guard isFull else { return }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { waiter in
                let mustWait = state.withLock { state in
                    guard state.bytes.count >= capacity, !Task.isCancelled else { return false }
                    state.bringer = waiter
                    return true
                }
                if !mustWait { waiter.resume() }
            }
        } onCancel: {
            let bringer = state.withLock { state in
                defer { state.bringer = nil }
                return state.bringer
            }
            bringer?.resume(throwing: CancellationError())
        }
        try Task.checkCancellation()
    }

    /// Ends the bytes. Bytes that were brought can still be taken.
    func finish(_ end: Result<Void, any Error>) {
        let taker = state.withLock { state in
            guard state.end == nil else { return nil as CheckedContinuation<[UInt8]?, any Error>? }
            state.end = end
            defer { state.taker = nil }
            return state.taker
        }
        taker?.resume(with: end.map { nil })
    }

    /// Waits for bytes and returns all there are; nil at the end.
    ///
    /// - Throws: The failure the bytes ended with; `CancellationError` if the task is cancelled.
    func take() async throws -> [UInt8]? {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { waiter in
                let (outcome, bringer) = state.withLock { state in
                    var outcome: Result<[UInt8]?, any Error>?
                    if Task.isCancelled {
                        outcome = .failure(CancellationError())
                    } else if !state.bytes.isEmpty {
                        outcome = .success(state.bytes)
                        state.bytes = []
                    } else if let end = state.end {
                        outcome = end.map { nil }
                    } else {
                        state.taker = waiter
                    }
                    defer { state.bringer = nil }
                    return (outcome, state.bringer)
                }
                bringer?.resume()
                if let outcome { waiter.resume(with: outcome) }
            }
        } onCancel: {
            let taker = state.withLock { state in
                defer { state.taker = nil }
                return state.taker
            }
            taker?.resume(throwing: CancellationError())
        }
    }
}
