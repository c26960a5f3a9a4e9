import JSONMapper
import SyncBase
import SyncModel
import SyncStore

/// The objects that the list moves from one object to another, by relationships whose inverse is
/// to-one.
///
/// If several elements of the list lead to an object, the last one has it. An object that another
/// one has in the store therefore moves only after the list has been read, so that a payload that
/// contradicts itself writes nothing the second time. If there are more such objects than `limit`,
/// the rest move at once, so that memory is bounded.
struct MovedTargets {
    private let limit: Int
    private var count = 0

    /// The source of a target.
    private struct Move {
        /// The source in the store when the list stated another one.
        let former: ObjectID?
        /// The source that the list stated last; nil for none.
        var latest: ObjectID?
    }

    /// The moves by the inverse relationship and the target.
    private var moves: [EntityLayout.Relationship.ID: [ObjectID: Move]] = [:]
    /// The latest statement about each source that receives targets, by relationship.
    private var statements: [EntityLayout.Relationship: [ObjectID: LinkStatement]] = [:]

    init(limit: Int = 1 << 16) {
        self.limit = limit
    }

    /// Whether no object moves to another target of a relationship.
    func isEmpty(_ inverse: EntityLayout.Relationship) -> Bool {
        moves[inverse.id] == nil
    }

    /// Whether an object moves to another target of a relationship.
    func moves(_ object: ObjectID, by inverse: EntityLayout.Relationship) -> Bool {
        moves[inverse.id]?[object] != nil
    }

    /// Notes that the list states the source of a target.
    ///
    /// - Parameters:
    ///   - current: The source that the target has before the statement; nil for none.
    ///   - isStated: Whether the payload has stated the source of the target before.
    /// - Returns: Whether the target moves after the list has been read, and whether the statement
    ///   contradicts an earlier one.
    mutating func state(
        _ target: ObjectID, of source: ObjectID, after current: ObjectID?, isStated: Bool,
        _ inverse: EntityLayout.Relationship
    ) -> (waits: Bool, differs: Bool) {
        if let move = moves[inverse.id]?[target] {
            moves[inverse.id]?[target]?.latest = source
            return (move.former != source, move.latest != source)
        }
        guard let current, current != source else { return (false, isStated && current == nil) }
        guard count < limit else { return (false, isStated) }
        count += 1
        moves[inverse.id, default: [:]][target] = Move(former: current, latest: source)
        return (true, isStated)
    }

    /// Notes that the list states the source of a target from the target's end.
    ///
    /// - Returns: Whether the statement contradicts an earlier one; nil for a target that does not
    ///   move.
    mutating func state(_ source: ObjectID?, of target: ObjectID, by inverse: EntityLayout.Relationship) -> Bool? {
        guard let move = moves[inverse.id]?[target] else { return nil }
        moves[inverse.id]?[target]?.latest = source
        return move.latest != source
    }

    /// Drops the waiting statement about an object if a later one of the other end, which is
    /// to-one too, leads to the object from elsewhere.
    mutating func replace(
        _ object: ObjectID, by inverse: EntityLayout.Relationship, from source: ObjectID,
        _ relationship: EntityLayout.Relationship
    ) {
        guard let former = statements[inverse]?[object], !former.targets.contains(source) else { return }
        statements[inverse]?[object] = nil
        release(former.targets, of: object, by: relationship)
    }

    /// Notes the latest statement about a source.
    ///
    /// - Parameters:
    ///   - waits: Whether one of the targets moves after the list has been read.
    ///   - statement: Returns the statement.
    mutating func replace(
        _ source: ObjectID, waits: Bool, by relationship: EntityLayout.Relationship,
        _ inverse: EntityLayout.Relationship, _ statement: () -> LinkStatement
    ) {
        let former = statements[relationship]?.removeValue(forKey: source)
        guard waits || former != nil else { return }
        let statement = statement()
        release((former?.targets ?? []).filter { !statement.targets.contains($0) }, of: source, by: inverse)
        if waits { statements[relationship, default: [:]][source] = statement }
    }

