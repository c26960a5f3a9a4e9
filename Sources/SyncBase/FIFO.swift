/// A first-in, first-out queue that appends and removes in constant time.
@usableFromInline package struct FIFO<Element> {
    /// The elements from `head` on; earlier slots are already removed.
    @usableFromInline var slots: [Element?] = []
    @usableFromInline var head = 0

    /// Creates an empty queue.
    @inlinable package init() {}

    /// Appends an element at the end.
    @inlinable package mutating func append(_ element: Element) {
        slots.append(element)
    }

    /// Removes and returns the first element; nil if the queue is empty.
    @inlinable package mutating func popFirst() -> Element? {
        guard head < slots.count else { return nil }
        defer {
            slots[head] = nil
            head += 1
            if head == slots.count {
                slots.removeAll(keepingCapacity: slots.count <= 64)
                head = 0
            } else if head > 32, head > slots.count / 2 {
                slots.removeFirst(head)
                head = 0
            }
        }
        return slots[head]
    }
}

extension FIFO: Sendable where Element: Sendable {}

extension FIFO: RandomAccessCollection, MutableCollection, RangeReplaceableCollection {
    /// The position of the first element: 0.
    @inlinable package var startIndex: Int { 0 }

    /// The position after the last element, which equals the number of elements.
    @inlinable package var endIndex: Int { slots.count - head }

    /// The element at a position; 0 is the first.
    @inlinable package subscript(position: Int) -> Element {
        get {
            guard let element = slots[head + position] else { preconditionFailure("slots from head on are filled") }
            return element
        }
        set { slots[head + position] = newValue }
    }

    /// Replaces a range of elements, in linear time.
    @inlinable package mutating func replaceSubrange(_ range: Range<Int>, with elements: some Collection<Element>) {
        slots.replaceSubrange(range.lowerBound + head..<range.upperBound + head, with: elements.lazy.map(Optional.some))
    }
}
