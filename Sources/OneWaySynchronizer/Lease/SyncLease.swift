/// The right of one process among many to do something.
///
/// ```swift
/// try await lease.withLease(waiting: .forever) {
///     try await store.sync(from: source, into: "User")
/// }
/// ```
///
/// The keeper of a lease (a file, a database server) grants it to a single holder at a time.
/// ``withLease(waiting:clock:onWait:_:)`` asks for it, renews it three times within its ``duration`` while the body runs,
/// cancels the body if that fails, and gives the lease back.
///
/// **What a keeper promises.** A granted lease is granted to nobody else before it was released, its holder died, or
/// ``duration`` has passed since the beginning of the last renewal that succeeded. When the holder is dead, the lease is
/// free again within ``duration``. A keeper that sees its holders (by a lock that goes with their process, or by their
/// connection) needs no expiry; it checks in a renewal that the holder still is one.
///
/// **What a holder promises.** It does nothing under a lease that it could not renew for ``duration``: a process that was
/// stopped for longer, or that lost contact with the keeper, finds its body cancelled. A commit is preceded by
/// ``SyncLeaseScope/confirm()``, so that it is not made under a lease that was lost in the meantime.
public protocol SyncLease: Sendable {
    /// What the lease is for, in words that people understand, such as the name of the file that is written.
    var name: String { get }

    /// How long a holder that cannot renew the lease may believe that it holds it; above 0.
    var duration: Duration { get }

    /// The time between two requests of a process that waits for the lease. Default: a third of ``duration``.
    ///
    /// Less than a millisecond counts as one.
    var retryInterval: Duration { get }

    /// Asks for the lease, without waiting for its holder.
    ///
    /// While a grant is not released, further calls return ``SyncLeaseAnswer/held(by:)``, also within one process.
    ///
    /// - Parameter holder: The process that asks, to be reported to others.
    /// - Returns: The grant, or the holder of the lease.
    /// - Throws: An error if the keeper cannot be asked.
    func tryAcquire(for holder: SyncLeaseHolder) async throws -> SyncLeaseAnswer
}

extension SyncLease {
    /// A third of ``duration``.
    public var retryInterval: Duration { duration / 3 }
}

/// The answer of a lease's keeper to a request.
public enum SyncLeaseAnswer: Sendable {
    /// The lease is granted.
    case granted(any SyncLeaseGrant)
    /// Another process holds it; `nil` if the holder is not known.
    case held(by: SyncLeaseHolder?)
}

/// A granted lease, until it is released.
///
/// A grant that is deallocated without being released is released.
public protocol SyncLeaseGrant: Sendable {
    /// Makes sure, with the keeper, that the lease is still held and will be for the lease's duration from now.
    ///
    /// Several calls may run at a time. Returns or throws soon after its task is cancelled.
    ///
    /// - Throws: An error if the lease is lost, or if the keeper does not answer and asking again is of no use. The holder
    ///   then stops.
    func renew() async throws

    /// Gives the lease back. Called once, whether it is still held or not, and never followed by ``renew()``.
    func release() async
}
