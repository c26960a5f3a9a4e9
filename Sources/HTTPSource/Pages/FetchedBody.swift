import HTTPTransfer

/// The body of a page in the form that its mapper reads.
struct FetchedBody: AsyncSequence, Sendable {
    let fetch: HTTPFetch<PageScanner>
    let format: HTTPAPI.Format
    let endSign: HTTPAPI.EndSign?

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(fetch: fetch, recoder: BodyRecoder(format, endSign: endSign))
    }

    struct AsyncIterator: AsyncIteratorProtocol {
        let fetch: HTTPFetch<PageScanner>
        var recoder: BodyRecoder?
        private var hasEnded = false

        init(fetch: HTTPFetch<PageScanner>, recoder: BodyRecoder?) {
            self.fetch = fetch
            self.recoder = recoder
        }

        mutating func next() async throws -> [UInt8]? {
            guard let piece = try await fetch.nextPiece() else {
                guard !hasEnded, let rest = recoder?.finish() else { return nil }
                hasEnded = true
                return rest
            }
            return recoder?.recode(piece) ?? piece
        }
    }
}
