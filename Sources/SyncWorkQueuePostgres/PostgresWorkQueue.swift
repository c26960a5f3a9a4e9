#if Postgres
public import Foundation
import OneWayPostgresClient
public import OneWaySynchronizer

/// A queue that shares the downloads of a pass among any number of processes, on any number of
/// hosts.
///
/// One process, usually the holder of a `PostgresLease`, lists and plans. It drives its processor
/// through ``sharing(_:)``:
///
///     let queue = PostgresWorkQueue("pages", at: "postgres://db.example.com/app")
///     let synchronizer = Synchronizer(
///         processor: queue.sharing(pages), options: SyncOptions(concurrency: 256))
///     try await lease.withLease(waiting: .forever) { try await synchronizer.sync() }
///
/// Any others download, each with a processor of the same kind:
///
///     try await queue.worker(with: pages, concurrency: 8).run()
///
/// **Items** travel as JSON, so they are `Codable`. Each is downloaded by one worker at a time, in
/// download order. Workers and the holder are woken by `NOTIFY`.
///
/// **Dead workers.** A worker reports three times within ``Options/visibilityTimeout`` that it
/// lives, on a thread that processors cannot block. The items of one that did not are given to
/// others. Each of them may have killed the worker, so each is tried alone from then on. An item
/// that workers died of ``Options/maximumAttempts`` times is set aside: it fails at once for
/// ``Options/asideDuration``, unless it changes or ``releaseItemsSetAside(_:)`` lets it be tried
/// again. It stays in ``itemsSetAside()`` until it succeeds.
///
/// **Failures.** An error of a worker's processor fails the call in the holder's pass with the same
/// text; a `RetryPolicy` of the pass can retry it. When a call of the pass is cancelled, its item
/// is withdrawn: it is not begun, or it is cancelled and awaited. Workers continue until the pass
/// has learned of a first error.
///
/// **Generations.** Each pass has a ``generation``, which is higher than those before. A pass that
/// begins takes the queue over: the server accepts no more items from an earlier holder, and its
/// calls fail.
///
/// The items are in the table `sync_work`, which is not logged: after a crash of the server it is
/// empty, and the pass has failed. `sync_work_pass` has the generations, `sync_work_aside` the
/// items set aside. The tables are created if missing and can serve any number of queues. A queue
/// needs the notifications of its session, so a pooler that shares sessions among clients is
/// refused.
public struct PostgresWorkQueue: Sendable {
    /// Options of a queue; the same for all that use it.
    public struct Options: Sendable, Hashable {
        /// The schema of the queue's tables, created if missing; `public` by default.
        public var schema: String
        /// How long a worker that does not report keeps its items; 30 seconds by default, at least
        /// one second.
        ///
        /// Should be some seconds longer than a process or its network can stand still.
        public var visibilityTimeout: Duration
        /// How many workers may die of an item before it is set aside; 3 by default, at least 1.
        public var maximumAttempts: Int
        /// How long an item that is set aside fails without being tried; one hour by default.
        public var asideDuration: Duration
        /// Whether connections go through a pooler that gives each client a session of its own;
        /// false by default.
        public var isBehindSessionPooler: Bool

        /// Creates options.
        public init(
            schema: String = "public", visibilityTimeout: Duration = .seconds(30), maximumAttempts: Int = 3,
            asideDuration: Duration = .seconds(3600), isBehindSessionPooler: Bool = false
        ) {
            self.schema = schema
            self.visibilityTimeout = visibilityTimeout
            self.maximumAttempts = maximumAttempts
            self.asideDuration = asideDuration
            self.isBehindSessionPooler = isBehindSessionPooler
        }

        /// The same options within the limits of the server's types.
        fileprivate var bounded: Self {
            let longest = Duration.seconds(100 * 365 * 86_400)
            var bounded = self
            bounded.visibilityTimeout = min(max(visibilityTimeout, .seconds(1)), longest)
            bounded.maximumAttempts = min(max(maximumAttempts, 1), Int(Int32.max))
            bounded.asideDuration = min(max(asideDuration, .zero), longest)
            return bounded
        }
    }

    /// The generation of the pass that the current call of a processor belongs to; nil outside of
    /// such calls.
    ///
    /// A fencing token: a target that remembers the highest generation it has seen can refuse
    /// writes of an earlier pass, whose process may have been frozen meanwhile. Set in the calls of
    /// the holder's processor and of the workers'.
    @TaskLocal public static var generation: Int64?

    /// What the queue is for. Processes that use the same name, database and schema share it.
    public let name: String
    /// The options of the queue, within their limits.
    public let options: Options
    let address: PostgresAddress

    /// Creates a queue. Does not connect.
    ///
    /// - Parameters:
    ///   - name: What the queue is for; any text.
    ///   - connectionString: The server, by libpq's rules
    ///     (https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING).
    ///   - options: The options, the same for all that use the queue.
    public init(_ name: String, at connectionString: String, options: Options = Options()) {
        self.name = name
        self.options = options.bounded
        address = PostgresAddress(connectionString)
    }

    /// Returns a processor whose items the queue's workers download; `processor` does everything
    /// else.
    ///
    /// One process at a time runs a pass with it: a second one takes the queue over, and the calls
    /// of the first one fail. As many items are in the queue at a time as `SyncOptions.concurrency`
    /// says; it should be several times what all workers do at once. `SyncOptions.itemTimeout`
    /// counts from when an item enters the queue.
    public func sharing<Processor: SyncProcessor>(_ processor: Processor) -> SharedProcessor<Processor>
    where Processor.Item: Codable {
        SharedProcessor(processor, queue: self)
    }

    /// Returns a worker that downloads the queue's items while it runs.
    ///
    /// - Parameters:
    ///   - processor: Downloads previews and contents; its other methods are not called.
    ///   - concurrency: How many items at a time; 0, the default, for the number of active
    ///     processors.
    public func worker<Processor: SyncProcessor>(
        with processor: Processor, concurrency: Int = 0
    ) -> Worker<Processor> where Processor.Item: Codable {
        Worker(
            processor, queue: self,
            concurrency: concurrency > 0 ? concurrency : ProcessInfo.processInfo.activeProcessorCount)
    }

    // MARK: Items set aside

    /// An item that workers died of.
    public struct ItemSetAside: Hashable, Sendable {
        /// The item's key as text.
        public let key: String
        /// The item as JSON.
        public let item: String
        /// Whether the preview or the content was downloaded.
        public let stage: SyncStage
        /// How many workers died of it.
        public let attempts: Int
        /// The last of them, such as `worker (process 4711 on web-1)`.
        public let worker: String
        /// When the item was set aside, by the clock of the server.
        public let since: Date
        /// Whether the item may be tried again before its time is over.
        public let isReleased: Bool
    }

    /// Returns the items that are set aside and have not succeeded since, oldest first.
    ///
    /// - Throws: `PostgresError`; `CancellationError`.
    public func itemsSetAside() async throws -> [ItemSetAside] {
        try await WorkQueueLink(self, role: .visitor).itemsSetAside()
    }

    /// Lets items be tried again, each alone, by the next pass that asks for them.
    ///
    /// - Parameter items: The items; nil, the default, for all of the queue.
    /// - Throws: `PostgresError`; `CancellationError`.
    public func releaseItemsSetAside(_ items: [ItemSetAside]? = nil) async throws {
        try await WorkQueueLink(self, role: .visitor).release(items)
    }
}
#endif
