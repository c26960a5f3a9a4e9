import SyncBase

/// Makes a local collection equal to a remote one by driving a ``SyncProcessor``.
///
/// ```swift
/// let synchronizer = Synchronizer(processor: PageProcessor())
/// let report = try await synchronizer.sync()
/// ```
///
/// One execution of the processor's calls is a *pass*. Passes never overlap.
///
/// - **Answers.** A caller of `sync()` is answered at the end of the first pass that began after
///   its call, with the result of that pass. Calls during a pass queue one more, however many there
///   are.
/// - **Context.** A pass runs with the task-locals of the request that begins it, and with the
///   highest priority of the callers that wait. Callers under different leases do not share a pass.
/// - **Cancel.** ``cancel()`` ends the pass when its running calls have returned, drops the queued
///   passes, and every caller gets a ``SyncFailure`` that says so. `sync()` after that starts a
///   fresh pass.
/// - **Structure.** A caller whose own task is cancelled returns at once while others wait. The
///   last one cancels the pass and returns when the pass has ended: no call of the processor runs
///   after that. A pass that was begun under a ``SyncLease`` has ended before the lease is
///   released.
/// - **Errors** end a pass as ``SyncOptions/stopOnError`` says. `owsSyncEnd` is called in any case.
///
/// The processor's calls are made off this actor. A running pass keeps its synchronizer alive.
public actor Synchronizer<Processor: SyncProcessor>: AnySynchronizer {
    /// The processor that is driven.
    public nonisolated let processor: Processor

    /// What callers without `await` see and change.
    private struct Shared {
        var isSyncing = false
        /// Requests and cancels in order, until the actor admits them.
        var inbox: [Message] = []
        /// The running pass.
        var control: PassControl?
    }

    private enum Message {
        case sync(PassRequest, PassContext)
        case cancel
    }

    private nonisolated let clock: SyncClock
    private nonisolated let broadcaster = Broadcaster<SyncEvent>.ofEvents()
    private nonisolated let currentOptions: Locked<SyncOptions>
    private nonisolated let shared = Locked(Shared())

    private var state = SynchronizerState()
    private var answers: [SynchronizerState.Waiter: PassRequest.Answer] = [:]
    /// The contexts of queued passes, by the callers that found them.
    private var contexts: [SynchronizerState.Waiter: PassContext] = [:]
    private var runningContext: PassContext?
    private var lastWaiter: SynchronizerState.Waiter = 0
    private var lastResult = Result<SyncReport, SyncFailure>.success(SyncReport())
    /// Settled when the synchronizer becomes idle.
    private var idle = Promise<Void>()

    /// Creates an idle synchronizer.
    ///
    /// - Parameters:
    ///   - processor: The processor to drive, kept for the life of the synchronizer.
    ///   - options: How passes are run; can be changed at any time.
    ///   - clock: The clock for durations, retries and time-outs.
    public init(
        processor: Processor, options: SyncOptions = SyncOptions(), clock: some Clock<Duration> = ContinuousClock()
    ) {
        self.processor = processor
        self.clock = SyncClock(clock)
        currentOptions = Locked(options)
    }

    /// How passes are run. A running pass keeps the options it began with.
    ///
    /// Setting a single property, as in `synchronizer.options.concurrency = 4`, is atomic: changes
    /// of other properties by other tasks are not lost. Use ``changeOptions(_:)`` for changes that
    /// belong together.
    public nonisolated var options: SyncOptions {
        get { currentOptions.withLock(\.self) }
        _modify { yield &currentOptions.value }
    }

    /// Changes several options at once.
    ///
    /// - Parameter change: Runs under a lock; must not use the synchronizer.
    public nonisolated func changeOptions(_ change: (inout SyncOptions) -> Void) {
        let former = currentOptions.withLock { options in
            let former = options
            change(&options)
            return former
        }
        // A closure in the former options is released outside the lock.
        _ = former
    }

    /// Whether a pass runs or is about to.
    public nonisolated var isSyncing: Bool {
        shared.withLock { shared in
            shared.isSyncing
                || shared.inbox.contains { if case .sync = $0 { true } else { false } }
        }
    }

    /// The stage of the running pass and the time since it began; nil between passes and before the
    /// first stage.
    package nonisolated var stage: (stage: SyncStage, elapsed: Duration)? {
        shared.withLock(\.control)?.place.map { ($0.stage, clock.now() - $0.since) }
    }

    // MARK: Syncing

    /// Runs a pass. If one runs already, queues one more and waits for that.
    ///
    /// - Returns: The report of the first pass that began after the call.
    /// - Throws: ``SyncFailure``: the errors of that pass; or that it, or this task, was cancelled.
    ///   A call from inside a pass that would wait for the call (of this synchronizer, or of one
    ///   that waits for it) fails with ``SyncError/Reason/syncInsidePass``.
    @discardableResult
    public func sync() async throws(SyncFailure) -> SyncReport {
        guard !Task.isCancelled else { throw SyncFailure(report: SyncReport(), isCancelled: true) }
        guard let wait = PassWait(for: self) else {
            throw SyncFailure(error: SyncError(stage: .begin, underlying: SyncError.Reason.syncInsidePass))
        }
        defer { wait.end() }
        admitInbox()
        let waiter = newWaiter()
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let request = PassRequest { continuation.resume(returning: $0) }
                let context = PassContext(leases: request.leases) { await self.run($0) }
                admit(request, context, as: waiter)
            }
        } onCancel: {
            // Enters the actor after the waiter was registered: nothing above suspends before that.
            Task { await self.stopWaiting(waiter) }
        }
        return try result.get()
    }

    /// Runs a pass without waiting for it.
    ///
    /// Returns at once. Requests are taken in the order in which they are made, together with
    /// ``cancel()``. Never fails with ``SyncError/Reason/syncInsidePass``, because nothing waits.
    ///
    /// - Parameter completion: Called once, on no particular thread, with the result of the first
    ///   pass that began after the call.
    public nonisolated func sync(completion: @escaping @Sendable (Result<SyncReport, SyncFailure>) -> Void) {
        // In a task of its own, so that a slow completion does not hold up the actor.
        let request = PassRequest { result in Task { completion(result) } }
        // The surrounding pass does not wait for the one that is requested.
        let context = PassMarker.$surrounding.withValue([]) {
            PassContext(leases: request.leases) { await self.run($0) }
        }
        shared.withLock { $0.inbox.append(.sync(request, context)) }
        Task { await admitInbox() }
    }

    /// Ends the running pass when its running calls have returned, and drops the queued ones.
    ///
    /// When it returns, no further call of the processor is started, except `owsSyncEnd`. The tasks
    /// of the running calls are cancelled. Every caller of `sync()` gets a failure with
    /// ``SyncFailure/isCancelled`` when the pass has ended. Does nothing when no pass runs.
    public nonisolated func cancel() {
        let control = shared.withLock { shared in
            shared.inbox.append(.cancel)
            return shared.control
        }
        control?.stop(.cancelled)
        Task { await admitInbox() }
    }

    /// Waits until no pass runs or is about to, also in a cancelled task.
    ///
    /// Returns at once when it is called from inside a pass that would wait for the call.
    public func waitUntilIdle() async {
        guard let wait = PassWait(for: self) else { return }
        defer { wait.end() }
        while true {
            admitInbox()
            guard state.isSyncing else { return }
            // Never fails, and is not cancellable.
            try? await idle.value(isCancellable: false)
        }
    }

    /// What a pass would do now: lists, compares and asks which items changed, without changing
    /// anything.
    ///
    /// Calls `owsFetchSourceList`, `owsGetLocalKeys`, `owsGetLocalRevisions`,
    /// `owsShouldUpdateItems` and `owsShouldUpdateItem` and no others: `owsPrepareDownload`, which
    /// may leave out or add downloads, has no say in a plan. Independent of passes, also of a
    /// running one. A removal limit that is exceeded is part of the plan: see ``SyncPlan/refusal``.
    ///
    /// - Throws: ``SyncFailure``, as `sync()` would; `isCancelled` when the task was cancelled.
    public nonisolated func plan() async throws(SyncFailure) -> SyncPlan<Processor.Item> {
        let control = PassControl()
        // Its progress is nobody's business but the caller's.
        let pass = Pass(
            processor: processor, options: options, clock: clock, events: Broadcaster.ofEvents(), control: control)
        return try await withTaskCancellationHandler {
            if Task.isCancelled { control.stop(.cancelled) }
            return await pass.plan()
        } onCancel: {
            control.stop(.cancelled)
        }.get()
    }

    // MARK: Observing

    /// The events from now on, for one observer; each access makes a new one, with a buffer of 256
    /// events.
    public nonisolated var events: SyncEvents<SyncEvent> { events(bufferSize: 256) }

    /// The events from now on, for one observer.
    ///
    /// - Parameter bufferSize: How many events wait for the observer before they are merged and
    ///   dropped; see ``SyncEvents``. At least 1.
    public nonisolated func events(bufferSize: Int) -> SyncEvents<SyncEvent> {
        let events = SyncEvents(subscription: broadcaster.subscribe(capacity: bufferSize))
        shared.withLock(\.control)?.observe()
        return events
    }

    // MARK: Doing what the machine says

    private func newWaiter() -> SynchronizerState.Waiter {
        lastWaiter += 1
        return lastWaiter
    }

    private func admitInbox() {
        let messages = shared.withLock { shared in
            defer { shared.inbox = [] }
            return shared.inbox
        }
        for message in messages {
            switch message {
            case .sync(let request, let context): admit(request, context, as: newWaiter())
            case .cancel: handle(.cancelRequested)
            }
        }
    }

    private func admit(_ request: PassRequest, _ context: PassContext, as waiter: SynchronizerState.Waiter) {
        let scope = request.leases.map(\.id)
        answers[waiter] = request.answer
        // The pass cannot begin before the running one has ended.
        runningContext?.raise(to: request.priority)
        if let founder = state.founder(for: scope) {
            contexts[founder]?.raise(to: request.priority)
            context.drop()
        } else {
            contexts[waiter] = context
        }
        handle(.syncRequested(waiter, scope))
    }

    private func stopWaiting(_ waiter: SynchronizerState.Waiter) {
        admitInbox()
        handle(.waiterCancelled(waiter))
    }

    private func handle(_ event: SynchronizerState.Event) {
        let effects = state.handle(event)
        // Before anybody is answered, so that a caller sees the status that its answer implies.
        shared.withLock { $0.isSyncing = state.isSyncing }
        for effect in effects {
            switch effect {
            case .beginPass(let founder): beginPass(contexts.removeValue(forKey: founder))
            case .cancelPass: shared.withLock(\.control)?.stop(.cancelled)
            case .dropPass(let founder): contexts.removeValue(forKey: founder)?.drop()
            case .answer(let waiters, let answer): resume(waiters, with: result(for: answer))
            case .publishStatus(let isSyncing): publish(SyncStatus(isSyncing: isSyncing))
            }
        }
    }

    private func beginPass(_ context: PassContext?) {
        let control = PassControl()
        shared.withLock { $0.control = control }
        runningContext = context
        context?.begin(control)
    }

    /// Runs a pass, in the context of the request that founded it.
    private nonisolated func run(_ control: PassControl) async {
        let pass = Pass(processor: processor, options: options, clock: clock, events: broadcaster, control: control)
        let result = await HeldLease.running(control) {
            await PassMarker(of: self).mark { await pass.run() }
        }
        await end(control, with: result)
    }

    private func end(_ control: PassControl, with result: Result<SyncReport, SyncFailure>) {
        lastResult = result
        shared.withLock { $0.control = nil }
        runningContext = nil
        control.ended.settle()
        // What was asked for while the pass ran is queued behind it, not begun after its end.
        admitInbox()
        handle(.passEnded)
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
        for waiter in waiters { answers.removeValue(forKey: waiter)?(result) }
    }

    private func publish(_ status: SyncStatus) {
        if !status.isSyncing {
            idle.settle()
            idle = Promise()
        }
        broadcaster.send(.statusChanged(status))
        #if !Essentials
        NotificationPoster.shared.post(status, from: self)
        #endif
    }
}
