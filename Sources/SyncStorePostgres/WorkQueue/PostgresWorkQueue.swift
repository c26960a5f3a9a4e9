#if Postgres
import Foundation
public import OneWaySynchronizer

/// Shares the downloads of a pass among any number of processes, on any number of hosts.
///
/// One process, usually the holder of a ``PostgresLease``, lists and plans: it drives a processor by way of ``sharing(_:)``.
///
///     let queue = PostgresWorkQueue("pages", at: "postgres://db.example.com/app")
///     let synchronizer = Synchronizer(processor: queue.sharing(pages), options: SyncOptions(concurrency: 256))
///     try await lease.withLease(waiting: .forever) { try await synchronizer.sync() }
///
/// Any others download, each with a processor of the same kind:
///
///     try await queue.worker(with: pages, concurrency: 8).run()
///
/// **Items.** What an item says about itself travels as JSON, so items are `Codable`. Each is downloaded by one worker at a time
/// (`FOR UPDATE SKIP LOCKED`, https://www.postgresql.org/docs/current/sql-select.html), in download order. Who waits is woken by `NOTIFY`.
///
/// **Workers that die.** A worker says that it lives three times within ``Options/visibilityTimeout``; the items of one that did not go to
/// others. An item whose workers died ``Options/maximumAttempts`` times is set aside, with an error that says so: it fails at once for
/// ``Options/asideDuration``, unless it changes or is released by ``releaseItemsSetAside()``.
///
/// **Failures.** What a worker's processor throws fails the call in the holder's pass, with the same text, and can be tried again there as a
/// `RetryPolicy` says. When a call of the pass is cancelled, its item is withdrawn: one that nobody has begun is not begun, one
/// that is being downloaded is cancelled and awaited, and what comes too late is ignored. Until the pass has heard of a first error, workers
/// go on.
///
/// The queue is a table, `sync_work`, that is not logged: after a crash of the server it is empty, and the pass that it was for has
/// failed. `sync_work_aside` has the items that are set aside. Both are made where they are missing, and may serve any number of queues.
public struct PostgresWorkQueue: Sendable {
    /// How a queue behaves; the same for all that use it.
    public struct Options: Sendable, Hashable {
        /// The schema of the queue's tables, which is made where it is missing; `public` by default.
        public var schema: String
        /// For how long a worker that says nothing keeps its items; 30 seconds by default, at least a few seconds beyond the longest time
        /// for which a process or its network may stand still.
        public var visibilityTimeout: Duration
        /// How many workers may die of an item before it is set aside; 3 by default, at least 1.
        public var maximumAttempts: Int
        /// For how long an item that was set aside fails without being tried; an hour by default.
        public var asideDuration: Duration

        /// The defaults are those of the properties.
        public init(
            schema: String = "public", visibilityTimeout: Duration = .seconds(30), maximumAttempts: Int = 3,
            asideDuration: Duration = .seconds(3600)
        ) {
            self.schema = schema
            self.visibilityTimeout = visibilityTimeout
            self.maximumAttempts = maximumAttempts
            self.asideDuration = asideDuration
        }
    }

    /// What the queue is for. Processes that use the same name in the same database and schema share it.
    public let name: String
    /// How it behaves.
    public let options: Options
    let connectionString: String

    /// A queue; nothing is asked for yet.
    ///
    /// - Parameters:
    ///   - name: What it is for; any text.
    ///   - connectionString: Where the server is, by libpq's rules (https://www.postgresql.org/docs/current/libpq-connect.html).
    ///   - options: How it behaves.
    public init(_ name: String, at connectionString: String, options: Options = Options()) {
        self.name = name
        self.connectionString = connectionString
        self.options = options
    }

    /// A processor whose items are downloaded by the queue's workers; all else is done by `processor` itself.
    ///
    /// Only one process at a time may run a pass with it: a second one takes the queue over, and the first one's calls fail. As many items
    /// as the pass's `SyncOptions.concurrency` says are in the queue at a time; let it be some times what all workers do at once.
    /// `SyncOptions.itemTimeout` counts from when an item enters the queue.
    public func sharing<Processor: SyncProcessor>(_ processor: Processor) -> SharedProcessor<Processor>
    where Processor.Item: Codable {
        SharedProcessor(processor, queue: self)
    }

    /// Something that downloads the queue's items, once it runs.
    ///
    /// - Parameters:
    ///   - processor: Downloads previews and contents; none of its other methods is called.
    ///   - concurrency: How many items at a time; 0, the default, is the number of active processors.
    public func worker<Processor: SyncProcessor>(
        with processor: Processor, concurrency: Int = 0
    ) -> PostgresWorkQueueWorker<Processor> where Processor.Item: Codable {
        PostgresWorkQueueWorker(
            processor, queue: self,
            concurrency: concurrency > 0 ? concurrency : ProcessInfo.processInfo.activeProcessorCount)
    }

    // MARK: Items set aside

    /// An item that is not tried any more, because workers died of it.
    public struct ItemSetAside: Hashable, Sendable {
        /// The item as JSON.
        public let item: String
        /// Whether its preview or its content was to be downloaded.
        public let stage: SyncStage
        /// How many workers died of it.
        public let attempts: Int
        /// The last one of them, such as `worker (process 4711 on web-1)`.
        public let worker: String
    }

    /// What is set aside, oldest first; also what will be tried again because its time is over.
    ///
    /// - Throws: ``PostgresError``; `CancellationError`.
    public func itemsSetAside() async throws -> [ItemSetAside] {
        try await WorkQueueLink(self, role: .visitor).itemsSetAside()
    }

    /// Has everything that is set aside tried again when a pass asks for it.
    ///
    /// - Throws: ``PostgresError``; `CancellationError`.
    public func releaseItemsSetAside() async throws {
        try await WorkQueueLink(self, role: .visitor).releaseItemsSetAside()
    }
}
#endif
