public import Foundation

/// Runs a synchronizer on a schedule, for as long as a server app lives.
///
/// ```swift
/// let service = SyncService(synchronizer: synchronizer, schedule: SyncSchedule(interval: .seconds(60)))
/// try await service.run()
/// ```
///
/// Has the shape of a `Service` of swift-service-lifecycle: ``run()`` returns after ``requestStop()``, and throws
/// `CancellationError` when its task is cancelled.
public final class SyncService<Processor: SyncProcessor>: Sendable {
    private struct Control {
        var isRunning = false
        var isTriggered = false
        var isStopRequested = false
        /// What `run()` waits for between syncs; cancelled to wake it.
        var sleeper: Task<Void, Never>?
        var health = SyncHealth()
    }

    private let synchronizer: Synchronizer<Processor>
    private let schedule: SyncSchedule
    private let clock: SyncClock
    private let date: @Sendable () -> Date
    private let control = Locked(Control())

    /// A service that does nothing until it is run.
    ///
    /// - Parameters:
    ///   - synchronizer: What it runs; others may call it too.
    ///   - schedule: When.
    ///   - clock: Waits between syncs.
    ///   - date: The time of day that ``health`` shows.
    public init(
        synchronizer: Synchronizer<Processor>, schedule: SyncSchedule, clock: some Clock<Duration> = ContinuousClock(),
        date: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.synchronizer = synchronizer
        self.schedule = schedule
        self.clock = SyncClock(clock)
        self.date = date
    }

    /// How the service fares, at this moment.
    public var health: SyncHealth { control.withLock { $0.health } }

    /// Syncs on schedule until a stop is requested. A failed sync is noted in ``health``, and tried again by the schedule.
    ///
    /// - Throws: `CancellationError` once the task is cancelled and a running pass has ended for it;
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
            }
        }
        if !schedule.runsAtStart { await waitForNextRun() }
        while !control.withLock(\.isStopRequested) {
            try Task.checkCancellation()
            await sync()
            await waitForNextRun()
        }
        try Task.checkCancellation()
    }

    /// Asks for a sync now. One that is asked for during a sync follows it, however many ask.
    public func trigger() {
        wake { $0.isTriggered = true }
    }

    /// Lets a running sync finish, starts no other, and has ``run()`` return. Holds for good, also when it comes before
    /// `run()`.
    public func requestStop() {
        wake { $0.isStopRequested = true }
    }

    private func wake(_ change: (inout Control) -> Void) {
        let sleeper = control.withLock { control in
            change(&control)
            return control.sleeper
        }
        sleeper?.cancel()
    }

    private func sync() async {
        control.withLock { control in
            control.isTriggered = false
            control.health.nextRun = nil
            control.health.isSyncing = true
        }
        let result: Result<SyncReport, SyncFailure>
        do throws(SyncFailure) {
            result = .success(try await synchronizer.sync())
        } catch {
            // A cancelled caller is answered at once; the service ends after its pass.
            if Task.isCancelled { await synchronizer.waitForCancelledPass() }
            result = .failure(error)
        }
        let now = date()
        control.withLock { $0.health.note(result, at: now) }
    }

    private func waitForNextRun() async {
        let delay = schedule.delay(
            consecutiveFailures: health.consecutiveFailures, random: Double.random(in: 0..<1))
        let nextRun = date().addingTimeInterval(delay / .seconds(1))
        let sleeper = Task { _ = try? await clock.sleep(delay) }
        let mustWait = control.withLock { control in
            guard !control.isTriggered, !control.isStopRequested else { return false }
            control.sleeper = sleeper
            control.health.nextRun = nextRun
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

/// How a ``SyncService`` fares.
public struct SyncHealth: Sendable {
    /// When a sync last succeeded; `nil` if none has.
    public internal(set) var lastSuccess: Date?

    /// What that sync did.
    public internal(set) var lastReport: SyncReport?

    /// When a sync last failed; `nil` if none has. A cancelled sync is neither a success nor a failure.
    public internal(set) var lastFailure: Date?

    /// What went wrong then.
    public internal(set) var lastError: SyncFailure?

    /// How many syncs failed since one last succeeded.
    public internal(set) var consecutiveFailures = 0

    /// When the next sync begins; `nil` while one runs and when the service does not.
    public internal(set) var nextRun: Date?

    /// Whether the service's sync is running.
    public internal(set) var isSyncing = false

    mutating func note(_ result: Result<SyncReport, SyncFailure>, at date: Date) {
        isSyncing = false
        switch result {
        case .success(let report):
            lastSuccess = date
            lastReport = report
            consecutiveFailures = 0
        case .failure(let failure) where failure.isCancelled:
            break
        case .failure(let failure):
            lastFailure = date
            lastError = failure
            consecutiveFailures += 1
        }
    }
}

/// Why a ``SyncService`` does not run.
public enum SyncServiceError: Error, Hashable {
    /// ``SyncService/run()`` was called while it was running.
    case alreadyRunning
}
