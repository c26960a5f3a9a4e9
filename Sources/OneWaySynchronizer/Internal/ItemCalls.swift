import SyncBase
/// Which of its processor's methods a stage calls for each item.
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

/// The calls of a stage that calls its processor once per item, made by any number of workers.
struct ItemCalls<Processor: SyncProcessor>: Sendable {
    typealias Item = Processor.Item

    let call: ItemCall
    let items: [Item]
    /// For each of `items`, whether it was stored before; empty where none was, or nobody asks.
    let isStored: [Bool]
    let processor: Processor
    let cursor: ItemCursor
    let clock: SyncClock
    /// How long a call may take; `nil`: as long as it likes.
    let timeout: Duration?
    /// What becomes of a step whose call threw.
    let outcome: @Sendable (ItemCursor.Step, any Error) -> ItemCursor.Outcome

    /// One worker: makes call after call until there is none left.
    func work() async {
        var last: ItemCursor.Outcome?
        while let step = cursor.advance(after: last) {
            do {
                if step.delay > .zero { try await clock.sleep(step.delay) }
                let item = items[step.index]
                let answer =
                    if let timeout {
                        try await clock.withTimeout(timeout) { try await makeCall(for: item, at: step.index) }
                    } else {
                        try await makeCall(for: item, at: step.index)
                    }
                last = .done(step.index, answer)
            } catch {
                last = outcome(step, error)
            }
        }
    }

    /// Makes one call: whether the item should be updated; whether the one that was downloaded was stored before.
    ///
    /// Inlined, because an async call of generic code costs more than taking the cursor's lock.
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
}
