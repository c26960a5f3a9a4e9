import JSONMapper
import SyncBase
import SyncModel
import SyncStore

// Of several statements about a link, one counts, whichever end states it: the later one of the
// list, or the first one of nested objects.
extension PassState {
    /// Whether the later of two statements counts, and not the first one.
    func laterCounts(_ origin: Origin) -> Bool {
        rules.isImport || !origin.isNested
    }

    /// Whether the list may yet decide what nested objects state about a relationship.
    func waitsForList(_ relationship: EntityLayout.Relationship, of layout: EntityLayout, _ origin: Origin) -> Bool {
        guard origin.isNested, !nested.isListRead, let root = listed.root, !origin.decides(relationship) else {
            return false
        }
        return layout.root == root
            || model.layouts[relationship.destination].root == root && relationship.inverse != nil
    }

    /// Which rows of a group have a statement that counts, and which one that is only compared,
    /// because an earlier one counts. The rest is ignored, or has been linked.
    struct Decision {
        var isCounting: [Bool]
        var isBeaten: [Bool]
    }

    /// Decides which statements about a relationship count.
    ///
    /// - Parameter early: The sources whose targets have been merged, because they count.
    func decide(_ elements: NestedElements, _ links: GroupLinks, early: [NestedElements.Source]?) -> Decision {
        let none = [Bool](repeating: false, count: links.group.records.count)
        var decision = Decision(isCounting: none, isBeaten: none)
        guard !laterCounts(links.origin) else {
            if early == nil { for source in elements.sources { decision.isCounting[source.row] = true } }
            return decision
        }
        var isEarly = none
        for source in early ?? [] { isEarly[source.row] = true }
        guard !elements.sources.allSatisfy({ isEarly[$0.row] }) else { return decision }
        var known = ObjectSet((early ?? []).compactMap(links.object))
        let stated = statements.stated(links.relationship)
        let isDecided = links.origin.decides(links.relationship)
        for source in elements.sources where !isEarly[source.row] {
            guard let object = links.object(of: source) else { continue }
            if !known.insert(object) {
                // Only one statement of a batch can be compared with objects that it does not name.
                decision.isBeaten[source.row] =
                    elements.isIdentified || model.layouts[links.relationship.destination].identityScope != nil
            } else if isDecided || stated.contains(object) {
                decision.isBeaten[source.row] = true
            } else {
                decision.isCounting[source.row] = true
            }
        }
        return decision
    }

    // MARK: Statements within statements

    /// Notes the statements that count before their objects are merged, because these may contain
    /// further statements about the same relationship of the same objects.
    ///
    /// - Returns: What to end after the merge.
    mutating func beginStatements(
        _ elements: NestedElements, _ links: GroupLinks, _ isCounting: [Bool]
    ) -> [RelationshipSource] {
        let relationship = links.relationship
        guard !laterCounts(links.origin), links.inverse?.id != relationship.id,
            elements.families(model, relationship).contains(links.layout.root)
        else { return [] }
        // Identifiers contain nothing, and name objects that may not be merged yet.
        let sources = elements.sources.filter {
            isCounting[$0.row] && elements.identifiers?.values(in: $0.ordinals).isEmpty != false
        }
        let objects = sources.compactMap(links.object)
        statements.insert(objects, relationship, targets: EmptyCollection<ObjectID?>(), inverse: nil)
        let opened = objects.map { RelationshipSource(relationship.id, of: $0) }
        for source in opened { openTargets[source] = [] }
        return opened
    }

    /// Adds a target of an open statement.
    mutating func addTarget(_ target: ObjectID, of source: ObjectID, by relationship: EntityLayout.Relationship) {
        let source = RelationshipSource(relationship.id, of: source)
        let index = openTargets[source].map { targets in
            relationship.isOrdered ? targets.count : targets.partitionIndex { $0 >= target }
        }
        if let index { openTargets[source]?.insert(target, at: index) }
    }

    mutating func endStatements(_ opened: [RelationshipSource]) {
        for source in opened { openTargets[source] = nil }
    }

