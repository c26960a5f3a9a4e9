package import SyncModel
package import SyncStore

/// The changes of stored links that link the objects of a batch.
///
/// The sources are linked one after another, each with the result of those before it. The plan has
/// the changes that remain in the end, so that a few statements can write them.
package struct SQLLinkPlan: Sendable {
    /// The storage of the pairs.
    package enum Shape: Hashable, Sendable {
        /// A column of the source. With a to-one inverse, a target belongs to one source.
        case column(isExclusive: Bool)
        /// A column of both the source and the target.
        case mirroredColumn
        /// A column of the target, which belongs to one source.
        case targetColumn
        case join(isSymmetric: Bool)
    }

    /// The new value of an object's column.
    package struct Assignment: Hashable, Sendable {
        package let object: ObjectID
        /// The object that the column refers to; nil for none.
        package let value: ObjectID?
        /// The position among the source's targets, for an ordered relationship.
        package let position: Int64
    }

    package let shape: Shape
    /// The columns to write, in the order of the links.
    package private(set) var assignments: [Assignment] = []
    /// The rows to which no column may refer before the assignments are made.
    package private(set) var released: [ObjectID] = []
    /// The pairs to delete from a join table.
    package private(set) var removed: [StoreLink] = []
    /// The pairs to insert or to move, with their positions among the source's targets.
    package private(set) var added: [(link: StoreLink, position: Int64)] = []
    /// The other directions of added pairs, to be appended.
    package private(set) var mirrored: [StoreLink] = []
    /// The changed objects.
    package private(set) var result = LinkResult()

    private let batch: LinkBatch
    private let sources: Set<ObjectID>
    private let targets: Set<ObjectID>
    private let former: [ObjectID: [ObjectID]]
    /// The lists of the batch's sources as they are now.
    private var current: [ObjectID: [ObjectID]]
    /// The sources to which targets belong now, if a target belongs to one source.
    private var holders: [ObjectID: ObjectID] = [:]

    /// Creates a plan.
    ///
    /// - Parameters:
    ///   - batch: The wanted links.
    ///   - schema: The tables.
    ///   - sources: The sources of the batch that exist.
    ///   - targets: The targets of the batch that exist.
    ///   - links: The stored links of the sources, those of each source in order.
    package init(
        _ batch: LinkBatch, schema: SQLSchema, sources: Set<ObjectID>, targets: Set<ObjectID>, links: [StoreLink]
    ) {
        self.batch = batch
        self.sources = sources
        self.targets = targets
        shape = Shape(batch.relationship, schema: schema)
        var found: [ObjectID: [ObjectID]] = [:]
        for link in links { found[link.source, default: []].append(link.target) }
        former = found
        current = found
        if isExclusive {
            for link in links {
                holders[link.target] = link.source
                if shape == .mirroredColumn { holders[link.source] = link.target }
            }
        }
        var writes = Writes()
        for (index, source) in batch.sources.enumerated() where sources.contains(source) {
            relate(source, to: wanted(of: source, at: index), &writes)
        }
        finish(writes)
    }

    // MARK: One source after another

    /// The changes so far; a later change of the same place replaces an earlier one.
    private struct Writes {
        var assignments: [ObjectID: Assignment] = [:]
        var assigned: [ObjectID] = []
        var released: [ObjectID] = []
        var pairs: [StoreLink: Int64?] = [:]
        var pairOrder: [StoreLink] = []
        /// The other directions to add, with the order in which they came about.
        private(set) var mirrored: [StoreLink: Int] = [:]
        private var mirrorCount = 0

        mutating func assign(_ object: ObjectID, _ value: ObjectID?, position: Int64 = 0) {
            let assignment = Assignment(object: object, value: value, position: position)
            if assignments.updateValue(assignment, forKey: object) == nil {
                assigned.append(object)
            }
        }

        /// - Parameter position: The pair's position; nil to delete the pair.
        mutating func set(_ source: ObjectID, _ target: ObjectID, _ position: Int64?) {
            let link = StoreLink(source: source, target: target)
            if pairs.updateValue(position, forKey: link) == nil { pairOrder.append(link) }
            if position == nil { mirrored[link] = nil }
        }

        /// Adds the other direction of a pair, after a removal of it if there was one.
        mutating func mirror(_ source: ObjectID, _ target: ObjectID) {
            mirrored[StoreLink(source: source, target: target)] = mirrorCount
            mirrorCount += 1
        }
    }

    private var isExclusive: Bool {
        switch shape {
        case .column(let isExclusive): isExclusive
        case .mirroredColumn, .targetColumn: true
        case .join: false
        }
    }

    private func wanted(of source: ObjectID, at index: Int) -> [ObjectID] {
        let relationship = batch.relationship
        var seen: Set<ObjectID> = []
        var wanted: [ObjectID] = []
        for target in batch.targets(at: index) where targets.contains(target) {
            if seen.insert(target).inserted { wanted.append(target) }
        }
        if !relationship.isToMany { wanted = Array(wanted.suffix(1)) }
        let now = current[source] ?? []
        let list: [ObjectID]
        switch batch.mode {
        case .replace: list = wanted
        case .add where !relationship.isToMany: list = wanted.isEmpty ? now : wanted
        case .add:
            let known = Set(now)
            list = now + wanted.filter { !known.contains($0) }
        case .retain: list = now.filter { seen.contains($0) }
        }
        return relationship.isOrdered ? list : list.sorted()
    }

    private mutating func relate(_ source: ObjectID, to wanted: [ObjectID], _ writes: inout Writes) {
        let now = current[source] ?? []
        guard now != wanted else { return }
        let kept = Set(wanted)
        for target in now where !kept.contains(target) {
            switch shape {
            case .column: writes.assign(source, nil)
            case .targetColumn: writes.assign(target, nil)
            case .mirroredColumn:
                writes.assign(source, nil)
                writes.assign(target, nil)
            case .join(let isSymmetric):
                writes.set(source, target, nil)
                if isSymmetric { writes.set(target, source, nil) }
            }
            if isExclusive { holders[target] = nil }
            mirror(removing: source, from: target)
        }
        let known = Set(now)
        for (place, target) in wanted.enumerated() {
            let isNew = !known.contains(target)
            guard isNew || batch.relationship.isOrdered else { continue }
            if isNew { free(target, for: source, &writes) }
            switch shape {
            case .column: writes.assign(source, target)
            case .targetColumn: writes.assign(target, source, position: Int64(place))
            case .mirroredColumn:
                writes.assign(source, target)
                writes.assign(target, source)
            case .join(let isSymmetric):
                writes.set(source, target, Int64(place))
                if isNew, isSymmetric { writes.mirror(target, source) }
            }
            guard isNew else { continue }
            if isExclusive { holders[target] = source }
            mirror(adding: source, to: target)
        }
        current[source] = wanted
    }

    /// Removes a target from the source to which it belongs, if it can belong to one only.
    private mutating func free(_ target: ObjectID, for source: ObjectID, _ writes: inout Writes) {
        guard isExclusive else { return }
        if let holder = holders[target], holder != source {
            current[holder]?.removeAll { $0 == target }
            // Its column may have been written by this plan already; one that was not is released.
            if shape != .targetColumn, writes.assignments[holder]?.value == target { writes.assign(holder, nil) }
        }
        switch shape {
        case .targetColumn, .join: break
        case .column: writes.released.append(target)
        case .mirroredColumn:
            // The former partners of both have no partner now.
            for object in [target, source] {
                writes.released.append(object)
                if let partner = writes.assignments[object]?.value { writes.assign(partner, nil) }
            }
        }
    }

    /// Updates the list of a target that is also a source, for a relationship that is its own
    /// inverse.
    private mutating func mirror(removing source: ObjectID, from target: ObjectID) {
        guard isOwnInverse else { return }
        current[target]?.removeAll { $0 == source }
        if isExclusive { holders[source] = nil }
    }

    private mutating func mirror(adding source: ObjectID, to target: ObjectID) {
        guard isOwnInverse, source != target else { return }
        guard shape != .mirroredColumn else {
            // The target's former partner has no partner now.
            for former in current[target] ?? [] where former != source && holders[former] == target {
                holders[former] = nil
                current[former]?.removeAll { $0 == target }
            }
            current[target] = [source]
            holders[source] = target
            return
        }
        var list = current[target] ?? []
        guard !list.contains(source) else { return }
        list.append(source)
        current[target] = batch.relationship.isOrdered ? list : list.sorted()
    }

    private var isOwnInverse: Bool {
        shape == .mirroredColumn || shape == .join(isSymmetric: true)
    }

    // MARK: In the end

    /// Whether a source of the batch has the list that it had.
    private func isUnchanged(_ source: ObjectID) -> Bool {
        sources.contains(source) && former[source] ?? [] == current[source] ?? []
    }

    private mutating func finish(_ writes: Writes) {
        assignments = writes.assigned.compactMap { writes.assignments[$0] }
        released = writes.released
        for link in writes.pairOrder where !isUnchanged(link.source) {
            if let position = writes.pairs[link] ?? nil {
                added.append((link, position))
            } else if batch.relationship.isOrdered || writes.mirrored[link] == nil {
                removed.append(link)
            }
        }
        mirrored = writes.mirrored.sorted { $0.value < $1.value }.map(\.key).filter { !isUnchanged($0.source) }
        var detached: Set<ObjectID> = []
        for source in batch.sources {
            let before = (former[source] ?? []).filter { !batch.newTargets.contains($0) }
            let now = current[source] ?? []
            guard before != now else { continue }
            let after = Set(now)
            result.changed.append(source)
            for target in before where !after.contains(target) && detached.insert(target).inserted {
                result.detached.append(target)
            }
        }
    }
}

extension SQLLinkPlan.Shape {
    fileprivate init(_ relationship: RelationshipLayout, schema: SQLSchema) {
        let inverse = schema.model.inverse(of: relationship)
        switch schema.relationships[relationship.source][relationship.index] {
        case .column:
            let isMirrored = inverse.map { $0.id == relationship.id }
            self = isMirrored == true ? .mirroredColumn : .column(isExclusive: inverse?.isToMany == false)
        case .inverseColumn: self = .targetColumn
        case .join(let link): self = .join(isSymmetric: link.isSymmetric)
        }
    }
}
