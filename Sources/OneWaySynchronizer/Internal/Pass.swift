import SyncBase
/// One run through a processor's calls, from `owsSyncBegin` to `owsSyncEnd`.
///
/// Runs off any actor: its calls come one after another, or side by side under one bound, in the task that runs it.
struct Pass<Processor: SyncProcessor>: Sendable {
    typealias Item = Processor.Item

    let processor: Processor
    let options: SyncOptions
    let clock: SyncClock
    let events: EventBroadcaster
    let errors = ErrorLog()

    /// Why a pass does not go on. What went wrong is in the error log.
    enum Stop: Error {
        case failed
        case cancelled
    }

    // MARK: The flow

    /// Runs the pass. `owsSyncEnd` is called exactly once, whatever happens.
    func run() async -> Result<SyncReport, SyncFailure> {
        var report = SyncReport()
        var isCancelled = false
        do throws(Stop) {
            try await perform(.begin, in: &report, retries: false, evenIfCancelled: true) {
                try await processor.owsSyncBegin()
            }
            try await synchronize(&report)
            isCancelled = Task.isCancelled
        } catch {
            // What failed is in the log.
            isCancelled = error == .cancelled || Task.isCancelled
        }
        let outcome = outcome(of: report, isCancelled: isCancelled)
        // A task of its own, because this one may be cancelled.
        let ending = Task { [report] in
            var report = report
            try? await perform(.end, in: &report, retries: false) {
                try await processor.owsSyncEnd(outcome)
            }
            return report
        }
        report = await ending.value
        let result = self.outcome(of: report, isCancelled: isCancelled)
        events.send(.passEnded(result))
        return result
    }

    /// Lists and compares, and changes nothing: what a pass would do.
    func plan() async -> Result<SyncPlan<Item>, SyncFailure> {
        var report = SyncReport()
        do throws(Stop) {
            var (plan, _) = try await compare(&report)
            try await askForUpdates(&plan, in: &report)
            return .success(plan)
        } catch {
            errors.fill(&report)
            return .failure(SyncFailure(report: report, isCancelled: error == .cancelled))
        }
    }

    private func synchronize(_ report: inout SyncReport) async throws(Stop) {
        var (plan, localKeys) = try await compare(&report)
        let absentKeys = plan.absentKeys
        switch plan.removal {
        case .refuse(let reason):
            fail(SyncError(stage: .remove, underlying: reason))
            throw .failed
        case .withhold(let reason):
            withhold(absentKeys, for: reason, in: &report)
        case .remove where options.removalOrder == .beforeDownloads:
            try await remove(absentKeys, in: &report)
        case .remove:
            // Withheld until the downloads have succeeded.
            withhold(absentKeys, for: .incompletePass, in: &report)
        }
        try await askForUpdates(&plan, in: &report)
        report.unchanged = plan.keptCount
        let indices = plan.downloadIndices
        let planned = plan.items(at: indices)
        let downloads = try await perform(.prepare, in: &report) {
            try await processor.owsPrepareDownload(of: planned)
        }
        report.planned = downloads.count
        let isStored =
            downloads.isIdentical(to: planned)
            ? plan.isStored(at: indices)
            : KeyComparison.membership(of: downloads.map { $0.owsPrimaryKey }, in: localKeys)
        if options.downloadPreview {
            try await download(
                downloads, .preview, isStored: isStored, decidesOutcome: !options.downloadContent, in: &report)
        }
        if options.downloadContent {
            try await download(downloads, .content, isStored: isStored, decidesOutcome: true, in: &report)
        }
        if case .remove = plan.removal, options.removalOrder == .afterDownloads, errors.isEmpty {
            withhold([], for: .incompletePass, in: &report)
            try await remove(absentKeys, in: &report)
        }
    }

    // MARK: Stages

