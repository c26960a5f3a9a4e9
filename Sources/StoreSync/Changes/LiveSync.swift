public import Foundation
public import OneWaySynchronizer
import SyncBase
public import SyncModel
public import SyncStore

/// Keeps an entity equal to a source with scheduled passes, and with the source's own changes
/// between them.
///
///     let live = LiveSync(
///         store, User.self, from: users, feed: HTTPEventStream(eventsURL),
///         schedule: SyncSchedule(interval: .seconds(3600)))
///     try await live.service.run()
///
/// Passes and changes never overlap, so a page that was read before a change cannot undo it. This
/// holds for all live syncs of an open `SQLiteStore`, `PostgresStore` or `MemoryStore` together; a
/// store of your own needs one live sync for all its lists. After a gap in the feed, or a change
/// that cannot be applied, the next pass begins early, and again if it fails. Changes from the feed
/// and from webhooks are accepted only while the service runs and, if it has a lease, holds the
/// lease.
public final class LiveSync: Sendable {
    /// A snapshot of the changes received so far.
    public struct Health: Sendable {
        /// Whether the feed is connected.
        public internal(set) var isConnected = false
        /// Whether the source ended the feed permanently. Only passes bring its changes from then
        /// on.
        public internal(set) var hasEnded = false
        /// When changes were last applied; nil if none were.
        public internal(set) var lastChange: Date?
        /// The number of changes that were applied as a whole.
        public internal(set) var changeCount = 0
        /// The number of changes that could not be applied, in whole or in part. An object that the
        /// store refuses because of a unique value counts as a change.
        public internal(set) var failureCount = 0
        /// The number of webhooks and events whose changes wait for their turn, such as during a
        /// pass.
        public internal(set) var waitingCount = 0
        /// The number of gaps, including connections that did not continue the previous one.
        public internal(set) var gapCount = 0
        /// The last error of the feed or of a change; nil if there was none. A `SyncError.Recorded`
        /// after decoding.
        public internal(set) var lastError: (any Error)?
    }

    /// The service that runs the passes, of all lists in order. It starts and stops everything, and
    /// has the health and events of the passes.
    ///
    /// A list that fails does not stop the others. If there are several, the error of the pass is a
    /// ``LiveSync/PassFailure``.
    public let service: SyncService<[StoreSyncResult]>
    private let inbox: LiveInbox

    /// Creates a sync of a type's objects that is idle until its service runs.
    ///
    /// - Parameters:
    ///   - store: The store.
    ///   - type: The type of the objects.
    ///   - source: The source of the passes.
    ///   - options: The options of passes and changes.
    ///   - version: The property that orders the versions of an object, as
    ///     ``StoreSyncOptions/newerBy``. Webhooks can arrive in another order than they were sent
    ///     in, and a list can come from a replica that lags. Nil, the default, leaves it to the
    ///     options.
    ///   - feed: The feed of changes; nil, the default, if only ``apply(_:)`` delivers changes.
    ///   - schedule: When passes run. A pass after a gap waits until `failureDelay` has passed
    ///     since the previous pass began; without one, the smaller of `interval` and a minute. Each
    ///     further failure doubles that time, up to `interval`.
    ///   - lease: The lease that lets one service at a time sync; nil by default.
    /// - Throws: `SyncDeclarationError` for a key path that leads to no coded property.
    public convenience init<Object: SyncObject>(
        _ store: some Store, _ type: Object.Type, from source: some RemoteSource,
        options: StoreSyncOptions = StoreSyncOptions(), newerBy version: PartialKeyPath<Object>? = nil,
        feed: (any RemoteFeed)? = nil, schedule: SyncSchedule, lease: (any SyncLease)? = nil
    ) throws {
        let list = try List(type, from: source, options: options, newerBy: version)
        self.init(store, [list], feed: feed, schedule: schedule, lease: lease)
    }

    /// Creates a sync of an entity that is known only at run time. It is idle until its service
    /// runs.
    public convenience init(
        _ store: some Store, _ entity: String, from source: some RemoteSource,
        options: StoreSyncOptions = StoreSyncOptions(), feed: (any RemoteFeed)? = nil, schedule: SyncSchedule,
        lease: (any SyncLease)? = nil
    ) {
        let list = List(entity, from: source, options: options)
        self.init(store, [list], feed: feed, schedule: schedule, lease: lease)
    }

    /// Creates a sync of several lists, whose changes arrive by one feed or webhook. It is idle
    /// until its service runs.
    ///
    /// Changes are applied in the order of their arrival, whatever their entities. A change belongs
    /// to the list of the entity that it names or of an entity that it inherits from, and without a
    /// name to the first list. Of two lists of one entity, the first one has the options of
    /// changes.
    ///
    /// - Parameters:
    ///   - store: The store.
    ///   - lists: The lists, at least one, in the order of their passes; list objects before others
    ///     that name them.
    ///   - feed: The feed of changes; nil, the default, if only ``apply(_:)`` delivers changes.
    ///   - schedule: When passes run, as for one list.
    ///   - lease: The lease that lets one service at a time sync; nil by default.
    public convenience init(
        _ store: some Store, _ lists: [List], feed: (any RemoteFeed)? = nil, schedule: SyncSchedule,
        lease: (any SyncLease)? = nil
    ) {
        self.init(store, lists, feed: feed, schedule: schedule, lease: lease, clock: ContinuousClock())
    }

