package import SyncBase

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Runs a sync on a schedule, for the lifetime of a server app.
///
/// ```swift
/// let everyMinute = SyncSchedule(interval: .seconds(60))
/// let service = SyncService(schedule: everyMinute, lease: SQLiteLease(for: file)) {
///     try await store.sync(User.self, .file(users))
/// }
/// try await service.run()
/// ```
///
/// It has the shape of a `Service` of swift-service-lifecycle: ``run()`` returns after
/// ``requestStop()``, and throws `CancellationError` when its task is cancelled.
///
/// Several services can share a lease. One of them holds it, from its first sync until it stops,
/// and syncs. The others stand by to take over, so more services do not cause more requests to the
/// source. A trigger reaches the service it is called on; a service that stands by keeps the
/// trigger until it takes over.
public final class SyncService<Report: Sendable>: Sendable {
    /// Runs a sync, and reports its progress.
    typealias Operation = @Sendable (Broadcaster<Event>) async throws -> Report

    private struct Control {
        var isRunning = false
        var isTriggered = false
        var isStopRequested = false
        /// Whether a stop reached its time limit.
        var isCutShort = false
        /// Cancels the work of `run()`.
        var cancelWork: (@Sendable () -> Void)?
        var stopTimers: [Task<Void, Never>] = []
        var waiters = Waiters<Void>()
        var health = SyncService<Report>.Health()
        /// The number of failed syncs since the last success. Unlike that of the health, it leaves
        /// out failures of the lease.
        var failedSyncCount = 0
        /// The number of steps that the health records.
        var stepCount = 0
    }

    private let operation: Operation
    /// Runs beside the schedule, under the same lease; nil if there is none.
    private let companion: (@Sendable () async -> Void)?
    /// Called when `run()` returns after a requested stop.
    private let onStop: @Sendable () -> Void
    /// The stage of the running pass and the time since it began.
    private let stage: @Sendable () -> (stage: SyncStage, elapsed: Duration)?
    private let schedule: SyncSchedule
    private let lease: (any SyncLease)?
    /// The lease for others who use the synchronizer; nil without a lease.
    let serviceLease: ServiceLease?
    private let clock: SyncClock
    private let date: @Sendable () -> Date
    private let control = Locked(Control())
    private let broadcaster = Broadcaster<Event>.ofEvents()

    /// Creates a service; ``run()`` starts it.
    ///
    /// - Parameters:
    ///   - schedule: When the service syncs.
    ///   - lease: The lease that lets one service at a time sync; none by default.
    ///   - clock: The clock for waits between syncs and for the lease.
    ///   - date: The date source for ``health``.
    ///   - sync: The sync. Called again only after it has returned. When its task is cancelled, it
    ///     undoes or finishes its work and returns.
    public convenience init(
        schedule: SyncSchedule, lease: (any SyncLease)? = nil, clock: some Clock<Duration> = ContinuousClock(),
        date: @escaping @Sendable () -> Date = { Date() }, sync: @escaping @Sendable () async throws -> Report
    ) {
        self.init(
            schedule: schedule, lease: lease, clock: SyncClock(clock), date: date, stage: { nil },
            operation: Self.operation(sync))
    }

    /// Creates a service with a companion.
    ///
    /// - Parameters:
    ///   - companion: Runs beside the schedule, and only while the lease is held. It is cancelled
    ///     and awaited at the end.
    ///   - onStop: Called when ``run()`` returns after a requested stop.
    ///   - sync: The sync.
    package convenience init(
        schedule: SyncSchedule, lease: (any SyncLease)?, clock: SyncClock, date: @escaping @Sendable () -> Date,
        companion: @escaping @Sendable () async -> Void, onStop: @escaping @Sendable () -> Void,
        sync: @escaping @Sendable () async throws -> Report
    ) {
        self.init(
            schedule: schedule, lease: lease, clock: clock, date: date, stage: { nil }, companion: companion,
            onStop: onStop, operation: Self.operation(sync))
    }

    /// A sync that reports the retries in it.
    private static func operation(_ sync: @escaping @Sendable () async throws -> Report) -> Operation {
        { observers in
            try await RetryPolicy.Retry.observed(by: { observers.send(.retried($0)) }, sync)
        }
    }

    init(
        schedule: SyncSchedule, lease: (any SyncLease)?, clock: SyncClock, date: @escaping @Sendable () -> Date,
        stage: @escaping @Sendable () -> (stage: SyncStage, elapsed: Duration)?,
        companion: (@Sendable () async -> Void)? = nil, onStop: @escaping @Sendable () -> Void = {},
        operation: @escaping Operation
    ) {
        self.operation = operation
        self.companion = companion
        self.onStop = onStop
        self.stage = stage
        self.schedule = schedule
        self.lease = lease
        serviceLease = lease.map { ServiceLease(name: $0.name) }
        self.clock = clock
        self.date = date
    }

