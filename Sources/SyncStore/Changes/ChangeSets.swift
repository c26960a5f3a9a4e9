import SyncBase

/// A store's changes as one observer sees them, from the moment it subscribed.
///
/// For a single `for await` loop, which gets one set for each commit that changed something, in the order of the
/// commits. Slow observers never block commits: when a certain number of sets wait, the newest two are merged, so that no
/// change is lost and the waiting sets use no more memory than their keys. The sequence ends when the loop's task is
/// cancelled or the store is gone.
public struct ChangeSets: AsyncSequence, Sendable {
    /// See ``ChangeSet``.
    public typealias Element = ChangeSet
    /// Never throws.
    public typealias Failure = Never

    private let subscription: Subscription<ChangeSet>

    init(_ subscription: Subscription<ChangeSet>) {
        self.subscription = subscription
    }

    /// Creates an iterator over the sets that wait and those to come.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(subscription: subscription)
    }

    /// Takes the sets that wait, oldest first.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let subscription: Subscription<ChangeSet>

        /// Waits for the next set; `nil` when the task is cancelled or the store is gone.
        public mutating func next() async -> ChangeSet? {
            await subscription.next()
        }

        /// Waits for the next set; `nil` when the task is cancelled or the store is gone.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> ChangeSet? {
            await subscription.next()
        }
    }
}

extension Broadcaster<ChangeSet> {
    /// Creates a broadcaster that merges the newest two sets of a full queue.
    static func ofChanges() -> Broadcaster {
        Broadcaster { queue, capacity in
            while queue.count > capacity, let next = queue.popLast(), var last = queue.popLast() {
                last.add(next)
                // Changes that cancel each other out leave nothing to report.
                if !last.isEmpty { queue.append(last) }
            }
            return []
        }
    }
}
