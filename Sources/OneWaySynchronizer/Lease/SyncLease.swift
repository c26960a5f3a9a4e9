/// An exclusive right that one process at a time can hold.
///
/// ```swift
/// try await lease.withLease(waiting: .forever) {
///     try await store.sync(from: source, into: "User")
/// }
/// ```
///
/// The keeper of a lease (a file, a database server) grants it to one holder at a time.
/// ``withLease(waiting:clock:onWait:_:)`` requests it and renews it three times within its
/// ``duration`` until the body, and the passes begun in it, have ended, even if its task is
/// cancelled. If renewal fails, it cancels the body. At the end it releases the lease.
///
/// **Guarantees of a keeper.** A granted lease is granted to no other process until it is released,
/// its holder has died, or ``duration`` has passed since the beginning of the last successful
/// renewal. When the holder is dead, the lease is free again within ``duration``. A keeper that
/// sees its holders (by a lock that ends with their process, or by their connection) needs no
/// expiry; a renewal checks that the process still holds the lease.
///
/// **Guarantees of a holder.** It does nothing under a lease that it could not renew for
/// ``duration``: if its process was stopped for longer, or lost contact with the keeper, its body
/// is cancelled. It calls ``SyncLeaseScope/confirm()`` before a commit, so that it never commits
/// under a lease that was lost in the meantime.
public protocol SyncLease: Sendable {
    /// The purpose of the lease as readable text, such as the name of the file that is written.
    var name: String { get }

    /// How long a holder may rely on the lease without renewing it; above 0.
    var duration: Duration { get }

    /// The time between two requests of a process that waits for the lease. Default: a third of
    /// ``duration``.
    ///
    /// Values below one millisecond count as one millisecond.
    var retryInterval: Duration { get }

    /// Requests the lease without waiting for its holder.
    ///
    /// Until the grant is released, further calls return ``SyncLeaseAnswer/held(by:)``, even in the
    /// same process.
    ///
    /// - Parameter holder: The requesting process, which is reported to others.
    /// - Returns: The grant, the holder of the lease, or why the keeper has no answer yet.
    /// - Throws: An error if the keeper cannot be reached.
    func tryAcquire(for holder: SyncLeaseHolder) async throws -> SyncLeaseAnswer
}

extension SyncLease {
    /// A third of ``duration``.
    public var retryInterval: Duration { duration / 3 }
}

/// A keeper's answer to a request for a lease.
public enum SyncLeaseAnswer: Sendable {
    /// The lease is granted.
    case granted(any SyncLeaseGrant)
    /// Another process holds it; `nil` if the holder is not known.
    case held(by: SyncLeaseHolder?)
    /// The keeper has no room for the request now, for the reason in the error.
    ///
    /// A process that waits for the lease requests it again, as from another holder. A process that
    /// does not wait gets the error.
    case unavailable(any Error)
}

/// A granted lease.
///
/// Deallocating a grant releases it.
public protocol SyncLeaseGrant: Sendable {
    /// Confirms with the keeper that the lease is still held, for the lease's duration from now.
    ///
    /// Several calls may run at the same time. Returns or throws soon after its task is cancelled.
    ///
    /// - Throws: An error if the lease is lost, or if the keeper does not answer and a retry cannot
    ///   help. The holder then stops.
    func renew() async throws

    /// Releases the lease. Called once, whether or not it is still held. A ``renew()`` that a task
    /// called before may begin after it, and then throws.
    func release() async
}
