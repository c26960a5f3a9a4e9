import SyncBase

extension ChangeSet {
    /// An asynchronous sequence of a store's changes, for one observer.
    ///
    /// Use it in a single `for await` loop. The loop receives one set for each commit that changed
    /// something, in the order of the commits. If the observer is slower than the commits, sets
    /// wait for it. Beyond the capacity, the two newest sets are merged, so no change is lost.
    /// Commits never wait. The sequence ends when the loop's task is cancelled or the store is
    /// deallocated.
    public struct Stream: AsyncSequence, Sendable {
        /// The changes of one or more commits.
        public typealias Element = ChangeSet
        /// The sequence never throws.
        public typealias Failure = Never

        private let subscription: Subscription<ChangeSet>

        init(_ subscription: Subscription<ChangeSet>) {
            self.subscription = subscription
        }

        /// Creates an iterator over the waiting and future sets.
        public func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(subscription: subscription)
        }

        /// An iterator over an observer's sets, oldest first.
        public struct AsyncIterator: AsyncIteratorProtocol {
            fileprivate let subscription: Subscription<ChangeSet>

            /// Waits for the next set; nil when the task is cancelled or the store is deallocated.
            public mutating func next() async -> ChangeSet? {
                await subscription.next()
            }

            /// Waits for the next set; `nil` when the task is cancelled or the store is gone.
            public mutating func next(isolation actor: isolated (any Actor)?) async -> ChangeSet? {
                await subscription.next()
            }
        }
    }
}

extension Broadcaster<ChangeSet> {
    /// Creates a broadcaster that merges the newest two sets of a full queue.
    static func ofChanges() -> Broadcaster {
        Broadcaster { queue, capacity in
            while queue.count > capacity, let next = queue.popLast(), var last = queue.popLast() {
                last.add(next)
                // Changes that cancel each other out are not reported.
                if !last.isEmpty { queue.append(last) }
            }
            return []
        }
    }
}
