/// An asynchronous sequence whose concrete type is hidden.
///
/// Replaces `any AsyncSequence<Element, any Error>`, which requires macOS 15 and iOS 18.
package struct ErasedSequence<Element: Sendable>: AsyncSequence, Sendable {
    private let makeIterator: @Sendable () -> Iterator

    package init<Base: AsyncSequence & Sendable>(_ base: Base) where Base.Element == Element {
        makeIterator = { Iterator(base) }
    }

    /// Creates a sequence of values at hand.
    package init(elements: some Sequence<Element> & Sendable) {
        makeIterator = { Iterator(elements: elements) }
    }

    package func makeAsyncIterator() -> Iterator {
        makeIterator()
    }

    /// An iterator that actors can store.
    ///
    /// Unchecked, because the iterator that `advance` changes need not be `Sendable`. As with any
    /// iterator, a call of ``next()`` begins only after the previous one has returned. Owners take
    /// the iterator out of their state during a call.
    package final class Iterator: AsyncIteratorProtocol, @unchecked Sendable {
        private let advance: () async throws -> Element?

        fileprivate init<Base: AsyncSequence>(_ base: Base) where Base.Element == Element {
            var iterator = base.makeAsyncIterator()
            advance = { try await iterator.next() }
        }

        fileprivate init(elements: some Sequence<Element>) {
            var iterator = elements.makeIterator()
            advance = { iterator.next() }
        }

        package func next() async throws -> Element? {
            try await advance()
        }
    }
}
