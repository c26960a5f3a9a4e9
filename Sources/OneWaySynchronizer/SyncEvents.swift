import Synchronization

/// What one observer sees of a synchronizer, from the moment it was asked for.
///
/// For a single `for await` loop. Events wait in a buffer of bounded size; where the observer is too slow, the oldest
/// are dropped and counted, and no pass is ever slowed. Ends when the loop's task is cancelled or the synchronizer is
/// gone.
public struct SyncEvents: AsyncSequence, Sendable {
    /// See ``SyncEvent``.
    public typealias Element = SyncEvent
    /// Never throws.
    public typealias Failure = Never

    let stream: AsyncStream<SyncEvent>
    let drops: DropCounter

    /// How many events were dropped so far because the buffer was full.
    public var droppedCount: Int { drops.count.load(ordering: .relaxed) }

    /// Takes events from the buffer.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(base: stream.makeAsyncIterator())
    }

    /// Takes events from the buffer, oldest first.
    public struct AsyncIterator: AsyncIteratorProtocol {
        var base: AsyncStream<SyncEvent>.Iterator

        /// Waits for the next event; `nil` once the task is cancelled or the synchronizer is gone.
        public mutating func next() async -> SyncEvent? {
            await base.next()
        }

        /// Waits for the next event; `nil` once the task is cancelled or the synchronizer is gone.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> SyncEvent? {
            await base.next(isolation: actor)
        }
    }

    /// Counts what did not fit the buffer; shared by the stream's two ends.
    final class DropCounter: Sendable {
        let count = Atomic(0)
    }
}
