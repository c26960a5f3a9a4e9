import SyncBase

/// One execution of a processor's calls, from `owsSyncBegin` to `owsSyncEnd`.
///
/// Runs off any actor. Its calls run one after another, or side by side under one limit, in the
/// task that runs the pass.
struct Pass<Processor: SyncProcessor>: Sendable {
    typealias Item = Processor.Item

    let processor: Processor
    let options: SyncOptions
    let clock: SyncClock
    let events: Broadcaster<SyncEvent>
    let control: PassControl
    let errors = ErrorLog()
    /// When the pass times out, by the clock; nil for no limit.
    let deadline: Duration?

    /// Ends a pass early. The error log has the errors, and the control the reason for a stop.
    enum Stop: Error {
        case failed
        case stopped
    }

    init(
        processor: Processor, options: SyncOptions, clock: SyncClock, events: Broadcaster<SyncEvent>,
        control: PassControl
    ) {
        self.processor = processor
        self.options = options
        self.clock = clock
        self.events = events
        self.control = control
        deadline = options.passTimeout.map { clock.now().addingClamped($0) }
    }

    // MARK: The flow

    /// Runs the pass. `owsSyncEnd` is called exactly once, whatever happens.
    func run() async -> Result<SyncReport, SyncFailure> {
        await RetryPolicy.Retry.observed(by: note) { await runObserved() }
    }

    private func runObserved() async -> Result<SyncReport, SyncFailure> {
        var (report, isCancelled) = await stoppable { report throws(Stop) in
            try await perform(.begin, in: &report, retries: false, evenIfStopped: true) {
                try await processor.owsSyncBegin()
            }
            try await synchronize(&report)
        }
        let result = result(of: report, isCancelled: isCancelled)
        // Outside the stoppable part: a cancelled pass does not cancel this call.
        try? await perform(.end, in: &report, retries: false, evenIfStopped: true) {
            try await processor.owsSyncEnd(result)
        }
        let final = self.result(of: report, isCancelled: isCancelled)
        events.send(.passEnded(final))
        return final
    }

    /// Lists and compares without changing anything, and returns what a pass would do.
    func plan() async -> Result<SyncPlan<Item>, SyncFailure> {
        let made = Locked<SyncPlan<Item>?>(nil)
        let (report, isCancelled) = await stoppable { report throws(Stop) in
            var (plan, _) = try await compare(&report)
            try await askForUpdates(&plan, in: &report)
            made.withLock { [plan] in $0 = plan }
        }
        if !isCancelled, let plan = made.withLock(\.self) { return .success(plan) }
        return .failure(SyncFailure(report: filled(report), isCancelled: isCancelled))
    }

    /// Runs the part of a pass that a cancel or its time-out ends.
    private func stoppable(
        _ body: @escaping @Sendable (inout SyncReport) async throws(Stop) -> Void
    ) async -> (report: SyncReport, isCancelled: Bool) {
        let timer = deadline.map { [control, clock, options] deadline in
            Task {
                guard (try? await clock.sleep(deadline - clock.now())) != nil else { return }
                control.stop(.timedOut(after: options.passTimeout ?? .zero))
            }
        }
        defer { timer?.cancel() }
        let (report, reason) = await control.run {
            var report = SyncReport()
            // The log and the control record why it ended.
            do throws(Stop) { try await body(&report) } catch {}
            return report
        }
        if case .timedOut(let limit) = reason {
            let stage = control.place?.stage ?? .begin
            fail(SyncError(stage: stage, underlying: SyncError.Reason.timedOut(after: limit)))
        }
        return (report, reason == .cancelled)
    }

