import SyncBase

/// A bounded buffer of bytes between a producing and a consuming task.
final class ByteBuffer: Sendable {
    private struct State: Sendable {
        var bytes: [UInt8] = []
        var end: Result<Void, any Error>?
        var takers = Waiters<[UInt8]?>()
        var bringers = Waiters<Void>()
    }

    private let capacity: Int
    private let state = Locked(State())

    /// - Parameter capacity: The number of bytes at which the producing task waits for room.
    init(capacity: Int) {
        self.capacity = capacity
    }

    /// Adds bytes, and waits until there is room for more.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    func bring(_ bytes: [UInt8]) async throws {
        let taker = state.withLock { state in
            let taker = state.takers.removeFirst()
            if taker == nil { state.bytes += bytes }
            return taker
        }
        if let taker { return taker.resume(returning: bytes) }
        try await state.wait(in: \.bringers) { [capacity] in $0.bytes.count < capacity ? .success(()) : nil }
        try Task.checkCancellation()
    }

    /// Ends the bytes. Bytes that are already in the buffer can still be taken.
    func finish(_ end: Result<Void, any Error>) {
        let takers = state.withLock { state in
            guard state.end == nil else { return [Waiters<[UInt8]?>.Waiter]() }
            state.end = end
            return state.takers.removeAll()
        }
        for taker in takers { taker.resume(with: end.map { nil }) }
    }

    /// Waits for bytes and returns all available ones; nil at the end.
    ///
    /// - Throws: The failure that ended the bytes; `CancellationError` if the task is cancelled.
    func take() async throws -> [UInt8]? {
        try Task.checkCancellation()
        var bringer: Waiters<Void>.Waiter?
        defer { bringer?.resume() }
        return try await state.wait(in: \.takers) { state in
            if !state.bytes.isEmpty {
                bringer = state.bringers.removeFirst()
                defer { state.bytes = [] }
                return .success(state.bytes)
            }
            return state.end?.map { nil }
        }
    }
}
