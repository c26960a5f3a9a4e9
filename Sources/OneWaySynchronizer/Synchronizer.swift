import SyncBase
import Foundation

/// Makes a local collection equal to a remote one, by driving a ``SyncProcessor``.
///
/// ```swift
/// let synchronizer = Synchronizer(processor: PageProcessor())
/// let report = try await synchronizer.sync()
/// ```
///
/// One run through the processor's calls is a *pass*; there is never more than one at a time.
///
/// - **Queued re-sync.** `sync()` during a pass queues one more, however many callers ask. All callers are answered
///   together at the end of the last pass, with its result, so that each sees a pass that began after its call.
/// - **Cancel.** ``cancel()`` ends the pass as soon as its running calls return, drops the queued one, and every caller
///   gets a ``SyncFailure`` that says so. A caller whose own task is cancelled stops waiting at once; the pass is
///   cancelled when no caller is left waiting. `sync()` after that starts a fresh pass.
/// - **Errors** end a pass as ``SyncOptions/stopOnError`` says; `owsSyncEnd` is called in any case.
///
/// The processor's calls are made off this actor. A running pass keeps its synchronizer alive.
public actor Synchronizer<Processor: SyncProcessor> {
    /// What is driven.
    public nonisolated let processor: Processor

    private nonisolated let clock: SyncClock
    private nonisolated let broadcaster = EventBroadcaster()
    private nonisolated let currentOptions: Locked<SyncOptions>
    /// Requests of callers without async, in order, until the actor admits them.
    private nonisolated let inbox = Locked<[@Sendable (Result<SyncReport, SyncFailure>) -> Void]>([])

    private var state = SynchronizerState()
    private var waiters: [SynchronizerState.Waiter: (Result<SyncReport, SyncFailure>) -> Void] = [:]
    private var lastWaiter: SynchronizerState.Waiter = 0
    private var passTask: Task<Void, Never>?
    private var lastResult = Result<SyncReport, SyncFailure>.success(SyncReport())

    /// A synchronizer that is idle.
    ///
    /// - Parameters:
    ///   - processor: What it drives; kept for as long as the synchronizer lives.
    ///   - options: How passes are run; can be replaced at any time.
    ///   - clock: Measures durations, and waits for retries and time-outs.
    public init(
        processor: Processor, options: SyncOptions = SyncOptions(), clock: some Clock<Duration> = ContinuousClock()
    ) {
        self.processor = processor
        self.clock = SyncClock(clock)
        currentOptions = Locked(options)
    }

    /// How passes are run. A running pass goes on with those it began with.
    public nonisolated var options: SyncOptions {
        get { currentOptions.withLock(\.self) }
        set { currentOptions.withLock { $0 = newValue } }
    }

    /// Whether a pass runs or is about to.
    public var isSyncing: Bool {
        state.isSyncing || inbox.withLock { !$0.isEmpty }
    }

    // MARK: Syncing

    /// Runs a pass; where one runs already, queues one more and waits for that.
    ///
    /// - Returns: What the last pass did, without an error.
    /// - Throws: ``SyncFailure``: what went wrong in the last pass, or that it, or this task, was cancelled. Awaited from
    ///   inside a pass of the same synchronizer (in the task of a processor's call or one created there), it fails with
    ///   ``SyncError/Reason/syncInsidePass`` instead of waiting for itself.
    @discardableResult
    public func sync() async throws(SyncFailure) -> SyncReport {
        guard !PassMarker.surrounding.contains(where: { $0.isRunning(of: self) }) else {
            throw SyncFailure(error: SyncError(stage: .begin, underlying: SyncError.Reason.syncInsidePass))
        }
        guard !Task.isCancelled else { throw SyncFailure(report: SyncReport(), isCancelled: true) }
        admitInbox()
        let waiter = newWaiter()
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                waiters[waiter] = { continuation.resume(returning: $0) }
                handle(.syncRequested(waiter))
            }
        } onCancel: {
            // Enters the actor after the waiter was registered: nothing above suspends before that.
            Task { await self.handle(.waiterCancelled(waiter)) }
        }
        return try result.get()
    }

    /// The same for callers without async.
    ///
    /// Returns at once. Requests are taken in the order in which they are made, and before any call that awaits this
    /// actor later. Never fails with ``SyncError/Reason/syncInsidePass``, since nothing waits.
    ///
    /// - Parameter completion: Called once, on no particular thread.
    public nonisolated func sync(completion: @escaping @Sendable (Result<SyncReport, SyncFailure>) -> Void) {
        // In a task of its own, so that a slow completion does not hold the actor.
        inbox.withLock { $0.append { result in Task { completion(result) } } }
        Task { await admitInbox() }
    }

    /// Ends the running pass as soon as its running calls return, and drops the queued one. Every caller of `sync()` gets
    /// a failure with ``SyncFailure/isCancelled``. Does nothing when no pass runs.
    ///
    /// Does not wait for the pass to end; the callers of `sync()` do.
    public func cancel() {
        admitInbox()
        handle(.cancelRequested)
    }

    /// What a pass would do now: lists, compares and asks which items changed, and changes nothing.
    ///
    /// Calls `owsFetchSourceList`, `owsGetLocalKeys`, `owsShouldUpdateItems` and `owsShouldUpdateItem`, and none of the
    /// others: `owsPrepareDownload`, which may leave out or add downloads, has no say in a plan. Independent of passes,
    /// also of one that runs. A removal limit that is exceeded is part of the plan: see ``SyncPlan/refusal``.
    ///
    /// - Throws: ``SyncFailure``, as `sync()` would; `isCancelled` when the task was cancelled.
    public nonisolated func plan() async throws(SyncFailure) -> SyncPlan<Processor.Item> {
        // Its progress is nobody's business but the caller's.
        try await Pass(processor: processor, options: options, clock: clock, events: EventBroadcaster()).plan().get()
    }

    // MARK: Observing

    /// What happens from now on, for one observer; each access makes a new one, with a buffer of 256 events.
    public nonisolated var events: SyncEvents { events(bufferSize: 256) }

    /// What happens from now on, for one observer.
    ///
    /// - Parameter bufferSize: How many events wait for the observer before the oldest are dropped; at least 1.
    public nonisolated func events(bufferSize: Int) -> SyncEvents {
        broadcaster.subscribe(bufferSize: bufferSize)
    }

    // MARK: Doing what the machine says

    private func newWaiter() -> SynchronizerState.Waiter {
        lastWaiter += 1
        return lastWaiter
    }

    private func admitInbox() {
        let completions = inbox.withLock { inbox in
            defer { inbox = [] }
            return inbox
        }
        for completion in completions {
            let waiter = newWaiter()
            waiters[waiter] = completion
            handle(.syncRequested(waiter))
        }
    }

    private func handle(_ event: SynchronizerState.Event) {
        for effect in state.handle(event) {
            switch effect {
            case .beginPass: beginPass()
            case .cancelPass: passTask?.cancel()
            case .answer(let waiters, let answer): resume(waiters, with: result(for: answer))
            case .publishStatus(let isSyncing): publish(SyncStatus(isSyncing: isSyncing))
            }
        }
    }

    private func beginPass() {
        let pass = Pass(processor: processor, options: options, clock: clock, events: broadcaster)
        let marker = PassMarker(of: self)
        passTask = Task {
            // Leaves the actor for as long as the pass runs.
            lastResult = await marker.mark { await pass.run() }
            passTask = nil
            // What was asked for while the pass ran is queued behind it, not begun after its end.
            admitInbox()
            handle(.passEnded)
        }
    }

    private func result(for answer: SynchronizerState.Answer) -> Result<SyncReport, SyncFailure> {
        switch (answer, lastResult) {
        case (.passResult, let result):
            result
        case (.cancelledPass, .success(let report)):
            .failure(SyncFailure(report: report, isCancelled: true))
        case (.cancelledPass, .failure(let failure)):
            .failure(SyncFailure(report: failure.report, isCancelled: true))
        case (.stoppedWaiting, _):
            .failure(SyncFailure(report: SyncReport(), isCancelled: true))
        }
    }

    private func resume(_ waiters: [SynchronizerState.Waiter], with result: Result<SyncReport, SyncFailure>) {
        for waiter in waiters {
            self.waiters.removeValue(forKey: waiter)?(result)
        }
    }

    private func publish(_ status: SyncStatus) {
        broadcaster.send(.statusChanged(status))
        NotificationPoster.shared.post(status, from: self)
    }

    /// Waits until a cancelled pass has ended; returns at once when none is ending.
    package func waitForCancelledPass() async {
        if case .cancelling = state.phase { await passTask?.value }
    }
}