    /// Creates a sync with a clock for waits and a date source for the health.
    package init(
        _ store: some Store, _ lists: [List], feed: (any RemoteFeed)? = nil, schedule: SyncSchedule,
        lease: (any SyncLease)? = nil, clock: some Clock<Duration>,
        date: @escaping @Sendable () -> Date = { Date() }
    ) {
        let clock = SyncClock(clock)
        let shortest = min(schedule.interval > .zero ? schedule.interval : .seconds(1), .seconds(60))
        let delay = schedule.failureDelay ?? shortest
        let passSchedule = SyncSchedule(
            interval: delay, jitter: 0, failureDelay: delay, maxFailureDelay: max(delay, schedule.interval))
        let turns = store.model.companion(SharedSyncs.self)?.turns ?? TransactionQueue()
        let inbox = LiveInbox(feed: feed, passSchedule: passSchedule, clock: clock, date: date, turns: turns) {
            changes in
            try await store.syncing.apply(changes) { entity in
                guard let entity else {
                    guard let first = lists.first else { throw Refusal.unknownEntity("an entity without a name") }
                    return first.rules
                }
                let list =
                    lists.first { $0.rules.entity == entity }
                    ?? lists.first { list in
                        store.model[list.rules.entity].flatMap { store.model[entity]?.isKind(of: $0) } ?? false
                    }
                guard var rules = list?.rules else { throw Refusal.unknownEntity(entity) }
                rules.entity = entity
                return rules
            }
        }
        self.inbox = inbox
        service = SyncService(
            schedule: schedule, lease: lease, clock: clock, date: date, companion: { await inbox.run() },
            onStop: { inbox.finishEvents() },
            sync: {
                try await inbox.pass(
                    lists.map { list in (list.rules.entity, { try await list.sync(store.syncing) }) })
            })
        inbox.requestPass = { [weak service] in service?.trigger() }
    }

    /// A snapshot of the changes received so far.
    public var health: Health { inbox.health }

    /// The events from now on, for one observer; the buffer holds 256 events. Each access creates a
    /// new observer, whose sequence ends when the service has stopped.
    public var events: SyncEvents<Event> { events(bufferSize: 256) }

    /// The events from now on, for one observer.
    ///
    /// - Parameter bufferSize: The number of events that wait for the observer before some are
    ///   dropped; at least 1. Gaps, failures and the end are dropped last.
    public func events(bufferSize: Int) -> SyncEvents<Event> {
        inbox.events(bufferSize: bufferSize)
    }

    /// Applies changes that did not arrive through the feed, such as those of a webhook, in one
    /// transaction.
    ///
    /// Waits while a pass runs. Objects that are rejected are in the result, count as a failure and
    /// request a pass. Answer a webhook only after this method has returned; see
    /// ``WebhookVerifier/answer(_:header:rejectedStatus:handle:)``.
    ///
    /// - Throws: ``LiveSync/Refusal``; the errors of `Store.apply(_:_:options:newerBy:)`;
    ///   `CancellationError` if the task is cancelled before the changes have their turn.
    @discardableResult
    public func apply(_ changes: [RemoteChange]) async throws -> StoreSyncResult {
        try await inbox.apply(changes)
    }
}

extension LiveSync.Health: Codable {
    private enum CodingKeys: CodingKey {
        case isConnected, hasEnded, lastChange, changeCount, failureCount, waitingCount, gapCount, lastError
    }

    /// Decodes a snapshot. Its error becomes a `SyncError.Recorded`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        isConnected = try container.decode(Bool.self, forKey: .isConnected)
        hasEnded = try container.decode(Bool.self, forKey: .hasEnded)
        lastChange = try container.decodeIfPresent(Date.self, forKey: .lastChange)
        changeCount = try container.decode(Int.self, forKey: .changeCount)
        failureCount = try container.decode(Int.self, forKey: .failureCount)
        waitingCount = try container.decode(Int.self, forKey: .waitingCount)
        gapCount = try container.decode(Int.self, forKey: .gapCount)
        lastError = try container.decodeIfPresent(SyncError.Recorded.self, forKey: .lastError)
    }

    /// Encodes the snapshot, with its error as text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(isConnected, forKey: .isConnected)
        try container.encode(hasEnded, forKey: .hasEnded)
        try container.encodeIfPresent(lastChange, forKey: .lastChange)
        try container.encode(changeCount, forKey: .changeCount)
        try container.encode(failureCount, forKey: .failureCount)
        try container.encode(waitingCount, forKey: .waitingCount)
        try container.encode(gapCount, forKey: .gapCount)
        try container.encodeIfPresent(lastError.map { SyncError.Recorded($0) }, forKey: .lastError)
    }
}

extension LiveSync.Health: CustomStringConvertible {
    /// The connection and the counts, with the last error's `description`.
    public var description: String {
        let state = isConnected ? "connected" : hasEnded ? "ended" : "not connected"
        let reason = lastError.map { "; last error: \(ErrorText.describing($0))" } ?? ""
        return "\(state); \(changeCount) changes, \(failureCount) failed, \(gapCount) gaps\(reason)"
    }
}
