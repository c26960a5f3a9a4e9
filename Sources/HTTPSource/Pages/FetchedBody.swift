import HTTPTransfer

/// The body of a page, as its mapper reads it.
struct FetchedBody: AsyncSequence, Sendable {
    let fetch: HTTPFetch<PageScanner>

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(fetch: fetch)
    }

    struct AsyncIterator: AsyncIteratorProtocol {
        let fetch: HTTPFetch<PageScanner>

        mutating func next() async throws -> [UInt8]? {
            try await fetch.nextPiece()
        }
    }
}
