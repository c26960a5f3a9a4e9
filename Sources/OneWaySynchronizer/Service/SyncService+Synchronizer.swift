import SyncBase

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension SyncService where Report == SyncReport {
    /// Creates a service that runs the passes of a synchronizer, and does nothing until it is run.
    ///
    /// - Parameters:
    ///   - synchronizer: The synchronizer; others may use it too.
    ///   - schedule: When it syncs.
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
            // Also for those who begin to observe while it runs.
            let events = synchronizer.events
            let forwarding = Task { await events.forwardProgress(to: observers) }
            let result: Result<SyncReport, SyncFailure>
            do throws(SyncFailure) { result = .success(try await synchronizer.sync()) } catch {
                result = .failure(error)
            }
            // What has happened so far is still forwarded.
            forwarding.cancel()
            await forwarding.value
            return try result.get()
        }
    }
}

extension SyncEvents<SyncEvent> {
    /// Forwards progress and retries until the task is cancelled, those that wait included.
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
