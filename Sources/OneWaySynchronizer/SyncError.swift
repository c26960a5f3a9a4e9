public import Foundation

/// The parts of a pass, in the order in which they happen.
public enum SyncStage: String, Sendable, Hashable, CaseIterable, Codable {
    /// `owsSyncBegin`.
    case begin
    /// `owsFetchSourceList`.
    case list
    /// `owsGetLocalKeys`.
    case localKeys
    /// The comparison of the source's keys with the local ones.
    case compare
    /// `owsRemoveLocalItems`.
    case remove
    /// `owsShouldUpdateItems` and `owsShouldUpdateItem`.
    case shouldUpdate
    /// `owsPrepareDownload`.
    case prepare
    /// `owsDownloadItemPreview`.
    case preview
    /// `owsDownloadItem`.
    case content
    /// `owsSyncEnd`.
    case end
}

/// One thing that went wrong in a pass: where, for which item, and why.
public struct SyncError: Error {
    /// Where it happened.
    public let stage: SyncStage

    /// The key of the item concerned; `nil` where the error concerns no single item.
    public let key: (any Hashable & Sendable)?

    /// What the processor threw, or a ``Reason`` of the synchronizer's own.
    public let underlying: any Error

    /// An error of `stage`.
    public init(stage: SyncStage, key: (any Hashable & Sendable)? = nil, underlying: any Error) {
        self.stage = stage
        self.key = key
        self.underlying = underlying
    }

    /// Why the synchronizer itself refuses to go on.
    public enum Reason: Error, Hashable, Sendable {
        /// The source list has keys that occur more than once; `keys` describes the first ten of the `count` repetitions.
        case duplicateKeys(keys: [String], count: Int)

        /// The pass would remove more than ``SyncOptions/removalLimit`` allows.
        case removalLimitExceeded(removals: Int, localCount: Int, limit: RemovalLimit)

        /// The call took longer than ``SyncOptions/itemTimeout`` and was cancelled.
        case timedOut(after: Duration)

        /// The processor awaited `sync()` of its own synchronizer from inside a pass, which would wait for itself.
        case syncInsidePass
    }
}

extension SyncError: CustomStringConvertible {
    /// Such as `content of "a": connection refused`.
    public var description: String {
        let subject = key.map { " of \(String(reflecting: $0))" } ?? ""
        return "\(stage.rawValue)\(subject): \(underlying)"
    }
}

extension SyncError.Reason: CustomStringConvertible {
    /// One sentence for people.
    public var description: String {
        switch self {
        case .duplicateKeys(let keys, let count):
            let more = count > keys.count ? " and \(count - keys.count) more" : ""
            return "the source lists keys more than once: \(keys.joined(separator: ", "))\(more)"
        case .removalLimitExceeded(let removals, let localCount, let limit):
            return "\(removals) of \(localCount) local items would be removed; the limit is \(limit)"
        case .timedOut(let duration):
            return "timed out after \(duration)"
        case .syncInsidePass:
            return
                "sync() was awaited from inside a pass of the same synchronizer; use sync(completion:) to queue a re-sync"
        }
    }
}

extension SyncError.Reason: RetryableError {
    /// `true` for a time-out alone.
    public var isRetryable: Bool {
        if case .timedOut = self { true } else { false }
    }
}

/// What `sync()` throws: that the pass was cancelled, or what went wrong in it, with the report of what was done.
public struct SyncFailure: Error {
    /// The pass's errors in the order in which they happened, at most ``SyncReport/maximumErrorCount`` of them; the
    /// report counts the rest. Empty when the pass was cancelled before anything went wrong.
    public var errors: [SyncError] { report.errors }

    /// What the pass did before it ended. Empty for a caller that stopped waiting.
    public let report: SyncReport

    /// Whether the pass, or this caller's waiting for it, was cancelled. An item that failed is never the cause.
    public let isCancelled: Bool

    /// The failure of a pass that did what `report` says.
    public init(report: SyncReport, isCancelled: Bool = false) {
        self.report = report
        self.isCancelled = isCancelled
    }

    /// The failure of a pass that could not begin.
    init(error: SyncError) {
        let log = ErrorLog()
        log.record(error)
        var report = SyncReport()
        log.fill(&report)
        self.init(report: report)
    }
}

extension SyncFailure: CustomStringConvertible {
    /// Such as `2 errors; first: content of "a": connection refused`.
    public var description: String {
        let count = report.errorCount
        guard let first = errors.first else { return isCancelled ? "cancelled" : "failed" }
        let summary = count == 1 ? "\(first)" : "\(count) errors; first: \(first)"
        return isCancelled ? "cancelled after \(summary)" : summary
    }
}

extension SyncError: LocalizedError {
    /// The same as `description`.
    public var errorDescription: String? { description }
}

extension SyncError.Reason: LocalizedError {
    /// The same as `description`.
    public var errorDescription: String? { description }
}

extension SyncFailure: LocalizedError {
    /// The same as `description`.
    public var errorDescription: String? { description }
}
