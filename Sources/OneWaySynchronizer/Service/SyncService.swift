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
///     try await store.sync(.file("users.json"), into: "User")
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
        var health = SyncHealth<Report>()
    }

    private let operation: Operation
    /// Runs beside the schedule, under the same lease; nil if there is none.
    private let companion: (@Sendable () async -> Void)?
    /// The stage of the running pass and the time since it began.
    private let stage: @Sendable () -> (stage: SyncStage, elapsed: Duration)?
    private let schedule: SyncSchedule
    private let lease: (any SyncLease)?
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
        self.init(schedule: schedule, lease: lease, clock: SyncClock(clock), date: date, stage: { nil }) { _ in
            try await sync()
        }
    }

    /// Creates a service with a companion.
    ///
    /// - Parameters:
    ///   - companion: Runs beside the schedule, and only while the lease is held. It is cancelled
    ///     and awaited at the end.
    ///   - sync: The sync.
    package convenience init(
        schedule: SyncSchedule, lease: (any SyncLease)?, clock: SyncClock, date: @escaping @Sendable () -> Date,
        companion: @escaping @Sendable () async -> Void, sync: @escaping @Sendable () async throws -> Report
    ) {
        self.init(schedule: schedule, lease: lease, clock: clock, date: date, stage: { nil }, companion: companion) {
            _ in try await sync()
        }
    }

    init(
        schedule: SyncSchedule, lease: (any SyncLease)?, clock: SyncClock, date: @escaping @Sendable () -> Date,
        stage: @escaping @Sendable () -> (stage: SyncStage, elapsed: Duration)?,
        companion: (@Sendable () async -> Void)? = nil, operation: @escaping Operation
    ) {
        self.operation = operation
        self.companion = companion
        self.stage = stage
        self.schedule = schedule
        self.lease = lease
        self.clock = clock
        self.date = date
    }

    // MARK: Observing

    /// A snapshot of the service's state.
    public var health: SyncHealth<Report> {
        var (health, isStopRequested) = control.withLock { ($0.health, $0.isStopRequested) }
        health.activity?.isStopRequested = isStopRequested
        if health.isSyncing, let (stage, elapsed) = stage() {
            health.activity?.stage = stage
            health.activity?.stageSince = date().addingTimeInterval(-(elapsed / .seconds(1)))
        }
        return health
    }

    /// The events from now on, for one observer, such as logs and metrics; the buffer holds 256
    /// events. Each access creates a new observer.
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
        let (timers, wasCutShort) = control.withLock { control in
            control.isRunning = false
            control.cancelWork = nil
            control.health.nextRun = nil
            control.health.activity = nil
            defer { control.stopTimers = [] }
            return (control.stopTimers, control.isCutShort)
        }
        for timer in timers { timer.cancel() }
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
        if !schedule.runsAtStart {
            begin(.waiting)
            await waitForNextRun()
        }
        while !control.withLock(\.isStopRequested) {
            try Task.checkCancellation()
            await sync()
            await waitForNextRun()
        }
        try Task.checkCancellation()
    }

    private func runWhileHolding(_ lease: any SyncLease) async throws {
        while !control.withLock(\.isStopRequested) {
            noteRequest(of: lease)
            do {
                try await lease.withLease(clock: clock) {
                    self.broadcaster.send(.tookOver)
                    defer { self.begin(.releasingLease) }
                    try await self.runOnSchedule()
                }
            } catch SyncLeaseError.held(_, let holder) {
                noteStandby(for: holder)
            } catch {
                try Task.checkCancellation()
                noteFailure(error)
                noteStandby(for: nil)
            }
            // A trigger has no effect before the lease is granted.
            await wait(max(lease.retryInterval, .milliseconds(1))) { $0.isStopRequested }
        }
    }

    private func sync() async {
        control.withLock { $0.isTriggered = false }
        begin(.syncing)
        broadcaster.send(.began)
        let result: Result<Report, any Error>
        do { result = .success(try await operation(broadcaster)) } catch { result = .failure(error) }
        let isCancelled = Task.isCancelled
        begin(.waiting)
        switch result {
        case .success(let report):
            change { health in
                health.lastSuccess = date()
                health.lastReport = report
                health.consecutiveFailures = 0
            }
            broadcaster.send(.succeeded(report))
        case .failure(let error) where isCancelled || error.isCancellation:
            broadcaster.send(.cancelled)
        case .failure(let error):
            noteFailure(error)
        }
    }

    // MARK: Recording

    /// Changes the health; replaced values are released outside the lock.
    private func change(_ change: (inout SyncHealth<Report>) -> Void) {
        let former = control.withLock { control in
            let former = control.health
            change(&control.health)
            return former
        }
        _ = former
    }

    private func begin(_ kind: SyncActivity.Kind) {
        change { $0.activity = SyncActivity(kind: kind, since: date(), leaseName: lease?.name) }
    }

    private func noteRequest(of lease: any SyncLease) {
        let isStandingBy = control.withLock { $0.health.isStandingBy }
        if !isStandingBy { begin(.requestingLease) }
        change { $0.activity?.unansweredSince = date() }
    }

    private func noteStandby(for holder: SyncLeaseHolder?) {
        let isNew = control.withLock { !$0.health.isStandingBy || $0.health.leaseHolder != holder }
        if isNew { begin(.standingBy) }
        change { health in
            health.activity?.leaseHolder = holder
            health.activity?.unansweredSince = nil
        }
        if isNew { broadcaster.send(.standingBy(holder)) }
    }

    private func noteFailure(_ error: any Error) {
        change { health in
            health.lastFailure = date()
            health.lastError = error
            health.consecutiveFailures += 1
        }
        broadcaster.send(.failed(error))
    }

    // MARK: Waiting

    private func wake(_ change: (inout Control) -> Void) {
        let waiters = control.withLock { control in
            change(&control)
            return control.waiters.removeAll()
        }
        for waiter in waiters { waiter.resume() }
    }

    private func waitForNextRun() async {
        let failures = control.withLock { $0.health.consecutiveFailures }
        let delay = schedule.delay(consecutiveFailures: failures, random: Double.random(in: 0..<1))
        change { $0.nextRun = date().addingTimeInterval(delay / .seconds(1)) }
        await wait(delay) { $0.isTriggered || $0.isStopRequested }
        change { $0.nextRun = nil }
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
