/// The items that wait for a retry, as a binary heap ordered by due time.
struct RetryQueue {
    struct Item: Equatable {
        var index: Int
        var attempt: Int
        var due: Duration
    }

    private var heap: [Item] = []

    /// When the first item is due; nil if the queue is empty.
    var nextDue: Duration? { heap.first?.due }

    /// Adds an item, in logarithmic time.
    mutating func insert(index: Int, attempt: Int, due: Duration) {
        heap.append(Item(index: index, attempt: attempt, due: due))
        var child = heap.count - 1
        while child > 0, isBefore(child, (child - 1) / 2) {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    /// Removes the item that is due first, in logarithmic time.
    mutating func popFirst() -> Item? {
        guard !heap.isEmpty else { return nil }
        heap.swapAt(0, heap.count - 1)
        let first = heap.removeLast()
        var parent = 0
        while true {
            let children = [2 * parent + 1, 2 * parent + 2].filter { $0 < heap.count }
            guard let child = children.min(by: { isBefore($0, $1) }), isBefore(child, parent) else { return first }
            heap.swapAt(child, parent)
            parent = child
        }
    }

    /// Ties keep the order of the items.
    private func isBefore(_ one: Int, _ other: Int) -> Bool {
        (heap[one].due, heap[one].index) < (heap[other].due, heap[other].index)
    }
}