    // MARK: Observing

    /// A snapshot of the service's state.
    public var health: SyncService<Report>.Health {
        var (health, step) = control.withLock { control in
            var health = control.health
            health.activity?.isStopRequested = control.isStopRequested
            return (health, control.stepCount)
        }
        if health.isSyncing, let (stage, elapsed) = stage() {
            let since = date().addingTimeInterval(-(elapsed / .seconds(1)))
            // After a step, the stage belongs to another activity than the snapshot.
            if control.withLock({ $0.stepCount == step }) {
                health.activity?.stage = stage
                health.activity?.stageSince = since
            }
        }
        return health
    }

    /// The events from now on, for one observer, such as logs and metrics; the buffer holds 256
    /// events. Each access creates a new observer, whose sequence ends when ``run()`` returns after
    /// a requested stop.
    public var events: SyncEvents<Event> { events(bufferSize: 256) }

    /// The events from now on, for one observer.
    ///
    /// - Parameter bufferSize: The number of events that wait for the observer before they are
    ///   merged and dropped; at least 1.
    public func events(bufferSize: Int) -> SyncEvents<Event> {
        SyncEvents(subscription: broadcaster.subscribe(capacity: bufferSize))
    }

    // MARK: Running and stopping

    /// Syncs on schedule until a stop is requested.
    ///
    /// A failed sync is recorded in ``health`` and repeated by the schedule. Losing the lease
    /// cancels a running sync. A lease that was lost, or could not be requested, is also recorded,
    /// and requested again after its ``SyncLease/retryInterval``.
    ///
    /// - Throws: `CancellationError` after the task is cancelled and a running sync has ended;
    ///   ``SyncServiceError/alreadyRunning`` if the service already runs.
    public func run() async throws {
        let isFirst = control.withLock { control in
            defer { control.isRunning = true }
            return !control.isRunning
        }
        guard isFirst else { throw SyncServiceError.alreadyRunning }
        // In a separate task, which a stop can cancel at its time limit.
        let work = Task {
            if let lease { try await runWhileHolding(lease) } else { try await runOnSchedule() }
        }
        let isCutShort = control.withLock { control in
            control.cancelWork = { work.cancel() }
            return control.isCutShort
        }
        if isCutShort { work.cancel() }
        let result = await withTaskCancellationHandler {
            await work.result
        } onCancel: {
            work.cancel()
        }
        let (timers, wasCutShort, isStopped) = record(.ends) { control, _ in
            control.isRunning = false
            control.cancelWork = nil
            defer { control.stopTimers = [] }
            return (control.stopTimers, control.isCutShort, control.isStopRequested)
        }
        for timer in timers { timer.cancel() }
        if isStopped {
            broadcaster.finish()
            onStop()
        }
        try Task.checkCancellation()
        // A stop that reached its time limit is not an error.
        if case .failure(let error) = result, !wasCutShort { throw error }
    }

    /// Requests a sync now. Any number of requests during a sync cause one more sync.
    public func trigger() {
        wake { $0.isTriggered = true }
    }

    /// Lets a running sync finish, starts no other, and makes ``run()`` return.
    ///
    /// The request is permanent, even if it is made before `run()`. To end a running sync, cancel
    /// the task of `run()`.
    public func requestStop() {
        wake { $0.isStopRequested = true }
    }

    /// Lets a running sync finish within a time limit, then cancels it, and makes ``run()`` return.
    ///
    /// `run()` returns when the cancelled sync has ended. Of several requests, the earliest limit
    /// counts.
    ///
    /// - Parameter limit: The longest time for the running sync, or for the keeper of the lease to
    ///   answer; zero cancels at once.
    public func requestStop(within limit: Duration) {
        requestStop()
        guard limit > .zero else { return cutShort() }
        let timer = Task { [weak self, clock] in
            guard (try? await clock.sleep(limit)) != nil else { return }
            self?.cutShort()
        }
        control.withLock { $0.stopTimers.append(timer) }
    }

    private func cutShort() {
        let cancelWork = control.withLock { control in
            control.isCutShort = true
            return control.cancelWork
        }
        cancelWork?()
    }

    private func runOnSchedule() async throws {
        guard let companion else { return try await runSyncs() }
        try await withThrowingTaskGroup { group in
            group.addTask { await companion() }
            defer { group.cancelAll() }
            try await runSyncs()
        }
    }

    private func runSyncs() async throws {
        defer { record(.beginsNoMore) }
        if !schedule.runsAtStart {
            let (delay, next) = nextRun(consecutiveFailures: control.withLock(\.failedSyncCount))
            record(.waitsForSync(next: next))
            await waitForNextRun(delay)
        }
        while !control.withLock(\.isStopRequested) {
            try Task.checkCancellation()
            await waitForNextRun(sync())
        }
        try Task.checkCancellation()
    }

