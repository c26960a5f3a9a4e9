package import SyncBase

/// An event with a rule for full buffers.
package protocol BufferedEvent: Sendable {
    /// How a full buffer treats the event.
    var retention: EventRetention { get }
}

/// How a full buffer treats an event.
package enum EventRetention: Hashable {
    /// Dropped first if a later event of the same stage, which supersedes it, waits. Has one bit
    /// for each stage.
    case merged(stage: UInt32)
    /// Dropped if nothing can be merged.
    case droppable
    /// Kept until ``maximumKeptCount`` events of its kind wait.
    case kept

    /// The number of events kept beyond a buffer's size.
    static let maximumKeptCount = 1_024

    /// The retention of a stage's progress events.
    static func progress(of stage: SyncStage) -> EventRetention {
        .merged(stage: 1 << UInt32(stage.ordinal))
    }
}

extension SyncEvent: BufferedEvent {
    package var retention: EventRetention {
        switch self {
        case .progress(let progress): .progress(of: progress.stage)
        case .statusChanged, .stageBegan, .willRetry: .droppable
        case .failed, .passEnded: .kept
        }
    }
}

extension Broadcaster where Element: BufferedEvent {
    /// Creates a broadcaster that keeps up to 1,024 failures and ends of passes for each observer.
    package static func ofEvents() -> Broadcaster {
        Broadcaster { queue, capacity in
            // An eighth at once, because each look at the whole buffer takes time of the pass.
            let dropped = indicesToDrop(queue.count - (capacity - capacity / 8), in: queue)
            var (rest, released) = (FIFO<Element>(), [Element]())
            for (index, event) in queue.enumerated() {
                if dropped.contains(index) { released.append(event) } else { rest.append(event) }
            }
            queue = rest
            return released
        }
    }

    /// The indices of the events whose loss matters least.
    ///
    /// - Parameter count: The number of events to drop.
    private static func indicesToDrop(_ count: Int, in queue: FIFO<Element>) -> Set<Int> {
        var newerStages: UInt32 = 0
        var (superseded, others): ([Int], [Int]) = ([], [])
        for (index, event) in queue.enumerated().reversed() {
            switch event.retention {
            case .merged(let stage):
                if newerStages & stage != 0 { superseded.append(index) } else { others.append(index) }
                newerStages |= stage
            case .droppable: others.append(index)
            case .kept: break
            }
        }
        let dropped = Set((superseded.reversed() + others.reversed()).prefix(count))
        let excess = dropped.count < count ? queue.count - dropped.count - EventRetention.maximumKeptCount : 0
        guard excess > 0 else { return dropped }
        let kept = queue.indices.filter { !dropped.contains($0) }
        return dropped.union(kept.prefix(excess))
    }
}
