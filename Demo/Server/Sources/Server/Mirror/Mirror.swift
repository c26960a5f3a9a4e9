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
    let json: JSONStore
    let feed: StatusFeed
    private let observed: ObservedStore
    private let service: SyncService<SyncSummary>
    private let logger: Logger

    /// Opens the database.
    ///
    /// - Parameters:
    ///   - source: The address of the users.
    ///   - database: The path of an SQLite file, or a URL of PostgreSQL.
    ///   - interval: The time from one sync to the next.
    init(of source: URL, in database: String, every interval: Duration, logger: Logger) async throws {
        let mapper = try RecordMapper(.mirror())
        let database = try await MirrorDatabase(at: database, model: mapper.model)
        let observed = ObservedStore(database.store)
        let json = try JSONStore(observed, mapper: mapper, history: SyncHistory(recordsUnchanged: false))
        let feed = StatusFeed(source: source)
        let users = HTTPJSONSource(
            source, pages: .link,
            delta: HTTPDelta(
                cursor: .element(keyPath: "updated_at"), parameter: "updated_since",
                tombstones: .flag(keyPath: "deleted")))
        service = SyncService(
            schedule: SyncSchedule(interval: interval, failureDelay: .seconds(1), maxFailureDelay: .seconds(60)),
            lease: database.lease
        ) {
            let limit = StoreSyncOptions(removalLimit: RemovalLimit(fraction: 0.5))
            let result = try await json.sync(from: users, into: "User", options: limit) { progress in
                feed.update { $0.progress = ServerStatus.Progress(progress) }
            }
            return SyncSummary(result)
        }
        self.observed = observed
        self.json = json
        self.feed = feed
        self.logger = logger
    }

    /// Requests a sync now.
    func trigger() {
        service.trigger()
    }

    /// The state of the syncs.
    var health: SyncHealth<SyncSummary> { service.health }

    /// Syncs and reports until the server shuts down.
    func run() async throws {
        let (changes, events) = (observed.changes(), service.events)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for await change in changes { feed.update { $0.add(change) } }
            }
            group.addTask {
                for await event in events { await note(event) }
            }
            await refresh()
            try await withGracefulShutdownHandler {
                try await service.run()
            } onGracefulShutdown: {
                // A running sync may finish, unless it takes too long.
                service.requestStop(within: .seconds(10))
            }
            feed.end()
            group.cancelAll()
        }
    }

    private func note(_ event: SyncService<SyncSummary>.Event) async {
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
        Gauge(label: "sync_is_holder").record(health.isStandingBy ? 0 : 1)
        Gauge(label: "sync_consecutive_failures").record(health.consecutiveFailures)
        await refresh()
    }

    private func count(_ result: String) {
        Counter(label: "sync_passes_total", dimensions: [("result", result)]).increment()
    }

    /// Puts what the database and the service say into the feed.
    private func refresh() async {
        let passes = try? await SyncHistory.passes(in: json.store, limit: 12)
        let users = try? await json.store.count(StoreQuery("User"))
        let companies = try? await json.store.count(StoreQuery("Company"))
        let health = health
        feed.update { status in
            status.health = health
            if !health.isSyncing { status.progress = nil }
            if let passes { status.passes = passes.map(ServerStatus.Pass.init) }
            if let users { status.counts["users"] = users }
            if let companies { status.counts["companies"] = companies }
        }
    }
}
