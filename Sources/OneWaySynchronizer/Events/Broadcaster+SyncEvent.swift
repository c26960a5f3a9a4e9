import SyncBase

/// An event that a full buffer treats by how much its loss would matter.
protocol BufferedEvent: Sendable {
    /// What a full buffer does with the event.
    var retention: EventRetention { get }
}

/// What a full buffer does with an event.
enum EventRetention: Hashable {
    /// Dropped first if a later event of the same stage waits, which says more. Has one bit for each stage.
    case merged(stage: UInt32)
    /// Dropped when nothing can be merged.
    case droppable
    /// Kept until ``maximumKeptCount`` of its kind wait.
    case kept

    /// How many events are kept beyond a buffer's size.
    static let maximumKeptCount = 1_024

    /// The retention of progress of a stage.
    static func progress(of stage: SyncStage) -> EventRetention {
        .merged(stage: 1 << UInt32(stage.ordinal))
    }
}

extension SyncEvent: BufferedEvent {
    var retention: EventRetention {
        switch self {
        case .progress(let progress): .progress(of: progress.stage)
        case .statusChanged, .stageBegan, .willRetry: .droppable
        case .failed, .passEnded: .kept
        }
    }
}

extension Broadcaster where Element: BufferedEvent {
    /// Creates a broadcaster whose observers lose no failure and no end of a pass before 1,024 of them wait.
    static func ofEvents() -> Broadcaster {
        Broadcaster { queue, capacity in
            var dropped: [Element] = []
            while queue.count > capacity, let index = indexToDrop(in: queue) { dropped.append(queue.remove(at: index)) }
            return dropped
        }
    }

    /// The event whose loss matters least; nil if all are kept.
    private static func indexToDrop(in queue: FIFO<Element>) -> Int? {
        var newerStages: UInt32 = 0
        var oldestMerged: Int?
        for index in queue.indices.reversed() {
            guard case .merged(let stage) = queue[index].retention else { continue }
            if newerStages & stage != 0 { oldestMerged = index }
            newerStages |= stage
        }
        if let oldestMerged { return oldestMerged }
        if let index = queue.firstIndex(where: { $0.retention != .kept }) { return index }
        return queue.count > EventRetention.maximumKeptCount ? queue.startIndex : nil
    }
}
