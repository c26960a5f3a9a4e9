import Foundation
import OneWaySyncSQLite

/// Everything that the status page shows.
struct ServerStatus: Codable, Sendable {
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

    /// This server, such as `web-1 (process 4711)`.
    var server: String
    var source: String
    var health = SyncService<SyncSummary>.Health()
    /// How far the running sync is.
    var progress: StoreSyncOptions.Progress?
    /// The last syncs of all servers, latest first.
    var passes: [Pass] = []
    /// The users that changed last, latest first.
    var latest: [User] = []
    /// The number of objects by table.
    var counts: [String: Int] = [:]
}