    // MARK: Contradictions

    /// Reports what is odd about the statement of a source.
    mutating func report(_ kind: DriftReport.Kind, _ links: GroupLinks, _ row: Int, found: JSONKind? = nil) {
        problems.drift.add(
            kind, entity: links.layout.name, keyPath: links.keyPath, index: links.elementIndex(row),
            found: found.map { "\($0)" })
    }

    /// The kind of drift for a relationship that the payload states twice in different ways.
    func kind(_ object: ObjectID, _ relationship: EntityLayout.Relationship) -> DriftReport.Kind {
        statements.statesInEarlierPage(relationship, of: object) ? .changedBetweenPages : .conflict
    }

    /// Reports statements that differ from the earlier ones which count.
    mutating func compare(_ merged: MergedElements, _ links: GroupLinks, with beaten: BeatenStatements) {
        for source in merged.sources {
            guard let object = links.object(of: source) else { continue }
            let container = links.container(of: source)
            if container == nil, let names = deferred.names(of: object, links.relationship) {
                let isPart = source.ordinals.allSatisfy {
                    beaten.agreeing.contains($0) || merged.targets[$0].map(names.objects.contains) == true
                }
                let count = names.objects.count + names.identities.count
                if !isPart || !source.isIncomplete && source.ordinals.count != count {
                    report(kind(object, links.relationship), links, source.row)
                }
                continue
            }
            guard container != nil || !deferred.lacksObjects(of: object, links.relationship) else { continue }
            let known = Array(merged.objects(of: source))
            let stored =
                container.map { [$0] } ?? targets(of: object, links.relationship, stored: beaten.current)
            let mode = source.isIncomplete ? LinkBatch.Mode.add : .replace
            let stated = mode.targets(stated: known, after: stored, by: links.relationship)
            let lacksKnown = !merged.hasRejected && known.count < source.ordinals.count
            if lacksKnown || stated != stored { report(kind(object, links.relationship), links, source.row) }
        }
    }

    /// The targets that the statement which counts has for a source.
    func targets(
        of source: ObjectID, _ relationship: EntityLayout.Relationship, stored: [ObjectID: [ObjectID]]
    ) -> [ObjectID] {
        openTargets[RelationshipSource(relationship.id, of: source)] ?? stored[source] ?? []
    }

    /// The objects of the list whose relationship the list stated before, with the kind of drift to
    /// report if linking changes it.
    func restated(_ sources: [NestedElements.Source], _ links: GroupLinks) -> [ObjectID: (DriftReport.Kind, row: Int)] {
        let stated = statements.stated(links.relationship)
        guard !links.origin.isNested, !rules.isImport, !stated.isEmpty else { return [:] }
        var restated: [ObjectID: (DriftReport.Kind, row: Int)] = [:]
        for source in sources {
            // A move is compared with what the list states, not with the link that there still is.
            // Unknown identifiers are resolved at the end of the pass, so cannot be compared yet.
            guard let object = links.object(of: source), stated.contains(object),
                !moved.moves(object, by: links.relationship),
                !deferred.lacksObjects(of: object, links.relationship)
            else { continue }
            restated[object] = (kind(object, links.relationship), source.row)
        }
        return restated
    }

    /// Whether elements of the list have stated the other end of a relationship.
    func comparesEnds(_ links: GroupLinks) -> Bool {
        guard let inverse = links.inverse, model.layouts[links.relationship.destination].root == listed.root else {
            return false
        }
        return rules.mode(of: inverse) == .replace && statements.stated(inverse).isDirect
    }