    private func synchronize(_ report: inout SyncReport) async throws(Stop) {
        var (plan, localKeys) = try await compare(&report)
        let absentKeys = plan.absentKeys
        if let refusal = plan.refusal {
            fail(refusal)
            throw .failed
        }
        if case .keep(let reason) = plan.absentAction {
            keep(absentKeys, for: reason, in: &report)
        } else if options.removalOrder == .beforeDownloads {
            try await remove(absentKeys, in: &report)
        } else {
            // Kept until the downloads have succeeded.
            keep(absentKeys, for: .incompletePass, in: &report)
        }
        try await askForUpdates(&plan, in: &report)
        report.unchanged = plan.keptCount
        let indices = plan.downloadIndices
        let planned = plan.items(at: indices)
        let downloads = try await perform(.prepare, in: &report) {
            try await processor.owsPrepareDownload(of: planned)
        }
        let isAsPlanned = downloads.isIdentical(to: planned)
        if options.downloadPreview || options.downloadContent { report.planned = downloads.count }
        let isStored =
            isAsPlanned
            ? plan.isStored(at: indices)
            : KeyComparison.membership(of: downloads.map { $0.owsPrimaryKey }, in: localKeys)
        if options.downloadPreview {
            try await download(
                downloads, .preview, isStored: isStored, isDecisive: !options.downloadContent, in: &report)
        }
        if options.downloadContent {
            try await download(downloads, .content, isStored: isStored, isDecisive: true, in: &report)
        }
        if plan.absentAction == .delete, options.removalOrder == .afterDownloads, errors.isEmpty {
            // The processor may have added items that the source does not list.
            let keptKeys = isAsPlanned ? absentKeys : absentKeys.subtracting(downloads.lazy.map { $0.owsPrimaryKey })
            try await remove(keptKeys, in: &report)
            keep([], for: .incompletePass, in: &report)
        }
    }

    // MARK: Stages

    private func compare(
        _ report: inout SyncReport
    ) async throws(Stop) -> (plan: SyncPlan<Item>, localKeys: Set<Item.Key>) {
        let source = try await perform(.list, in: &report) { try await processor.owsFetchSourceList() }
        report.listed = source.items.count
        report.isListPartial = source.isPartial
        events.send(.progress(SyncStatus.Progress(stage: .list, done: source.items.count, failed: 0, total: nil)))
        let localKeys = try await perform(.localKeys, in: &report) { try await processor.owsGetLocalKeys() }
        report.local = localKeys.count
        events.send(.progress(SyncStatus.Progress(stage: .localKeys, done: localKeys.count, failed: 0, total: nil)))
        let limit = options.removalLimit
        let plan = try await perform(.compare, in: &report, retries: false) {
            try SyncPlan(source: source, localKeys: localKeys, removalLimit: limit)
        }
        return (plan, localKeys)
    }

    private func remove(_ keys: Set<Item.Key>, in report: inout SyncReport) async throws(Stop) {
        guard !keys.isEmpty else { return }
        try await perform(.remove, in: &report) { try await processor.owsRemoveLocalItems(for: keys) }
        report.deleted = keys.count
        events.send(.progress(SyncStatus.Progress(stage: .remove, done: keys.count, failed: 0, total: keys.count)))
        if options.reportsKeys { report.keys[.deleted] = Array(keys) }
    }

    private func keep(_ keys: Set<Item.Key>, for reason: SyncReport.Kept.Reason, in report: inout SyncReport) {
        report.kept = keys.isEmpty ? nil : SyncReport.Kept(count: keys.count, reason: reason)
        if options.reportsKeys { report.keys[.kept] = Array(keys) }
    }

    /// Finds the stored items to download again.
    ///
    /// If both sides have revisions, these decide. Otherwise the processor is asked for all items
    /// at once or, if it does not support that, one by one.
    private func askForUpdates(_ plan: inout SyncPlan<Item>, in report: inout SyncReport) async throws(Stop) {
        var indices = plan.keptIndices
        var items = plan.items(at: indices)
        guard !items.isEmpty else { return }
        let stored = try await perform(.shouldUpdate, in: &report) { try await processor.owsGetLocalRevisions() }
        if let stored {
            let changed = items.indices.filter { index in
                guard let revision = items[index].owsRevision else { return false }
                return stored[items[index].owsPrimaryKey] != revision
            }
            plan.update(changed.map { indices[$0] })
            // Only items without a revision need to be asked for.
            let unknown = items.indices.filter { items[$0].owsRevision == nil }
            (indices, items) = (unknown.map { indices[$0] }, unknown.map { items[$0] })
        }
        guard !items.isEmpty else { return }
        let asked = items
        let answer = try await perform(.shouldUpdate, in: &report) { try await processor.owsShouldUpdateItems(asked) }
        if let keys = answer {
            plan.update(items.indices.filter { keys.contains(items[$0].owsPrimaryKey) }.map { indices[$0] })
            return
        }
        let checks = await forEach(
            items, .shouldUpdate, width: options.concurrentUpdateChecks ? options.width : 1, stopsOnFailure: true,
            keepsAnswers: true, in: &report)
        if let stop = checks.stop { throw stop }
        plan.update(checks.counts.positions(answering: true).map { indices[$0] })
    }

