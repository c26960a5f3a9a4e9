import Foundation
import Logging
import Metrics
import OneWaySyncSQLite
import ServiceLifecycle

/// Keeps the users of a database equal to those of an API.
///
/// Several servers can share the database: one of them syncs, the others stand by, and all of them
/// serve.
struct Mirror: Service {
    let feed: StatusFeed
    let store: any CommitSignals.Source
    private let service: SyncService<SyncSummary>
    private let logger: Logger

    /// Opens the database.
    ///
    /// - Parameters:
    ///   - source: The address of the users.
    ///   - database: The path of an SQLite file, or a URL of PostgreSQL.
    ///   - interval: The time from one sync to the next.
    init(of source: URL, in database: String, every interval: Duration, logger: Logger) async throws {
        let database = try await MirrorDatabase(at: database)
        let store = database.store
        let feed = StatusFeed(source: source)
        let users = HTTPJSONSource(
            source,
            api: HTTPAPI(
                pages: .link,
                delta: HTTPAPI.Delta(
                    cursor: .element(keyPath: "updated_at"), parameter: "updated_since",
                    tombstones: .flag(keyPath: "deleted"))),
            // The service retries by itself, and its status should report a failure soon.
            client: HTTPClient(retry: RetryPolicy(maxAttempts: 3)))
        service = SyncService(
            schedule: SyncSchedule(interval: interval, failureDelay: .seconds(1), maxFailureDelay: .seconds(60)),
            lease: database.lease
        ) {
            let limit = StoreSyncOptions(removalLimit: RemovalLimit(fraction: 0.5))
            let result = try await store.sync(User.self, from: users, options: limit) { progress in
                feed.update { $0.progress = progress }
            }
            return SyncSummary(result)
        }
        self.store = store
        self.feed = feed
        self.logger = logger
    }

    /// Requests a sync now.
    func trigger() {
        service.trigger()
    }

    /// The state of the syncs.
    var health: SyncService<SyncSummary>.Health { service.health }

    /// Syncs and reports until the server shuts down.
    ///
    /// What the database holds is read again after each commit, also after those of other servers.
    func run() async throws {
        let (events, commits) = (service.events, try await store.commits())
        let latest = store.values(
            of: User.self, orderedBy: \.updatedAt.descending, \.id, limit: 12, including: \.company)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                await report("users") { for try await users in latest { feed.update { $0.latest = users } } }
            }
            group.addTask {
                await report("syncs") {
                    repeat { try await readDatabase() } while await commits.next() != nil
                }
            }
            group.addTask {
                for await event in events { note(event) }
            }
            try await withGracefulShutdownHandler {
                try await service.run()
            } onGracefulShutdown: {
                // A running sync may finish, unless it takes too long.
                service.requestStop(within: .seconds(10))
            }
            group.cancelAll()
        }
    }

    /// Runs something that ends with the server, and logs an error that ends it earlier.
    private func report(_ subject: String, _ body: () async throws -> Void) async {
        do { try await body() } catch {
            if !Task.isCancelled { logger.error("no news of \(subject) any more", metadata: ["error": "\(error)"]) }
        }
    }

    private func note(_ event: SyncService<SyncSummary>.Event) {
        switch event {
        case .began:
            logger.debug("sync began")
        case .succeeded(let summary):
            logger.info(
                "sync succeeded",
                metadata: [
                    "inserted": "\(summary.inserted)", "updated": "\(summary.updated)", "deleted": "\(summary.deleted)",
                ])
            count("succeeded")
            for (change, number) in [
                ("inserted", summary.inserted), ("updated", summary.updated), ("deleted", summary.deleted),
            ] {
                Counter(label: "sync_objects_total", dimensions: [("change", change)]).increment(by: number)
            }
            Gauge(label: "sync_last_success_timestamp_seconds").record(Date().timeIntervalSince1970)
        case .failed(let error):
            logger.error("sync failed", metadata: ["error": "\(error)"])
            count("failed")
        case .cancelled: count("cancelled")
        case .standingBy(let holder):
            logger.info("standing by", metadata: ["holder": "\(holder.map { "\($0)" } ?? "unknown")"])
        case .tookOver: logger.info("took over")
        case .progress, .retried: break
        }
        let health = health
        Gauge(label: "sync_is_holder").record(health.isStandingBy ? 0 : 1)
        Gauge(label: "sync_consecutive_failures").record(health.consecutiveFailures)
        feed.update { status in
            status.health = health
            if !health.isSyncing { status.progress = nil }
        }
    }

    private func count(_ result: String) {
        Counter(label: "sync_passes_total", dimensions: [("result", result)]).increment()
    }

    /// Puts the number of objects and the last syncs into the feed.
    private func readDatabase() async throws {
        let passes = try await store.passes(limit: 12)
        let (users, companies) = (try await store.count(User.self), try await store.count(Company.self))
        feed.update { status in
            status.passes = passes.map(ServerStatus.Pass.init)
            status.counts = ["users": users, "companies": companies]
        }
    }
}