    /// Leaves targets to their former sources, unless the list has given them to another one.
    private mutating func release(
        _ targets: [ObjectID], of source: ObjectID, by inverse: EntityLayout.Relationship
    ) {
        for target in targets {
            guard let move = moves[inverse.id]?[target], move.latest == source else { continue }
            moves[inverse.id]?[target]?.latest = move.former
        }
    }

    /// The relationships by which objects move, each with the sources that receive them.
    var receivers: [(relationship: EntityLayout.Relationship, sources: [ObjectID])] {
        statements.sorted { $0.key.id < $1.key.id }.map { ($0, $1.keys.sorted()) }
    }

    /// The statements about the sources that receive targets, without the targets that another
    /// source has.
    ///
    /// - Parameter current: The targets that the sources have, to keep those in their places; nil
    ///   if places do not matter.
    func settled(
        _ relationship: EntityLayout.Relationship, _ current: [ObjectID: [ObjectID]]?, in model: DataModel
    ) -> [LinkStatement] {
        let moves = model.inverse(of: relationship).map { self.moves[$0.id] ?? [:] } ?? [:]
        return (statements[relationship] ?? [:]).sortedByKey.compactMap { source, statement in
            let isOther = { (target: ObjectID) in moves[target].map { $0.latest != source } == true }
            var statement = statement
            statement.targets.removeAll(where: isOther)
            let received = statement.targets.filter { moves[$0].map { $0.former != source } == true }
            // The rest was linked when it was stated, and may have changed since then.
            if let current {
                let present = (current[source] ?? []).filter { !isOther($0) }
                let (known, stated) = (Set(present + received), Set(statement.targets))
                statement.targets = statement.targets.filter(known.contains) + present.filter { !stated.contains($0) }
            } else if !relationship.isOrdered, relationship.isToMany {
                statement.targets = received
                statement.isIncomplete = true
            }
            return received.isEmpty ? nil : statement
        }
    }
}

/// The source of each target of a relationship whose inverse is to-one.
///
/// One source may have nearly all of the targets, which then take a bit each.
struct TargetSources {
    private let main: ObjectID?
    private var mainTargets = ObjectSet()
    private var others: [ObjectID: ObjectID] = [:]

    /// - Parameter source: The source that has most of the targets.
    init(mostOf source: ObjectID?) {
        main = source
    }

    subscript(target: ObjectID) -> ObjectID? {
        others[target] ?? (mainTargets.contains(target) ? main : nil)
    }

    /// Sets the source of a target.
    ///
    /// - Returns: The source of the target before; nil if it had none.
    @discardableResult
    mutating func set(_ source: ObjectID, of target: ObjectID) -> ObjectID? {
        if source == main {
            let former = others.isEmpty ? nil : others.removeValue(forKey: target)
            let isNew = mainTargets.insert(target)
            return former ?? (isNew ? nil : main)
        }
        return others.updateValue(source, forKey: target) ?? (mainTargets.contains(target) ? main : nil)
    }
}