    /// Downloads every item's preview or content.
    ///
    /// - Parameters:
    ///   - isStored: For each of `items`, whether it was stored before; empty if none was.
    ///   - isDecisive: Whether this stage, not a later one, determines what the report says about
    ///     an item.
    private func download(
        _ items: [Item], _ call: ItemCall, isStored: [Bool], isDecisive: Bool, in report: inout SyncReport
    ) async throws(Stop) {
        let downloads = await forEach(
            items, call, isStored: isStored, width: options.width, stopsOnFailure: options.stopOnError,
            keepsAnswers: options.reportsKeys, in: &report)
        if isDecisive {
            let counts = downloads.counts
            report.updated = counts.trueCount
            report.inserted = counts.done - counts.trueCount
            report.failed = counts.failed
            if options.reportsKeys {
                report.keys[.inserted] = counts.positions(answering: false).map { items[$0].owsPrimaryKey }
                report.keys[.updated] = counts.positions(answering: true).map { items[$0].owsPrimaryKey }
            }
        }
        if let stop = downloads.stop { throw stop }
    }

    // MARK: Calls

    /// Makes one processor call as a stage of its own, with the retries that the options allow.
    @discardableResult
    private func perform<Value: Sendable>(
        _ stage: SyncStage, in report: inout SyncReport, retries: Bool = true, evenIfStopped: Bool = false,
        _ call: @escaping @Sendable () async throws -> Value
    ) async throws(Stop) -> Value {
        guard evenIfStopped || !control.isStopped else { throw .stopped }
        let spent = report.durations[stage] ?? .zero
        let start = enter(stage, in: report)
        // The pass may be cancelled meanwhile; no call begins after that.
        let call: @Sendable () async throws -> Value = { [control] in
            guard evenIfStopped || !control.isStopped else { throw CancellationError() }
            return try await call()
        }
        defer { report.durations[stage, default: .zero] += clock.now() - start }
        let limit = options.stageTimeouts[stage]
        func timeLeft() -> Duration? { limit.map { ($0 - spent).addingClamped(start - clock.now()) } }
        func checkTime() throws(Stop) {
            guard let limit, let timeLeft = timeLeft(), timeLeft <= .zero else { return }
            fail(SyncError(stage: stage, underlying: SyncError.Reason.timedOut(after: limit)))
            throw .failed
        }
        // An earlier call of the stage may have taken all of its time.
        if spent > .zero { try checkTime() }
        var attempt = 1
        while true {
            do {
                guard let limit, let timeLeft = timeLeft() else { return try await call() }
                return try await clock.withTimeout(timeLeft, named: limit, call)
            } catch {
                // The failure has the reason for the stop instead, which does not stop owsSyncEnd.
                guard stage == .end || !control.isStopped else { throw .stopped }
                let isLate = timeLeft().map { $0 <= .zero } ?? false
                var cause: any Error = error
                if isLate, let limit { cause = SyncError.Reason.timedOut(after: limit) }
                let error = SyncError(stage: stage, underlying: cause)
                guard retries, !isLate, let delay = retryDelay(after: error, attempt: attempt) else {
                    fail(error)
                    throw .failed
                }
                guard (try? await clock.sleep(min(delay, timeLeft() ?? delay))) != nil, !control.isStopped else {
                    // The pass is cancelled, or the clock cannot wait.
                    if !control.isStopped { fail(error) }
                    throw control.isStopped ? .stopped : .failed
                }
                try checkTime()
                report.retries += 1
                attempt += 1
            }
        }
    }

    /// Records that a stage begins or continues, and returns the time.
    private func enter(_ stage: SyncStage, in report: SyncReport) -> Duration {
        let now = clock.now()
        control.enter(stage, at: now)
        // Observers get one event, even if the stage has several calls.
        if report.durations[stage] == nil { events.send(.stageBegan(stage)) }
        return now
    }

