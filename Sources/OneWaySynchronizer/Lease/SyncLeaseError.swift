#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Why something was not done under a lease, or not to its end.
public enum SyncLeaseError: Error {
    /// Another process holds the lease, and did so for the whole wait; `holder` is `nil` if it is
    /// not known.
    case held(name: String, holder: SyncLeaseHolder?)

    /// The lease was held and is no longer, and what ran under it was cancelled. `underlying` is
    /// the keeper's error, or a ``Reason``.
    case lost(name: String, underlying: any Error)

    /// Why the holder itself gives a lease up.
    public enum Reason: Error, Hashable, Sendable, Codable {
        /// It could not be renewed for its whole duration, because the keeper did not answer or the
        /// process was stopped.
        case notRenewed(within: Duration)
        /// It was released. A task that outlives `withLease` gets this error.
        case released
    }
}

extension SyncLeaseError: CustomStringConvertible {
    /// The error in words, such as `the lease on data.sqlite is held by Demo (process 4711 on
    /// web-1) since 2026-11-21T13:00:00Z`.
    public var description: String {
        switch self {
        case .held(let name, let holder?): "the lease on \(name) is held by \(holder)"
        case .held(let name, nil): "the lease on \(name) is held by another process"
        case .lost(let name, let underlying): "the lease on \(name) was lost: \(underlying)"
        }
    }
}

extension SyncLeaseError.Reason: CustomStringConvertible {
    /// The reason in a few words.
    public var description: String {
        switch self {
        case .notRenewed(let duration): "it could not be renewed within \(duration)"
        case .released: "it was released"
        }
    }
}

extension SyncLeaseError: LocalizedError {
    /// The same as `description`.
    public var errorDescription: String? { description }
}

extension SyncLeaseError.Reason: LocalizedError {
    /// The same as `description`.
    public var errorDescription: String? { description }
}

extension SyncLeaseError: RetryableError {
    /// `true`: the lease can be requested again.
    public var isRetryable: Bool { true }
}
