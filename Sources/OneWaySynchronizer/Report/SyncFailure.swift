#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The error of `sync()`: the pass was cancelled, or its errors; with the report of what was done.
public struct SyncFailure: Error, Codable {
    /// The pass's errors in the order in which they happened, at most
    /// ``SyncReport/maximumErrorCount`` of them.
    ///
    /// The report counts the rest. Empty when the pass was cancelled before anything went wrong.
    public var errors: [SyncError] { report.errors }

    /// What the pass did before it ended. Empty for a caller that stopped waiting.
    public var report: SyncReport

    /// Whether the pass, or this caller's waiting for it, was cancelled. An item that failed is
    /// never the cause.
    public var isCancelled: Bool

    /// Creates the failure of a pass that did what `report` says.
    public init(report: SyncReport, isCancelled: Bool = false) {
        self.report = report
        self.isCancelled = isCancelled
    }

    /// Creates the failure of a pass that could not begin.
    init(error: SyncError) {
        let log = ErrorLog()
        log.record(error)
        var report = SyncReport()
        log.fill(&report)
        self.init(report: report)
    }
}

extension SyncFailure: CustomStringConvertible {
    /// The failure in words, such as `2 errors; first: content of "a": connection refused`.
    public var description: String {
        let count = report.errorCount
        guard let first = errors.first else { return isCancelled ? "cancelled" : "failed" }
        let summary = count == 1 ? "\(first)" : "\(count) errors; first: \(first)"
        return isCancelled ? "cancelled after \(summary)" : summary
    }
}

extension SyncFailure: LocalizedError {
    /// The same as `description`.
    public var errorDescription: String? { description }
}

extension SyncFailure: RetryableError {
    /// Whether another pass may succeed: there are errors, and each can be retried.
    public var isRetryable: Bool { !isCancelled && !errors.isEmpty && errors.allSatisfy(\.isRetryable) }

    /// The longest wait that an error asks for.
    public var retryAfter: Duration? { errors.compactMap(\.retryAfter).max() }
}
