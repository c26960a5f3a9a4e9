import SyncBase

/// The events that wait for one observer, in queues by their retention, so that the work for each
/// event does not grow with the number of events.
struct EventQueue<Element: BufferedEvent>: BroadcastQueue {
    private struct Entry: Sendable {
        /// The position of the event among all events of the observer.
        let number: Int
        let event: Element
    }

    private let capacity: Int
    private var queues: [EventRetention: FIFO<Entry>] = [:]
    private var count = 0
    private var lastNumber = 0

    init(capacity: Int) {
        self.capacity = capacity
    }

    mutating func append(_ element: Element) -> [Element] {
        lastNumber += 1
        count += 1
        queues[element.retention, default: FIFO()].append(Entry(number: lastNumber, event: element))
        // Only kept events go beyond the capacity, so that one event is dropped at most.
        return count > capacity ? makeRoom() : []
    }

    mutating func popFirst() -> Element? {
        popFirst { _, _ in true }
    }

    /// Removes the event whose loss matters least; empty if all must be kept.
    private mutating func makeRoom() -> [Element] {
        let merged = popFirst { retention, count in
            if case .merged = retention { count > 1 } else { false }
        }
        if let merged { return [merged] }
        if let droppable = popFirst(where: { retention, _ in retention != .kept }) { return [droppable] }
        guard count > EventRetention.maximumKeptCount, let kept = popFirst() else { return [] }
        return [kept]
    }

    /// Removes the oldest event of the queues that satisfy a condition on retention and count.
    private mutating func popFirst(where isIncluded: (EventRetention, Int) -> Bool) -> Element? {
        var oldest: (retention: EventRetention, number: Int)?
        for (retention, queue) in queues where isIncluded(retention, queue.count) {
            guard let number = queue.first?.number, number < oldest?.number ?? .max else { continue }
            oldest = (retention, number)
        }
        guard let oldest, let entry = queues[oldest.retention]?.popFirst() else { return nil }
        count -= 1
        return entry.event
    }
}
