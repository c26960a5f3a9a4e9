#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif
package import SyncBase

/// Why work under a lease was not started or not completed.
public enum SyncLeaseError: Error {
    /// Another process held the lease for the whole wait; `holder` is `nil` if it is not known.
    case held(name: String, holder: SyncLeaseHolder?)

    /// The service that drives the synchronizer does not hold its lease: it stands by, or does not
    /// run.
    case notHeld(name: String)

    /// The lease was lost, and the work under it was cancelled. `underlying` is the keeper's error,
    /// or a ``Reason``.
    case lost(name: String, underlying: any Error)

    /// Why the holder itself gives up a lease.
    public enum Reason: Error, Hashable, Sendable, Codable {
        /// The keeper did not answer for the lease's whole duration, or the process was stopped.
        case notRenewed(within: Duration)
        /// The lease was released. A task that outlives `withLease` gets this error.
        case released
    }
}

extension SyncLeaseError: CustomStringConvertible, CustomDebugStringConvertible, LocalizedError {
    /// The error as a readable sentence.
    ///
    /// For example, `the lease on data.sqlite is held by Demo (process 4711 on web-1) since
    /// 2026-11-21T13:00:00Z`.
    public var description: String { text(ErrorText.describing) }

    /// The same sentence with the underlying error's `debugDescription`.
    public var debugDescription: String { text { String(reflecting: $0) } }

    private func text(_ describe: (any Error) -> String) -> String {
        switch self {
        case .held(let name, let holder?): "the lease on \(name) is held by \(holder)"
        case .held(let name, nil): "the lease on \(name) is held by another process"
        case .notHeld(let name):
            "the lease on \(name) is not held by this process; its service syncs when it gets the lease"
        case .lost(let name, let underlying): "the lease on \(name) was lost: \(describe(underlying))"
        }
    }

    /// The same as `description`.
    public var errorDescription: String? { description }
}

extension SyncLeaseError.Reason: CustomStringConvertible, LocalizedError {
    /// The reason as readable text.
    public var description: String {
        switch self {
        case .notRenewed(let duration): "it could not be renewed within \(duration)"
        case .released: "it was released"
        }
    }

    /// The same as `description`.
    public var errorDescription: String? { description }
}

extension SyncLeaseError: RetryableError {
    /// `true`: the lease can be requested again.
    public var isRetryable: Bool { true }
}

extension SyncLeaseError: AreaError {
    package var errorArea: ErrorArea { .lease }
}

extension SyncLeaseError.Reason: AreaError {
    package var errorArea: ErrorArea { .lease }
}