    /// Calls the processor for each of `items`, several at a time, as a stage of its own.
    ///
    /// - Parameters:
    ///   - isStored: See ``ItemCalls/isStored``.
    ///   - keepsAnswers: Whether the counts keep the answer of each call.
    /// - Returns: The results of the stage, and the reason to end the pass after it; nil to
    ///   continue.
    private func forEach(
        _ items: [Item], _ call: ItemCall, isStored: [Bool] = [], width: Int, stopsOnFailure: Bool, keepsAnswers: Bool,
        in report: inout SyncReport
    ) async -> (counts: ItemCursor.Counts, stop: Stop?) {
        guard !control.isStopped else { return (ItemCursor.Counts(), .stopped) }
        let stage = call.stage
        let spent = report.durations[stage] ?? .zero
        let start = enter(stage, in: report)
        let width = min(width, items.count)
        let limit = options.stageTimeouts[stage]
        let stageEnd = limit.map { start.addingClamped($0 - spent) }
        let cursor = ItemCursor(
            stage: stage, count: items.count, width: width, stopsOnFailure: stopsOnFailure, keepsAnswers: keepsAnswers,
            callTimeout: call == .shouldUpdate ? nil : options.itemTimeout, clock: clock, events: events)
        control.use(cursor)
        // Later observers find the cursor through the control.
        if events.isObserved { cursor.observe() }
        let calls = ItemCalls(
            call: call, items: items, isStored: isStored, processor: processor, cursor: cursor, clock: clock,
            deadline: [stageEnd, deadline].compactMap(\.self).min()
        ) { step, error in
            guard !cursor.isStopped else { return .interrupted }
            let error = SyncError(stage: stage, key: items[step.index].owsPrimaryKey, underlying: error)
            if let delay = retryDelay(after: error, attempt: step.attempt) {
                return .retry(ItemCursor.Step(index: step.index, attempt: step.attempt + 1, delay: delay))
            }
            guard cursor.claimFailure() else { return .interrupted }
            fail(error)
            return .failed
        }
        await runWorkers(cursor, width: width, clock: clock, deadline: stageEnd) { await calls.work($0) }
        let counts = cursor.counts
        report.retries += counts.retries
        report.durations[stage, default: .zero] += clock.now() - start
        if control.isStopped { return (counts, .stopped) }
        if counts.isTimedOut, let limit {
            fail(SyncError(stage: stage, underlying: SyncError.Reason.timedOut(after: limit)))
            return (counts, .failed)
        }
        return (counts, stopsOnFailure && counts.failed > 0 ? .failed : nil)
    }

    // MARK: Errors

    /// The wait before the failed call is repeated; nil for no retry.
    private func retryDelay(after error: SyncError, attempt: Int) -> Duration? {
        let delay = options.retry?.delay(
            afterAttempt: attempt, error: error.underlying, random: Double.random(in: 0..<1))
        guard let delay, let policy = options.retry else { return nil }
        RetryPolicy.Retry(error: error, attempt: attempt, maxAttempts: policy.maxAttempts, delay: delay).report()
        return delay
    }

    /// Reports a retry of a call, or of a request within the running call.
    @Sendable private func note(_ retry: RetryPolicy.Retry) {
        var retry = retry
        if !(retry.error is SyncError) {
            let stage = control.place?.stage ?? .begin
            retry.error = SyncError(stage: stage, key: RetryPolicy.Attempt.currentKey, underlying: retry.error)
        }
        events.send(.willRetry(retry))
    }

    private func fail(_ error: SyncError) {
        if errors.record(error) { events.send(.failed(error)) }
    }

    private func filled(_ report: SyncReport) -> SyncReport {
        var report = report
        errors.fill(&report)
        return report
    }

    /// The result of a pass with this report.
    private func result(of report: SyncReport, isCancelled: Bool) -> Result<SyncReport, SyncFailure> {
        let report = filled(report)
        return isCancelled || !report.errors.isEmpty
            ? .failure(SyncFailure(report: report, isCancelled: isCancelled)) : .success(report)
    }
}

extension Array {
    /// Whether both arrays share their storage, in constant time. If not, their elements may still
    /// be equal.
    fileprivate func isIdentical(to other: [Element]) -> Bool {
        withUnsafeBufferPointer { elements in
            other.withUnsafeBufferPointer { elements.baseAddress == $0.baseAddress && elements.count == $0.count }
        }
    }
}