    private func compare(
        _ report: inout SyncReport
    ) async throws(Stop) -> (plan: SyncPlan<Item>, localKeys: Set<Item.Key>) {
        let source = try await perform(.list, in: &report) { try await processor.owsFetchSourceList() }
        report.listed = source.items.count
        report.isListPartial = source.isPartial
        events.send(.progress(SyncProgress(stage: .list, done: report.listed, failed: 0, total: nil)))
        let localKeys = try await perform(.localKeys, in: &report) { try await processor.owsGetLocalKeys() }
        report.local = localKeys.count
        events.send(.progress(SyncProgress(stage: .localKeys, done: report.local, failed: 0, total: nil)))
        let plan = try await perform(.compare, in: &report, retries: false) {
            try SyncPlan(source: source, localKeys: localKeys, removalLimit: options.removalLimit)
        }
        return (plan, localKeys)
    }

    private func remove(_ keys: Set<Item.Key>, in report: inout SyncReport) async throws(Stop) {
        guard !keys.isEmpty else { return }
        try await perform(.remove, in: &report) { try await processor.owsRemoveLocalItems(for: keys) }
        report.removed = keys.count
        events.send(.progress(SyncProgress(stage: .remove, done: keys.count, failed: 0, total: keys.count)))
        if options.reportsKeys { report.keys[.removed] = Array(keys) }
    }

    private func withhold(
        _ keys: Set<Item.Key>, for reason: WithheldRemovals.Reason, in report: inout SyncReport
    ) {
        report.withheld = keys.isEmpty ? nil : WithheldRemovals(count: keys.count, reason: reason)
        if options.reportsKeys { report.keys[.withheld] = Array(keys) }
    }

    /// Asks which of the stored items to download again: all at once if the processor answers that, else one by one.
    private func askForUpdates(_ plan: inout SyncPlan<Item>, in report: inout SyncReport) async throws(Stop) {
        let indices = plan.keptIndices
        guard !indices.isEmpty else { return }
        let items = plan.items(at: indices)
        let answer = try await perform(.shouldUpdate, in: &report) { try await processor.owsShouldUpdateItems(items) }
        if let keys = answer {
            plan.update(items.indices.filter { keys.contains(items[$0].owsPrimaryKey) }.map { indices[$0] })
            return
        }
        let checks = await forEach(
            items, .shouldUpdate, width: options.concurrentUpdateChecks ? options.width : 1, stopsOnFailure: true,
            keepsAnswers: true, in: &report)
        if let stop = checks.stop { throw stop }
        plan.update(checks.tally.positions(answering: true).map { indices[$0] })
    }

    /// Downloads every item's preview or content.
    ///
    /// - Parameters:
    ///   - isStored: For each of `items`, whether it was stored before; empty where none was.
    ///   - decidesOutcome: Whether this stage, and no later one, decides what the report says became of an item.
    private func download(
        _ items: [Item], _ call: ItemCall, isStored: [Bool], decidesOutcome: Bool, in report: inout SyncReport
    ) async throws(Stop) {
        let downloads = await forEach(
            items, call, isStored: isStored, width: options.width, stopsOnFailure: options.stopOnError,
            keepsAnswers: options.reportsKeys && decidesOutcome, in: &report)
        if decidesOutcome {
            report.updated = downloads.tally.trueCount
            report.inserted = downloads.tally.done - report.updated
            report.failed = downloads.tally.failed
            if options.reportsKeys {
                let tally = downloads.tally
                report.keys[.inserted] = tally.positions(answering: false).map { items[$0].owsPrimaryKey }
                report.keys[.updated] = tally.positions(answering: true).map { items[$0].owsPrimaryKey }
            }
        }
        if let stop = downloads.stop { throw stop }
    }

    // MARK: Calls

