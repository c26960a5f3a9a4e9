/// The right to be the only one, among all processes, that does something.
///
/// ```swift
/// try await lease.withLease(waiting: .forever) {
///     try await store.sync(from: source, into: "User")
/// }
/// ```
///
/// Whoever keeps leases (a file, a database server) grants one to a single holder at a time. ``withLease(waiting:clock:onWait:_:)`` asks for it,
/// renews it three times within its ``duration`` while the body runs, cancels the body where that fails, and gives the lease back.
///
/// **What a keeper promises.** A granted lease is nobody else's before it was released, its holder died, or ``duration`` has passed since the
/// beginning of the last renewal that succeeded. Once the holder is dead, the lease is free again within ``duration``. A keeper that
/// sees its holders (by a lock that goes with their process, by their connection) needs no time of expiry at all; it checks in a renewal
/// that the holder still is one.
///
/// **What a holder promises.** It does nothing under a lease that it could not renew for ``duration``: a process that was stopped for longer, or
/// that has lost sight of the keeper, finds its body cancelled. What is about to be made to last (a commit) is preceded by
/// ``SyncLeaseScope/confirm()``, so that it is not done under a lease that was lost in the meantime.
public protocol SyncLease: Sendable {
    /// What the lease is for, in words that people understand, such as the file that is written.
    var name: String { get }

    /// For how long a holder that cannot renew the lease may believe itself to hold it; above 0.
    var duration: Duration { get }

    /// How long whoever waits for the lease waits before it asks again, above 0; a third of ``duration`` by default.
    var retryInterval: Duration { get }

    /// Asks for the lease, and does not wait for whoever holds it.
    ///
    /// A second call is answered ``SyncLeaseAnswer/held(by:)`` while the first one's grant is not released, also within one process.
    ///
    /// - Parameter holder: Who asks, to be told to others that do.
    /// - Returns: The grant, or who holds the lease.
    /// - Throws: Where the keeper cannot be asked.
    func tryAcquire(for holder: SyncLeaseHolder) async throws -> SyncLeaseAnswer
}

extension SyncLease {
    /// A third of ``duration``.
    public var retryInterval: Duration { duration / 3 }
}

/// What the keeper of a lease says to who asks for it.
public enum SyncLeaseAnswer: Sendable {
    /// The lease is the asker's.
    case granted(any SyncLeaseGrant)
    /// Somebody else has it; `nil` where it is not known who.
    case held(by: SyncLeaseHolder?)
}

/// A lease that was granted, until it is released.
///
/// A grant that is dropped without being released is released.
public protocol SyncLeaseGrant: Sendable {
    /// Makes sure, with the keeper, that the lease is still held, and that it will be for as long as the lease's duration from now.
    ///
    /// Several calls may run at a time. Returns or throws soon after its task is cancelled.
    ///
    /// - Throws: Where the lease is lost, or the keeper does not answer and is not worth being asked again: the holder stops.
    func renew() async throws

    /// Gives the lease back; called once, whether it is still held or not, and never followed by ``renew()``.
    func release() async
}
