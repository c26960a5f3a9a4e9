import SyncBase

/// How long to wait for a lease that another process holds.
public enum SyncLeaseWait: Sendable, Hashable, Codable {
    /// Not at all.
    case never
    /// That long.
    case upTo(Duration)
    /// Until it is free, or the task is cancelled.
    case forever
}

extension SyncLease {
    /// Runs a function while this process holds the lease.
    ///
    /// While another process holds it, the keeper is asked again each ``retryInterval``. If the
    /// lease is lost, the body's task is cancelled. The lease is released when the body, and every
    /// pass of a ``Synchronizer`` that was begun in it, have ended; passes that still run when the
    /// body returns are cancelled.
    ///
    /// - Parameters:
    ///   - waiting: How long to wait for another holder; not at all by default.
    ///   - clock: The clock for waits. Should go on while the machine sleeps, as the default one
    ///     does.
    ///   - onWait: Called before waiting for a holder, once for each; `nil` stands for an unknown
    ///     one.
    ///   - body: The function. Its task, and tasks that are made in it, can confirm the lease with
    ///     ``SyncLeaseScope``.
    /// - Returns: What the body returned, also if the lease was lost meanwhile.
    /// - Throws: The error of the body; ``SyncLeaseError``; `CancellationError` if the task is
    ///   cancelled while it waits; the keeper's error when it is asked for the lease.
    @discardableResult
    public func withLease<Result: Sendable>(
        waiting: SyncLeaseWait = .never, clock: some Clock<Duration> = ContinuousClock(),
        onWait: @Sendable (SyncLeaseHolder?) -> Void = { _ in },
        _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        try await withLease(waiting: waiting, clock: SyncClock(clock), onWait: onWait, body)
    }

    /// Runs a function while this process holds the lease, with a clock of any type.
    func withLease<Result: Sendable>(
        waiting: SyncLeaseWait = .never, clock: SyncClock, onWait: (SyncLeaseHolder?) -> Void = { _ in },
        _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        let held = try await acquire(waiting: waiting, clock: clock, onWait: onWait)
        let result = await held.run(body)
        // In a task of its own, because this one may be cancelled.
        await Task { await held.release() }.value
        return try result.get()
    }

    private func acquire(
        waiting: SyncLeaseWait, clock: SyncClock, onWait: (SyncLeaseHolder?) -> Void
    ) async throws -> HeldLease {
        let begin = clock.now()
        var holders: Set<SyncLeaseHolder?> = []
        while true {
            try Task.checkCancellation()
            let start = clock.now()
            switch try await tryAcquire(for: SyncLeaseHolder()) {
            case .granted(let grant):
                return HeldLease(grant, name: name, duration: duration, clock: clock, since: start)
            case .held(let holder):
                let interval = max(retryInterval, .milliseconds(1))
                let patience: Duration =
                    switch waiting {
                    case .never: .zero
                    case .upTo(let limit): limit.addingClamped(begin - clock.now())
                    case .forever: interval
                    }
                guard patience > .zero else { throw SyncLeaseError.held(name: name, holder: holder) }
                if holders.insert(holder).inserted { onWait(holder) }
                try await clock.sleep(min(patience, interval))
            }
        }
    }
}

/// The leases that the current task runs under.
public enum SyncLeaseScope {
    /// The grants of the leases that the current task runs under, outermost first.
    package static var grants: [any SyncLeaseGrant] { HeldLease.surrounding.map(\.grant) }

    /// Renews the leases whose ``SyncLease/withLease(waiting:clock:onWait:_:)`` surrounds the
    /// current task.
    ///
    /// Call it last before a change becomes permanent that no other process may make at the same
    /// time. Without a lease it does nothing. Syncs of a `JSONStore` call it before they commit.
    ///
    /// - Throws: ``SyncLeaseError/lost(name:underlying:)``; `CancellationError` when the task is
    ///   cancelled.
    public static func confirm() async throws {
        for held in HeldLease.surrounding { try await held.confirm() }
    }
}
