import JSONMapper
import SyncModel
import SyncStore

extension StorePass {
    /// Links the objects of a group to the merged elements of a relationship.
    ///
    /// - Parameter isLinked: Whether a source has its link already.
    func link(
        _ merged: MergedElements, _ links: GroupLinks, isLinked: (NestedElements.Source) -> Bool
    ) async throws {
        let relationship = links.relationship
        let restated = state.restated(merged.sources, links)
        let share: PassState.Share
        if state.laterCounts(links.origin) {
            share = try await moves(of: merged, links)
        } else {
            let contested = state.contested(merged, links)
            let current = try await targets(of: links.objects(of: contested), by: relationship)
            share = state.share(merged, links, contested: contested, current)
        }
        state.note(merged, links, share)
        let wanted = merged.sources.filter { !isLinked($0) }.compactMap { source in
            links.object(of: source).map { LinkStatement(source, $0, targets: merged.targets, share) }
        }.filter { !share.settled.contains($0.object) }
        let changed = try await link(wanted, merged.newTargets, by: relationship, of: links.layout)
        for object in restated.isEmpty ? [] : changed where share.differs[object] == nil {
            if let (kind, row) = restated[object] { state.report(kind, links, row) }
        }
        linkCounts[relationship, default: 0] += 1
        if let inverse = links.inverse, inverse != relationship { linkCounts[inverse, default: 0] += 1 }
        state.defer(merged, links, share)
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
            state.counts.countChanged(linked.changed, of: layout)
            if isOwning { state.orphaned.insert(linked.detached, by: relationship) }
            changed += linked.changed
        }
        return changed
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
    init(_ source: NestedElements.Source, _ object: ObjectID, targets: [ObjectID?], _ share: PassState.Share) {
        self.object = object
        self.targets =
            source.ordinals.compactMap { share.refused.contains($0) ? nil : targets[$0] }
            + (share.kept[object] ?? [])
        isIncomplete = source.isIncomplete
        holdsObjects = source.holdsObjects
    }
}
