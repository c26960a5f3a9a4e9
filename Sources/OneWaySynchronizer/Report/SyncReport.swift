/// The counts, durations and errors of a pass.
///
/// Its size does not depend on the number of items, unless ``SyncOptions/reportsKeys`` is set.
public struct SyncReport: Sendable {
    /// The number of errors kept in full: 100. ``errorCounts`` counts the rest.
    public static let maximumErrorCount = ErrorLog.maximumErrorCount

    /// The number of items that the source listed.
    public var listed = 0

    /// Whether the source's list was partial.
    public var isListPartial = false

    /// The number of items stored locally when the pass began.
    public var local = 0

    /// The number of local items deleted.
    public var deleted = 0

    /// The items that were kept although absent, and why; `nil` if there were none.
    public var kept: Kept?

    /// The number of stored items that did not need to be downloaded again.
    public var unchanged = 0

    /// The number of items to download, after `owsPrepareDownload`; 0 if neither previews nor
    /// contents are downloaded.
    public var planned = 0

    /// The number of downloaded items that were not stored locally. Contents are counted, or
    /// previews if only those are downloaded.
    public var inserted = 0

    /// The number of downloaded items that were already stored.
    public var updated = 0

    /// The number of planned items that failed, after the last attempt.
    public var failed = 0

    /// The number of planned items that were interrupted or never started because the pass ended
    /// early.
    public var remaining: Int { planned - inserted - updated - failed }

    /// The number of attempts beyond the first ones.
    public var retries = 0

    /// The duration of each stage, all its calls together, by the synchronizer's clock. Stages that
    /// were not reached are omitted.
    public var durations: [SyncStage: Duration] = [:]

    /// The first ``maximumErrorCount`` errors, in the order of their occurrence.
    public var errors: [SyncError] = []

    /// All errors, including those in ``errors``, counted by stage and kind; most frequent first.
    public var errorCounts: [ErrorCount] = []

    /// The total number of errors.
    public var errorCount: Int { errorCounts.reduce(0) { $0 + $1.count } }

    /// Keys by group, each an array of the processor's key type; empty unless
    /// ``SyncOptions/reportsKeys`` is set.
    var keys: [KeyGroup: any Sendable] = [:]

    /// Creates a report of a pass in which nothing happened.
    public init() {}

    /// Returns the keys of a group, in any order.
    ///
    /// - Parameters:
    ///   - group: The group of keys to return.
    ///   - type: The processor's key type, such as `String.self`. After decoding, keys are strings.
    /// - Returns: The keys. Empty if ``SyncOptions/reportsKeys`` was not set, or `type` is not the
    ///   key type.
    public func keys<Key: Hashable & Sendable>(_ group: KeyGroup, as type: Key.Type) -> [Key] {
        keys[group] as? [Key] ?? []
    }

    /// Sets the keys of a group, as a pass with ``SyncOptions/reportsKeys`` does.
    public mutating func setKeys<Key: Hashable & Sendable>(_ keys: [Key], of group: KeyGroup) {
        self.keys[group] = keys
    }
}

extension SyncReport: CustomStringConvertible {
    /// The report as text, such as `100 listed: 10 inserted, 2 updated, 85 unchanged, 1 deleted, 3
    /// failed`.
    public var description: String {
        var parts = ["\(inserted) inserted", "\(updated) updated", "\(unchanged) unchanged", "\(deleted) deleted"]
        if failed > 0 { parts.append("\(failed) failed") }
        if remaining > 0 { parts.append("\(remaining) not downloaded") }
        if let kept { parts.append("\(kept.count) absent items kept") }
        return "\(listed) listed: \(parts.joined(separator: ", "))"
    }
}
