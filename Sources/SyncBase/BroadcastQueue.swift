/// The elements that wait for one observer of a ``Broadcaster``, oldest first.
package protocol BroadcastQueue<Element>: Sendable {
    /// The type of the elements.
    associatedtype Element: Sendable

    /// Appends an element, and merges or drops elements if the queue is full.
    ///
    /// - Returns: The dropped elements, so that they are released outside the observer's lock.
    mutating func append(_ element: Element) -> [Element]

    /// Removes and returns the oldest element; nil if the queue is empty.
    mutating func popFirst() -> Element?
}

/// A queue that a function shortens when it is full.
struct CompactedQueue<Element: Sendable>: BroadcastQueue {
    let capacity: Int
    let compaction: Broadcaster<Element>.Compaction
    private var elements = FIFO<Element>()

    init(capacity: Int, compaction: @escaping Broadcaster<Element>.Compaction) {
        self.capacity = capacity
        self.compaction = compaction
    }

    mutating func append(_ element: Element) -> [Element] {
        elements.append(element)
        return elements.count > capacity ? compaction(&elements, capacity) : []
    }

    mutating func popFirst() -> Element? { elements.popFirst() }
}
