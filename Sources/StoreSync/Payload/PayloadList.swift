import SyncBase

/// The payloads of a sync without a remote source, as the pages of a source. They are of one moment
/// and are read once.
actor PayloadList: RemotePass {
    /// Nil after the last payload.
    private var payloads: ErasedSequence<JSONSource>.Iterator?

    /// Creates pages from a sequence of payloads.
    init<Payloads: AsyncSequence & Sendable>(_ payloads: Payloads) where Payloads.Element == JSONSource {
        self.payloads = ErasedSequence(payloads).makeAsyncIterator()
    }

    /// Creates one page for each payload.
    init(_ payloads: [JSONSource]) {
        let stream = AsyncThrowingStream<JSONSource, any Error> { continuation in
            for payload in payloads { continuation.yield(payload) }
            continuation.finish()
        }
        self.init(stream)
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
