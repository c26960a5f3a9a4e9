public import Foundation

/// How a ``SyncService`` fares.
public struct SyncHealth<Report: Sendable>: Sendable {
    /// When a sync last succeeded; `nil` if none has.
    public internal(set) var lastSuccess: Date?

    /// What that sync did.
    public internal(set) var lastReport: Report?

    /// When a sync last failed; `nil` if none has. A cancelled sync is neither a success nor a failure.
    public internal(set) var lastFailure: Date?

    /// What went wrong then: what the sync threw, a ``SyncFailure`` for a ``Synchronizer``'s, or why the lease was lost or could not be
    /// asked for.
    public internal(set) var lastError: (any Error)?

    /// How many failures there were since a sync last succeeded.
    public internal(set) var consecutiveFailures = 0

    /// When the next sync begins; `nil` while one runs, while the service stands by, and when it does not run.
    public internal(set) var nextRun: Date?

    /// Whether the service's sync is running.
    public internal(set) var isSyncing = false

    /// Whether the service waits for a lease that somebody else holds.
    public internal(set) var isStandingBy = false

    /// Who holds the lease that the service waits for; `nil` where it does not wait, or it is not known who.
    public internal(set) var leaseHolder: SyncLeaseHolder?

    mutating func noteSuccess(_ report: Report, at date: Date) {
        lastSuccess = date
        lastReport = report
        consecutiveFailures = 0
    }

    mutating func noteFailure(_ error: any Error, at date: Date) {
        lastFailure = date
        lastError = error
        consecutiveFailures += 1
    }

    mutating func noteStandby(_ isStandingBy: Bool, for holder: SyncLeaseHolder?) {
        self.isStandingBy = isStandingBy
        leaseHolder = holder
    }
}
