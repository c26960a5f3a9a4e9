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
        do throws(Stop) {
            try await perform(.begin, in: &report, retries: false, evenIfCancelled: true) {
                try await processor.owsSyncBegin()
            }
            try await synchronize(&report)
        } catch {
            // Both reasons show in the outcome: failures in the log, a cancellation in the task.
        }
        let outcome = outcome(of: report, isCancelled: Task.isCancelled)
        // A task of its own, because this one may be cancelled.
        let ending = Task { [report] in
            var report = report
            try? await perform(.end, in: &report, retries: false) {
                try await processor.owsSyncEnd(outcome)
            }
            return report
        }
        report = await ending.value
        let isCancelled = if case .failure(let failure) = outcome { failure.isCancelled } else { false }
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
        let planned = plan.downloads
        let downloads = try await perform(.prepare, in: &report) {
            try await processor.owsPrepareDownload(of: planned)
        }
        report.planned = downloads.count
        if options.downloadPreview {
            try await download(
                downloads, stage: .preview, isOutcome: !options.downloadContent, localKeys: localKeys, in: &report)
        }
        if options.downloadContent {
            try await download(downloads, stage: .content, isOutcome: true, localKeys: localKeys, in: &report)
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
        let localKeys = try await perform(.localKeys, in: &report) { try await processor.owsGetLocalKeys() }
        report.local = localKeys.count
        let plan = try await perform(.compare, in: &report, retries: false) {
            try SyncPlan(source: source, localKeys: localKeys, removalLimit: options.removalLimit)
        }
        return (plan, localKeys)
    }

    private func remove(_ keys: Set<Item.Key>, in report: inout SyncReport) async throws(Stop) {
        guard !keys.isEmpty else { return }
        try await perform(.remove, in: &report) { try await processor.owsRemoveLocalItems(for: keys) }
        report.removed = keys.count
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
        let items = plan.items
        let answer = try await perform(.shouldUpdate, in: &report) {
            try await processor.owsShouldUpdateItems(indices.count == items.count ? items : indices.map { items[$0] })
        }
        if let keys = answer {
            plan.update(indices.lazy.filter { keys.contains(items[$0].owsPrimaryKey) })
            return
        }
        let updates = await forEach(
            indices.count, stage: .shouldUpdate, width: options.concurrentUpdateChecks ? options.width : 1,
            stopsOnFailure: true, initial: [Int](), in: &report,
            key: { items[indices[$0]].owsPrimaryKey },
            call: { position, updates in
                let item = items[indices[position]]
                if try await processor.owsShouldUpdateItem(forKey: item.owsPrimaryKey, with: item) {
                    updates.append(indices[position])
                }
            }
        )
        try updates.checkStop()
        for indices in updates.tallies { plan.update(indices) }
    }

    /// What one worker downloaded.
    private struct Downloaded {
        var insertedCount = 0
        var updatedCount = 0
        /// Empty unless the report lists keys.
        var insertedKeys: [Item.Key] = []
        var updatedKeys: [Item.Key] = []
    }

    /// Downloads every item's preview or content.
    ///
    /// - Parameter isOutcome: Whether this stage decides what the report says became of an item.
    private func download(
        _ items: [Item], stage: SyncStage, isOutcome: Bool, localKeys: Set<Item.Key>, in report: inout SyncReport
    ) async throws(Stop) {
        let downloads = await forEach(
            items.count, stage: stage, width: options.width, stopsOnFailure: options.stopOnError,
            initial: Downloaded(), in: &report,
            key: { items[$0].owsPrimaryKey },
            call: { position, downloaded in
                let item = items[position]
                if let limit = options.itemTimeout {
                    try await clock.withTimeout(limit) { try await download(item, stage: stage) }
                } else {
                    try await download(item, stage: stage)
                }
                if isOutcome { note(item, in: &downloaded, isStored: localKeys.contains(item.owsPrimaryKey)) }
            }
        )
        if isOutcome {
            report.failed = downloads.failedCount
            for downloaded in downloads.tallies {
                report.inserted += downloaded.insertedCount
                report.updated += downloaded.updatedCount
            }
            if options.reportsKeys {
                report.keys[.inserted] = downloads.tallies.flatMap(\.insertedKeys)
                report.keys[.updated] = downloads.tallies.flatMap(\.updatedKeys)
            }
        }
        try downloads.checkStop()
    }

    private func download(_ item: Item, stage: SyncStage) async throws {
        if stage == .preview {
            try await processor.owsDownloadItemPreview(for: item)
        } else {
            try await processor.owsDownloadItem(for: item)
        }
    }

    private func note(_ item: Item, in downloaded: inout Downloaded, isStored: Bool) {
        if isStored {
            downloaded.updatedCount += 1
            if options.reportsKeys { downloaded.updatedKeys.append(item.owsPrimaryKey) }
        } else {
            downloaded.insertedCount += 1
            if options.reportsKeys { downloaded.insertedKeys.append(item.owsPrimaryKey) }
        }
    }

    // MARK: Calls

    /// Makes one call of the processor, as a stage of its own, tried again as the options say.
    private func perform<Value: Sendable>(
        _ stage: SyncStage, in report: inout SyncReport, retries: Bool = true, evenIfCancelled: Bool = false,
        _ call: () async throws -> Value
    ) async throws(Stop) -> Value {
        guard evenIfCancelled || !Task.isCancelled else { throw .cancelled }
        events.send(.stageBegan(stage))
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

    /// How a stage of many calls went.
    private struct StageResult<Tally> {
        var tallies: [Tally] = []
        var failedCount = 0
        /// Why the pass must end after this stage; `nil` where it goes on.
        var stop: Stop?

        func checkStop() throws(Stop) {
            if let stop { throw stop }
        }
    }

    /// Makes a call for each of `count` positions, several at a time, as a stage of its own.
    ///
    /// - Parameters:
    ///   - initial: What each worker starts its own tally with.
    ///   - key: The key of the item at a position, for errors.
    ///   - call: Makes the call for a position, and notes what came of it in the worker's tally.
    private func forEach<Tally: Sendable>(
        _ count: Int, stage: SyncStage, width: Int, stopsOnFailure: Bool, initial: Tally, in report: inout SyncReport,
        key: @escaping @Sendable (Int) -> Item.Key,
        call: @escaping @Sendable (Int, inout Tally) async throws -> Void
    ) async -> StageResult<Tally> {
        guard !Task.isCancelled else { return StageResult(stop: .cancelled) }
        events.send(.stageBegan(stage))
        let start = clock.now()
        let width = min(width, count)
        let cursor = ItemCursor(
            stage: stage, count: count, width: width, stopsOnFailure: stopsOnFailure, clock: clock, events: events)
        let tallies = await boundedForEach(cursor, width: width, initial: initial, sleep: clock.sleep) { step, tally in
            do {
                try await call(step.index, &tally)
                return .done
            } catch {
                guard !Task.isCancelled else { return .interrupted }
                let error = SyncError(stage: stage, key: key(step.index), underlying: error)
                if !cursor.isStopped, let delay = retryDelay(after: error, attempt: step.attempt) {
                    return .retry(ItemCursor.Step(index: step.index, attempt: step.attempt + 1, delay: delay))
                }
                guard cursor.claimFailure() else { return .interrupted }
                fail(error)
                return .failed
            }
        }
        let tally = cursor.tally
        report.retries += tally.retries
        report.durations[stage, default: .zero] += clock.now() - start
        let failure = stopsOnFailure && tally.failed > 0 ? Stop.failed : nil
        return StageResult(
            tallies: tallies, failedCount: tally.failed, stop: Task.isCancelled ? .cancelled : failure)
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
