#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif
package import SyncBase

/// The error of `sync()`: a cancelled pass, or the errors of a pass, with its report.
public struct SyncFailure: Error, Codable {
    /// The errors of the pass, in the order of their occurrence; at most
    /// ``SyncReport/maximumErrorCount``.
    ///
    /// The report counts the rest. Empty if the pass was cancelled before any error.
    public var errors: [SyncError] { report.errors }

    /// The report of the pass up to its end. Empty for a caller that stopped waiting.
    public var report: SyncReport

    /// Whether the pass, or this caller's wait for it, was cancelled. Errors of items never set it.
    public var isCancelled: Bool

    /// Creates the failure of a pass with a report.
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

extension SyncFailure: CustomStringConvertible, CustomDebugStringConvertible, LocalizedError {
    /// The failure as text, such as `2 errors; first: content of "a": connection refused`.
    public var description: String { text { "\($0)" } }

    /// The same text with the first error's `debugDescription`, which may have personal data.
    public var debugDescription: String { text { String(reflecting: $0) } }

    private func text(_ describe: (SyncError) -> String) -> String {
        let count = report.errorCount
        guard let first = errors.first.map(describe) else { return isCancelled ? "cancelled" : "failed" }
        let summary = count == 1 ? first : "\(count) errors; first: \(first)"
        return isCancelled ? "cancelled after \(summary)" : summary
    }

    /// The same as `description`.
    public var errorDescription: String? { description }
}

extension SyncFailure: RetryableError {
    /// Whether another pass may succeed: there are errors, and each can be retried.
    public var isRetryable: Bool { !isCancelled && !errors.isEmpty && errors.allSatisfy(\.isRetryable) }

    /// The longest wait that an error requests; `nil` if none does.
    public var retryAfter: Duration? { errors.compactMap(\.retryAfter).max() }
}

extension SyncFailure: AreaError {
    package var errorArea: ErrorArea { isCancelled ? .cancelled : errors.first?.errorArea ?? .other }
}
