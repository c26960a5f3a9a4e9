#if Postgres
public import Foundation
import OneWayPostgresClient
public import OneWaySynchronizer

/// A queue that shares the downloads of a pass among processes on any number of hosts.
///
/// One process, usually the holder of a `PostgresLease`, lists and plans. It runs its processor
/// through ``sharing(_:)``:
///
///     let queue = PostgresWorkQueue("pages", at: "postgres://db.example.com/app")
///     let synchronizer = Synchronizer(
///         processor: queue.sharing(pages), options: SyncOptions(concurrency: 256))
///     try await lease.withLease(waiting: .forever) { try await synchronizer.sync() }
///
/// Any number of other processes download, each with the same kind of processor:
///
///     try await queue.worker(with: pages, concurrency: 8).run()
///
/// **Items** are sent as JSON, so they are `Codable`. Each item is downloaded by one worker at a
/// time, in download order. `NOTIFY` wakes workers and the holder.
///
/// **Dead workers.** A worker reports three times within ``Options/visibilityTimeout`` that it is
/// alive, on a thread that processors cannot block. If it does not, its items are given to other
/// workers. Because each of the items may have killed the worker, each is then tried alone. An item
/// that ``Options/maximumAttempts`` workers died of is set aside: it fails immediately for
/// ``Options/asideDuration``, unless it changes or ``releaseItemsSetAside(_:)`` allows a retry. It
/// stays in ``itemsSetAside()`` until it succeeds.
///
/// **Failures.** An error of a worker's processor fails the call in the holder's pass with the same
/// text, and a `RetryPolicy` of the pass can retry it. When a call of the pass is cancelled, its
/// item is withdrawn: either it is not begun, or its download is cancelled and awaited. After a
/// first error, workers continue until the pass knows of it.
///
/// **Rolling deployments.** Raise ``Options/itemVersion`` when the items get another form: workers
/// leave items of a newer version to others. A worker returns an item that it cannot decode to the
/// queue, and ends with ``Failure/unreadableItems(_:)`` after three in succession.
///
/// **Lost connections.** A holder or a worker whose connection ends, or whose statement somebody
/// cancels, connects again. The holder finds its pass by its token and continues it, also after a
/// crash of the server, unless another pass has begun or the server is out of reach for
/// ``Options/visibilityTimeout``. An item may then be downloaded again.
///
/// **Generations.** Each pass has a higher ``generation`` than the passes before it. A new pass
/// takes the queue over: the server accepts no more items from an earlier holder, and the earlier
/// holder's calls fail.
///
/// The items are in the table `_sync_work`, which is unlogged: after a crash of the server it is
/// empty, and the holder offers its items again. The next pass removes what an earlier one has
/// left. `_sync_work_passes` has the generations, and `_sync_work_aside` the
/// items set aside. The tables are created if missing, and can serve any number of queues. A queue
/// needs the notifications of its session, so a pooler that shares sessions among clients is
/// rejected.
public struct PostgresWorkQueue: Sendable {
    /// Options of a queue, which must be the same for all processes, except for ``itemVersion``.
    public struct Options: Sendable, Hashable {
        /// The schema of the queue's tables, created if missing; `public` by default.
        public var schema: String
        /// How long a worker that does not report keeps its items, and how long a holder tries to
        /// reach the server again; 30 seconds by default, at least one second.
        ///
        /// Should be a few seconds longer than any interruption of a process or its network.
        public var visibilityTimeout: Duration
        /// How many workers may die of an item before it is set aside; 3 by default, at least 1.
        public var maximumAttempts: Int
        /// The time for which an item set aside fails without being tried; one hour by default.
        public var asideDuration: Duration
        /// The version of the items' JSON form; 0 by default.
        ///
        /// The holder's items have its version. A worker takes items of its own version and of
        /// lower ones.
        public var itemVersion: Int
        /// Whether connections go through a pooler that gives each client its own session; false by
        /// default.
        public var isBehindSessionPooler: Bool
        /// The time of downloads that a worker claims ahead.
        package var aheadDuration = Duration.milliseconds(20)
        /// How long items that were claimed ahead may wait for others that take longer than those
        /// before.
        package var aheadWaitLimit = Duration.seconds(1)

