import JSONMapper
import OneWaySynchronizer
import SyncBase
import SyncModel
import SyncStore

/// One pass inside its transaction: merges mapped batches, then makes the changes that have to wait
/// for the last batch.
///
/// For each batch, the pass merges the objects of the list, then the nested objects relationship by
/// relationship, and links both. The number of store calls depends on the number of batches,
/// entities and relationships, not on the number of objects. ``PassState`` decides what counts.
///
/// A ``SyncRequest`` drives the pass. It calls `mergeListed` for each batch, `endReading()` and
/// `finish()` after the last one, then `deleteAbsent`, `settleValues()`, `settlePendingLinks()` and
/// `reportIncomplete()`.
final class StorePass {
    let transaction: any StoreTransaction
    let mapper: RecordMapper
    let rules: SyncRules
    /// What the pass has read and done so far, and what waits for its end.
    var state: PassState
    /// The identifiers that name no object after `finish()`, or whose object was then deleted.
    /// `settlePendingLinks()` stores them.
    var unresolved = PendingLinks()
    /// How often each relationship was linked, from either end. While the number stays the same, a
    /// newly inserted object has no other links of the relationship.
    var linkCounts: [EntityLayout.Relationship: Int] = [:]
    /// Whether the store has identifiers that wait for their objects; nil if that is not known.
    var hasPendingLinks: Bool?
    /// The removal limit, and the number of objects that it refers to; nil without a limit.
    var limit: (limit: RemovalLimit, localCount: Int)?
    /// The number of objects that the ended changes deleted, for the removal limit.
    var deletedCount = 0
    /// The versions of the list's objects; nil if they are not compared.
    var versions: ListVersions?
    /// The call of which the pass is a run; nil for a sync of its own.
    var call: ChangeCall?
    /// The parent of the list's objects; nil if the request has none.
    var children: SyncChildren?

    /// Whether the end of the pass counts the objects of the list's entity, and no merge has been
    /// asked to count them yet.
    var countsAtEnd = false
    /// The entities to count together with a merge, because it may be the last one.
    private var countedNext: [String] = []
    /// The number of objects whose links are asked for at a time.
    static let soughtCount = 1 << 16

    /// Creates a pass.
    ///
    /// - Parameter list: The entity of the payload's list; nil if there is no list.
    init(
        _ transaction: any StoreTransaction, mapper: RecordMapper, rules: SyncRules, list: EntityLayout? = nil
    ) {
        self.transaction = transaction
        self.mapper = mapper
        self.rules = rules
        state = PassState(mapper.model, rules, list: list)
    }

    var model: DataModel {
        mapper.model
    }

    /// Receives the merged objects of a group.
    typealias Collector = (GroupMerge) -> Void

    // MARK: Objects

    /// Merges objects of the payload's list and their nested objects.
    ///
    /// Elements that contradict each other are merged one after the other, so that the size of
    /// batches makes no difference.
    ///
    /// - Parameter collect: Receives the merged objects.
    func mergeListed(_ batch: MappedBatch, _ origin: Origin, _ collect: Collector? = nil) async throws {
        // After a full batch, another one probably follows.
        countedNext = batch.recordCount < transaction.batchRowCount ? takeCounted() : []
        let cuts = rules.relates ? BatchCuts.cuts(of: batch, in: model) : []
        for part in batch.parts(beginningAt: cuts) { try await merge(part, origin, collect) }
        if state.nested.count > rules.waitingLimit {
            state.nested.isIncomplete = true
            try await applyNested()
        }
        if state.deferred.count > rules.waitingLimit << 2 { try await storeDeferred() }
    }

    /// The entities that the end of the pass counts, for the first batch that may be the last one.
    private func takeCounted() -> [String] {
        guard countsAtEnd, let list = state.listed.root else { return [] }
        countsAtEnd = false
        return [model.layouts[list].name] + [pendingLinks?.name].compactMap { $0 }
    }

