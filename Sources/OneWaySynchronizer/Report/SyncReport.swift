/// What a pass did: counts, durations, and errors. Its size does not depend on the number of items.
public struct SyncReport: Sendable {
    /// The number of errors that are kept in full: 100. ``errorCounts`` counts the rest.
    public static let maximumErrorCount = ErrorLog.maximumErrorCount

    /// How many items the source listed.
    public var listed = 0

    /// Whether the source said that its list was partial.
    public var isListPartial = false

    /// How many items were stored locally when the pass began.
    public var local = 0

    /// How many local items were removed.
    public var removed = 0

    /// The removals that were not made, and why; `nil` if none was withheld.
    public var withheld: WithheldRemovals?

    /// How many stored items were not to be downloaded again.
    public var unchanged = 0

    /// How many items were to be downloaded, as `owsPrepareDownload` returned them; 0 if neither
    /// previews nor contents are downloaded.
    public var planned = 0

    /// How many items were downloaded that were not stored locally: their contents, or their
    /// previews if only those are downloaded.
    public var inserted = 0

    /// How many items were downloaded that were stored already.
    public var updated = 0

    /// How many planned items failed, after the last attempt.
    public var failed = 0

    /// How many planned items were interrupted or never started, because the pass ended early.
    public var remaining: Int { planned - inserted - updated - failed }

    /// How many attempts were made beyond the first ones.
    public var retries = 0

    /// How long each stage took, all its calls together, by the synchronizer's clock. Without
    /// stages that were not reached.
    public var durations: [SyncStage: Duration] = [:]

    /// The first ``maximumErrorCount`` errors, in the order in which they happened.
    public var errors: [SyncError] = []

    /// All errors, those in ``errors`` included, counted by stage and kind; most frequent first.
    public var errorCounts: [ErrorCount] = []

    /// The number of all errors.
    public var errorCount: Int { errorCounts.reduce(0) { $0 + $1.count } }

    /// Keys by group, each an array of the processor's key type; empty unless
    /// ``SyncOptions/reportsKeys``.
    var keys: [KeyGroup: any Sendable] = [:]

    /// Creates a report of a pass in which nothing happened.
    public init() {}

    /// Returns the keys of a group, in no particular order.
    ///
    /// - Parameters:
    ///   - group: What became of them.
    ///   - type: The processor's key type, such as `String.self`. After decoding, keys are strings.
    /// - Returns: Empty unless ``SyncOptions/reportsKeys`` was set; also for a type that is not the
    ///   key type.
    public func keys<Key: Hashable & Sendable>(_ group: KeyGroup, as type: Key.Type) -> [Key] {
        keys[group] as? [Key] ?? []
    }

    /// Sets the keys of a group, as a pass under ``SyncOptions/reportsKeys`` does.
    public mutating func setKeys<Key: Hashable & Sendable>(_ keys: [Key], of group: KeyGroup) {
        self.keys[group] = keys
    }
}

extension SyncReport: CustomStringConvertible {
    /// The report in words, such as `100 listed: 10 inserted, 2 updated, 85 unchanged, 1 removed, 3
    /// failed`.
    public var description: String {
        var parts = ["\(inserted) inserted", "\(updated) updated", "\(unchanged) unchanged", "\(removed) removed"]
        if failed > 0 { parts.append("\(failed) failed") }
        if remaining > 0 { parts.append("\(remaining) not downloaded") }
        if let withheld { parts.append("\(withheld.count) removals withheld") }
        return "\(listed) listed: \(parts.joined(separator: ", "))"
    }
}
