public import Foundation
public import OneWaySynchronizer
import SyncBase

/// Keeps an entity equal to a source: by passes on a schedule, and by the source's own changes
/// between them.
///
///     let live = LiveSync(
///         store, from: users, into: "User", feed: HTTPEventStream(eventsURL),
///         schedule: SyncSchedule(interval: .seconds(3600)))
///     try await live.service.run()
///
/// A pass and the changes take turns, so that a page that was read before a change cannot undo it.
/// After a gap in the feed, or a change that cannot be applied, the next pass begins early, and
/// again if it fails. The feed and webhooks are taken only while the service runs, and with a lease
/// only while it holds the lease.
public final class LiveSync: Sendable {
    /// A snapshot of the changes that were received.
    public struct Health: Sendable {
        /// Whether the feed is connected.
        public internal(set) var isConnected = false
        /// Whether the source ended the feed for good. Only passes bring its changes then.
        public internal(set) var hasEnded = false
        /// When changes were last applied; nil if none were.
        public internal(set) var lastChange: Date?
        /// The number of changes that were applied.
        public internal(set) var changeCount = 0
        /// The number of changes that could not be applied.
        public internal(set) var failureCount = 0
        /// The number of gaps, connections that did not continue the one before included.
        public internal(set) var gapCount = 0
        /// The last error of the feed or of a change; nil if there was none.
        public internal(set) var lastError: (any Error)?
    }

    /// The service of the passes: runs and stops everything, and has the health and events of
    /// passes.
    public let service: SyncService<RemoteSyncResult>
    private let inbox: LiveInbox

    /// Creates a sync that does nothing until its service is run.
    ///
    /// - Parameters:
    ///   - store: The store.
    ///   - source: The source of the passes.
    ///   - entity: The entity of the objects.
    ///   - options: What passes and changes may do, and how.
    ///   - versionAttribute: The attribute that orders the versions of an object; nil, the default,
    ///     to apply changes in the order of their arrival. Webhooks can arrive in another order
    ///     than they were sent in.
    ///   - feed: The feed of changes; nil, the default, if only ``apply(_:)`` brings some.
    ///   - schedule: When passes run. A pass after a gap waits until `failureDelay`, or else the
    ///     smaller of `interval` and a minute, has passed since the pass before began. If it fails,
    ///     that time doubles with each further failure, up to `interval`.
    ///   - lease: The lease that lets one service at a time sync; none by default.
    ///   - clock: The clock for waits.
    ///   - date: The date source for the health.
    public init(
        _ store: JSONStore, from source: some RemoteSource, into entity: String,
        options: StoreSyncOptions = StoreSyncOptions(), newerBy versionAttribute: String? = nil,
        feed: (any RemoteFeed)? = nil, schedule: SyncSchedule, lease: (any SyncLease)? = nil,
        clock: some Clock<Duration> = ContinuousClock(), date: @escaping @Sendable () -> Date = { Date() }
    ) {
        let clock = SyncClock(clock)
        let shortest = min(schedule.interval > .zero ? schedule.interval : .seconds(1), .seconds(60))
        let delay = schedule.failureDelay ?? shortest
        let passSchedule = SyncSchedule(
            interval: delay, jitter: 0, failureDelay: delay, maxFailureDelay: max(delay, schedule.interval))
        let inbox = LiveInbox(feed: feed, passSchedule: passSchedule, clock: clock, date: date) {
            try await store.apply($0, into: entity, options: options, newerBy: versionAttribute)
        }
        self.inbox = inbox
        service = SyncService(
            schedule: schedule, lease: lease, clock: clock, date: date, companion: { await inbox.run() },
            sync: { try await inbox.pass { try await store.sync(from: source, into: entity, options: options) } })
        inbox.requestPass = { [weak service] in service?.trigger() }
    }

    /// A snapshot of the changes that were received.
    public var health: Health { inbox.health }

    /// Applies changes that arrived by another way than the feed, such as a webhook.
    ///
    /// Waits while a pass runs. Answer the webhook with a success only after this has returned; on
    /// an error, answer 503, so that it is sent again.
    ///
    /// - Throws: ``LiveSync/Refusal``; the errors of
    ///   ``JSONStore/apply(_:into:options:newerBy:)``; `CancellationError` if the task is cancelled
    ///   before the changes have their turn.
    @discardableResult
    public func apply(_ changes: [RemoteChange]) async throws -> RemoteSyncResult {
        try await inbox.apply(changes)
    }
}