extension PassState {
    /// Notes what the list states about the sources of targets. Finds the targets that move after
    /// the list has been read, and the sources whose statement contradicts an earlier one.
    ///
    /// - Parameters:
    ///   - receivers: The sources that may receive a target.
    ///   - current: Their targets.
    ///   - owners: The sources of their targets.
    mutating func move(
        _ merged: MergedElements, _ links: GroupLinks, receivers: [NestedElements.Source],
        _ current: [ObjectID: [ObjectID]], _ owners: TargetSources
    ) -> Share {
        var share = Share()
        let relationship = links.relationship
        guard let inverse = links.inverse else { return share }
        // The sources that say of themselves what the other end has said.
        var agreeing = ObjectSet()
        if !relationship.isToMany, !moved.isEmpty(relationship) {
            for source in merged.sources {
                guard let object = links.object(of: source) else { continue }
                let target = source.ordinals.last.flatMap { merged.targets[$0] }
                switch moved.state(target, of: object, by: relationship) {
                case true?: share.differs[object] = kind(object, relationship)
                case false?: agreeing.insert(object)
                case nil: break
                }
            }
        }
        guard !receivers.isEmpty || !inverse.isToMany && !moved.isEmpty(inverse) else { return share }
        for source in receivers where !source.ordinals.contains(where: { merged.isNew[$0] }) {
            guard let object = links.object(of: source) else { continue }
            let stored = current[object] ?? []
            let mode = source.isIncomplete ? .add : rules.mode(of: relationship)
            let wanted = mode.targets(stated: merged.objects(of: source), after: stored, by: relationship)
            if wanted == stored { share.settled.insert(object) }
        }
        // The sources that this batch states.
        var stated = TargetSources(
            mostOf: merged.sources.max { $0.ordinals.count < $1.ordinals.count }.flatMap(links.object))
        let before = statements.stated(inverse)
        for source in merged.sources {
            guard let object = links.object(of: source) else { continue }
            var waits = false
            for ordinal in source.ordinals {
                guard let target = merged.targets[ordinal] else { continue }
                let earlier = stated.set(object, of: target)
                if !inverse.isToMany { moved.replace(target, by: inverse, from: object, relationship) }
                let isStated =
                    before.contains(target) && !agreeing.contains(object)
                    && (deferred.names(of: target, inverse).map { !$0.identities.contains(links.identity(of: source)) }
                        ?? !deferred.lacksObjects(of: target, inverse))
                let found = moved.state(
                    target, of: object, after: merged.isKnown(ordinal) ? object : earlier ?? owners[target],
                    isStated: earlier != nil || isStated, inverse)
                if found.differs { share.differs[object] = kind(target, inverse) }
                guard found.waits else { continue }
                share.refused.insert(ordinal)
                waits = true
            }
            // What is added to an ordered list is added at once, in the order of the payload.
            if waits, relationship.isOrdered, rules.mode(of: relationship) == .add {
                share.refused.formUnion(source.ordinals)
            }
            moved.replace(object, waits: waits, by: relationship, inverse) {
                LinkStatement(source, object, targets: merged.targets, Share())
            }
        }
        return share
    }
}

extension StorePass {
    /// Finds the targets of the list's elements that move after the list has been read.
    func moves(of merged: MergedElements, _ links: GroupLinks) async throws -> PassState.Share {
        guard !rules.isImport, rules.mode(of: links.relationship) != .retain, let inverse = links.inverse
        else { return PassState.Share() }
        // New objects, and those that the merge has compared, are known to have their source.
        let mayMove = { (ordinal: Int) in merged.targets[ordinal] != nil && !merged.isKnown(ordinal) }
        let receivers = inverse.isToMany ? [] : merged.sources.filter { $0.ordinals.contains(where: mayMove) }
        let compared = state.comparesEnds(links) ? merged.sources : receivers
        let current = try await targets(of: links.objects(of: compared), by: links.relationship)
        var owners = TargetSources(mostOf: current.max { $0.value.count < $1.value.count }?.key)
        for (source, targets) in current {
            for target in targets { owners.set(source, of: target) }
        }
        var others = ObjectSet()
        for ordinal in receivers.lazy.flatMap(\.ordinals) where !merged.isKnown(ordinal) {
            if let target = merged.targets[ordinal], owners[target] == nil { others.insert(target) }
        }
        for (target, sources) in try await targets(of: others.objects, by: inverse) {
            if let source = sources.last { owners.set(source, of: target) }
        }
        let contradicting = state.contradictingEnds(merged, links, current)
        var share = state.move(merged, links, receivers: receivers, current, owners)
        share.differs.merge(contradicting) { $1 }
        return share
    }

    /// Moves the objects that the list has moved, after it has been read.
    func linkMoved() async throws {
        let moved = state.moved
        state.moved = MovedTargets()
        for (relationship, sources) in moved.receivers {
            let isPlaced = relationship.isOrdered && rules.mode(of: relationship) == .replace
            let current = isPlaced ? try await targets(of: sources, by: relationship) : nil
            _ = try await link(
                moved.settled(relationship, current, in: model), like: LinkBatch(relationship, mode: .replace),
                of: model.layouts[relationship.source])
        }
    }
}
