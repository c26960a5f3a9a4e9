import SyncBase

extension JSONSource {
    /// The pieces of a document, from any asynchronous sequence.
    public struct Chunks: AsyncSequence, Sendable {
        /// Any number of bytes of the document.
        public typealias Element = [UInt8]
        /// The errors of the underlying sequence.
        public typealias Failure = any Error

        let pieces: ErasedSequence<[UInt8]>

        /// Creates the pieces from a sequence.
        public init<Pieces: AsyncSequence & Sendable>(_ pieces: Pieces) where Pieces.Element == [UInt8] {
            self.pieces = ErasedSequence(pieces)
        }

        /// Creates an iterator; whether more than once depends on the underlying sequence.
        public func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(base: pieces.makeAsyncIterator())
        }

        /// An iterator over the pieces, in order.
        public struct AsyncIterator: AsyncIteratorProtocol {
            fileprivate let base: ErasedSequence<[UInt8]>.Iterator

            /// Waits for the next piece; nil after the last.
            ///
            /// - Throws: The errors of the underlying sequence.
            public mutating func next() async throws -> [UInt8]? {
                try await base.next()
            }
        }
    }
}
