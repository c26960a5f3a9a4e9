import JSONMapper
import SyncModel
import SyncStore

// Of several statements about an attribute or a link, one counts, whichever end states it: the
// later one of the list, or the first one of nested objects.
extension SyncPass {
    /// Whether the later of two statements counts, and not the first one.
    func laterCounts(_ origin: Origin) -> Bool {
        rules.isImport || !origin.isNested
    }

    // MARK: Attributes

    /// The stored objects of nested records that the payload has stated before.
    struct Known {
        /// The object of each record; nil if the payload has not stated it, or it is not stored.
        var objects: [ObjectID?]
        /// The hash of each record; empty if the records cannot be repeated.
        var hashes: [Int?] = []
        /// The objects of records that were merged before.
        var complete: [ObjectID?]
    }

    /// Finds the stored objects of nested records that the payload has stated before; nil for
    /// records of the list.
    ///
    /// - Parameters:
    ///   - mayInsert: Whether each record may be inserted.
    ///   - matches: The match of each record; nil if all match by identity. Records that must not
    ///     be inserted and match no object are skipped.
    func known(
        _ records: RecordBatch, _ mayInsert: [Bool], _ matches: inout [MergeRequest.Match]?, _ layout: EntityLayout,
        _ origin: Origin
    ) async throws -> Known? {
        guard !laterCounts(origin) else { return nil }
        let empty = [ObjectID?](repeating: nil, count: records.count)
        var known = Known(objects: empty, complete: empty)
        for (row, match) in (matches ?? []).enumerated() {
            if case .object(let object) = match { known.objects[row] = object }
        }
        let isByIdentity = { [matches] (row: Int) in matches.map { $0[row] == .identity } ?? true }
        if mayRepeat(layout, matches, origin) {
            known.hashes = repeatedRecords.hashes(of: records, layout)
            known.complete = repeatedRecords.objects(of: known.hashes, layout)
        }
        var sought = statements.insertIdentities(of: records, layout) { [known] in
            known.complete[$0] == nil && isByIdentity($0)
        }
        let barred = mayInsert.indices.filter { !mayInsert[$0] && isByIdentity($0) && known.complete[$0] == nil }
        if !barred.isEmpty { sought = Array(Set(sought + barred)).sorted() }
        if !sought.isEmpty {
            var identities = RecordBatch(of: layout)
            for row in sought { identities.append(row: row, of: records) }
            for (row, object) in zip(sought, try await transaction.find(identities)) { known.objects[row] = object }
        }
        for row in barred where known.objects[row] == nil {
            matches = matches ?? Array(repeating: .identity, count: records.count)
            matches?[row] = .skipped
        }
        for (row, object) in known.complete.enumerated() where object != nil { known.objects[row] = object }
        return known
    }

    /// Merges nested records without the values that the payload has stated before, and reports
    /// those that differ.
    ///
    /// - Parameters:
    ///   - own: The records with only the values that the payload states.
    ///   - index: Returns the index in the payload of a row's element.
    func mergeRest(
        of request: MergeRequest, _ known: Known, stating own: RecordBatch, linking links: [MergeRequest.InitialLinks],
        _ layout: EntityLayout, index: (Int) -> Int
    ) async throws -> MergeRequest.Result {
        var request = request
        let records = request.records
        // The objects of the rows that are left out, because nothing of them is new.
        var (complete, hashes) = (known.complete, known.hashes)
        // Of records that were merged before, everything has been stated.
        let open = known.complete.indices.map { known.complete[$0] == nil ? known.objects[$0] : nil }
        let rest = statements.rest(of: records, open, of: layout)
        if let rest {
            request.records = rest.records
            for row in rest.complete { complete[row] = known.objects[row] }
            for row in rest.restated where !hashes.isEmpty { hashes[row] = nil }
        }
        var result = MergeRequest.Result(Array(repeating: nil, count: records.count))
        if complete.contains(where: { $0 != nil }) {
            var matches = request.matches ?? Array(repeating: .identity, count: records.count)
            for (row, object) in complete.enumerated() where object != nil { matches[row] = .skipped }
            request.matches = matches
        }
        if complete.contains(nil) { result = try await merge(request, linking: links, elementIndex: index) }
        for case (let row, let object?) in complete.enumerated() {
            result.rows[row] = MergeRequest.Result.Row(object, .unchanged)
            for links in result.isLinked.indices { result.isLinked[links][row] = false }
        }
        statements.insert(
            own, result.rows.indices.map { known.complete[$0] == nil ? result.rows[$0]?.object : nil }, of: layout)
        if !hashes.isEmpty { repeatedRecords.insert(hashes, result, of: layout) }
        let restated = (rest?.restated ?? []).compactMap { row in open[row].map { (row: row, object: $0) } }
        try await reportDifferences(of: own, restated, layout, elementIndex: index)
        return result
    }

    // MARK: Links

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
