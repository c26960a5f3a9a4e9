import SyncBase

/// What the work of a fetch and its readers share: the head, the bytes that arrive, and the end.
final class FetchState: Sendable {
    private struct State: Sendable {
        var head: HTTPHead?
        var bytes: [UInt8] = []
        var end: Result<Void, any Error>?
        /// The first bytes of the body, for messages.
        var beginning: [UInt8] = []
        /// The header fields with credentials of all requests.
        var sent: Set<HTTPHeaders> = []
        var headWaiters = Waiters<HTTPHead>()
        var takers = Waiters<[UInt8]?>()
        var bringers = Waiters<Void>()
        var endWaiters = Waiters<Void>()
    }

    /// The number of unread bytes at which the work waits for room.
    private static let capacity = 1 << 20
    /// The number of bytes of a body that are kept for messages.
    private static let shownByteCount = 200

    private let state = Locked(State())

    // MARK: The work

    /// Records the head.
    func begin(_ head: HTTPHead) {
        let waiters = state.withLock { state in
            state.head = head
            return state.headWaiters.removeAll()
        }
        for waiter in waiters { waiter.resume(returning: head) }
    }

    /// Adds bytes, and waits until there is room for more.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    func bring(_ bytes: [UInt8]) async throws {
        let (taker, hasRoom) = state.withLock { state in
            let missing = Self.shownByteCount - state.beginning.count
            if missing > 0 { state.beginning += bytes.prefix(missing) }
            let taker = state.takers.removeFirst()
            if taker == nil { state.bytes += bytes }
            return (taker, state.bytes.count < Self.capacity)
        }
        taker?.resume(returning: bytes)
        if hasRoom { return }
        try await state.wait(in: \.bringers) { $0.bytes.count < Self.capacity ? .success(()) : nil }
        try Task.checkCancellation()
    }

    /// Ends the fetch. Bytes that are not read yet can still be taken.
    func finish(_ end: Result<Void, any Error>) {
        let (heads, takers, others) = state.withLock { state in
            state.end = end
            return (state.headWaiters.removeAll(), state.takers.removeAll(), state.endWaiters.removeAll())
        }
        for waiter in heads { waiter.resume(with: end.flatMap { .failure(CancellationError()) }) }
        for waiter in takers { waiter.resume(with: end.map { nil }) }
        for waiter in others { waiter.resume(with: end) }
    }

    /// Records header fields with credentials that are about to be sent.
    func note(sent headers: HTTPHeaders) {
        if headers != HTTPHeaders() { state.withLock { _ = $0.sent.insert(headers) } }
    }

    // MARK: The readers

    /// Waits for the head.
    func head() async throws -> HTTPHead {
        try await state.wait(in: \.headWaiters) { state in
            state.head.map { .success($0) } ?? state.end?.flatMap { .failure(CancellationError()) }
        }
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

    /// Waits for the end.
    func waitForEnd() async throws {
        try await state.wait(in: \.endWaiters) { $0.end }
    }

    /// The first bytes of the body, for messages.
    var beginning: [UInt8] { state.withLock { $0.beginning } }

    /// The header fields with credentials of all requests.
    var sent: Set<HTTPHeaders> { state.withLock { $0.sent } }
}
