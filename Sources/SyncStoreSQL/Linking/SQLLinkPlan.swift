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

    package let shape: Shape
    /// The columns to write, in the order of the links.
    package private(set) var assignments = SQLLinkRows()
    /// The objects to which no column may refer before the assignments.
    package private(set) var released: [ObjectID] = []
    /// The pairs to delete from a join table.
    package private(set) var removed: [LinkBatch.Link] = []
    /// The targets to insert into a join table or to move, each with its source.
    package private(set) var added = SQLLinkRows()
    /// The changed sources and the detached targets.
    package private(set) var result = LinkBatch.Result()

    private let batch: LinkBatch
    private let sources: ObjectSet
    private let targets: ObjectSet
    private let former: [ObjectID: [ObjectID]]
    /// The number of objects whose existence is asked for at a time.
    private static let soughtCount = 1 << 16
    /// The targets of the batch's sources after the steps so far, with those that others have
    /// taken.
    private var current: [ObjectID: [ObjectID]]
    /// The sources from which others have taken targets.
    private var robbed: Set<ObjectID> = []
    /// Whether a target belongs to only one source, and another source of the batch may have it.
    private let hasHolders: Bool
    /// The source of each target before the plan; empty unless `hasHolders`.
    private let initialHolders: [ObjectID: ObjectID]
    /// The source of each target after the steps so far; empty unless `hasHolders`.
    private var holders: [ObjectID: ObjectID] = [:]

    /// Creates a plan.
    ///
    /// - Parameters:
    ///   - batch: The wanted links.
    ///   - schema: The tables.
    ///   - links: The stored targets of each of the ``origins(of:schema:)``, in order.
    ///   - existing: Returns which objects of an entity exist. It is asked only about objects
    ///     without stored links, and not about new ones.
    package init<Failure: Error>(
        _ batch: LinkBatch, schema: SQLSchema, links: [ObjectID: [ObjectID]],
        existing: (_ entity: Int, _ objects: [ObjectID]) throws(Failure) -> Set<ObjectID>
    ) throws(Failure) {
        self.batch = batch
        func present(
            _ objects: [ObjectID], of entity: Int, areNew: Bool, linked: ObjectSet
        ) throws(Failure) -> ObjectSet {
            guard !areNew else { return ObjectSet(objects) }
            var present = linked
            for start in stride(from: 0, to: objects.count, by: Self.soughtCount) {
                let part = objects[start..<min(start + Self.soughtCount, objects.count)]
                let others = part.filter { !linked.contains($0) }
                for object in others.isEmpty ? [] : try existing(entity, others) { present.insert(object) }
            }
            return present
        }
        sources = try present(
            batch.sources, of: batch.relationship.source, areNew: batch.hasNewSources,
            linked: ObjectSet(links.keys))
        targets = try present(
            batch.targets, of: batch.relationship.destination, areNew: batch.hasNewTargets,
            linked: ObjectSet(links.values.joined()))
        shape = Shape(batch.relationship, schema: schema)
        former = links
        current = links
        // The targets of the only source have no other holder to be taken from.
        hasHolders = shape.isExclusive && !shape.isSymmetric && batch.sources.count > 1
        var holders: [ObjectID: ObjectID] = [:]
        for (source, targets) in hasHolders ? links : [:] {
            for target in targets { holders[target] = source }
        }
        initialHolders = holders
        self.holders = holders
        guard !shape.isSymmetric else {
            linkSymmetrically()
            return
        }
        let rowCount = links.isEmpty && batch.sources.count > 1 ? batch.targets.count : 0
        added = SQLLinkRows(capacity: shape == .targetColumn ? 0 : rowCount)
        var writes = Writes(capacity: shape == .targetColumn ? rowCount : 0)
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
        let cleared = assignments.filter { $0.other == nil }.map(\.object)
        assignments = SQLLinkRows(assignments.lazy.filter { $0.other != nil })
        return cleared
    }

    // MARK: Parts

    /// The number of columns or pairs to write.
    var writeCount: Int { assignments.count + added.count }

    /// Leaves out all columns and pairs to write but the first ones.
    mutating func keepWrites(_ count: Int) {
        added.truncate(to: min(added.count, max(0, count - assignments.count)))
        assignments.truncate(to: min(assignments.count, count))
    }

    /// The object that has the column, or the source of the pair.
    func object(ofWrite index: Int) -> ObjectID? {
        let isAssignment = index < assignments.count
        var row = isAssignment ? assignments.rows(from: index) : added.rows(from: index - assignments.count)
        return row.next().flatMap { isAssignment ? $0.object : $0.other }
    }

    /// The side of the relationship whose objects have the columns or are the sources of the pairs.
    package func columnRelationship(_ schema: SQLSchema) -> EntityLayout.Relationship {
        let inverse = shape == .targetColumn ? schema.model.inverse(of: batch.relationship) : nil
        return inverse ?? batch.relationship
    }

    // MARK: One source after another

    /// The changes of columns so far. A later change of the same column replaces an earlier one.
    private struct Writes {
        var assigned = ObjectSet()
        private var first: SQLLinkRows
        private var later: [ObjectID: SQLLinkRows.Element] = [:]
        var released: [ObjectID] = []

        init(capacity: Int) {
            first = SQLLinkRows(capacity: capacity)
        }

        var assignments: SQLLinkRows {
            later.isEmpty ? first : SQLLinkRows(first.lazy.map { later[$0.object] ?? $0 })
        }

        mutating func assign(_ object: ObjectID, _ value: ObjectID?, position: Int64 = 0) {
            let row = SQLLinkRows.Element(object: object, other: value, position: position)
            if assigned.insert(object) { first.append(row) } else { later[object] = row }
        }

        /// Assigns a source to each of its targets.
        mutating func assign(_ targets: [ObjectID], to source: ObjectID, isOrdered: Bool) {
            if assigned.isEmpty {
                first.append(targets, of: source, isOrdered: isOrdered)
                assigned = ObjectSet(targets)
            } else {
                for (place, target) in targets.enumerated() {
                    assign(target, source, position: isOrdered ? Int64(place) : 0)
                }
            }
        }
    }

    /// Whether an object is known to have the same source at the end as before the plan.
    private func isKept(_ object: ObjectID) -> Bool {
        initialHolders[object].map { $0 == holders[object] } ?? false
    }

    private func wanted(of source: ObjectID, at index: Int) -> [ObjectID] {
        let stated = batch.targets(at: index)
        return batch.mode.targets(
            stated: stated.allSatisfy(targets.contains) ? Array(stated) : stated.filter(targets.contains),
            after: now(source), by: batch.relationship)
    }

    /// The targets of a source after the steps so far.
    private func now(_ source: ObjectID) -> [ObjectID] {
        let targets = current[source] ?? []
        return robbed.contains(source) ? targets.filter { holders[$0] == source } : targets
    }

    private mutating func relate(_ source: ObjectID, to wanted: [ObjectID], _ writes: inout Writes) {
        let now = self.now(source)
        guard now != wanted else { return }
        let (known, kept) = now.isEmpty ? (ObjectSet(), ObjectSet()) : (ObjectSet(now), ObjectSet(wanted))
        let gained = now.isEmpty ? wanted : wanted.filter { !known.contains($0) }
        let lost = now.filter { !kept.contains($0) }
        let (written, isOrdered) = (batch.relationship.isOrdered ? wanted : gained, batch.relationship.isOrdered)
        if shape.isColumn, !lost.isEmpty { writes.assign(source, nil) }
        if hasHolders { for target in lost { holders[target] = nil } }
        for target in gained {
            free(target, for: source, &writes)
            if hasHolders { holders[target] = source }
        }
        switch shape {
        case .column: for target in written { writes.assign(source, target) }
        case .targetColumn:
            writes.assign(written, to: source, isOrdered: isOrdered)
            for target in lost { writes.assign(target, nil) }
        case .mirroredColumn, .join:
            added.append(written, of: source, isOrdered: isOrdered)
            removed += lost.lazy.map { LinkBatch.Link(source: source, target: $0) }
        }
        current[source] = wanted
    }

    /// Removes a target from its source, if it can belong to only one.
    private mutating func free(_ target: ObjectID, for source: ObjectID, _ writes: inout Writes) {
        guard shape.isExclusive else { return }
        if let holder = holders[target], holder != source {
            robbed.insert(holder)
            // This plan may have written the source's column already; if not, the column is
            // released.
            if shape != .targetColumn, writes.assigned.contains(holder) { writes.assign(holder, nil) }
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
    private mutating func linkSymmetrically() {
        let relationship = batch.relationship
        var links = MemoryLinks(ends: [.init(isToMany: relationship.isToMany, isOrdered: relationship.isOrdered)])
        for (source, targets) in former { links.load(targets, of: source, side: 0) }
        if !relationship.isToMany {
            // The links also show the targets of the objects at their other ends.
            for (source, targets) in former {
                for target in targets where former[target] == nil { links.load([source], of: target, side: 0) }
            }
        }
        let before = links
        for (index, source) in batch.sources.enumerated() where sources.contains(source) {
            current[source] = links.targets(of: source, side: 0)
            links.set(wanted(of: source, at: index), of: source, side: 0)
        }
        for source in batch.sources { current[source] = links.targets(of: source, side: 0) }
        if shape == .mirroredColumn {
            let objects = Set(former.keys).union(former.values.joined()).union(batch.sources).union(batch.targets)
            for object in objects.sorted() {
                let partner = links.targets(of: object, side: 0).first
                guard partner != before.targets(of: object, side: 0).first else { continue }
                assignments.append(.init(object: object, other: partner, position: 0))
            }
            released = assignments.compactMap(\.other)
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
            added.append(.init(object: target, other: object, position: Int64(position)))
        }
    }

    // MARK: In the end

    private mutating func finish(_ writes: Writes) {
        assignments = writes.assignments
        released = writes.released.filter { !isKept($0) }
        report()
    }

    /// Reports the changes of the batch's sources.
    private mutating func report() {
        let plan = self
        result = batch.result(from: former, to: plan.now)
    }
}

extension SQLLinkPlan.Shape {
    /// Whether the relationship is its own inverse.
    fileprivate var isSymmetric: Bool {
        self == .mirroredColumn || self == .join(isSymmetric: true)
    }

    /// Whether the source has the column.
    fileprivate var isColumn: Bool {
        if case .column = self { true } else { false }
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
