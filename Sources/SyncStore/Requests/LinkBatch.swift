public import SyncModel

/// Objects to be linked by one relationship.
public struct LinkBatch: Sendable {
    /// The effect on the existing links of a source.
    public enum Mode: Hashable, Sendable {
        /// Replaces all links. An ordered relationship takes the order of the targets.
        case replace
        /// Keeps existing links and appends missing ones. A to-one relationship is replaced.
        case add
        /// Removes links to other targets and adds none.
        case retain
    }

    /// The relationship, from the layout of the sources' entity or of one that it inherits from.
    public let relationship: EntityLayout.Relationship
    /// The effect on the existing links of each source.
    public var mode: Mode
    /// The objects to start from, each once.
    public private(set) var sources: [ObjectID] = []
    /// The targets of the first source in order, then those of the second source, and so on. If the
    /// relationship has no order, the targets of a source are in the order of their numbers.
    public private(set) var targets: [ObjectID] = []
    /// The end of each source's targets in `targets`.
    public private(set) var ends: [Int] = []
    /// Targets that were inserted with a link of this relationship; see
    /// ``MergeRequest/InitialLinks``.
    ///
    /// The result of linking reports their links as changes, although they exist already. Contains
    /// only targets inserted since the relationship was last linked.
    public var newTargets = ObjectSet()
    /// Whether the transaction has inserted all sources, and none of them has a link of the
    /// relationship yet; false by default. A store need not look for any then.
    ///
    /// It must be false for a relationship that is its own inverse, because the links of the
    /// targets matter too.
    public var hasNewSources = false
    /// Whether the transaction has inserted all targets, and no object leads to them by the
    /// relationship yet; false by default. A store need not free them then.
    public var hasNewTargets = false

    /// Creates a batch without sources.
    public init(_ relationship: EntityLayout.Relationship, mode: Mode) {
        self.relationship = relationship
        self.mode = mode
    }

    /// Whether the batch has no source.
    public var isEmpty: Bool {
        sources.isEmpty
    }

    /// Adds a source, which the batch must not contain yet, with its targets in order.
    public mutating func append(_ source: ObjectID, to targets: [ObjectID]) {
        sources.append(source)
        var targets = targets
        // Sorted only here, because a copy of very many targets takes memory.
        if relationship.isToMany, !relationship.isOrdered, !targets.isAscending { targets.sort() }
        // The only source of a batch can have very many targets.
        if self.targets.isEmpty { self.targets = targets } else { self.targets += targets }
        ends.append(self.targets.count)
    }

    /// The targets of the source at an index of `sources`.
    public func targets(at index: Int) -> ArraySlice<ObjectID> {
        targets[(index == 0 ? 0 : ends[index - 1])..<ends[index]]
    }
}

extension LinkBatch {
    /// The result of linking: the sources whose targets changed, and the targets that they lost.
    ///
    /// - Parameters:
    ///   - former: The targets of each source before.
    ///   - current: Returns the targets of a source after.
    package func result(from former: [ObjectID: [ObjectID]], to current: (ObjectID) -> [ObjectID]) -> Result {
        var result = Result()
        var detached = ObjectSet()
        for source in sources {
            var before = former[source] ?? []
            if !newTargets.isEmpty { before.removeAll { newTargets.contains($0) } }
            let targets = current(source)
            guard before != targets else { continue }
            result.changed.append(source)
            let kept = before.isEmpty ? ObjectSet() : ObjectSet(targets)
            result.detached += before.filter { !kept.contains($0) && detached.insert($0) }
        }
        return result
    }
}

extension LinkBatch.Mode {
    /// The targets of an object after a statement about them.
    ///
    /// - Parameters:
    ///   - stated: The existing objects that the statement names. A repeated object counts once; a
    ///     to-one relationship takes the last one.
    ///   - current: The targets before the statement, each once.
    /// - Returns: The targets in the order of the relationship; in the order of their numbers if
    ///   the relationship has none.
    package func targets(
        stated: some Sequence<ObjectID>, after current: [ObjectID], by relationship: EntityLayout.Relationship
    ) -> [ObjectID] {
        // One array, because an object can have very many targets.
        var targets = Array(stated)
        if !targets.isAscending {
            var seen = ObjectSet()
            let areDifferent = targets.allSatisfy { seen.insert($0) }
            seen = ObjectSet()
            // Even a removal of nothing would copy an array that the batch shares.
            if !areDifferent { targets.removeAll { !seen.insert($0) } }
        }
        if !relationship.isToMany, self != .retain { targets = targets.suffix(1) }
        switch self {
        case .replace: break
        case .add where !relationship.isToMany: if targets.isEmpty { targets = current }
        case .add:
            let known = ObjectSet(current)
            targets.removeAll { known.contains($0) }
            targets.insert(contentsOf: current, at: 0)
        case .retain:
            let kept = ObjectSet(targets)
            targets = current.filter { kept.contains($0) }
        }
        if !relationship.isOrdered, !targets.isAscending { targets.sort() }
        return targets
    }
}

extension Collection<ObjectID> {
    /// Whether each number is higher than the one before. All of them then differ.
    @inlinable
    package var isAscending: Bool {
        zip(self, dropFirst()).allSatisfy(<)
    }
}