    /// The objects whose statement adds or removes a link to an object of which the list has stated
    /// the other end, with the kind of drift.
    ///
    /// - Parameter current: The targets of the objects.
    func contradictingEnds(
        _ merged: MergedElements, _ links: GroupLinks, _ current: [ObjectID: [ObjectID]]
    ) -> [ObjectID: DriftReport.Kind] {
        guard comparesEnds(links), let inverse = links.inverse else { return [:] }
        let (relationship, stated) = (links.relationship, statements.stated(inverse))
        var contradicting: [ObjectID: DriftReport.Kind] = [:]
        for source in merged.sources {
            // Links that are made at the end of the pass are compared where they are stated.
            guard let object = links.object(of: source), !moved.moves(object, by: relationship) else { continue }
            let former = current[object] ?? []
            let mode = source.isIncomplete ? .add : rules.mode(of: relationship)
            let wanted = mode.targets(stated: merged.objects(of: source), after: former, by: relationship)
            guard former != wanted else { continue }
            let changed = Set(former).symmetricDifference(wanted).filter {
                stated.containsDirectly($0) && !moved.moves($0, by: inverse) && !deferred.lacksObjects(of: $0, inverse)
            }
            if let target = changed.min() { contradicting[object] = kind(target, inverse) }
        }
        return contradicting
    }

    // MARK: Nested statements

    /// What other statements about the same targets leave to the objects of a group.
    struct Share {
        /// The ordinals of targets that belong to other objects, or move after the list was read.
        var refused: Set<Int> = []
        /// The sources that have exactly the targets that they state.
        var settled = ObjectSet()
        /// The targets that each source keeps although it does not state them.
        var kept: [ObjectID: [ObjectID]] = [:]
        /// The sources that state something else than was stated before, with the kind of drift.
        var differs: [ObjectID: DriftReport.Kind] = [:]
    }

    /// The sources of nested statements whose targets may have been decided from the other end.
    func contested(_ merged: MergedElements, _ links: GroupLinks) -> [NestedElements.Source] {
        guard let inverse = links.inverse else { return [] }
        let decided = statements.stated(inverse)
        guard !decided.isEmpty else { return [] }
        return merged.sources.filter { decided.isDirect || merged.objects(of: $0).contains(where: decided.contains) }
    }

    /// Finds what earlier statements about the targets of nested objects decided.
    ///
    /// - Parameters:
    ///   - contested: The sources that are concerned.
    ///   - current: Their targets.
    func share(
        _ merged: MergedElements, _ links: GroupLinks, contested: [NestedElements.Source],
        _ current: [ObjectID: [ObjectID]]
    ) -> Share {
        var share = Share()
        guard let inverse = links.inverse else { return share }
        if !inverse.isToMany {
            // A target that several sources state belongs to the first of them.
            var taken = ObjectSet()
            for source in merged.sources {
                guard let object = links.object(of: source) else { continue }
                var own: [ObjectID] = []
                for ordinal in source.ordinals {
                    guard let target = merged.targets[ordinal] else { continue }
                    if taken.insert(target) {
                        own.append(target)
                    } else if !own.contains(target) {
                        share.refused.insert(ordinal)
                        share.differs[object] = kind(object, links.relationship)
                    }
                }
            }
        }
        let decided = statements.stated(inverse)
        // Many sources may lead to the same targets.
        var names: [ObjectID: DeferredLinks.Names?] = [:]
        for source in contested {
            guard let object = links.object(of: source) else { continue }
            let stored = Set(current[object] ?? [])
            for ordinal in source.ordinals {
                guard let target = merged.targets[ordinal], decided.contains(target), !stored.contains(target),
                    openTargets[RelationshipSource(inverse.id, of: target)]?.contains(object) != true
                else { continue }
                // What the earlier statement names may be this object.
                let named = names[target] ?? deferred.names(of: target, inverse)
                names.updateValue(named, forKey: target)
                if let named {
                    if named.identities.contains(links.identity(of: source)) { continue }
                } else if deferred.lacksObjects(of: target, inverse) {
                    share.refused.insert(ordinal)
                    continue
                }
                share.refused.insert(ordinal)
                share.differs[object] = kind(object, links.relationship)
            }
            guard !source.isIncomplete else { continue }
            let stated = Set(merged.objects(of: source))
            let kept = (current[object] ?? []).filter { target in
                // An open statement of the target has yet to be linked.
                decided.contains(target) && !stated.contains(target)
                    && openTargets[RelationshipSource(inverse.id, of: target)]?.contains(object) != false
            }
            guard !kept.isEmpty else { continue }
            share.kept[object] = kept
            share.differs[object] = kind(object, links.relationship)
        }
        return share
    }

