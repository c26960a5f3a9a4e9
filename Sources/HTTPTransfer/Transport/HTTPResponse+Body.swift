import SyncBase

extension HTTPResponse {
    /// The pieces of a body, of any size.
    ///
    /// The sequence throws ``HTTPError/Problem`` if the body ends too early.
    public struct Body: AsyncSequence, Sendable {
        /// A piece of the body, of any size.
        public typealias Element = [UInt8]
        /// The errors of the transport.
        public typealias Failure = any Error

        private let pieces: ErasedSequence<[UInt8]>

        /// Creates a body from a sequence of pieces.
        public init<Pieces: AsyncSequence & Sendable>(_ pieces: Pieces) where Pieces.Element == [UInt8] {
            self.pieces = ErasedSequence(pieces)
        }

        /// Creates an iterator. A body can be read only once.
        public func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(base: pieces.makeAsyncIterator())
        }

        /// An iterator over the pieces, in order.
        public struct AsyncIterator: AsyncIteratorProtocol {
            fileprivate let base: ErasedSequence<[UInt8]>.Iterator

            /// Waits for the next piece; nil at the end of the body.
            ///
            /// - Throws: ``HTTPError/Problem`` if the body ends too early.
            public mutating func next() async throws -> [UInt8]? {
                try await base.next()
            }
        }
    }
}