    /// Merges objects and their nested objects.
    ///
    /// - Parameter collect: Receives the merged objects.
    func merge(_ batch: MappedBatch, _ origin: Origin, _ collect: Collector? = nil) async throws {
        state.problems.addDrift(of: batch, origin)
        if !origin.isNested, batch.hasUnfitIdentity { state.problems.mayLackObjects = true }
        for problem in batch.rejected {
            if rules.isImport { throw MappingError.unfit(problem) }
            let isUnidentified = problem.concernsIdentity(in: model)
            state.problems.reject(
                problem.moved(to: origin.elementIndex(problem.index)), isElement: !origin.isNested,
                mayBeListed: !origin.isNested || !isUnidentified)
            if !origin.isNested, isUnidentified { state.problems.unidentifiedCount += 1 }
        }
        for group in batch.groups {
            let accepted = origin.accepts.map(group.restricted) ?? group
            guard let group = accepted else { continue }
            if !origin.isNested, !group.keylessRows.isEmpty {
                state.problems.unidentifiedCount += group.keylessRows.count
                state.problems.hasKeyless = true
            }
            var rest: MappedBatch.Group? = group
            if !group.undetermined.isEmpty {
                var remapped: Set<Int> = []
                var known = origin
                known.statesEntity = false
                for specific in try await self.remapped(group, &remapped) {
                    try await merge(specific, known, collect)
                }
                if !remapped.isEmpty { rest = group.restricted { !remapped.contains($0) } }
            }
            guard let rest else { continue }
            var part = origin
            for rows in rest.parts(of: partRowCount(of: origin.relationship, rest.records.count)) {
                part.linkedNext = rows.upperBound == rest.records.count ? origin.linkedNext : nil
                try await merge(rest.part(rows), part, collect)
            }
        }
    }

    /// The maximum number of nested objects of a relationship that are merged at a time.
    ///
    /// After several merges, an ordered relationship must be linked again. A list that is not very
    /// long is therefore merged at once.
    ///
    /// - Parameter count: The number of all objects.
    func partRowCount(of relationship: EntityLayout.Relationship?, _ count: Int) -> Int {
        let rowCount = max(transaction.batchRowCount, 1) << 2
        return relationship?.isOrdered == true && count <= rowCount << 3 ? rowCount << 3 : rowCount
    }

    /// Maps objects again as the sub-entity that the store has them as.
    ///
    /// - Parameter remapped: Receives their element indices.
    private func remapped(_ group: MappedBatch.Group, _ remapped: inout Set<Int>) async throws -> [MappedBatch] {
        let found = try await transaction.find(group.records)
        // Other elements of the group may state that an object is of the group's entity.
        let stated = Set(found.indices.filter { group.undetermined[$0] == nil }.compactMap { found[$0] })
        let known = group.undetermined.keys.filter { found[$0].map { !stated.contains($0) } == true }.sorted()
        guard !known.isEmpty else { return [] }
        let query = StoreQuery(group.mapping.layout.name, objects: .only(known.compactMap { found[$0] }))
        let stored = try await transaction.records(query)
        let entities = Dictionary(stored.map { ($0.object, $0.record.layout.index) }) { first, _ in first }
        func makeCollector(_ entity: Int) throws -> RecordCollector {
            try RecordCollector(mapper, entity: model.layouts[entity].name, options: rules.readerOptions)
        }
        var collectors: [Int: RecordCollector] = [:]
        var former = try makeCollector(group.mapping.layout.index)
        for row in known {
            guard let json = group.undetermined[row], let object = found[row], let entity = entities[object],
                entity != group.mapping.layout.index
            else { continue }
            var collector = try collectors.removeValue(forKey: entity) ?? makeCollector(entity)
            try collector.add(json, index: group.elementIndices[row])
            collectors[entity] = collector
            try former.add(json, index: group.elementIndices[row])
            remapped.insert(group.elementIndices[row])
        }
        if let former = try former.takeBatch() { state.problems.removeDrift(of: former) }
        return try collectors.keys.sorted().compactMap { try collectors[$0]?.takeBatch() }
    }

    /// Merges the objects of a group, and what is nested in them.
    private func merge(_ group: MappedBatch.Group, _ origin: Origin, _ collect: Collector?) async throws {
        var merge = try await identify(group, origin)
        try await skip(&merge)
        try await find(&merge)
        try await write(&merge)
        state.note(merge)
        collect?(merge)
        guard rules.relates else { return }
        let result = merge.rows.expanded(merge.result)
        let awaited = merge.waiting.isEmpty ? result : merge.rows.expanded(merge.awaited)
        for (index, nested) in group.nested.enumerated() where nested != nil {
            var links = GroupLinks(group, result, merge.origin, index, in: model, merge.linkCounts[index])
            if merge.early[index] == nil, state.waitsForList(links.relationship, of: links.layout, links.origin) {
                links.result = awaited
                state.nested.add(links)
            } else {
                try await relate(links, early: merge.early[index])
            }
        }
        state.incomplete.insert(group, result, merge.origin)
    }

