import SyncBase

/// The events of a synchronizer as one observer sees them, from the moment it subscribed.
///
/// For a single `for await` loop. Slow observers never slow a pass: events wait in a buffer of bounded size. When it is
/// full, progress is merged first, so that the latest of each stage stays; then the oldest of the other events are
/// dropped. Failures and ends of passes are kept beyond the buffer's size, until 1,024 of them wait. The sequence ends
/// when the loop's task is cancelled or the synchronizer is gone.
public struct SyncEvents: AsyncSequence, Sendable {
    /// The events of passes.
    public typealias Element = SyncEvent
    /// The sequence never throws.
    public typealias Failure = Never

    let subscription: Subscription<SyncEvent>

    /// How many events were merged or dropped so far because the buffer was full.
    public var droppedCount: Int { subscription.droppedCount }

    /// Creates an iterator over the waiting and future events.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(subscription: subscription)
    }

    /// An iterator over the events of an observer, oldest first.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let subscription: Subscription<SyncEvent>

        /// Waits for the next event; `nil` when the task is cancelled or the synchronizer is gone.
        public mutating func next() async -> SyncEvent? {
            await subscription.next()
        }

        /// Waits for the next event; `nil` when the task is cancelled or the synchronizer is gone.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> SyncEvent? {
            await subscription.next()
        }
    }
}
