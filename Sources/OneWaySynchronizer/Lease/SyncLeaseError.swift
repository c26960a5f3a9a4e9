public import Foundation

/// Why something was not done under a lease, or not to its end.
public enum SyncLeaseError: Error {
    /// Somebody else holds it, and did so for as long as was waited; `holder` is `nil` where it is not known who.
    case held(name: String, holder: SyncLeaseHolder?)

    /// It was held and is not any more; what ran under it was cancelled. `underlying` is what the keeper said, or a ``Reason``.
    case lost(name: String, underlying: any Error)

    /// Why the holder itself gives a lease up.
    public enum Reason: Error, Hashable, Sendable {
        /// It could not be renewed for its whole duration, because the keeper did not answer or the process was stopped.
        case notRenewed(within: Duration)
        /// What it was held for has ended; a task that outlived it goes on without it.
        case released
    }
}

extension SyncLeaseError: CustomStringConvertible {
    /// Such as `the lease on data.sqlite is held by Demo (process 4711 on web-1) since 2026-11-21T13:00:00Z`.
    public var description: String {
        switch self {
        case .held(let name, let holder?): "the lease on \(name) is held by \(holder)"
        case .held(let name, nil): "the lease on \(name) is held by another process"
        case .lost(let name, let underlying): "the lease on \(name) was lost: \(underlying)"
        }
    }
}

extension SyncLeaseError.Reason: CustomStringConvertible {
    /// A few words for people.
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
