/// What a pass did: counts, durations, and the errors. Small, however many items there were.
public struct SyncReport: Sendable {
    /// How many errors are kept in full: 100. The rest are counted, see ``errorCounts``.
    public static let maximumErrorCount = ErrorLog.maximumErrorCount

    /// How many items the source listed.
    public internal(set) var listed = 0

    /// Whether the source said that its list was partial.
    public internal(set) var isListPartial = false

    /// How many items were stored locally when the pass began.
    public internal(set) var local = 0

    /// How many local items were removed.
    public internal(set) var removed = 0

    /// The removals that were not made, and why; `nil` where none was withheld.
    public internal(set) var withheld: WithheldRemovals?

    /// How many stored items the processor did not want to download again.
    public internal(set) var unchanged = 0

    /// How many items were to be downloaded, as `owsPrepareDownload` returned them.
    public internal(set) var planned = 0

    /// How many items that were not stored locally were downloaded: their contents, or their previews where only those
    /// are downloaded.
    public internal(set) var inserted = 0

    /// The same for items that were stored already.
    public internal(set) var updated = 0

    /// How many planned items failed, after the last attempt.
    public internal(set) var failed = 0

    /// How many planned items were interrupted or never started, because the pass ended early.
    public var remaining: Int { planned - inserted - updated - failed }

    /// How many attempts were made beyond the first ones.
    public internal(set) var retries = 0

    /// How long each stage took, all its calls together, by the synchronizer's clock. A stage that was not reached is
    /// absent.
    public internal(set) var durations: [SyncStage: Duration] = [:]

    /// The first ``maximumErrorCount`` errors, in the order in which they happened.
    public internal(set) var errors: [SyncError] = []

    /// All errors, those in ``errors`` included, counted by stage and kind; most frequent first.
    public internal(set) var errorCounts: [ErrorCount] = []

    /// The number of all errors.
    public var errorCount: Int { errorCounts.reduce(0) { $0 + $1.count } }

    /// Keys by outcome, each an array of the processor's key type; empty unless ``SyncOptions/reportsKeys``.
    var keys: [SyncOutcome: any Sendable] = [:]

    /// A report of a pass in which nothing happened.
    public init() {}

    /// The keys with an outcome, in no particular order.
    ///
    /// - Parameters:
    ///   - outcome: What became of them.
    ///   - type: The processor's key type, such as `String.self`.
    /// - Returns: Empty unless ``SyncOptions/reportsKeys`` was set; also for a type that is not the key type.
    public func keys<Key: Hashable & Sendable>(_ outcome: SyncOutcome, as type: Key.Type) -> [Key] {
        keys[outcome] as? [Key] ?? []
    }
}

/// What became of a key in a pass.
public enum SyncOutcome: Sendable, Hashable, CaseIterable {
    /// It was not stored, and was downloaded.
    case inserted
    /// It was stored, and was downloaded again.
    case updated
    /// It was stored and absent from the source, and was removed.
    case removed
    /// It was stored and absent from the source, and was kept.
    case withheld
}

/// Removals that a pass did not make.
public struct WithheldRemovals: Sendable, Hashable {
    /// Why removals are withheld.
    public enum Reason: Sendable, Hashable {
        /// The source's list was partial: what it lacks is unknown, not gone.
        case partialList
        /// There were more than ``SyncOptions/removalLimit`` allows, and its action is to withhold.
        case removalLimit
        /// Under ``RemovalOrder/afterDownloads`` the pass failed, or was cancelled, before its removals were due.
        case incompletePass
    }

    /// How many local items were kept that are absent from the source; above 0.
    public let count: Int

    /// Why.
    public let reason: Reason

    /// `count` removals, withheld for `reason`.
    public init(count: Int, reason: Reason) {
        self.count = count
        self.reason = reason
    }
}

/// How often one kind of error happened in one stage.
public struct ErrorCount: Sendable, Hashable {
    /// Where.
    public let stage: SyncStage

    /// The type of the underlying error, such as `Foundation.URLError`; past 32 kinds in a pass, `other`.
    public let kind: String

    /// How often; above 0.
    public internal(set) var count: Int
}

extension SyncReport: CustomStringConvertible {
    /// Such as `100 listed: 10 inserted, 2 updated, 85 unchanged, 3 failed, 1 removed`.
    public var description: String {
        var parts = ["\(inserted) inserted", "\(updated) updated", "\(unchanged) unchanged", "\(removed) removed"]
        if failed > 0 { parts.append("\(failed) failed") }
        if remaining > 0 { parts.append("\(remaining) not downloaded") }
        if let withheld { parts.append("\(withheld.count) removals withheld") }
        return "\(listed) listed: \(parts.joined(separator: ", "))"
    }
}
