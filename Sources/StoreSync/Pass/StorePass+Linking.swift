import JSONMapper
import SyncModel
import SyncStore

extension StorePass {
    /// Links the objects of a group to the merged elements of a relationship.
    ///
    /// - Parameters:
    ///   - isLinked: Whether a source has its link already.
    ///   - isUnlinked: Whether the source of a row is new, and has no link yet.
    func link(
        _ merged: MergedElements, _ links: GroupLinks, isLinked: (NestedElements.Source) -> Bool,
        isUnlinked: (Int) -> Bool = { _ in false }
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
        // Known only as long as nothing else has linked the objects.
        let known = merged.reuse.linkCount == linkCounts[relationship] ?? 0 ? merged.reuse : ReusedObjects()
        let wanted = merged.sources.filter { !isLinked($0) }.compactMap { source in
            links.object(of: source).map { LinkStatement(source, $0, targets: merged.targets, share) }
        }.filter { statement in
            guard !share.settled.contains(statement.object) else { return false }
            guard let targets = known.linked(of: statement.object) else { return true }
            guard statement.targets != targets else { return false }
            let mode = statement.isIncomplete ? .add : rules.mode(of: relationship)
            return mode.targets(stated: statement.targets, after: targets, by: relationship) != targets
        }
        var template = LinkBatch(relationship, mode: .replace)
        template.newTargets = merged.newTargets
        template.hasNewSources =
            !merged.linksNew && share.kept.isEmpty && links.inverse?.id != relationship.id
            && merged.sources.allSatisfy { isUnlinked($0.row) }
        template.hasNewTargets =
            template.hasNewSources
            && merged.sources.allSatisfy { $0.ordinals.allSatisfy { merged.targets[$0] == nil || merged.isNew[$0] } }
        let changed = try await link(wanted, like: template, of: links.layout)
        for object in restated.isEmpty ? [] : changed where share.differs[object] == nil {
            if let (kind, row) = restated[object] { state.report(kind, links, row) }
        }
        noteLinking(by: relationship)
        state.defer(merged, links, share)
    }

    /// Notes that objects are linked by a relationship.
    func noteLinking(by relationship: EntityLayout.Relationship) {
        linkCounts[relationship, default: 0] += 1
        if let inverse = model.inverse(of: relationship), inverse != relationship {
            linkCounts[inverse, default: 0] += 1
        }
    }

    /// Links objects as a payload states.
    ///
    /// - Parameter template: A batch without sources, with what is known about new objects.
    /// - Returns: The objects whose links changed.
    func link(
        _ statements: [LinkStatement], like template: LinkBatch, of layout: EntityLayout
    ) async throws -> [ObjectID] {
        let relationship = template.relationship
        let mode = rules.mode(of: relationship)
        let deletes = rules.deletesDetached(of: relationship, in: model)
        func makeBatch(_ mode: LinkBatch.Mode) -> LinkBatch {
            var batch = template
            batch.mode = mode
            return batch
        }
        var (owning, naming) = (makeBatch(mode), makeBatch(mode))
        // A list that could not be read completely proves no absence.
        var adding = makeBatch(.add)
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
    var isIncomplete: Bool
    /// Whether the targets are stated as objects and not as identifiers.
    let holdsObjects: Bool

    /// - Parameters:
    ///   - targets: The object of each ordinal.
    ///   - share: What earlier statements leave to the object.
    init(_ source: NestedElements.Source, _ object: ObjectID, targets: OrdinalObjects, _ share: PassState.Share) {
        self.object = object
        self.targets =
            share.refused.isEmpty
            ? targets.objects(of: source.ordinals)
            : source.ordinals.compactMap { share.refused.contains($0) ? nil : targets[$0] }
        if let kept = share.kept[object] { self.targets += kept }
        isIncomplete = source.isIncomplete
        holdsObjects = source.holdsObjects
    }
}
