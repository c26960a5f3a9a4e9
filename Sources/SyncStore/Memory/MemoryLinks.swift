package import SyncModel

/// The links of a relationship and its inverse, as lists from either end.
package struct MemoryLinks: Sendable {
    /// The properties of one end.
    package struct End: Sendable {
        let isToMany: Bool
        let isOrdered: Bool

        package init(isToMany: Bool, isOrdered: Bool) {
            self.isToMany = isToMany
            self.isOrdered = isOrdered
        }
    }

    /// The position of a relationship's links.
    struct Place: Hashable, Sendable {
        /// The index of the `MemoryLinks`.
        var links: Int
        /// The end that the relationship starts from.
        var side: Int
    }

    private let ends: [End]
    private var lists: [ShardedMap<ObjectID, [ObjectID]>]

    /// Creates empty links. A relationship that is its own inverse has one end.
    package init(ends: [End]) {
        self.ends = ends
        lists = ends.map { _ in ShardedMap() }
    }

    package func targets(of id: ObjectID, side: Int) -> [ObjectID] {
        lists[side][id] ?? []
    }

    /// Sets the targets of an object without updating the lists of the other end.
    package mutating func load(_ targets: [ObjectID], of id: ObjectID, side: Int) {
        lists[side][id] = ends[side].isOrdered ? targets : targets.sorted()
    }

    /// Replaces the targets of an object, and updates the lists of the other end.
    ///
    /// - Parameter targets: Existing objects, each once; at most one at a to-one end.
    package mutating func set(_ targets: [ObjectID], of id: ObjectID, side: Int) {
        var targets = targets
        if !ends[side].isOrdered { targets.sort() }
        let former = self.targets(of: id, side: side)
        guard former != targets else { return }
        let other = (side + 1) % ends.count
        let wanted = Set(targets)
        for target in former where !wanted.contains(target) {
            take(id, offListOf: target, side: other)
        }
        let known = Set(former)
        for target in targets where !known.contains(target) {
            if !ends[other].isToMany {
                for holder in self.targets(of: target, side: other) where holder != id {
                    take(target, offListOf: holder, side: side)
                }
                lists[other][target] = [id]
            } else {
                put(id, onListOf: target, side: other)
            }
        }
        lists[side][id] = targets.isEmpty ? nil : targets
    }

    private mutating func put(_ id: ObjectID, onListOf target: ObjectID, side: Int) {
        let isOrdered = ends[side].isOrdered
        lists[side].update(target, default: []) { list in
            guard !isOrdered else {
                if !list.contains(id) { list.append(id) }
                return
            }
            let place = list.firstPlace(notBelow: id)
            if place == list.endIndex || list[place] != id { list.insert(id, at: place) }
        }
    }

    private mutating func take(_ id: ObjectID, offListOf target: ObjectID, side: Int) {
        let isOrdered = ends[side].isOrdered
        lists[side].update(target, default: []) { list in
            let place = isOrdered ? list.firstIndex(of: id) ?? list.endIndex : list.firstPlace(notBelow: id)
            if place < list.endIndex, list[place] == id { list.remove(at: place) }
        }
        if lists[side][target]?.isEmpty == true { lists[side][target] = nil }
    }
}

extension [ObjectID] {
    /// The position of a number in a sorted list, or the position to insert it at.
    fileprivate func firstPlace(notBelow number: ObjectID) -> Int {
        // Most insertions are at the end.
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
