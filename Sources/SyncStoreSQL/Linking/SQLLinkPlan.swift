package import SyncModel
package import SyncStore

/// The changes of stored links that carry out a batch.
///
/// The sources are linked one at a time, each after the effects of the previous ones. The plan has
/// only the final changes, so that a few statements can write them.
package struct SQLLinkPlan: Sendable {
    /// How the pairs of a relationship are stored.
    package enum Shape: Hashable, Sendable {
        /// A column of the source. If the inverse is to-one, a target belongs to only one source.
        case column(isExclusive: Bool)
        /// A column of both the source and the target.
        case mirroredColumn
        /// A column of the target, which belongs to only one source.
        case targetColumn
        case join(isSymmetric: Bool)
    }

    /// The new value of an object's column.
    package struct Assignment: Hashable, Sendable {
        package let object: ObjectID
        /// The object that the column refers to; nil for none.
        package let value: ObjectID?
        /// The position among the source's targets, if the relationship is ordered.
        package let position: Int64
    }

    package let shape: Shape
    /// The columns to write, in the order of the links.
    package private(set) var assignments: [Assignment] = []
    /// The objects to which no column may refer before the assignments.
    package private(set) var released: [ObjectID] = []
    /// The pairs to delete from a join table.
    package private(set) var removed: [LinkBatch.Link] = []
    /// The pairs to insert or to move, each with its position among the source's targets.
    package private(set) var added: [(link: LinkBatch.Link, position: Int64)] = []
    /// The changed sources and the detached targets.
    package private(set) var result = LinkBatch.Result()

    private let batch: LinkBatch
    private let sources: Set<ObjectID>
    private let targets: Set<ObjectID>
    private let former: [ObjectID: [ObjectID]]
    /// The targets of the batch's sources after the steps so far.
    private var current: [ObjectID: [ObjectID]]
    /// The source of each target before the plan, if a target belongs to only one source.
    private let initialHolders: [ObjectID: ObjectID]
    /// The source of each target after the steps so far, if a target belongs to only one source.
    private var holders: [ObjectID: ObjectID] = [:]

    /// Creates a plan.
    ///
    /// - Parameters:
    ///   - batch: The wanted links.
    ///   - schema: The tables.
    ///   - links: The stored links of ``origins(of:schema:)``, grouped by object and in order.
    ///   - existing: Returns which objects of an entity exist. It is asked only about objects
    ///     without stored links, and not about new ones.
    package init<Failure: Error>(
        _ batch: LinkBatch, schema: SQLSchema, links: [LinkBatch.Link],
        existing: (_ entity: Int, _ objects: [ObjectID]) throws(Failure) -> Set<ObjectID>
    ) throws(Failure) {
        self.batch = batch
        func present(
            _ objects: [ObjectID], of entity: Int, areNew: Bool, linked: Set<ObjectID>
        ) throws(Failure) -> Set<ObjectID> {
            guard !areNew else { return Set(objects) }
            let others = objects.filter { !linked.contains($0) }
            return others.isEmpty ? linked : try existing(entity, others).union(linked)
        }
        sources = try present(
            batch.sources, of: batch.relationship.source, areNew: batch.hasNewSources,
            linked: Set(links.map(\.source)))
        targets = try present(
            batch.targets, of: batch.relationship.destination, areNew: batch.hasNewTargets,
            linked: Set(links.map(\.target)))
        shape = Shape(batch.relationship, schema: schema)
        var found: [ObjectID: [ObjectID]] = [:]
        for link in links { found[link.source, default: []].append(link.target) }
        former = found
        current = found
        initialHolders = shape.isExclusive ? Dictionary(links.map { ($0.target, $0.source) }) { $1 } : [:]
        holders = initialHolders
        guard !shape.isSymmetric else {
            linkSymmetrically(links)
            return
        }
        var writes = Writes()
        for (index, source) in batch.sources.enumerated() where sources.contains(source) {
            relate(source, to: wanted(of: source, at: index), &writes)
        }
        finish(writes)
    }

    /// Whether the stored links are those of the batch.
    package var isEmpty: Bool {
        assignments.isEmpty && released.isEmpty && removed.isEmpty && added.isEmpty
    }

    /// Takes the objects out of the plan whose column would become null.
    package mutating func takeCleared() -> [ObjectID] {
        let cleared = assignments.filter { $0.value == nil }.map(\.object)
        assignments.removeAll { $0.value == nil }
        return cleared
    }

    // MARK: Parts

    /// The number of columns or pairs to write.
    var writeCount: Int { assignments.count + added.count }

    /// Leaves out all columns and pairs to write but the first ones.
    mutating func keepWrites(_ count: Int) {
        added.removeLast(max(0, min(added.count, writeCount - count)))
        assignments.removeLast(max(0, writeCount - count))
    }

    /// The object that has the column, or the source of the pair.
    func object(ofWrite index: Int) -> ObjectID {
        index < assignments.count ? assignments[index].object : added[index - assignments.count].link.source
    }

    /// The side of the relationship whose objects have the columns or are the sources of the pairs.
    package func columnRelationship(_ schema: SQLSchema) -> EntityLayout.Relationship {
        let inverse = shape == .targetColumn ? schema.model.inverse(of: batch.relationship) : nil
        return inverse ?? batch.relationship
    }

    // MARK: One source after another

    /// The changes of columns so far. A later change of the same column replaces an earlier one.
    private struct Writes {
        var assignments: [ObjectID: Assignment] = [:]
        var assigned: [ObjectID] = []
        var released: [ObjectID] = []

        mutating func assign(_ object: ObjectID, _ value: ObjectID?, position: Int64 = 0) {
            let assignment = Assignment(object: object, value: value, position: position)
            if assignments.updateValue(assignment, forKey: object) == nil {
                assigned.append(object)
            }
        }
    }

    private var isExclusive: Bool { shape.isExclusive }

    /// Whether an object is known to have the same source at the end as before the plan.
    private func isKept(_ object: ObjectID) -> Bool {
        initialHolders[object].map { $0 == holders[object] } ?? false
    }

    private func wanted(of source: ObjectID, at index: Int) -> [ObjectID] {
        batch.mode.targets(
            stated: batch.targets(at: index).filter { targets.contains($0) }, after: current[source] ?? [],
            by: batch.relationship)
    }

    private mutating func relate(_ source: ObjectID, to wanted: [ObjectID], _ writes: inout Writes) {
        let now = current[source] ?? []
        guard now != wanted else { return }
        let kept = Set(wanted)
        for target in now where !kept.contains(target) {
            switch shape {
            case .column: writes.assign(source, nil)
            case .targetColumn: writes.assign(target, nil)
            case .mirroredColumn, .join: removed.append(LinkBatch.Link(source: source, target: target))
            }
            if isExclusive { holders[target] = nil }
        }
        let known = Set(now)
        for (place, target) in wanted.enumerated() {
            let isNew = !known.contains(target)
            guard isNew || batch.relationship.isOrdered else { continue }
            if isNew { free(target, for: source, &writes) }
            switch shape {
            case .column: writes.assign(source, target)
            case .targetColumn: writes.assign(target, source, position: Int64(place))
            case .mirroredColumn, .join: added.append((LinkBatch.Link(source: source, target: target), Int64(place)))
            }
            if isNew, isExclusive { holders[target] = source }
        }
        current[source] = wanted
    }

    /// Removes a target from its source, if it can belong to only one.
    private mutating func free(_ target: ObjectID, for source: ObjectID, _ writes: inout Writes) {
        guard isExclusive else { return }
        if let holder = holders[target], holder != source {
            current[holder]?.removeAll { $0 == target }
            // This plan may have written the source's column already; if not, the column is
            // released.
            if shape != .targetColumn, writes.assignments[holder]?.value == target { writes.assign(holder, nil) }
        }
        switch shape {
        case .targetColumn, .mirroredColumn, .join: break
        case .column: if !batch.hasNewTargets { writes.released.append(target) }
        }
    }

    // MARK: Relationships that are their own inverse

    /// The objects whose stored links a plan needs: none if they are new; otherwise the sources
    /// and, for a symmetric relationship, the targets.
    package static func origins(of batch: LinkBatch, schema: SQLSchema) -> [ObjectID] {
        guard !batch.hasNewSources else { return [] }
        guard Shape(batch.relationship, schema: schema).isSymmetric else { return batch.sources }
        return Set(batch.sources + batch.targets).sorted()
    }

    /// Works out the targets of all objects involved, and writes the differences.
    private mutating func linkSymmetrically(_ found: [LinkBatch.Link]) {
        let relationship = batch.relationship
        var links = MemoryLinks(ends: [.init(isToMany: relationship.isToMany, isOrdered: relationship.isOrdered)])
        for (source, targets) in former { links.load(targets, of: source, side: 0) }
        if !relationship.isToMany {
            // The links also show the targets of the objects at their other ends.
            for link in found where former[link.target] == nil { links.load([link.source], of: link.target, side: 0) }
        }
        let before = links
        for (index, source) in batch.sources.enumerated() where sources.contains(source) {
            current[source] = links.targets(of: source, side: 0)
            links.set(wanted(of: source, at: index), of: source, side: 0)
        }
        for source in batch.sources { current[source] = links.targets(of: source, side: 0) }
        if shape == .mirroredColumn {
            let objects = Set(found.flatMap { [$0.source, $0.target] } + batch.sources + batch.targets)
            for object in objects.sorted() {
                let partner = links.targets(of: object, side: 0).first
                guard partner != before.targets(of: object, side: 0).first else { continue }
                assignments.append(Assignment(object: object, value: partner, position: 0))
            }
            released = assignments.compactMap(\.value)
        } else {
            // An added pair is in the lists of both objects.
            for object in Set(batch.sources + batch.targets).sorted() {
                pair(object, from: before.targets(of: object, side: 0), to: links.targets(of: object, side: 0))
            }
            removed = Set(removed).sorted { ($0.source, $0.target) < ($1.source, $1.target) }
        }
        report()
    }

    /// Adds and removes pairs of an object, including those in which it is the target.
    private mutating func pair(_ object: ObjectID, from old: [ObjectID], to new: [ObjectID]) {
        let (known, kept) = (Set(old), Set(new))
        let remaining = old.filter(kept.contains)
        for target in old where !kept.contains(target) {
            removed.append(LinkBatch.Link(source: object, target: target))
            removed.append(LinkBatch.Link(source: target, target: object))
        }
        let isMoved = batch.relationship.isOrdered && new != remaining
        for (position, target) in new.enumerated() where isMoved || !known.contains(target) {
            added.append((LinkBatch.Link(source: object, target: target), Int64(position)))
        }
    }

    // MARK: In the end

    private mutating func finish(_ writes: Writes) {
        assignments = writes.assigned.compactMap { writes.assignments[$0] }
        released = writes.released.filter { !isKept($0) }
        report()
    }

    /// Reports the changes of the batch's sources.
    private mutating func report() {
        result = batch.result(from: former) { [current] in current[$0] ?? [] }
    }
}

extension SQLLinkPlan.Shape {
    /// Whether the relationship is its own inverse.
    fileprivate var isSymmetric: Bool {
        self == .mirroredColumn || self == .join(isSymmetric: true)
    }

    /// Whether a target belongs to at most one source.
    fileprivate var isExclusive: Bool {
        switch self {
        case .column(let isExclusive): isExclusive
        case .mirroredColumn, .targetColumn: true
        case .join: false
        }
    }

    fileprivate init(_ relationship: EntityLayout.Relationship, schema: SQLSchema) {
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
