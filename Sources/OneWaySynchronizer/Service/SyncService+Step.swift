#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// A step of a ``SyncService``. Each is one change of its health, so no reader sees half of one.
package enum SyncServiceStep<Report: Sendable>: Sendable {
    /// The service waits for its next sync.
    case waitsForSync(next: Date)
    /// The service begins no further sync.
    case beginsNoMore
    /// A sync begins.
    case beginsSync
    /// A sync ends, and the service waits for the next one. `nil` for a cancelled sync.
    case endsSync(Result<Report, any Error>?, next: Date)
    /// The service requests the lease.
    case requestsLease
    /// Another process holds the lease; `nil` if it is not known which.
    case isRefused(holder: SyncLeaseHolder?)
    /// The lease was lost or could not be requested.
    case hasNoLease(any Error)
    /// The service releases the lease.
    case releasesLease
    /// The service ends.
    case ends
}

extension SyncService.Health {
    /// Records a step of the service.
    ///
    /// - Parameters:
    ///   - date: When the step happened.
    ///   - leaseName: The name of the lease that the service shares, if there is one.
    package mutating func record(_ step: SyncServiceStep<Report>, at date: Date, leaseName: String?) {
        nextRun = nil
        retry = nil
        switch step {
        case .waitsForSync(let next):
            begin(.waiting, at: date, leaseName: leaseName)
            nextRun = next
        case .beginsNoMore:
            break
        case .beginsSync:
            begin(.syncing, at: date, leaseName: leaseName)
        case .endsSync(let result, let next):
            begin(.waiting, at: date, leaseName: leaseName)
            nextRun = next
            switch result {
            case .success(let report):
                lastSuccess = date
                lastReport = report
                consecutiveFailures = 0
            case .failure(let error): fail(error, at: date)
            case nil: break
            }
        case .requestsLease:
            // A service that stands by still does while it requests the lease again.
            if !isStandingBy { begin(.requestingLease, at: date, leaseName: leaseName) }
            activity?.unansweredSince = date
        case .isRefused(let holder):
            standBy(for: holder, at: date, leaseName: leaseName)
        case .hasNoLease(let error):
            standBy(for: nil, at: date, leaseName: leaseName)
            fail(error, at: date)
        case .releasesLease:
            begin(.releasingLease, at: date, leaseName: leaseName)
        case .ends:
            activity = nil
        }
    }

    /// Whether a standby for a holder differs from the activity.
    func changes(byStandbyFor holder: SyncLeaseHolder?) -> Bool { !isStandingBy || leaseHolder != holder }

    private mutating func begin(_ kind: SyncStatus.Activity.Kind, at date: Date, leaseName: String?) {
        activity = SyncStatus.Activity(kind: kind, since: date, leaseName: leaseName)
    }

    /// The time of an activity is that of its holder: another one begins another standby.
    private mutating func standBy(for holder: SyncLeaseHolder?, at date: Date, leaseName: String?) {
        if changes(byStandbyFor: holder) { begin(.standingBy, at: date, leaseName: leaseName) }
        activity?.leaseHolder = holder
        activity?.unansweredSince = nil
    }

    private mutating func fail(_ error: any Error, at date: Date) {
        lastFailure = date
        lastError = error
        consecutiveFailures += 1
    }
}
