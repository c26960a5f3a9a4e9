#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif
import SyncBase

extension SyncService {
    /// A snapshot of a ``SyncService``'s state.
    public struct Health: Sendable {
        /// When a sync last succeeded; `nil` if none has.
        public var lastSuccess: Date?

        /// The report of the last successful sync; `nil` if there is none.
        public var lastReport: Report?

        /// When a sync last failed; `nil` if none has. A cancelled sync is neither a success nor a
        /// failure.
        public var lastFailure: Date?

        /// The error of the last failure; `nil` if there is none. It is the error that the sync
        /// threw (a ``SyncFailure`` for a ``Synchronizer``), or the reason why the lease was lost
        /// or could not be requested. A ``SyncError/Recorded`` after decoding.
        public var lastError: (any Error)?

        /// The number of failures since the last success.
        public var consecutiveFailures: Int

        /// When the next sync begins; `nil` while a sync runs, while the service stands by, and
        /// when it does not run.
        public var nextRun: Date?

        /// The latest failed attempt of the running sync that is made again; `nil` if there was
        /// none, and while no sync runs.
        public var retry: RetryPolicy.Retry?

        /// The service's activity and its start; `nil` if the service does not run.
        public var activity: SyncStatus.Activity?

        /// Creates a snapshot; by default, of a service that has not run.
        public init(
            lastSuccess: Date? = nil, lastReport: Report? = nil, lastFailure: Date? = nil,
            lastError: (any Error)? = nil,
            consecutiveFailures: Int = 0, nextRun: Date? = nil, retry: RetryPolicy.Retry? = nil,
            activity: SyncStatus.Activity? = nil
        ) {
            self.lastSuccess = lastSuccess
            self.lastReport = lastReport
            self.lastFailure = lastFailure
            self.lastError = lastError
            self.consecutiveFailures = consecutiveFailures
            self.nextRun = nextRun
            self.retry = retry
            self.activity = activity
        }

        /// Whether the service is running a sync.
        public var isSyncing: Bool { activity?.kind == .syncing }

        /// Whether the service waits for a lease that another process holds.
        public var isStandingBy: Bool { activity?.kind == .standingBy }

        /// The holder of the lease that the service waits for; `nil` if it does not wait, or the
        /// holder is not known.
        public var leaseHolder: SyncLeaseHolder? { activity?.leaseHolder }
    }
}

extension SyncStatus {
    /// The current activity of a ``SyncService``, accurate even while a call hangs.
    public struct Activity: Sendable, Hashable, Codable {
        /// The kinds of activity.
        public enum Kind: String, Sendable, Hashable, Codable, CaseIterable {
            /// The service waits for the next sync.
            case waiting
            /// The service runs a sync.
            case syncing
            /// The service has requested the lease from its keeper, and waits for the answer.
            case requestingLease
            /// The service waits before it requests the lease again, which another process holds or
            /// which could not be requested.
            case standingBy
            /// The service releases the lease.
            case releasingLease
        }

        /// The kind of activity.
        public var kind: Kind

        /// When the activity began.
        public var since: Date

        /// The current stage of the running pass; `nil` unless a ``Synchronizer`` is syncing.
        public var stage: SyncStage?

        /// When the pass entered that stage.
        public var stageSince: Date?

        /// The name of the lease that the service shares; `nil` without a lease.
        public var leaseName: String?

        /// The process that holds the lease while the service stands by; `nil` if it is not known.
        public var leaseHolder: SyncLeaseHolder?

        /// When the lease was requested, if its keeper has not answered yet; otherwise `nil`.
        public var unansweredSince: Date?

        /// Whether a stop was requested; it takes effect when the activity ends.
        public var isStopRequested: Bool

        /// Creates an activity.
        public init(
            kind: Kind, since: Date, stage: SyncStage? = nil, stageSince: Date? = nil, leaseName: String? = nil,
            leaseHolder: SyncLeaseHolder? = nil, unansweredSince: Date? = nil, isStopRequested: Bool = false
        ) {
            self.kind = kind
            self.since = since
            self.stage = stage
            self.stageSince = stageSince
            self.leaseName = leaseName
            self.leaseHolder = leaseHolder
            self.unansweredSince = unansweredSince
            self.isStopRequested = isStopRequested
        }
    }
}

extension SyncService.Health: CustomStringConvertible {
    /// The activity, the latest retry, the last success and the failures since then, with the last
    /// error's `description`.
    public var description: String {
        var parts = [activity?.kind.rawValue ?? "not running"]
        if let retry { parts.append("\(retry)") }
        parts.append(lastSuccess.map { "last success \($0)" } ?? "no success")
        if consecutiveFailures > 0 {
            let reason = lastError.map { ", last: \(ErrorText.describing($0))" } ?? ""
            parts.append("\(consecutiveFailures) failures since then\(reason)")
        }
        return parts.joined(separator: "; ")
    }
}

extension SyncService.Health where Report: Codable {
    /// The snapshot as JSON with dates in ISO 8601, such as `2026-11-21T13:00:00Z`: the body of a
    /// health check.
    ///
    /// - Throws: The error of the report's encoding.
    public func json() throws -> Data {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(self)
    }
}

extension SyncService.Health: Codable where Report: Codable {
    private enum CodingKeys: CodingKey {
        case lastSuccess, lastReport, lastFailure, lastError, consecutiveFailures, nextRun, retry, activity
    }

    /// Decodes a snapshot. Its error becomes a ``SyncError/Recorded``.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            lastSuccess: try container.decodeIfPresent(Date.self, forKey: .lastSuccess),
            lastReport: try container.decodeIfPresent(Report.self, forKey: .lastReport),
            lastFailure: try container.decodeIfPresent(Date.self, forKey: .lastFailure),
            lastError: try container.decodeIfPresent(SyncError.Recorded.self, forKey: .lastError),
            consecutiveFailures: try container.decode(Int.self, forKey: .consecutiveFailures),
            nextRun: try container.decodeIfPresent(Date.self, forKey: .nextRun),
            retry: try container.decodeIfPresent(RetryPolicy.Retry.self, forKey: .retry),
            activity: try container.decodeIfPresent(SyncStatus.Activity.self, forKey: .activity))
    }

    /// Encodes the snapshot, with its error as text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(lastSuccess, forKey: .lastSuccess)
        try container.encodeIfPresent(lastReport, forKey: .lastReport)
        try container.encodeIfPresent(lastFailure, forKey: .lastFailure)
        try container.encodeIfPresent(lastError.map { SyncError.Recorded($0) }, forKey: .lastError)
        try container.encode(consecutiveFailures, forKey: .consecutiveFailures)
        try container.encodeIfPresent(nextRun, forKey: .nextRun)
        try container.encodeIfPresent(retry, forKey: .retry)
        try container.encodeIfPresent(activity, forKey: .activity)
    }
}
