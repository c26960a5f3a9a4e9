/// An asynchronous sequence of any type, known by its elements only.
///
/// Takes the place of `any AsyncSequence<Element, any Error>`, which needs macOS 15 and iOS 18.
package struct ErasedSequence<Element: Sendable>: AsyncSequence, Sendable {
    private let makeIterator: @Sendable () -> Iterator

    package init<Base: AsyncSequence & Sendable>(_ base: Base) where Base.Element == Element {
        makeIterator = { Iterator(base) }
    }

    package func makeAsyncIterator() -> Iterator {
        makeIterator()
    }

    /// An iterator that actors can keep.
    ///
    /// Unchecked, because the iterator that `advance` changes is of a type that need not be
    /// `Sendable`. As with any iterator, a call of ``next()`` begins after the one before has
    /// returned; owners take the iterator out of their state for the time of a call.
    package final class Iterator: AsyncIteratorProtocol, @unchecked Sendable {
        private let advance: () async throws -> Element?

        fileprivate init<Base: AsyncSequence>(_ base: Base) where Base.Element == Element {
            var iterator = base.makeAsyncIterator()
            advance = { try await iterator.next() }
        }

        package func next() async throws -> Element? {
            try await advance()
        }
    }
}