    /// Combines the rows of equal identities. The parents of scoped identities are merged before.
    private func identify(_ group: MappedBatch.Group, _ origin: Origin) async throws -> GroupMerge {
        var origin = origin
        let parents = try await resolveScope(of: group, &origin)
        func report(_ kind: DriftReport.Kind, _ keyPath: String, _ row: Int) {
            let index = origin.elementIndex(group.elementIndices[row])
            state.problems.drift.add(kind, entity: group.mapping.layout.name, keyPath: keyPath, index: index)
        }
        let rows = CombinedRows(group, origin, laterCounts: state.laterCounts(origin)) { report(.conflict, $0, $1) }
        if !origin.isNested, !rules.isImport, state.listed.reportsDuplicates {
            for row in rows.repeatedRows { report(.duplicate, "", row) }
        }
        var merge = GroupMerge(group: group, origin: origin, rows: rows)
        merge.parents = parents
        merge.waitsForList = origin.isNested && origin.policy.updates && merge.layout.root == state.listed.root
        merge.linkCounts = group.mapping.layout.relationships.map { linkCounts[$0] ?? 0 }
        return merge
    }

    /// Finds the records that are not merged, and gives objects the entity that records state.
    private func skip(_ merge: inout GroupMerge) async throws {
        try await skipIncomplete(&merge)
        try await skipOlder(&merge)
        try await changeEntities(&merge)
        match(&merge)
    }

    /// Merges the records, with the links that new objects are inserted with.
    private func write(_ merge: inout GroupMerge) async throws {
        try await mergeEarlyTargets(of: &merge)
        var links: [MergeRequest.InitialLinks] = []
        if let owners = merge.origin.owners {
            links.append(.init(owners.relationship, targets: merge.rows.ordinals.map(owners.object)))
        }
        let firstEarly = links.count
        links += merge.early.sortedByKey.map(\.1.links)
        var policy = merge.origin.policy
        policy.updates = policy.updates && !merge.waitsForList
        var request = MergeRequest(merge.records, matches: merge.matches, policy: policy)
        request.linkedNext = merge.origin.linkedNext
        request.countedNext = countedNext
        if let known = merge.known, policy.updates {
            merge.result = try await mergeRest(
                of: request, known, merge.layout, linking: links, index: merge.elementIndex)
        } else {
            merge.result = try await self.merge(request, linking: links, elementIndex: merge.elementIndex)
        }
        for (number, index) in merge.early.keys.sorted().enumerated() {
            merge.early[index]?.noteLinked(merge.result, by: firstEarly + number, merge.rows)
        }
        merge.result.noteUpdates(of: merge.changed)
    }

    /// The targets of objects before a statement about them, in the order of the relationship.
    func targets(
        of sources: [ObjectID], by relationship: EntityLayout.Relationship
    ) async throws -> [ObjectID: [ObjectID]] {
        guard !sources.isEmpty else { return [:] }
        var targets: [ObjectID: [ObjectID]] = [:]
        for part in sources.parts(of: Self.soughtCount) {
            let found = try await transaction.targets(of: Array(part), by: relationship)
            if targets.isEmpty { targets = found } else { targets.merge(found) { $0 + $1 } }
        }
        return targets
    }
}

extension MappedBatch {
    /// Whether the value of an identity did not fit. The store may have the object.
    fileprivate var hasUnfitIdentity: Bool {
        groups.contains { group in
            let layout = group.mapping.layout
            return layout.keyColumns.contains { column in
                let keyPath = group.mapping.keyPath(of: column)
                return !keyPath.isEmpty
                    && drift.entries.contains {
                        [.unfitValue, .notAllowed].contains($0.kind) && $0.entity == layout.name
                            && $0.keyPath == keyPath
                    }
            }
        }
    }
}
