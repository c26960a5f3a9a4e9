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
    ///   - synchronizer: The synchronizer; other code may use it too.
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
            let events = synchronizer.events
            let forwarding = Task { await events.forwardProgress(to: observers) }
            let result: Result<SyncReport, SyncFailure>
            do throws(SyncFailure) { result = .success(try await synchronizer.sync()) } catch {
                result = .failure(error)
            }
            // Events that have already happened are still forwarded.
            forwarding.cancel()
            await forwarding.value
            return try result.get()
        }
    }
}

extension SyncEvents<SyncEvent> {
    /// Forwards progress and retries until the task is cancelled, including events that then wait.
    fileprivate func forwardProgress(to observers: Broadcaster<SyncService<SyncReport>.Event>) async {
        for await event in self {
            switch event {
            case .progress(let progress): observers.send(.progress(progress))
            case .willRetry(let error, let attempt, let delay):
                observers.send(.retried(error, attempt: attempt, after: delay))
            case .statusChanged, .stageBegan, .failed, .passEnded: break
            }
        }
    }
}
