import SyncBase
import SyncModel
import SyncStore

/// Changes of links that wait until the pass writes something or ends; see ``HeldRows``.
struct HeldLinks {
    /// The targets that a payload states for one object.
    struct Statement {
        let relationship: EntityLayout.Relationship
        let mode: LinkBatch.Mode
        let source: ObjectID
        let targets: ArraySlice<ObjectID>
        /// Whether targets that lose their source are deleted at the end of the pass.
        let deletesDetached: Bool
        /// The entity of the source, for the counts.
        let layout: EntityLayout
    }

    /// The statements about a relationship and its inverse, in the order of the payload.
    struct Statements {
        var all: [Statement] = []
        /// The objects at the ends of the stated links, by the relationship that starts from them.
        var touched: [EntityLayout.Relationship.ID?: ObjectSet] = [:]
        /// The index of the last statement about each object, by the relationship that starts from
        /// it.
        var last: [EntityLayout.Relationship.ID: [ObjectID: Int]] = [:]
    }

    /// The statements by the lower identifier of a relationship and its inverse.
    private(set) var statements: [EntityLayout.Relationship.ID: Statements] = [:]
    /// The number of held statements.
    private(set) var count = 0

    /// Adds the statements of a batch that change links, or concern objects of earlier statements.
    ///
    /// - Parameter preview: The result of linking the batch as a preview.
    /// - Returns: The sources whose targets differ from those of the previous statement or, without
    ///   one, from the stored targets.
    mutating func add(
        _ batch: LinkBatch, _ preview: LinkBatch.Result, inverse: EntityLayout.Relationship?, deletesDetached: Bool,
        of layout: EntityLayout
    ) -> [ObjectID] {
        let relationship = batch.relationship
        let pair = Self.pair(relationship, inverse)
        guard !preview.changed.isEmpty || statements[pair] != nil else { return [] }
        var held = statements.removeValue(forKey: pair) ?? Statements()
        var last = held.last.removeValue(forKey: relationship.id) ?? [:]
        let changed = Set(preview.changed)
        var differing: [ObjectID] = []
        var sources = held.touched.removeValue(forKey: relationship.id) ?? ObjectSet()
        // A symmetric relationship starts from its targets too.
        let isSymmetric = inverse?.id == relationship.id
        var targets = isSymmetric ? ObjectSet() : held.touched.removeValue(forKey: inverse?.id) ?? ObjectSet()
        for (index, source) in batch.sources.enumerated() {
            let wanted = batch.targets(at: index)
            let isTouched =
                sources.contains(source)
                || wanted.contains { isSymmetric ? sources.contains($0) : targets.contains($0) }
            guard isTouched || changed.contains(source) else { continue }
            let statement = Statement(
                relationship: relationship, mode: batch.mode, source: source, targets: wanted,
                deletesDetached: deletesDetached, layout: layout)
            let differs = last[source].map { !statement.agrees(with: held.all[$0]) } ?? changed.contains(source)
            if differs { differing.append(source) }
            last[source] = held.all.count
            held.all.append(statement)
            count += 1
            sources.insert(source)
            for target in wanted {
                if isSymmetric { sources.insert(target) } else { targets.insert(target) }
            }
        }
        for target in preview.detached {
            if isSymmetric { sources.insert(target) } else { targets.insert(target) }
        }
        held.touched[relationship.id] = sources
        if !isSymmetric { held.touched[inverse?.id] = targets }
        held.last[relationship.id] = last
        statements[pair] = held
        return differing
    }

    /// The objects at the start of a relationship that held statements concern; nil for none.
    func touched(_ relationship: EntityLayout.Relationship, inverse: EntityLayout.Relationship?) -> ObjectSet? {
        statements[Self.pair(relationship, inverse)]?.touched[relationship.id]
    }

    private static func pair(
        _ relationship: EntityLayout.Relationship, _ inverse: EntityLayout.Relationship?
    ) -> EntityLayout.Relationship.ID {
        inverse.map { min($0.id, relationship.id) } ?? relationship.id
    }
}

