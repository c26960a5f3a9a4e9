package import SyncBase

/// An event with a rule for full buffers.
package protocol BufferedEvent: Sendable {
    /// How a full buffer treats the event.
    var retention: EventRetention { get }
}

/// How a full buffer treats an event.
package enum EventRetention: Hashable, Sendable {
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
        Broadcaster(queue: { EventQueue<Element>(capacity: $0) })
    }
}