    // MARK: What waits

    /// Notes what is stated about links, before they are made.
    mutating func note(_ merged: MergedElements, _ links: GroupLinks, _ share: Share) {
        let relationship = links.relationship
        let deletes = !merged.reuse.candidates.isEmpty && rules.deletesDetached(of: relationship, in: model)
        for source in merged.sources {
            if merged.repeatsTarget(source), relationship.isToMany { report(.duplicate, links, source.row) }
            guard let object = links.object(of: source) else { continue }
            if let kind = share.differs[object] { report(kind, links, source.row) }
            deferred.forget(object, relationship)
            if deletes, !source.isIncomplete, let former = merged.reuse.candidates[object] {
                let targets = Array(merged.objects(of: source))
                guard former != targets else { continue }
                let kept = Set(targets)
                orphaned.lose(former.filter { !kept.contains($0) }, of: object, by: relationship)
            }
        }
        statements.insert(
            merged.sources.compactMap(links.object), relationship, targets: merged.targets, inverse: links.inverse)
    }

    /// Defers statements that name unknown objects, and statements that may contradict deferred
    /// ones. Notes the objects of the list that identifiers name before the list has had them.
    mutating func `defer`(_ merged: MergedElements, _ links: GroupLinks, _ share: Share) {
        let (relationship, inverse, laterCounts) = (links.relationship, links.inverse, laterCounts(links.origin))
        if let inverse, !inverse.isToMany, deferred.unknown[inverse.id] != nil, rules.mode(of: relationship) != .retain
        {
            // An object belongs to the one that it is nested in, even if another batch contains the
            // object that it names itself, unless that statement counts more.
            for (ordinal, target) in merged.targets.enumerated() where laterCounts || !share.refused.contains(ordinal) {
                if let target { deferred.forget(target, inverse, laterCounts: laterCounts) }
            }
        }
        let lacksObjects = !merged.unknown.rows.isEmpty
        // A deferred statement may take an object from a later source of this batch, so that the
        // statement of that source is deferred too.
        let isRestated =
            laterCounts
            && (deferred.concerns(relationship, inverse: inverse) || lacksObjects && inverse?.isToMany == false)
        let destination = model.layouts[relationship.destination]
        let named = destination.root == listed.root ? merged.identified : ObjectSet()
        guard isRestated || lacksObjects || !named.isEmpty else { return }
        for source in merged.sources {
            guard let object = links.object(of: source) else { continue }
            let place = DeferredLinks.Place(
                relationship: relationship.id, source: object, entity: links.layout.index,
                elementIndex: links.elementIndex(source.row))
            let namesUnknown = merged.namesUnknown(source)
            let ordinals = source.ordinals.filter { laterCounts || !share.refused.contains($0) }
            if isRestated || namesUnknown {
                let wanted = ordinals.compactMap { ordinal -> DeferredLinks.Target? in
                    merged.targets[ordinal].map { .object($0) }
                        ?? merged.unknown.rows[ordinal].map { .unknown($0) }
                }
                deferred.add(
                    place, to: wanted + (share.kept[object] ?? []).map { .object($0) },
                    of: namesUnknown ? merged.unknown.batch : nil, isIncomplete: source.isIncomplete,
                    laterCounts: laterCounts)
            }
            let unseen =
                named.isEmpty
                ? []
                : ordinals.enumerated().compactMap { position, ordinal in
                    merged.targets[ordinal].flatMap { target in
                        !named.contains(ObjectID(ordinal)) || counts.isSeen(target, of: destination)
                            ? nil : (position: position, object: target)
                    }
                }
            if !unseen.isEmpty { deferred.add(DeferredLinks.Named(place: place, targets: unseen)) }
        }
    }
}
