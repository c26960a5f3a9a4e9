import SyncBase
public import Foundation

/// Syncs on a schedule, for as long as a server app lives.
///
/// ```swift
/// let service = SyncService(schedule: SyncSchedule(interval: .seconds(60)), lease: SQLiteLease(for: file)) {
///     try await store.sync(.file("users.json"), into: "User")
/// }
/// try await service.run()
/// ```
///
/// Has the shape of a `Service` of swift-service-lifecycle: ``run()`` returns after ``requestStop()``, and throws
/// `CancellationError` when its task is cancelled.
///
/// With a lease, one service of all those that share it syncs: it holds the lease from its first sync until it stops, and the others stand by to
/// take over, so that the source is not asked more often because there are more of them. A trigger reaches the service it is called
/// on; one that stands by keeps it until it takes over.
public final class SyncService<Report: Sendable>: Sendable {
    private struct Control {
        var isRunning = false
        var isTriggered = false
        var isStopRequested = false
        /// What `run()` waits for between syncs; cancelled to wake it.
        var sleeper: Task<Void, Never>?
        var health = SyncHealth<Report>()
    }

    private let operation: @Sendable () async throws -> Report
    private let schedule: SyncSchedule
    private let lease: (any SyncLease)?
    private let clock: SyncClock
    private let date: @Sendable () -> Date
    private let control = Locked(Control())

    /// A service that does nothing until it is run.
    ///
    /// - Parameters:
    ///   - schedule: When it syncs.
    ///   - lease: What lets one service at a time sync; none by default.
    ///   - clock: Waits between syncs, and for the lease.
    ///   - date: The time of day that ``health`` shows.
    ///   - sync: A sync, of whatever into whatever. Called again only when it has returned. When its task is cancelled it undoes what it has begun or
    ///     finishes it, and returns.
    public init(
        schedule: SyncSchedule, lease: (any SyncLease)? = nil, clock: some Clock<Duration> = ContinuousClock(),
        date: @escaping @Sendable () -> Date = { Date() }, sync: @escaping @Sendable () async throws -> Report
    ) {
        operation = sync
        self.schedule = schedule
        self.lease = lease
        self.clock = SyncClock(clock)
        self.date = date
    }

    /// How the service fares, at this moment.
    public var health: SyncHealth<Report> { control.withLock { $0.health } }

    /// Syncs on schedule until a stop is requested. A failed sync is noted in ``health``, and tried again by the schedule. So is a lease
    /// that is lost, which cancels a running sync, or cannot be asked for; it is asked for again as often as it says.
    ///
    /// - Throws: `CancellationError` once the task is cancelled and a running sync has ended for it;
    ///   ``SyncServiceError/alreadyRunning`` if it runs already.
    public func run() async throws {
        let isFirst = control.withLock { control in
            defer { control.isRunning = true }
            return !control.isRunning
        }
        guard isFirst else { throw SyncServiceError.alreadyRunning }
        defer {
            control.withLock { control in
                control.isRunning = false
                control.health.nextRun = nil
                control.health.noteStandby(false, for: nil)
            }
        }
        if let lease { try await runWhileHolding(lease) } else { try await runOnSchedule() }
    }

    /// Asks for a sync now. One that is asked for during a sync follows it, however many ask.
    public func trigger() {
        wake { $0.isTriggered = true }
    }

    /// Lets a running sync finish, starts no other, and has ``run()`` return. Holds for good, also when it comes before
    /// `run()`. A sync that must not be waited for is ended by cancelling the task of `run()`.
    public func requestStop() {
        wake { $0.isStopRequested = true }
    }

    // MARK: Running

    private func runOnSchedule() async throws {
        if !schedule.runsAtStart { await waitForNextRun() }
        while !control.withLock(\.isStopRequested) {
            try Task.checkCancellation()
            await sync()
            await waitForNextRun()
        }
        try Task.checkCancellation()
    }

