import JSONMapper
import SyncBase
import SyncModel
import SyncStore

// The values of relationships: merge what is nested, then link.
extension StorePass {
    /// Merges the objects nested in a group by one relationship, and links the group's objects to
    /// them.
    ///
    /// - Parameter early: The targets that were merged before the group.
    func relate(_ links: GroupLinks, early: EarlyTargets? = nil) async throws {
        guard let elements = links.elements(laterCounts: state.laterCounts(links.origin)) else { return }
        try report(elements.misfits, links)
        let decision = state.decide(elements, links, early: early?.merged.sources)
        let (isCounting, isBeaten) = (decision.isCounting, decision.isBeaten)
        let hasBeaten = isBeaten.contains(true)
        // Found before the early links are made, which may wait for objects themselves.
        var beaten = try await compare(elements, links, decision)
        if let early { try await link(early.merged, links, isLinked: early.isLinked) }
        guard elements.sources.contains(where: { isCounting[$0.row] || isBeaten[$0.row] }) else { return }
        // Merged together, so that the first of several values counts.
        let rest = elements.keeping { isCounting[$0] || isBeaten[$0] }
        let opened = state.beginStatements(rest, links, isCounting)
        let merged = try await merge(
            rest, of: links.group, by: links.relationship, links.origin, containedBy: links,
            accepts: hasBeaten ? { [beaten] in $1 >= 0 && (isCounting[$1] || beaten.agreeing.contains($0)) } : nil,
            isOpen: opened.isEmpty ? nil : { $0 >= 0 && isCounting[$0] }, known: beaten.scoped)
        state.endStatements(opened)
        let counting = hasBeaten ? merged.restricted(isCounting) : merged
        // The order of objects of several merges may be wrong.
        let isInOrder = !links.relationship.isOrdered || merged.mergeCount < 2
        let linksNew = merged.linksNew && isInOrder && !hasBeaten
        let isUnlinked = isUnlinked(links)
        if !counting.sources.isEmpty {
            try await link(
                counting, links,
                isLinked: { source in
                    // New objects whose targets were all inserted with their links need no linking.
                    linksNew && isUnlinked(source.row) && source.ordinals.allSatisfy { merged.isNew[$0] }
                }, isUnlinked: isUnlinked)
        }
        guard hasBeaten else { return }
        // Open statements have got their targets by now.
        beaten.current.merge(try await targets(of: beaten.open, by: links.relationship)) { $1 }
        state.compare(merged.restricted(isBeaten), links, with: beaten)
    }

    /// Reports values that do not fit the relationship.
    ///
    /// - Throws: `StoreSyncError.unsuitableRelationship` in an import.
    private func report(_ misfits: [NestedElements.Misfit], _ links: GroupLinks) throws {
        if rules.isImport, let misfit = misfits.first(where: { $0.kind == .changedShape }) {
            throw StoreSyncError.unsuitableRelationship(
                entity: links.layout.name, relationship: links.relationship.name, index: links.elementIndex(misfit.row))
        }
        for misfit in misfits { state.report(misfit.kind, links, misfit.row, found: misfit.found) }
    }

