import SyncModel

/// The pairs of a relationship and its inverse, as lists from either end.
struct MemoryLinks: Sendable {
    /// What is known of the lists of one end.
    struct End: Sendable {
        var isToMany: Bool
        var isOrdered: Bool
    }

    /// Where a relationship finds its pairs.
    struct Place: Hashable, Sendable {
        /// Which links.
        var links: Int
        /// From which end.
        var side: Int
    }

    private let ends: [End]
    private var lists: [ShardedMap<Int64, [Int64]>]

    /// One end for a relationship that is its own inverse.
    init(ends: [End]) {
        self.ends = ends
        lists = ends.map { _ in ShardedMap() }
    }

    func targets(of row: Int64, side: Int) -> [Int64] {
        lists[side][row] ?? []
    }

    /// Gives a row other targets, and their lists with it.
    ///
    /// - Parameter targets: Each once, all of them objects, at most one at a to-one end.
    mutating func set(_ targets: [Int64], of row: Int64, side: Int) {
        var targets = targets
        if !ends[side].isOrdered { targets.sort() }
        let former = self.targets(of: row, side: side)
        guard former != targets else { return }
        let other = (side + 1) % ends.count
        let wanted = Set(targets)
        for target in former where !wanted.contains(target) {
            take(row, offListOf: target, side: other)
        }
        let known = Set(former)
        for target in targets where !known.contains(target) {
            if !ends[other].isToMany {
                for holder in self.targets(of: target, side: other) where holder != row {
                    take(target, offListOf: holder, side: side)
                }
                lists[other][target] = [row]
            } else {
                put(row, onListOf: target, side: other)
            }
        }
        lists[side][row] = targets.isEmpty ? nil : targets
    }

    private mutating func put(_ row: Int64, onListOf target: Int64, side: Int) {
        let isOrdered = ends[side].isOrdered
        lists[side].update(target, default: []) { list in
            guard !isOrdered else {
                if !list.contains(row) { list.append(row) }
                return
            }
            let place = list.firstPlace(notBelow: row)
            if place == list.endIndex || list[place] != row { list.insert(row, at: place) }
        }
    }

    private mutating func take(_ row: Int64, offListOf target: Int64, side: Int) {
        let isOrdered = ends[side].isOrdered
        lists[side].update(target, default: []) { list in
            let place = isOrdered ? list.firstIndex(of: row) ?? list.endIndex : list.firstPlace(notBelow: row)
            if place < list.endIndex, list[place] == row { list.remove(at: place) }
        }
        if lists[side][target]?.isEmpty == true { lists[side][target] = nil }
    }
}

extension [Int64] {
    /// Where a number stands in a sorted list, or would.
    fileprivate func firstPlace(notBelow number: Int64) -> Int {
        // Most often it goes to the end.
        if let last, last < number { return endIndex }
        var low = startIndex
        var high = endIndex
        while low < high {
            let middle = (low + high) / 2
            if self[middle] < number { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
