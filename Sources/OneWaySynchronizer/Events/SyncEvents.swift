package import SyncBase

/// The events of a ``Synchronizer``, a ``SyncService`` or a live sync that one observer receives.
///
/// The sequence begins when the observer subscribes, and ends when the loop's task is cancelled or
/// the source of the events is gone. Use it in a single `for await` loop.
///
/// A pass never waits for slow observers: events wait in a buffer of bounded size. When the buffer
/// is full, progress events are merged first, which keeps the latest of each stage; then the oldest
/// other events are dropped. Failures, ends of passes, results of a service's syncs and changes of
/// its lease are kept beyond the buffer's size, until 1,024 of them wait.
public struct SyncEvents<Element: Sendable>: AsyncSequence, Sendable {
    /// The sequence never throws.
    public typealias Failure = Never

    let subscription: Subscription<Element>

    /// Creates the events of a subscription.
    package init(subscription: Subscription<Element>) {
        self.subscription = subscription
    }

    /// The number of events merged or dropped because the buffer was full.
    public var droppedCount: Int { subscription.droppedCount }

    /// Creates an iterator over the waiting and future events.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(subscription: subscription)
    }

    /// An iterator over an observer's events, oldest first.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let subscription: Subscription<Element>

        /// Waits for the next event; `nil` when the task is cancelled or the source is gone.
        public mutating func next() async -> Element? {
            await subscription.next()
        }

        /// Waits for the next event; `nil` when the task is cancelled or the source is gone.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
            await subscription.next()
        }
    }
}
