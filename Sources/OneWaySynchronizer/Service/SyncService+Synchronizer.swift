import SyncBase

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension SyncService where Report == SyncReport {
    /// Creates a service that runs the passes of a synchronizer; ``run()`` starts it.
    ///
    /// - Parameters:
    ///   - synchronizer: The synchronizer; other code may use it too. With a lease, passes that
    ///     other code requests run under it, and fail with ``SyncLeaseError/notHeld(name:)`` while
    ///     the service does not hold it.
    ///   - schedule: When the service syncs.
    ///   - lease: The lease that lets one service at a time sync; none by default.
    ///   - clock: The clock for waits between syncs and for the lease.
    ///   - date: The date source for ``health``.
    public convenience init<Processor>(
        synchronizer: Synchronizer<Processor>, schedule: SyncSchedule, lease: (any SyncLease)? = nil,
        clock: some Clock<Duration> = ContinuousClock(), date: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.init(
            schedule: schedule, lease: lease, clock: SyncClock(clock), date: date, stage: { synchronizer.stage }
        ) { observers in
            // Needed even without observers, because some may subscribe while it runs.
            let relay = synchronizer.broadcaster.relay(to: observers, Event.init(progress:))
            defer { withExtendedLifetime(relay) {} }
            return try await synchronizer.sync()
        }
        if let serviceLease { synchronizer.serviceLeases.add(serviceLease) }
    }
}

extension SyncService<SyncReport>.Event {
    /// The event of a service for the progress or a retry of its synchronizer.
    fileprivate init?(progress event: SyncEvent) {
        switch event {
        case .progress(let progress): self = .progress(progress)
        case .willRetry(let retry): self = .retried(retry)
        case .statusChanged, .stageBegan, .failed, .passEnded: return nil
        }
    }
}
