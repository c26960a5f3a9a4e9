/// A collection that finds and removes its smallest element in logarithmic time.
package struct MinHeap<Element: Comparable> {
    /// Each element is at most as large as those at twice its index plus 1 and plus 2.
    private var elements: [Element] = []

    /// Creates an empty heap.
    package init() {}

    /// The number of elements.
    package var count: Int { elements.count }

    /// The smallest element; nil if the heap is empty.
    package var first: Element? { elements.first }

    /// Adds an element.
    package mutating func insert(_ element: Element) {
        var index = elements.count
        elements.append(element)
        while index > 0, case let parent = (index - 1) / 2, elements[index] < elements[parent] {
            elements.swapAt(index, parent)
            index = parent
        }
    }

    /// Removes and returns the smallest element; nil if the heap is empty.
    package mutating func popFirst() -> Element? {
        guard let last = elements.popLast() else { return nil }
        guard let first = elements.first else { return last }
        elements[0] = last
        var index = 0
        while case let left = 2 * index + 1, left < elements.count {
            let right = left + 1
            let least = right < elements.count && elements[right] < elements[left] ? right : left
            guard elements[least] < elements[index] else { break }
            elements.swapAt(index, least)
            index = least
        }
        return first
    }

    /// Removes all elements that satisfy a condition.
    package mutating func removeAll(where isRemoved: (Element) -> Bool) {
        elements.removeAll(where: isRemoved)
        elements.sort()
    }
}

extension MinHeap: Sendable where Element: Sendable {}
