import JSONMapper
import SyncModel
import SyncStore

// Of several statements about a link, one counts, whichever end states it: the later one of the
// list, or the first one of nested objects.
extension SyncPass {
    /// Whether the later of two statements counts, and not the first one.
    func laterCounts(_ origin: Origin) -> Bool {
        rules.isImport || !origin.isNested
    }

    /// The kind of drift for a relationship that the payload states twice in different ways.
    func kind(_ object: ObjectID, _ relationship: EntityLayout.Relationship) -> DriftReport.Kind {
        statements.statesInEarlierPage(relationship, of: object) ? .changedBetweenPages : .conflict
    }

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

    /// Finds what earlier statements about the targets of nested objects decided.
    func share(
        of merged: MergedElements, _ result: MergeRequest.Result, by relationship: EntityLayout.Relationship
    ) async throws -> Share {
        var share = Share()
        guard let inverse = model.inverse(of: relationship) else { return share }
        if !inverse.isToMany { refuseRepeated(merged, result, by: relationship, &share) }
        let decided = statements.stated(inverse)
        guard !decided.isEmpty else { return share }
        let sources = merged.elements.sources.filter { source in
            decided.isDirect || source.ordinals.contains { merged.targets[$0].map(decided.contains) == true }
        }
        guard !sources.isEmpty else { return share }
        let objects = Set(sources.compactMap { result.rows[$0.row]?.object })
        var current: [ObjectID: [ObjectID]] = [:]
        for link in try await transaction.links(relationship, of: objects.sorted()) {
            current[link.source, default: []].append(link.target)
        }
        for source in sources {
            guard let object = result.rows[source.row]?.object else { continue }
            let stored = Set(current[object] ?? [])
            let stated = Set(source.ordinals.compactMap { merged.targets[$0] })
            for ordinal in source.ordinals {
                guard let target = merged.targets[ordinal], decided.contains(target), !stored.contains(target) else {
                    continue
                }
                share.refused.insert(ordinal)
                share.differs[object] = kind(object, relationship)
            }
            guard !source.isIncomplete else { continue }
            let kept = (current[object] ?? []).filter { decided.contains($0) && !stated.contains($0) }
            guard !kept.isEmpty else { continue }
            share.kept[object] = kept
            share.differs[object] = kind(object, relationship)
        }
        return share
    }

    /// Refuses targets that several of the sources state, except to the first of them.
    private func refuseRepeated(
        _ merged: MergedElements, _ result: MergeRequest.Result, by relationship: EntityLayout.Relationship,
        _ share: inout Share
    ) {
        var taken = ObjectSet()
        for source in merged.elements.sources {
            guard let object = result.rows[source.row]?.object else { continue }
            var own: [ObjectID] = []
            for ordinal in source.ordinals {
                guard let target = merged.targets[ordinal] else { continue }
                if taken.insert(target) {
                    own.append(target)
                } else if !own.contains(target) {
                    share.refused.insert(ordinal)
                    share.differs[object] = kind(object, relationship)
                }
            }
        }
    }

    /// Reports statements that differ from the earlier ones which count.
    ///
    /// - Parameter rows: The rows of the statements.
    func compare(
        _ merged: MergedElements, _ rows: Set<Int>, of group: MappedBatch.Group, _ result: MergeRequest.Result,
        by relationship: EntityLayout.Relationship, _ origin: Origin
    ) async throws {
        let sources = merged.elements.sources.filter { rows.contains($0.row) }
        let objects = Set(sources.compactMap { result.rows[$0.row]?.object })
        var current: [ObjectID: [ObjectID]] = [:]
        for link in try await transaction.links(relationship, of: objects.sorted()) {
            current[link.source, default: []].append(link.target)
        }
        for source in sources {
            guard let object = result.rows[source.row]?.object, !deferred.lacksObjects(of: object, relationship) else {
                continue
            }
            let targets = source.ordinals.map { merged.targets[$0] }
            let known = targets.compactMap(\.self)
            let stored = current[object] ?? []
            var differs = !merged.hasRejected && known.count < targets.count
            if source.isIncomplete {
                differs = differs || !Set(known).isSubset(of: stored)
            } else {
                let stated = LinkBatch.Mode.replace.targets(stated: known, after: [], by: relationship)
                differs = differs || stated != (relationship.isOrdered ? stored : stored.sorted())
            }
            guard differs else { continue }
            tally.drift.add(
                kind(object, relationship), entity: group.mapping.layout.name,
                keyPath: keyPath(of: relationship, group),
                index: origin.elementIndex(group.elementIndices[source.row]))
        }
    }
}