extension SyncPass {
    /// Links objects, or holds the changes that linking would make.
    ///
    /// - Parameter deletesDetached: Whether targets that lose their source are deleted at the end
    ///   of the pass.
    /// - Returns: The sources whose links changed or, while links are held, whose stated targets
    ///   changed.
    @discardableResult
    func link(_ batch: LinkBatch, deletesDetached: Bool, of layout: EntityLayout) async throws -> [ObjectID] {
        if isHolding, !batch.newTargets.isEmpty { try await writeHeld() }
        guard isHolding else {
            let result = try await transaction.link(batch)
            tally.countChanged(result.changed, of: layout)
            ledger.note(batch, result, in: model)
            if deletesDetached, !result.detached.isEmpty {
                detached[batch.relationship, default: []] += result.detached
            }
            return result.changed
        }
        var preview = batch
        preview.isPreview = true
        let changed = heldLinks.add(
            batch, try await transaction.link(preview), inverse: model.inverse(of: batch.relationship),
            deletesDetached: deletesDetached, of: layout)
        if heldLinks.count > HeldRows.limit { try await writeHeld() }
        return changed
    }

    /// Writes the held changes of links. Works out the final links of each object, and writes only
    /// those that differ from the stored ones.
    func writeHeldLinks() async throws {
        let held = heldLinks.statements.sortedByKey.map(\.value)
        heldLinks = HeldLinks()
        for statements in held { try await write(statements.all) }
    }

    /// Writes the held changes of links of one relationship and its inverse.
    private func write(_ statements: [HeldLinks.Statement]) async throws {
        guard let first = statements.first?.relationship else { return }
        let inverse = model.inverse(of: first).flatMap { $0.id == first.id ? nil : $0 }
        let isSymmetric = model.inverse(of: first)?.id == first.id
        let side = { (relationship: EntityLayout.Relationship) in relationship.id == first.id ? 0 : 1 }
        // The objects at each end of the stated links.
        var objects: [[ObjectID]] = [[], []]
        for statement in statements {
            objects[side(statement.relationship)].append(statement.source)
            objects[isSymmetric ? 0 : 1 - side(statement.relationship)] += statement.targets
        }
        let end = { (relationship: EntityLayout.Relationship) in
            MemoryLinks.End(isToMany: relationship.isToMany, isOrdered: relationship.isOrdered)
        }
        let other = inverse.map(end) ?? MemoryLinks.End(isToMany: true, isOrdered: false)
        var links = MemoryLinks(ends: isSymmetric ? [end(first)] : [end(first), other])
        for case (let side, let relationship?) in [(0, first), (1, inverse)] {
            var stored: [ObjectID: [ObjectID]] = [:]
            for link in try await transaction.links(relationship, of: Set(objects[side]).sorted()) {
                stored[link.source, default: []].append(link.target)
            }
            for (source, targets) in stored { links.load(targets, of: source, side: side) }
        }
        let before = links
        for statement in statements {
            let side = side(statement.relationship)
            let current = links.targets(of: statement.source, side: side)
            links.set(statement.targets(after: current), of: statement.source, side: side)
        }
        for place in statements.places {
            var batch = LinkBatch(place.relationship, mode: .replace)
            for source in place.sources {
                let targets = links.targets(of: source, side: side(place.relationship))
                guard targets != before.targets(of: source, side: side(place.relationship)) else { continue }
                batch.append(source, to: targets)
            }
            if !batch.isEmpty { try await link(batch, deletesDetached: place.deletesDetached, of: place.layout) }
        }
    }
}

extension HeldLinks.Statement {
    /// Whether both statements lead to the same targets.
    fileprivate func agrees(with other: Self) -> Bool {
        targets(after: []) == other.targets(after: [])
    }

    /// The targets of the source once the statement is made.
    fileprivate func targets(after current: [ObjectID]) -> [ObjectID] {
        mode.targets(stated: targets, after: current, by: relationship)
    }
}

extension [HeldLinks.Statement] {
    /// The sources of one link batch, each once.
    fileprivate struct Place {
        let relationship: EntityLayout.Relationship
        let deletesDetached: Bool
        let layout: EntityLayout
        var sources: [ObjectID] = []
    }

    /// The sources by relationship, entity and deletion of targets. The last statement about a
    /// source decides.
    fileprivate var places: [Place] {
        var places: [Place] = []
        var seen: Set<[Int]> = []
        for statement in reversed() {
            let id = statement.relationship.id
            guard seen.insert([id.source, id.index, Int(statement.source)]).inserted else { continue }
            let index =
                places.firstIndex {
                    $0.relationship.id == id && $0.deletesDetached == statement.deletesDetached
                        && $0.layout.index == statement.layout.index
                }
                ?? {
                    places.append(
                        Place(
                            relationship: statement.relationship, deletesDetached: statement.deletesDetached,
                            layout: statement.layout))
                    return places.count - 1
                }()
            places[index].sources.append(statement.source)
        }
        return places
    }
}