    /// Merges the elements of a relationship.
    ///
    /// - Parameters:
    ///   - links: The objects that contain the elements; nil if the elements are merged first.
    ///   - accepts: Returns whether an element of a row is merged; nil if all are.
    ///   - isOpen: Returns whether the statement of a row is open; nil if none is.
    ///   - known: The objects of elements that only their parent tells apart, by ordinal.
    func merge(
        _ elements: NestedElements, of group: MappedBatch.Group, by relationship: EntityLayout.Relationship,
        _ outer: Origin, containedBy links: GroupLinks? = nil,
        accepts: ((_ ordinal: Int, _ row: Int) -> Bool)? = nil,
        isOpen: ((Int) -> Bool)? = nil, known: [Int: ObjectID] = [:]
    ) async throws -> MergedElements {
        var elements = elements
        let (rows, rowCount) = (elements.owners, partRowCount(of: relationship, elements.objectCount))
        let destination = model.layouts[relationship.destination]
        var origin = Origin(policy: rules.nestedPolicy, entity: relationship.destination)
        (origin.relationship, origin.inverse) = (relationship, model.inverse(of: relationship))
        let elementIndex = { (ordinal: Int) in
            rows[ordinal] < 0 ? 0 : outer.elementIndex(group.elementIndices[Int(rows[ordinal])])
        }
        origin.elementIndex = elementIndex
        if links != nil, rules.isHookedWhereNested, let batch = elements.objects {
            let hooked = try await hook(batch, elements.json)
            if !hooked.isEmpty {
                let former = try elements.replace(
                    hooked, by: relationship, mapper: mapper, options: rules.readerOptions)
                if let former { state.problems.removeDrift(of: former) }
            }
        }
        var merged = MergedElements(elements, elementIndex: elementIndex)
        if let links {
            let object = { (ordinal: Int) in
                rows[ordinal] < 0 ? nil : links.result.rows[Int(rows[ordinal])]?.object
            }
            let isUnlinked = isUnlinked(links)
            let unlinked = { (ordinal: Int) in isUnlinked(Int(rows[ordinal])) ? object(ordinal) : nil }
            if !elements.sources.allSatisfy({ isUnlinked($0.row) }) {
                origin.linkedNext = MergeRequest.LinkSources(
                    relationship, objects: elements.sources.compactMap(links.object))
            }
            let isAppended = relationship.isOrdered && rules.mode(of: relationship) == .add
            if let inverse = origin.inverse, !isAppended, MergeRequest.InitialLinks.isPossible(inverse, in: model) {
                // In an ordered list, only linking knows the place of an object behind others.
                let owner = relationship.isOrdered ? unlinked : object
                if rows.indices.contains(where: { owner($0) != nil }) { origin.owners = (inverse, owner) }
            }
            origin.containers = object
            if model.isScope(of: relationship) { origin.parents = object }
            if !rules.isImport {
                let isIdentified = elements.packedObjects?.isIdentified == true
                merged.reuse = try await reused(
                    isIdentified ? AnySequence([]) : elements.objectGroups(of: rowCount),
                    { isUnlinked(Int(rows[$0])) ? nil : object($0) }, by: relationship,
                    emptied: elements.emptied.filter { !isUnlinked($0) }.compactMap { links.result.rows[$0]?.object })
                merged.reuse.objects.merge(known) { $1 }
                (origin.reused, origin.scoped) = (merged.reuse.objects, known)
            }
        }
        if let accepts {
            let reused = model.isScope(of: relationship) ? [:] : origin.reused
            origin.accepts = { reused[$0] != nil || accepts($0, Int(rows[$0])) }
        }
        let rejectedCount = state.problems.rejectedCount
        func collect(_ found: GroupMerge) {
            merged.take(found)
            guard let isOpen, let container = origin.containers else { return }
            for (ordinal, row, _) in found.objects where isOpen(Int(rows[ordinal])) {
                if let source = container(ordinal) { state.addTarget(row.object, of: source, by: relationship) }
            }
        }
        var (part, rest) = (origin, elements.objectCount)
        for batch in elements.objectBatches(of: rowCount) {
            rest -= batch.recordCount
            part.linkedNext = rest == 0 ? origin.linkedNext : nil
            try await merge(batch, part, collect)
        }
        if let identifiers = elements.identifiers {
            for batch in identifiers.batches(of: partRowCount(of: relationship, identifiers.count)) {
                // Identifiers of another type were reported with the objects that contain them.
                if rules.isImport {
                    try await merge(batch, origin, collect)
                } else if let named = batch.groups.first {
                    try await find(named, for: &merged, isListed: destination.root == state.listed.root)
                }
            }
        }
        noteRefused(of: &merged, origin)
        merged.hasRejected = state.problems.rejectedCount > rejectedCount
        if merged.hasRejected { merged.noteUnidentified() }
        merged.linksNew = origin.owners != nil
        return merged
    }

    /// Finds the objects that identifiers name.
    ///
    /// - Parameter isListed: Whether the objects are of the list's entities.
    private func find(_ named: MappedBatch.Group, for merged: inout MergedElements, isListed: Bool) async throws {
        let found = try await transaction.find(named.records)
        state.mention(found.lazy.compactMap(\.self), of: named.mapping.layout)
        for (row, object) in found.enumerated() {
            let ordinal = named.elementIndices[row]
            merged.targets[ordinal] = object
            if object == nil { merged.unknown.add(row, of: named.records, ordinal: ordinal) }
            if object != nil, isListed { merged.identified.insert(ObjectID(ordinal)) }
        }
    }

    /// Whether the object of each row is new, and has no links of the relationship yet.
    private func isUnlinked(_ links: GroupLinks) -> (Int) -> Bool {
        let (relationship, owners) = (links.relationship, links.origin.owners?.relationship)
        guard linkCounts[relationship] ?? 0 == links.linkCount, owners?.id != relationship.id else {
            return { _ in false }
        }
        return { $0 >= 0 && links.result.rows[$0]?.change == .inserted }
    }

    /// Calls the hook for the objects that the store does not have.
    ///
    /// - Parameter json: The JSON of each ordinal.
    /// - Returns: The JSON that the hook returned, by ordinal.
    func hook(_ batch: MappedBatch, _ json: [[UInt8]]) async throws -> [Int: [UInt8]] {
        guard let willInsert = rules.willInsert else { return [:] }
        var hooked: [Int: [UInt8]] = [:]
        for group in batch.groups {
            let found = try await transaction.find(group.records)
            // The hook may be slow, and the store's connection must stay responsive.
            try await BlockingExecutor.outside {
                for (row, ordinal) in group.elementIndices.enumerated() where found[row] == nil {
                    guard case .object(let object) = try JSONValue(parsing: json[ordinal], exactDecimals: true) else {
                        continue
                    }
                    var writer = JSONWriter()
                    try writer.value(.object(try willInsert(object, group.mapping.layout.name)))
                    hooked[ordinal] = writer.bytes
                }
            }
        }
        return hooked
    }
}