    /// Makes one call of the processor, as a stage of its own, tried again as the options say.
    private func perform<Value: Sendable>(
        _ stage: SyncStage, in report: inout SyncReport, retries: Bool = true, evenIfCancelled: Bool = false,
        _ call: () async throws -> Value
    ) async throws(Stop) -> Value {
        guard evenIfCancelled || !Task.isCancelled else { throw .cancelled }
        announce(stage, in: report)
        let start = clock.now()
        defer { report.durations[stage, default: .zero] += clock.now() - start }
        var attempt = 1
        while true {
            do {
                return try await call()
            } catch {
                guard !Task.isCancelled else { throw .cancelled }
                let error = SyncError(stage: stage, underlying: error)
                guard retries, let delay = retryDelay(after: error, attempt: attempt) else {
                    fail(error)
                    throw .failed
                }
                report.retries += 1
                guard (try? await clock.sleep(delay)) != nil else { throw .cancelled }
                attempt += 1
            }
        }
    }

    /// Tells observers of a stage, once, also where it is made of several calls.
    private func announce(_ stage: SyncStage, in report: SyncReport) {
        if report.durations[stage] == nil { events.send(.stageBegan(stage)) }
    }

    /// Makes a call for each of `items`, several at a time, as a stage of its own.
    ///
    /// - Parameters:
    ///   - isStored: See ``ItemCalls/isStored``.
    ///   - keepsAnswers: Whether the tally says what each call answered.
    /// - Returns: How the stage went, and why the pass must end after it; `nil` where it goes on.
    private func forEach(
        _ items: [Item], _ call: ItemCall, isStored: [Bool] = [], width: Int, stopsOnFailure: Bool, keepsAnswers: Bool,
        in report: inout SyncReport
    ) async -> (tally: ItemCursor.Tally, stop: Stop?) {
        guard !Task.isCancelled else { return (ItemCursor.Tally(), .cancelled) }
        let stage = call.stage
        announce(stage, in: report)
        let start = clock.now()
        let width = min(width, items.count)
        let cursor = ItemCursor(
            stage: stage, count: items.count, width: width, stopsOnFailure: stopsOnFailure, keepsAnswers: keepsAnswers,
            clock: clock, events: events)
        let calls = ItemCalls(
            call: call, items: items, isStored: isStored, processor: processor, cursor: cursor, clock: clock,
            timeout: call == .shouldUpdate ? nil : options.itemTimeout
        ) { step, error in
            guard !Task.isCancelled, !cursor.isStopped else { return .interrupted }
            let error = SyncError(stage: stage, key: items[step.index].owsPrimaryKey, underlying: error)
            if let delay = retryDelay(after: error, attempt: step.attempt) {
                return .retry(ItemCursor.Step(index: step.index, attempt: step.attempt + 1, delay: delay))
            }
            guard cursor.claimFailure() else { return .interrupted }
            fail(error)
            return .failed
        }
        await boundedForEach(cursor, width: width) { await calls.work() }
        let tally = cursor.tally
        report.retries += tally.retries
        report.durations[stage, default: .zero] += clock.now() - start
        let failure = stopsOnFailure && tally.failed > 0 ? Stop.failed : nil
        return (tally, Task.isCancelled ? .cancelled : failure)
    }

    // MARK: Errors

    /// How long to wait before the call that failed is made again; `nil` when it is not.
    private func retryDelay(after error: SyncError, attempt: Int) -> Duration? {
        let delay = options.retry?.delay(
            afterAttempt: attempt, error: error.underlying, random: Double.random(in: 0..<1))
        if let delay { events.send(.willRetry(error, attempt: attempt, after: delay)) }
        return delay
    }

    private func fail(_ error: SyncError) {
        if errors.record(error) { events.send(.failed(error)) }
    }

    /// What a pass that did what `report` says ends with.
    private func outcome(of report: SyncReport, isCancelled: Bool) -> Result<SyncReport, SyncFailure> {
        var report = report
        errors.fill(&report)
        return isCancelled || !report.errors.isEmpty
            ? .failure(SyncFailure(report: report, isCancelled: isCancelled)) : .success(report)
    }
}

extension Array {
    /// Whether both are the same array, never copied; in constant time. A `false` says nothing of their elements.
    fileprivate func isIdentical(to other: [Element]) -> Bool {
        withUnsafeBufferPointer { elements in
            other.withUnsafeBufferPointer { elements.baseAddress == $0.baseAddress && elements.count == $0.count }
        }
    }
}
