import OneWaySyncSQLite

/// The result of a sync, in short.
struct SyncSummary: Codable, Sendable {
    var inserted: Int
    var updated: Int
    var unchanged: Int
    var deleted: Int
    var kept: Int
    var rejected: Int
    var pageCount: Int
    var byteCount: Int
    var coverage: String
    /// One sentence for each difference between the payload and the model.
    var drift: [String]
    var warnings: [String]

    init(_ result: StoreSyncResult) {
        let counts = result.counts
        inserted = counts.inserted
        updated = counts.updated
        unchanged = counts.unchanged
        deleted = counts.deleted
        kept = counts.kept
        rejected = result.rejectedCount
        pageCount = result.pageCount
        byteCount = result.byteCount
        coverage = result.coverage.rawValue
        drift = result.drift.entries.prefix(20).map { "\($0)" }
        warnings = result.warnings
    }
}
