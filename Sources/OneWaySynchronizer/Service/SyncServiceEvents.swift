import SyncBase

/// Something that an observer of a ``SyncService`` can see happen.
public enum SyncServiceEvent<Report: Sendable>: Sendable {
    /// A sync began.
    case began

    /// A stage of the running sync went on. Only for services that run a ``Synchronizer``.
    case progress(SyncProgress)

    /// A call of the running sync failed and will be tried again. Only for services that run a ``Synchronizer``.
    case retried(SyncError, attempt: Int, after: Duration)

    /// A sync succeeded.
    case succeeded(Report)

    /// A sync failed, or the lease was lost or could not be requested.
    case failed(any Error)

    /// A sync was cancelled.
    case cancelled

    /// The service began to wait for a lease that this process holds; `nil` if the holder is not known.
    case standingBy(SyncLeaseHolder?)

    /// The service was granted the lease.
    case tookOver
}

extension SyncServiceEvent: BufferedEvent {
    var retention: EventRetention {
        switch self {
        case .progress(let progress): .progress(of: progress.stage)
        case .began, .retried: .droppable
        case .succeeded, .failed, .cancelled, .standingBy, .tookOver: .kept
        }
    }
}

/// The events of a service as one observer sees them, from the moment it subscribed.
///
/// For a single `for await` loop. Slow observers never slow a service; see ``SyncEvents`` for what happens in a full
/// buffer: results of syncs and changes of the lease are kept until 1,024 of them wait. The sequence ends when the loop's
/// task is cancelled or the service is gone.
public struct SyncServiceEvents<Report: Sendable>: AsyncSequence, Sendable {
    /// The events of a service.
    public typealias Element = SyncServiceEvent<Report>
    /// The sequence never throws.
    public typealias Failure = Never

    let subscription: Subscription<Element>

    /// How many events were merged or dropped so far because the buffer was full.
    public var droppedCount: Int { subscription.droppedCount }

    /// Creates an iterator over the waiting and future events.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(subscription: subscription)
    }

    /// An iterator over the events of an observer, oldest first.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let subscription: Subscription<Element>

        /// Waits for the next event; `nil` when the task is cancelled or the service is gone.
        public mutating func next() async -> Element? {
            await subscription.next()
        }

        /// Waits for the next event; `nil` when the task is cancelled or the service is gone.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
            await subscription.next()
        }
    }
}