    private func runWhileHolding(_ lease: any SyncLease) async throws {
        while !control.withLock(\.isStopRequested) {
            record(.requestsLease)
            do {
                try await lease.withLease(clock: clock) {
                    self.broadcaster.send(.tookOver)
                    defer { self.record(.releasesLease) }
                    try await self.serviceLease?.whileHeld { try await self.runOnSchedule() }
                }
            } catch SyncLeaseError.held(_, let holder) {
                let isNew = record(.isRefused(holder: holder)) { $1.changes(byStandbyFor: holder) }
                if isNew { broadcaster.send(.standingBy(holder)) }
            } catch {
                try Task.checkCancellation()
                let isNew = record(.hasNoLease(error)) { $1.changes(byStandbyFor: nil) }
                broadcaster.send(.failed(error))
                if isNew { broadcaster.send(.standingBy(nil)) }
            }
            // A trigger has no effect before the lease is granted.
            await wait(max(lease.retryInterval, .milliseconds(1))) { $0.isStopRequested }
        }
    }

    /// Runs a sync.
    ///
    /// - Returns: The delay until the next one.
    private func sync() async -> Duration {
        let begins = record(.beginsSync) { control, _ in
            control.isTriggered = false
            return !control.isStopRequested
        }
        guard begins else { return .zero }
        broadcaster.send(.began)
        let result: Result<Report, any Error>
        do {
            let report = try await RetryPolicy.Retry.observed(by: note) { try await operation(broadcaster) }
            result = .success(report)
        } catch {
            result = .failure(error)
        }
        let isCancelled = Task.isCancelled
        // Only this task counts failed syncs.
        let failures = control.withLock(\.failedSyncCount)
        switch result {
        case .success(let report):
            let (delay, next) = nextRun(consecutiveFailures: 0)
            record(.endsSync(result, next: next)) { control, _ in control.failedSyncCount = 0 }
            broadcaster.send(.succeeded(report))
            return delay
        case .failure(let error) where isCancelled || error.isCancellation:
            let (delay, next) = nextRun(consecutiveFailures: failures)
            record(.endsSync(nil, next: next))
            broadcaster.send(.cancelled)
            return delay
        case .failure(let error):
            let (delay, next) = nextRun(consecutiveFailures: failures + 1)
            record(.endsSync(result, next: next)) { control, _ in control.failedSyncCount += 1 }
            broadcaster.send(.failed(error))
            return delay
        }
    }

    /// Records a retry of the running sync in the health.
    @Sendable private func note(_ retry: RetryPolicy.Retry) {
        let former = control.withLock { control in
            defer { if control.health.isSyncing { control.health.retry = retry } }
            return control.health.retry
        }
        _ = former
    }

    private func record(_ step: SyncServiceStep<Report>) {
        record(step) { _, _ in }
    }

    /// Records a step in the health.
    ///
    /// The user's closures are called before the lock is taken, and what the step replaces is
    /// released after it.
    ///
    /// - Parameter change: Another change under the same lock; it also gets the health before the
    ///   step.
    private func record<Result>(
        _ step: SyncServiceStep<Report>, _ change: (inout Control, _ former: SyncService<Report>.Health) -> Result
    ) -> Result {
        let date = date()
        let leaseName = lease?.name
        let (former, result) = control.withLock { control in
            let former = control.health
            control.health.record(step, at: date, leaseName: leaseName)
            control.stepCount += 1
            return (former, change(&control, former))
        }
        _ = former
        return result
    }

    // MARK: Waiting

    private func wake(_ change: (inout Control) -> Void) {
        let waiters = control.withLock { control in
            change(&control)
            return control.waiters.removeAll()
        }
        for waiter in waiters { waiter.resume() }
    }

    private func nextRun(consecutiveFailures: Int) -> (delay: Duration, date: Date) {
        let delay = schedule.delay(consecutiveFailures: consecutiveFailures, random: Double.random(in: 0..<1))
        return (delay, date().addingTimeInterval(delay / .seconds(1)))
    }

    private func waitForNextRun(_ delay: Duration) async {
        await wait(delay) { $0.isTriggered || $0.isStopRequested }
    }

    /// Waits until the time has passed, the condition holds, or the task is cancelled.
    private func wait(_ delay: Duration, unless isOver: (Control) -> Bool) async {
        let deadline = Deadline(in: delay, by: clock)
        do {
            // Every trigger and stop wakes it.
            while !control.withLock({ isOver($0) }) {
                try await control.wait(in: \.waiters, until: deadline) { isOver($0) ? .success(()) : nil }
            }
        } catch {
            // The time has passed, or the task is cancelled.
        }
    }
}

extension Error {
    /// Whether the error means that a sync was cancelled.
    fileprivate var isCancellation: Bool {
        self is CancellationError || (self as? SyncFailure)?.isCancelled == true
    }
}
