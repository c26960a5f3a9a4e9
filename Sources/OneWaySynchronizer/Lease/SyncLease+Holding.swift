import SyncBase
/// For how long one waits for a lease that somebody else holds.
public enum SyncLeaseWait: Sendable, Hashable {
    /// Not at all.
    case never
    /// That long, and then no longer.
    case upTo(Duration)
    /// Until it is free, or the task is cancelled.
    case forever
}

extension SyncLease {
    /// Runs a function while this process holds the lease.
    ///
    /// The keeper is asked again each ``retryInterval`` while somebody else has it. If the lease is lost, the body's task is cancelled; the
    /// lease is released once the body has returned, whatever way.
    ///
    /// - Parameters:
    ///   - waiting: For how long to wait for another holder; not at all by default.
    ///   - clock: Measures and waits. Should go on while the machine sleeps, as the default one does.
    ///   - onWait: Called before waiting for a holder, once for each; `nil` stands for one that is not known.
    ///   - body: What to do. Its task, and tasks that are made in it, can confirm the lease by ``SyncLeaseScope``.
    /// - Returns: What the body returned, also where it did so in spite of a loss.
    /// - Throws: What the body throws; ``SyncLeaseError``; `CancellationError` where the task is cancelled while it waits; what the keeper throws
    ///   when it is asked for the lease.
    @discardableResult
    public func withLease<Result: Sendable>(
        waiting: SyncLeaseWait = .never, clock: some Clock<Duration> = ContinuousClock(),
        onWait: @Sendable (SyncLeaseHolder?) -> Void = { _ in },
        _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        try await withLease(waiting: waiting, clock: SyncClock(clock), onWait: onWait, body)
    }

    /// The same by a clock whose type is not known.
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
                let patience: Duration =
                    switch waiting {
                    case .never: .zero
                    case .upTo(let limit): limit - (clock.now() - begin)
                    case .forever: retryInterval
                    }
                guard patience > .zero else { throw SyncLeaseError.held(name: name, holder: holder) }
                if holders.insert(holder).inserted { onWait(holder) }
                try await clock.sleep(min(patience, retryInterval))
            }
        }
    }
}

/// The leases that the current task runs under.
public enum SyncLeaseScope {
    /// Makes sure, by renewing them, that the leases are still held whose ``SyncLease/withLease(waiting:clock:onWait:_:)`` surrounds the current
    /// task; to be called last before something is made to last that nobody else may do meanwhile.
    ///
    /// Does nothing where there is none. Syncs of a `JSONStore` call it before they commit.
    ///
    /// - Throws: ``SyncLeaseError/lost(name:underlying:)``; `CancellationError` where the task is cancelled.
    public static func confirm() async throws {
        for held in HeldLease.surrounding { try await held.confirm() }
    }
}
