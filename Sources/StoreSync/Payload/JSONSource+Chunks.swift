import SyncBase

extension JSONSource {
    /// The pieces of a document, whatever sequence they come from.
    public struct Chunks: AsyncSequence, Sendable {
        /// Bytes of the document, of any number.
        public typealias Element = [UInt8]
        /// The errors of the sequence that the pieces come from.
        public typealias Failure = any Error

        let pieces: ErasedSequence<[UInt8]>

        /// Creates the pieces of a sequence.
        public init<Pieces: AsyncSequence & Sendable>(_ pieces: Pieces) where Pieces.Element == [UInt8] {
            self.pieces = ErasedSequence(pieces)
        }

        /// Creates an iterator; how often depends on the sequence that the pieces come from.
        public func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(base: pieces.makeAsyncIterator())
        }

        /// An iterator over the pieces, in order.
        public struct AsyncIterator: AsyncIteratorProtocol {
            fileprivate let base: ErasedSequence<[UInt8]>.Iterator

            /// Waits for the next piece; nil after the last.
            ///
            /// - Throws: The errors of the sequence that the pieces come from.
            public mutating func next() async throws -> [UInt8]? {
                try await base.next()
            }
        }
    }
}