    private func runWhileHolding(_ lease: any SyncLease) async throws {
        while !control.withLock(\.isStopRequested) {
            try Task.checkCancellation()
            do {
                try await lease.withLease(clock: clock) {
                    self.control.withLock { $0.health.noteStandby(false, for: nil) }
                    try await self.runOnSchedule()
                }
            } catch SyncLeaseError.held(_, let holder) {
                control.withLock { $0.health.noteStandby(true, for: holder) }
            } catch {
                try Task.checkCancellation()
                control.withLock { $0.health.noteFailure(error, at: date()) }
            }
            // A trigger is of no use before the lease is there.
            await wait(lease.retryInterval) { $0.isStopRequested }
        }
        try Task.checkCancellation()
    }

    private func sync() async {
        control.withLock { control in
            control.isTriggered = false
            control.health.nextRun = nil
            control.health.isSyncing = true
        }
        let result: Result<Report, any Error>
        do { result = .success(try await operation()) } catch { result = .failure(error) }
        let isCancelled = Task.isCancelled
        let now = date()
        control.withLock { control in
            control.health.isSyncing = false
            switch result {
            case .success(let report): control.health.noteSuccess(report, at: now)
            case .failure(let error) where isCancelled || error.isCancellation: break
            case .failure(let error): control.health.noteFailure(error, at: now)
            }
        }
    }

    // MARK: Waiting

    private func wake(_ change: (inout Control) -> Void) {
        let sleeper = control.withLock { control in
            change(&control)
            return control.sleeper
        }
        sleeper?.cancel()
    }

    private func waitForNextRun() async {
        let delay = schedule.delay(
            consecutiveFailures: health.consecutiveFailures, random: Double.random(in: 0..<1))
        let nextRun = date().addingTimeInterval(delay / .seconds(1))
        await wait(delay) { control in
            guard !control.isTriggered, !control.isStopRequested else { return true }
            control.health.nextRun = nextRun
            return false
        }
    }

    /// Waits until the time has passed, the service is woken, or the task is cancelled.
    ///
    /// - Parameter isOver: Whether there is nothing to wait for.
    private func wait(_ delay: Duration, unless isOver: (inout Control) -> Bool) async {
        let sleeper = Task { _ = try? await clock.sleep(delay) }
        let mustWait = control.withLock { control in
            guard !isOver(&control) else { return false }
            control.sleeper = sleeper
            return true
        }
        if !mustWait { sleeper.cancel() }
        await withTaskCancellationHandler {
            await sleeper.value
        } onCancel: {
            sleeper.cancel()
        }
        control.withLock { $0.sleeper = nil }
    }
}

extension SyncService where Report == SyncReport {
    /// A service that runs the passes of a synchronizer, and does nothing until it is run.
    ///
    /// - Parameters:
    ///   - synchronizer: What it runs; others may call it too.
    ///   - schedule: When.
    ///   - lease: What lets one service at a time sync; none by default.
    ///   - clock: Waits between syncs, and for the lease.
    ///   - date: The time of day that ``health`` shows.
    public convenience init<Processor>(
        synchronizer: Synchronizer<Processor>, schedule: SyncSchedule, lease: (any SyncLease)? = nil,
        clock: some Clock<Duration> = ContinuousClock(), date: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.init(schedule: schedule, lease: lease, clock: clock, date: date) {
            do { return try await synchronizer.sync() } catch {
                // A cancelled caller is answered at once; the service ends after its pass.
                if Task.isCancelled { await synchronizer.waitForCancelledPass() }
                throw error
            }
        }
    }
}

/// Why a ``SyncService`` does not run.
public enum SyncServiceError: Error, Hashable {
    /// ``SyncService/run()`` was called while it was running.
    case alreadyRunning
}

extension Error {
    /// Whether this says that a sync was cancelled, by whomever.
    fileprivate var isCancellation: Bool {
        self is CancellationError || (self as? SyncFailure)?.isCancelled == true
    }
}
