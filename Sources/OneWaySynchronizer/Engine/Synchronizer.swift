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
///   its call, with the result of that pass. Any number of calls during a pass queue one more.
/// - **Context.** A pass runs with the task-locals of the request that begins it, and with the
///   highest priority of the waiting callers. Callers under different leases do not share a pass.
/// - **Cancel.** ``cancel()`` ends the pass when its running calls have returned, and drops the
///   queued passes. Every caller gets a ``SyncFailure`` with ``SyncFailure/isCancelled``. A later
///   `sync()` starts a new pass.
/// - **Structure.** If a caller's own task is cancelled while others wait, its call returns at
///   once. The last caller cancels the pass and returns when the pass has ended: no call of the
///   processor runs after that. A pass that was begun under a ``SyncLease`` ends before the lease
///   is released.
/// - **Errors.** ``SyncOptions/stopOnError`` decides whether an error of a preview or content ends
///   a pass; other errors always do. `owsSyncEnd` is called in any case.
///
/// The processor's calls are made off this actor. A running pass keeps its synchronizer alive.
public actor Synchronizer<Processor: SyncProcessor>: AnySynchronizer {
    /// The processor that the synchronizer drives.
    public nonisolated let processor: Processor

    /// The state that callers access without `await`.
    private struct Shared {
        var isSyncing = false
        /// Requests and cancels, in order, until the actor takes them.
        var inbox = FIFO<Message>()
        /// The running pass.
        var control: PassControl?

        /// Takes the next message. A request counts as a pass from then on.
        mutating func takeMessage() -> Message? {
            let message = inbox.popFirst()
            if case .sync? = message { isSyncing = true }
            return message
        }
    }

    private enum Message {
        case sync(PassRequest, PassContext)
        case cancel
    }

    private nonisolated let clock: SyncClock
    nonisolated let broadcaster = Broadcaster<SyncEvent>.ofEvents()
    private nonisolated let currentOptions: Locked<SyncOptions>
    private nonisolated let shared = Locked(Shared())
    /// The leases of the services that drive this synchronizer.
    nonisolated let serviceLeases = ServiceLeases()

    private var state = SynchronizerState()
    private var answers: [SynchronizerState.Waiter: PassRequest.Answer] = [:]
    /// The contexts of queued passes, by the callers that founded them.
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
    ///   - options: How passes run; can be changed at any time.
    ///   - clock: The clock for durations, retries and time-outs; the system's continuous clock by
    ///     default.
    public init(
        processor: Processor, options: SyncOptions = SyncOptions(), clock: some Clock<Duration> = ContinuousClock()
    ) {
        self.processor = processor
        self.clock = SyncClock(clock)
        currentOptions = Locked(options)
    }

    /// How passes run; a running pass keeps the options it began with.
    ///
    /// Setting a single property, as in `synchronizer.options.concurrency = 4`, is atomic and does
    /// not overwrite concurrent changes of other properties. Use ``changeOptions(_:)`` to change
    /// several properties together.
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
        // Closures in the former options are released outside the lock.
        _ = former
    }

    /// Whether a pass runs or is about to begin.
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

    /// Runs a pass, or queues one if a pass is running, and waits for its end.
    ///
    /// - Returns: The report of the first pass that began after the call.
    /// - Throws: ``SyncFailure`` with the errors of that pass, or with ``SyncFailure/isCancelled``
    ///   if that pass or this task was cancelled. A call from inside a pass fails with
    ///   ``SyncError/Reason/syncInsidePass`` if it could never be answered: that pass belongs to
    ///   this synchronizer, or to one that this synchronizer waits for. So does a call from a task
    ///   that was created inside such a pass and inherits its task-locals, even if the pass does
    ///   not wait for the task. If a ``SyncService`` drives the synchronizer under a lease, the
    ///   pass runs under that lease, and fails with ``SyncLeaseError/notHeld(name:)`` while the
    ///   service does not hold it.
    @discardableResult
    public func sync() async throws(SyncFailure) -> SyncReport {
        guard !Task.isCancelled else { throw SyncFailure(report: SyncReport(), isCancelled: true) }
        guard let wait = PassWait(for: self) else {
            throw SyncFailure(error: SyncError(stage: .begin, underlying: SyncError.Reason.syncInsidePass))
        }
        defer { wait.end() }
        let leases = try leases()
        admitInbox()
        let waiter = newWaiter()
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let request = PassRequest(leases: leases) { continuation.resume(returning: $0) }
                let context = HeldLease.$surrounding.withValue(leases) {
                    PassContext(leases: leases) { await self.run($0) }
                }
                admit(request, context, as: waiter)
            }
        } onCancel: {
            // Enters the actor after the waiter is registered: nothing above suspends before that.
            Task { await self.stopWaiting(waiter) }
        }
        return try result.get()
    }

    /// Runs a pass without waiting for it.
    ///
    /// Returns at once. Requests and calls of ``cancel()`` take effect in the order in which they
    /// are made. Never fails with ``SyncError/Reason/syncInsidePass``, because nothing waits.
    ///
    /// - Parameter completion: Called once, on an arbitrary thread, with the result of the first
    ///   pass that began after the call.
    public nonisolated func sync(completion: @escaping @Sendable (Result<SyncReport, SyncFailure>) -> Void) {
        let leases: [HeldLease]
        do throws(SyncFailure) {
            leases = try self.leases()
        } catch {
            Task { completion(.failure(error)) }
            return
        }
        // In a separate task, so that a slow completion does not delay the actor.
        let request = PassRequest(leases: leases) { result in Task { completion(result) } }
        // The surrounding pass does not wait for the requested one.
        let context = PassMarker.$surrounding.withValue([]) {
            HeldLease.$surrounding.withValue(leases) {
                PassContext(leases: leases) { await self.run($0) }
            }
        }
        shared.withLock { $0.inbox.append(.sync(request, context)) }
        Task { await admitInbox() }
    }

    /// Ends the running pass when its running calls have returned, and drops the queued passes.
    ///
    /// After it returns, no further call of the processor is started, except `owsSyncEnd`, and
    /// before it `owsSyncBegin` in a pass that was about to begin. The tasks of the running calls
    /// are cancelled. When the pass has ended, every caller of `sync()` gets a failure with
    /// ``SyncFailure/isCancelled``, also if only `owsSyncEnd` was still running. Does nothing when
    /// no pass runs.
    public nonisolated func cancel() {
        let control = shared.withLock { shared in
            shared.inbox.append(.cancel)
            return shared.control
        }
        control?.stop(.cancelled)
        Task { await admitInbox() }
    }

    /// Waits until no pass runs or is about to begin, even if the task is cancelled.
    ///
    /// Inside a pass that would wait for itself, directly or through other synchronizers, it
    /// returns at once.
    public func waitUntilIdle() async {
        guard let wait = PassWait(for: self) else { return }
        defer { wait.end() }
        while true {
            admitInbox()
            guard state.isSyncing else { return }
            // Cannot fail, because the wait is not cancellable.
            try? await idle.value(isCancellable: false)
        }
    }

    /// Returns what a pass would do now, without changing anything.
    ///
    /// Lists the source, compares keys, and asks which items changed. It calls
    /// `owsFetchSourceList`, `owsGetLocalKeys`, `owsGetLocalRevisions`, `owsShouldUpdateItems` and
    /// `owsShouldUpdateItem`, but not `owsPrepareDownload`, which may add or leave out downloads.
    /// It calls neither `owsSyncBegin` nor `owsSyncEnd`, so that the methods that it calls must not
    /// depend on what `owsSyncBegin` prepares.
    /// It can run during a pass. If the removal limit is exceeded, the plan says so in
    /// ``SyncPlan/refusal``.
    ///
    /// - Throws: ``SyncFailure`` as `sync()` does, with `isCancelled` if the task was cancelled.
    public nonisolated func plan() async throws(SyncFailure) -> SyncPlan<Processor.Item> {
        let control = PassControl()
        // Only the caller sees its progress.
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

    /// The events from now on, for one observer, with a buffer of 256 events. Each access creates a
    /// new observer.
    public nonisolated var events: SyncEvents<SyncEvent> { events(bufferSize: 256) }

    /// The events from now on, for one observer.
    ///
    /// - Parameter bufferSize: The number of events that wait for the observer before they are
    ///   merged and dropped; see ``SyncEvents``. At least 1.
    public nonisolated func events(bufferSize: Int) -> SyncEvents<SyncEvent> {
        let events = SyncEvents(subscription: broadcaster.subscribe(capacity: bufferSize))
        shared.withLock(\.control)?.observe()
        return events
    }

    // MARK: Running effects

    /// The leases under which a pass runs that the current task requests.
    private nonisolated func leases() throws(SyncFailure) -> [HeldLease] {
        do throws(SyncLeaseError) {
            return try serviceLeases.scope()
        } catch {
            throw SyncFailure(error: SyncError(stage: .begin, underlying: error))
        }
    }

    private func newWaiter() -> SynchronizerState.Waiter {
        lastWaiter += 1
        return lastWaiter
    }

    private func admitInbox() {
        // One at a time, so that a pass which begins finds a `cancel()` after its request.
        while let message = shared.withLock({ $0.takeMessage() }) {
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
        if let firstWaiter = state.firstWaiter(for: scope) {
            contexts[firstWaiter]?.raise(to: request.priority)
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
        // Before any caller is answered, so that it sees the status that its answer implies.
        shared.withLock { $0.isSyncing = state.isSyncing }
        for effect in effects {
            switch effect {
            case .beginPass(let firstWaiter): beginPass(contexts.removeValue(forKey: firstWaiter))
            case .cancelPass: shared.withLock(\.control)?.stop(.cancelled)
            case .dropPass(let firstWaiter): contexts.removeValue(forKey: firstWaiter)?.drop()
            case .answer(let waiters, let answer): resume(waiters, with: result(for: answer))
            case .publishStatus(let isSyncing): publish(SyncStatus(isSyncing: isSyncing))
            }
        }
    }

    private func beginPass(_ context: PassContext?) {
        let control = PassControl()
        let isCancelled = shared.withLock { shared in
            shared.control = control
            return shared.inbox.contains { if case .cancel = $0 { true } else { false } }
        }
        if isCancelled { control.stop(.cancelled) }
        runningContext = context
        context?.begin(control)
    }

    /// Runs a pass in the context of the request that founded it.
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
        // Requests made while the pass ran are queued behind it, not begun after its end.
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
