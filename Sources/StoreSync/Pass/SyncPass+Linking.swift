import JSONMapper
import SyncBase
import SyncModel
import SyncStore

extension SyncPass {
    /// Links the objects of a group to the merged elements of a relationship.
    ///
    /// - Parameter isLinked: Whether a source has its link already.
    func link(
        _ merged: MergedElements, of group: MappedBatch.Group, _ result: MergeRequest.Result,
        by relationship: EntityLayout.Relationship, _ origin: Origin, isLinked: (NestedElements.Source) -> Bool
    ) async throws {
        let layout = group.mapping.layout
        let sources = merged.elements.sources
        let targets = merged.targets
        func report(_ kind: DriftReport.Kind, _ source: NestedElements.Source) {
            tally.drift.add(
                kind, entity: layout.name, keyPath: keyPath(of: relationship, group),
                index: origin.elementIndex(group.elementIndices[source.row]))
        }
        if relationship.isToMany {
            for source in sources where merged.repeatsTarget(source) { report(.duplicate, source) }
        }
        let restated = restatements(of: sources, result, relationship, origin)
        let share =
            try await laterCounts(origin)
            ? moves(of: merged, result, by: relationship) : share(of: merged, result, by: relationship)
        for source in sources {
            guard let object = result.rows[source.row]?.object else { continue }
            if let kind = share.differs[object] { report(kind, source) }
            deferred.forget(object, relationship)
        }
        statements.insert(
            sources.compactMap { result.rows[$0.row]?.object }, relationship, targets: targets,
            inverse: model.inverse(of: relationship))
        noteLost(merged, of: result, by: relationship)
        let wanted = sources.filter { !isLinked($0) }.compactMap { source in
            result.rows[source.row].map { LinkStatement(source, $0.object, targets: targets, share) }
        }.filter { !share.settled.contains($0.object) }
        let changed = try await link(wanted, merged.newTargets, by: relationship, of: layout)
        if !restated.isEmpty {
            for object in changed where share.differs[object] == nil {
                if let (kind, source) = restated[object] { report(kind, source) }
            }
        }
        if let inverse = model.inverse(of: relationship), !inverse.isToMany, deferred.unknown[inverse.id] != nil,
            rules.mode(of: relationship) != .retain
        {
            // An object belongs to the one that it is nested in, even if another batch contains the
            // object that it names itself.
            for case let target? in targets { deferred.forget(target, inverse) }
        }
        noteRelating(relationship)
        deferUnknown(merged, share, of: group, result, by: relationship, origin)
        noteNamed(merged, of: group, result, by: relationship)
    }

    /// The objects of the list whose relationship the list stated before, with the kind of drift to
    /// report if linking changes it.
    private func restatements(
        of sources: [NestedElements.Source], _ result: MergeRequest.Result, _ relationship: EntityLayout.Relationship,
        _ origin: Origin
    ) -> [ObjectID: (kind: DriftReport.Kind, source: NestedElements.Source)] {
        // Unknown identifiers are resolved at the end of the pass, so they cannot be compared yet.
        guard deferred.unknown[relationship.id] == nil, laterCounts(origin), !rules.isImport else { return [:] }
        var restated: [ObjectID: (kind: DriftReport.Kind, source: NestedElements.Source)] = [:]
        let stated = statements.stated(relationship)
        guard !stated.isEmpty else { return [:] }
        for source in sources {
            guard let object = result.rows[source.row]?.object, stated.contains(object) else { continue }
            restated[object] = (kind(object, relationship), source)
        }
        return restated
    }

    /// Defers statements that name unknown objects, and statements that may contradict deferred
    /// ones.
    private func deferUnknown(
        _ merged: MergedElements, _ share: Share, of group: MappedBatch.Group, _ result: MergeRequest.Result,
        by relationship: EntityLayout.Relationship, _ origin: Origin
    ) {
        let inverse = model.inverse(of: relationship)
        let lacksObjects = merged.unknown?.rows.isEmpty == false
        // A deferred statement may take an object from a later source of this batch, so that the
        // statement of that source is deferred too.
        let isRestated =
            laterCounts(origin)
            && (deferred.concerns(relationship, inverse: inverse) || lacksObjects && inverse?.isToMany == false)
        guard isRestated || lacksObjects else { return }
        let unknown = merged.unknown ?? (nil, [:])
        for source in merged.elements.sources
        where isRestated || source.ordinals.contains(where: { unknown.rows[$0] != nil }) {
            guard let object = result.rows[source.row]?.object else { continue }
            var wanted = source.ordinals.compactMap { ordinal -> DeferredLinks.Target? in
                guard laterCounts(origin) || !share.refused.contains(ordinal) else { return nil }
                if let target = merged.targets[ordinal] { return .object(target) }
                return unknown.rows[ordinal].map { .unknown($0) }
            }
            wanted += (share.kept[object] ?? []).map { .object($0) }
            let index = source.ordinals.first.map { merged.elementIndices[$0] } ?? 0
            let hasUnknown = source.ordinals.contains { unknown.rows[$0] != nil }
            deferred.add(
                object, relationship, to: wanted, of: hasUnknown ? unknown.batch : nil,
                isIncomplete: source.isIncomplete, laterCounts: laterCounts(origin),
                entity: group.mapping.layout.name, elementIndex: index)
        }
    }

