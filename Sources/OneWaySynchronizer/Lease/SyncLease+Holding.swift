import SyncBase

/// How long to wait for a lease that another process holds.
public enum SyncLeaseWait: Sendable, Hashable, Codable {
    /// No wait.
    case never
    /// A wait of at most a duration.
    case upTo(Duration)
    /// A wait until the lease is free, or the task is cancelled.
    case forever
}

extension SyncLease {
    /// Runs a function while this process holds the lease.
    ///
    /// While another process holds the lease, or the keeper has no room for the request, this one
    /// requests it again at each ``retryInterval``.
    /// If the lease is lost, the body's task is cancelled. When the body returns, passes of a
    /// ``Synchronizer`` that were begun in it and still run are cancelled. The lease is renewed
    /// until they have ended, and then released.
    ///
    /// - Parameters:
    ///   - waiting: How long to wait for another holder; by default, no wait.
    ///   - clock: The clock for waits. It should keep running while the machine sleeps, as the
    ///     default one does.
    ///   - onWait: Called once for each holder, before the wait for it, with
    ///     ``SyncLeaseError/held(name:holder:)``, or with the error of a keeper that has no room.
    ///   - body: The function. Its task, and tasks created in it, can confirm the lease with
    ///     ``SyncLeaseScope``.
    /// - Returns: The body's result, even if the lease was lost meanwhile.
    /// - Throws: The body's error; ``SyncLeaseError``; `CancellationError` if the task is cancelled
    ///   while it waits; the keeper's error if the lease cannot be requested.
    @discardableResult
    public func withLease<Result: Sendable>(
        waiting: SyncLeaseWait = .never, clock: some Clock<Duration> = ContinuousClock(),
        onWait: @Sendable (any Error) -> Void = { _ in },
        _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        try await withLease(waiting: waiting, clock: SyncClock(clock), onWait: onWait, body)
    }

    /// Runs a function while this process holds the lease, with a type-erased clock.
    func withLease<Result: Sendable>(
        waiting: SyncLeaseWait = .never, clock: SyncClock, onWait: (any Error) -> Void = { _ in },
        _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        let held = try await acquire(waiting: waiting, clock: clock, onWait: onWait)
        let result = await held.run(body)
        // In a separate task, because this one may be cancelled.
        await Task { await held.release() }.value
        return try result.get()
    }

    private func acquire(
        waiting: SyncLeaseWait, clock: SyncClock, onWait: (any Error) -> Void
    ) async throws -> HeldLease {
        let begin = clock.now()
        var holders: Set<SyncLeaseHolder?> = []
        while true {
            try Task.checkCancellation()
            let start = clock.now()
            let holder: SyncLeaseHolder?
            let refusal: any Error
            switch try await tryAcquire(for: SyncLeaseHolder()) {
            case .granted(let grant):
                return HeldLease(grant, name: name, duration: duration, clock: clock, since: start)
            case .held(let other): (holder, refusal) = (other, SyncLeaseError.held(name: name, holder: other))
            case .unavailable(let error): (holder, refusal) = (nil, error)
            }
            let interval = max(retryInterval, .milliseconds(1))
            let patience: Duration =
                switch waiting {
                case .never: .zero
                case .upTo(let limit): limit.addingClamped(begin - clock.now())
                case .forever: interval
                }
            guard patience > .zero else { throw refusal }
            if holders.insert(holder).inserted { onWait(refusal) }
            try await clock.sleep(min(patience, interval))
        }
    }
}

/// The leases that the current task runs under.
public enum SyncLeaseScope {
    /// The grants of the leases that the current task runs under, outermost first.
    package static var grants: [any SyncLeaseGrant] { HeldLease.surrounding.map(\.grant) }

    /// Renews the leases of ``SyncLease/withLease(waiting:clock:onWait:_:)`` that the current task
    /// runs under.
    ///
    /// Call it right before a change becomes permanent that no other process may make meanwhile.
    /// Without a lease it does nothing. Syncs of a store call it before they commit.
    ///
    /// - Throws: ``SyncLeaseError/lost(name:underlying:)``; `CancellationError` if the task is
    ///   cancelled.
    public static func confirm() async throws {
        for held in HeldLease.surrounding { try await held.confirm() }
    }
}
