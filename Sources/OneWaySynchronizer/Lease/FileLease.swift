#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif
package import SyncBase

/// A lease on a file of its own, held by one process of a machine at a time.
///
/// ```swift
/// let lease = FileLease(at: folder.appending(path: "sync.lease"))
/// try await lease.withLease(waiting: .forever) { try await synchronizer.sync() }
/// ```
///
/// The holder locks the file with `flock` for as long as it has the lease. When the process ends or
/// is killed, the system releases the lock, and the next process that asks gets the lease. No clock
/// is involved: a stopped process keeps the lease until it continues or dies.
///
/// The file names the holder in one line of JSON. Its `generation` is the number of times that the
/// lease was granted:
///
///     {"generation":7,"holder":{"host":"web-1","processID":4711,"program":"Demo","since":"…"}}
///
/// The file stays when the lease is released. If it is removed or replaced, the holder loses the
/// lease and notices at the next renewal.
///
/// - Important: A suspended app keeps its locks, and iOS ends an app that is suspended with a lock
///   on a file in an app group's container. End a sync before the app is suspended.
public struct FileLease: SyncLease {
    /// The path of the file.
    public var name: String { file.path }

    /// The file, which only leases use.
    public let file: URL

    /// The time after which a holder that cannot renew the lease gives it up; 5 minutes by default.
    ///
    /// The system frees the lock when its holder ends, so that nobody waits for this time. No other
    /// process gets the lock in the meantime, unless the file was removed or replaced.
    public let duration: Duration

    /// The time between two requests of a waiting process; 3 seconds by default.
    public let retryInterval: Duration

    /// Creates a lease, without requesting it.
    ///
    /// - Parameters:
    ///   - file: The file of the lease, in an existing folder. It is created if it does not exist,
    ///     and must not be a symbolic link. Do not use a file with other content.
    ///   - duration: The time after which a holder that cannot renew the lease gives it up; five
    ///     minutes by default. A holder renews the lease three times within this time.
    ///   - retryInterval: The time between two requests of a waiting process; 3 seconds by default.
    public init(at file: URL, duration: Duration = .seconds(300), retryInterval: Duration = .seconds(3)) {
        self.file = file
        self.duration = duration
        self.retryInterval = retryInterval
    }

    /// Requests the lease; see ``SyncLease/tryAcquire(for:)``.
    ///
    /// - Throws: ``FileLease/Failure`` if the file cannot be opened or written, or is not a regular
    ///   file.
    public func tryAcquire(for holder: SyncLeaseHolder) async throws -> SyncLeaseAnswer {
        try FileLock.take(file.path, for: holder)
    }
}

extension FileLease {
    /// Why the file of a lease cannot be used.
    public struct Failure: Error, Hashable, Sendable {
        /// The path of the file.
        public let path: String

        /// The reason, such as `it is a symbolic link` or `Permission denied`.
        public let reason: String
    }
}

extension FileLease.Failure: CustomStringConvertible, LocalizedError {
    /// The path and the reason.
    public var description: String { "\(path): \(reason)" }

    /// The same as `description`.
    public var errorDescription: String? { description }
}

extension FileLease.Failure: AreaError {
    package var errorArea: ErrorArea { .lease }
}