    /// Notes the objects that identifiers name and that the list is to contain but has not
    /// contained yet.
    ///
    /// The end of the pass deletes them if the list does not contain them.
    private func noteNamed(
        _ merged: MergedElements, of group: MappedBatch.Group, _ result: MergeRequest.Result,
        by relationship: EntityLayout.Relationship
    ) {
        let destination = model.layouts[relationship.destination]
        guard destination.root == listRoot, !merged.identified.isEmpty else { return }
        for source in merged.elements.sources {
            guard let object = result.rows[source.row]?.object else { continue }
            let targets = source.ordinals.enumerated().compactMap { position, ordinal in
                merged.targets[ordinal].flatMap { target in
                    !merged.identified.contains(ordinal) || tally.isSeen(target, of: destination)
                        ? nil : (position: position, object: target)
                }
            }
            guard !targets.isEmpty, let first = source.ordinals.first else { continue }
            deferred.add(
                DeferredLinks.Named(
                    relationship: relationship, source: object, targets: targets,
                    entity: group.mapping.layout.name, elementIndex: merged.elementIndices[first]))
        }
    }

    /// What a payload states about a relationship of one object.
    struct LinkStatement {
        let object: ObjectID
        var targets: [ObjectID]
        /// Whether a part of the value could not be read. In this case, nothing is unlinked.
        let isIncomplete: Bool
        /// Whether the targets are stated as objects and not as identifiers.
        let holdsObjects: Bool

        /// - Parameters:
        ///   - targets: The object of each ordinal.
        ///   - share: What earlier statements leave to the object.
        init(_ source: NestedElements.Source, _ object: ObjectID, targets: [ObjectID?], _ share: Share = Share()) {
            self.object = object
            self.targets =
                source.ordinals.compactMap { share.refused.contains($0) ? nil : targets[$0] }
                + (share.kept[object] ?? [])
            isIncomplete = source.isIncomplete
            holdsObjects = source.holdsObjects
        }
    }

    /// Links objects as a payload states.
    ///
    /// - Returns: The objects whose links changed.
    func link(
        _ statements: [LinkStatement], _ newTargets: ObjectSet, by relationship: EntityLayout.Relationship,
        of layout: EntityLayout
    ) async throws -> [ObjectID] {
        let mode = rules.mode(of: relationship)
        let deletes = rules.deletesDetached(of: relationship, in: model)
        var owning = LinkBatch(relationship, mode: mode)
        owning.newTargets = newTargets
        var naming = owning
        // A list that could not be read completely proves no absence.
        var adding = LinkBatch(relationship, mode: .add)
        adding.newTargets = newTargets
        for statement in statements {
            if statement.isIncomplete {
                guard mode != .retain, !statement.targets.isEmpty else { continue }
                adding.append(statement.object, to: statement.targets)
            } else if deletes, statement.holdsObjects || relationship.isOwning {
                owning.append(statement.object, to: statement.targets)
            } else {
                naming.append(statement.object, to: statement.targets)
            }
        }
        var changed: [ObjectID] = []
        for (batch, isOwning) in [(naming, false), (adding, false), (owning, true)] where !batch.isEmpty {
            let linked = try await transaction.link(batch)
            tally.countChanged(linked.changed, of: layout)
            if isOwning, !linked.detached.isEmpty { detached[relationship, default: []] += linked.detached }
            changed += linked.changed
        }
        return changed
    }

    /// Counts a linking of a relationship and of its inverse.
    private func noteRelating(_ relationship: EntityLayout.Relationship) {
        relatings[relationship, default: 0] += 1
        if let inverse = model.inverse(of: relationship), inverse != relationship {
            relatings[inverse, default: 0] += 1
        }
    }
}