        /// Creates options.
        public init(
            schema: String = "public", visibilityTimeout: Duration = .seconds(30), maximumAttempts: Int = 3,
            asideDuration: Duration = .seconds(3600), itemVersion: Int = 0, isBehindSessionPooler: Bool = false
        ) {
            self.schema = schema
            self.visibilityTimeout = visibilityTimeout
            self.maximumAttempts = maximumAttempts
            self.asideDuration = asideDuration
            self.itemVersion = itemVersion
            self.isBehindSessionPooler = isBehindSessionPooler
        }

        /// The same options, limited to the ranges of the server's types.
        fileprivate var bounded: Self {
            let longest = Duration.seconds(100 * 365 * 86_400)
            var bounded = self
            bounded.visibilityTimeout = min(max(visibilityTimeout, .seconds(1)), longest)
            bounded.maximumAttempts = min(max(maximumAttempts, 1), Int(Int32.max))
            bounded.asideDuration = min(max(asideDuration, .zero), longest)
            return bounded
        }
    }

    /// The generation of the pass to which the current call of a processor belongs; nil outside
    /// such calls.
    ///
    /// This is a fencing token: a target that stores the highest generation so far can reject
    /// writes of an earlier pass, whose process may have been frozen in the meantime. Set in calls
    /// of the holder's processor and of the workers' processors.
    @TaskLocal public static var generation: Int64?

    /// The name of the queue. Processes that use the same name, database and schema share it.
    public let name: String
    /// The options of the queue, within their limits.
    public let options: Options
    let address: PostgresAddress

    /// Creates a queue. Does not connect.
    ///
    /// - Parameters:
    ///   - name: The name of the queue; any text without NUL.
    ///   - connectionString: The server, in libpq's format
    ///     (https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING).
    ///   - options: The options, which must be the same for all processes.
    public init(_ name: String, at connectionString: String, options: Options = Options()) {
        self.name = name
        self.options = options.bounded
        address = PostgresAddress(connectionString)
    }

    /// Returns a processor whose items the queue's workers download; `processor` does everything
    /// else.
    ///
    /// Only one process at a time runs a pass with it. A second process takes the queue over, and
    /// the calls of the first one fail. The queue has at most `SyncOptions.concurrency` items at a
    /// time, which should be several times the number of items that all workers download at once.
    /// `SyncOptions.itemTimeout` counts from when an item enters the queue.
    public func sharing<Processor: SyncProcessor>(_ processor: Processor) -> SharedProcessor<Processor>
    where Processor.Item: Codable {
        SharedProcessor(processor, queue: self)
    }

    /// Returns a worker that downloads the queue's items while it runs.
    ///
    /// If items take less than 20 ms on average, it claims up to eight times `concurrency` ahead,
    /// and reports several at a time. What it could not begin within a second is returned to the
    /// queue. `RetryPolicy.Attempt.current` is nil in its calls.
    ///
    /// - Parameters:
    ///   - processor: Downloads previews and contents; its other methods are not called.
    ///   - concurrency: The number of concurrent downloads; 0, the default, for the number of
    ///     active processors.
    public func worker<Processor: SyncProcessor>(
        with processor: Processor, concurrency: Int = 0
    ) -> Worker<Processor> where Processor.Item: Codable {
        Worker(
            processor, queue: self,
            concurrency: concurrency > 0 ? concurrency : ProcessInfo.processInfo.activeProcessorCount)
    }

    // MARK: Items set aside

    /// An item that was set aside because workers died of it.
    public struct ItemSetAside: Hashable, Sendable {
        /// The item's key as text.
        public let key: String
        /// The item as JSON.
        public let item: String
        /// Whether the preview or the content was being downloaded.
        public let stage: SyncStage
        /// The number of workers that died of it.
        public let attempts: Int
        /// The last of these workers, such as `worker (process 4711 on web-1)`.
        public let worker: String
        /// When the item was set aside, by the server's clock.
        public let since: Date
        /// Whether the item may be tried again before its time is over.
        public let isReleased: Bool
    }

    /// Returns the items that were set aside and have not succeeded since, the oldest first.
    ///
    /// - Throws: `PostgresError`; `CancellationError`.
    public func itemsSetAside() async throws -> [ItemSetAside] {
        try await WorkQueueLink(self, role: .visitor).itemsSetAside()
    }

    /// Allows items to be tried again, each alone, by the next pass that requests them.
    ///
    /// - Parameter items: The items; nil, the default, for all items of the queue.
    /// - Throws: `PostgresError`; `CancellationError`.
    public func releaseItemsSetAside(_ items: [ItemSetAside]? = nil) async throws {
        try await WorkQueueLink(self, role: .visitor).release(items)
    }
}
#endif
