import Foundation
import OneWaySyncSQLite

/// Everything that the status page shows.
struct ServerStatus: Codable, Sendable {
    /// How far the running sync is.
    struct Progress: Codable, Sendable {
        var pageCount: Int
        var elementCount: Int
        var totalElementCount: Int?
        /// Which reading of the pages this is; 2 or more while absent objects are verified.
        var readingNumber: Int

        init(_ progress: RemoteSyncProgress) {
            pageCount = progress.pageCount
            elementCount = progress.elementCount
            totalElementCount = progress.totalElementCount
            readingNumber = progress.readingNumber
        }
    }

    /// A recorded sync.
    struct Pass: Codable, Sendable {
        var started: Date
        var seconds: Double
        var status: String
        var inserted: Int
        var updated: Int
        var deleted: Int
        var error: String?

        init(_ pass: SyncHistory.Pass) {
            started = pass.started
            seconds = pass.duration / .seconds(1)
            status = pass.status.rawValue
            inserted = pass.counts.inserted
            updated = pass.counts.updated
            deleted = pass.counts.deleted
            error = pass.error
        }
    }

    /// What one commit did to the objects of an entity.
    struct Change: Codable, Sendable {
        var date: Date
        var entity: String
        var inserted: Int
        var updated: Int
        var deleted: Int
        /// The first keys, such as `+17`, `~4` or `-9`.
        var examples: [String]
    }

    /// This server, such as `web-1 (process 4711)`.
    var server: String
    var source: String
    var health = SyncHealth<SyncSummary>()
    var progress: Progress?
    /// The last syncs of all servers, latest first.
    var passes: [Pass] = []
    /// The last changes that this server made, latest first.
    var changes: [Change] = []
    /// The number of objects by table.
    var counts: [String: Int] = [:]

    mutating func add(_ set: ChangeSet) {
        for (entity, keys) in set.entities.sorted(by: { $0.key < $1.key }) {
            let examples =
                keys.inserted.prefix(4).map { "+\($0)" } + keys.updated.prefix(4).map { "~\($0)" }
                + keys.deleted.prefix(4).map { "-\($0)" }
            changes.insert(
                Change(
                    date: Date(), entity: entity, inserted: keys.inserted.count, updated: keys.updated.count,
                    deleted: keys.deleted.count, examples: examples), at: 0)
        }
        if changes.count > 20 { changes.removeLast(changes.count - 20) }
    }
}
