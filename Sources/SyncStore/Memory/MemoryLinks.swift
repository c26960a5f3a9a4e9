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

    /// The number of changed lists at an end, to bound memory.
    private static let changeLimit = 8192

    private let ends: [End]
    private var lists: [ShardedMap<ObjectID, [ObjectID]>]
    /// The changes of lists at each end since the last ``settle()``.
    ///
    /// One object can be on the other end of nearly all links. Its list is therefore not changed
    /// for each of them.
    private var changes: [[ObjectID: Change]]

    /// Creates empty links. A relationship that is its own inverse has one end.
    package init(ends: [End]) {
        self.ends = ends
        lists = ends.map { _ in ShardedMap() }
        changes = ends.map { _ in [:] }
    }

    package func targets(of id: ObjectID, side: Int) -> [ObjectID] {
        let list = lists[side][id] ?? []
        guard let change = changes[side][id] else { return list }
        var kept = list
        if !change.removed.isEmpty {
            let removed = Set(change.removed)
            kept.removeAll(where: removed.contains)
        }
        var added = change.added
        // Loaded lists of a relationship that is its own inverse may have only one direction.
        if ends.count == 1, !added.isEmpty {
            let known = Set(kept)
            added.removeAll(where: known.contains)
        }
        kept += added
        if !ends[side].isOrdered, !added.isEmpty { kept.sort() }
        return kept
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
            if ends[other].isToMany {
                change(target, side: other) { $0.remove(id) }
            } else {
                replace(target, by: [], side: other)
            }
        }
        let known = Set(former)
        for target in targets where !known.contains(target) {
            if ends[other].isToMany {
                change(target, side: other) { $0.add(id) }
            } else {
                for holder in self.targets(of: target, side: other) where holder != id {
                    change(holder, side: side) { $0.remove(target) }
                }
                replace(target, by: [id], side: other)
            }
        }
        replace(id, by: targets, side: side)
    }

    private mutating func change(_ id: ObjectID, side: Int, _ body: (inout Change) -> Void) {
        if changes[side].count > Self.changeLimit { settle() }
        body(&changes[side][id, default: Change()])
    }

    /// Replaces a whole list with its changes.
    private mutating func replace(_ id: ObjectID, by targets: [ObjectID], side: Int) {
        changes[side][id] = nil
        lists[side][id] = targets.isEmpty ? nil : targets
    }

    /// Applies the changes of lists, after those of a whole batch.
    mutating func settle() {
        for side in changes.indices {
            for id in changes[side].keys { replace(id, by: targets(of: id, side: side), side: side) }
        }
    }
}

/// What a list loses and gains. Its other end tells which, so that nothing is added twice.
private struct Change {
    private(set) var removed: [ObjectID] = []
    /// The gained objects, which follow the others in an ordered list.
    private(set) var added: [ObjectID] = []

    mutating func add(_ object: ObjectID) {
        added.append(object)
    }

    mutating func remove(_ object: ObjectID) {
        if let index = added.lastIndex(of: object) { added.remove(at: index) } else { removed.append(object) }
    }
}
