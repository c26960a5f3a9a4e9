import SyncBase

/// The payloads of a sync without a remote source, as the pages of a source. They are of one moment
/// and are read once.
actor PayloadList: RemotePass {
    /// Nil after the last payload.
    private var payloads: ErasedSequence<JSONSource>.Iterator?
    /// Whether all payloads are in memory.
    nonisolated let isAtHand: Bool

    /// Creates pages from a sequence of payloads.
    ///
    /// - Parameter isAtHand: Whether all of them are in memory; false by default.
    init<Payloads: AsyncSequence & Sendable>(_ payloads: Payloads, isAtHand: Bool = false)
    where Payloads.Element == JSONSource {
        self.isAtHand = isAtHand
        self.payloads = ErasedSequence(payloads).makeAsyncIterator()
    }

    /// Creates one page for each payload.
    init(_ payloads: [JSONSource]) {
        let stream = AsyncThrowingStream<JSONSource, any Error> { continuation in
            for payload in payloads { continuation.yield(payload) }
            continuation.finish()
        }
        self.init(stream, isAtHand: payloads.allSatisfy(\.isAtHand))
    }

    func next() async throws -> RemotePage? {
        guard let rest = payloads else { return nil }
        payloads = nil
        guard let payload = try await rest.next() else { return nil }
        payloads = rest
        return RemotePage(payload)
    }

    /// Never called, because the pages are of one moment.
    func rewind() async throws {}

    func end() async throws -> RemoteEnd {
        RemoteEnd(.everything, isSnapshot: true, bookmark: SyncBookmark())
    }
}
