import SyncBase

/// The processor method that a stage calls for each item.
enum ItemCall: Sendable {
    case shouldUpdate
    case preview
    case content

    var stage: SyncStage {
        switch self {
        case .shouldUpdate: .shouldUpdate
        case .preview: .preview
        case .content: .content
        }
    }
}

/// The per-item processor calls of a stage, made by any number of workers.
struct ItemCalls<Processor: SyncProcessor>: Sendable {
    typealias Item = Processor.Item

    let call: ItemCall
    let items: [Item]
    /// For each of `items`, whether it was stored before; empty if none was, or if not needed.
    let isStored: [Bool]
    let processor: Processor
    let cursor: ItemCursor
    let clock: SyncClock
    /// When the stage or the pass times out, by the clock.
    let deadline: Duration?
    /// Decides what follows a step whose call threw.
    let callEnd: @Sendable (ItemCursor.Step, any Error) -> ItemCursor.CallEnd

    /// Makes calls, one after another, until none is left for the worker.
    func work(_ worker: Int) async {
        // Set once for all calls of the worker: an item costs nothing unless its call reads it.
        let provider = RetryPolicy.Attempt.Provider {
            attempt(of: worker)
        } key: {
            cursor.call(of: worker).map { items[$0.index].owsPrimaryKey }
        }
        await RetryPolicy.Attempt.$provider.withValue(provider) {
            var last: ItemCursor.CallEnd?
            while let step = cursor.advance(worker, after: last) {
                do {
                    if let delay = step.delay {
                        try await clock.sleep(delay)
                        guard cursor.begin(step, by: worker) else { return }
                    }
                    last = .done(step.index, try await makeCall(for: items[step.index], at: step.index))
                } catch {
                    let isTimedOut = cursor.isTimedOut(worker)
                    let reason = cursor.callTimeout.map { SyncError.Reason.timedOut(after: $0) }
                    last = callEnd(step, isTimedOut ? reason ?? error : error)
                }
            }
        }
    }

    /// Makes one call. Returns whether the item should be updated or, for a download, whether it
    /// was stored before.
    ///
    /// Inlined, because an async call of generic code costs more than the cursor's lock.
    @inline(__always)
    private func makeCall(for item: Item, at index: Int) async throws -> Bool {
        switch call {
        case .shouldUpdate:
            return try await processor.owsShouldUpdateItem(forKey: item.owsPrimaryKey, with: item)
        case .preview:
            try await processor.owsDownloadItemPreview(for: item)
        case .content:
            try await processor.owsDownloadItem(for: item)
        }
        return isStored.isEmpty ? false : isStored[index]
    }

    private func attempt(of worker: Int) -> RetryPolicy.Attempt? {
        guard call != .shouldUpdate, let current = cursor.call(of: worker) else { return nil }
        let ends = [cursor.callTimeout.map { current.start.addingClamped($0) }, deadline].compactMap(\.self)
        return RetryPolicy.Attempt(
            isNew: isStored.isEmpty || !isStored[current.index], number: current.attempt,
            timeLeft: ends.min().map { max($0 - clock.now(), .zero) })
    }
}
