import JSONMapper
import SyncBase
import SyncModel
import SyncStore

/// One pass inside its transaction: merges mapped batches, then makes the changes that have to wait
/// for the last batch.
///
/// For each batch, the pass merges the objects of the list, then the nested objects relationship by
/// relationship, and links both. The number of store calls depends on the number of batches,
/// entities and relationships, not on the number of objects.
///
/// A ``SyncRequest`` drives the pass. It calls `mergeListed` for each batch, `endReading()` and
/// `finish()` after the last one, then `sweep`, `settleValues()`, `settlePendingLinks()` and
/// `reportIncomplete()`.
final class SyncPass {
    let transaction: any StoreTransaction
    let mapper: RecordMapper
    let rules: SyncRules
    /// What the pass did so far: counts, rejected objects and drift.
    var tally: SyncTally
    /// Links to objects that the store did not have, or may still delete, when an identifier named
    /// them. `finish()` links the objects that have come since.
    var deferred = DeferredLinks()
    /// The objects that lost their source in a relationship that deletes such objects. Filled by
    /// each linking; `removeDetached()` deletes those that have no source then.
    var detached: [EntityLayout.Relationship: [Int64]] = [:]
    /// The objects that the current change has in other places than a relationship that deletes
    /// objects without a source. Such a place keeps an object that the relationship loses. Nil in a
    /// sync of a list, where each place keeps it.
    var elsewhere: [EntityLayout.Relationship.ID: ObjectSet]?
    /// The relationships that delete objects without a source, by the root entity of the objects.
    private let deleting: [Int: [EntityLayout.Relationship.ID]]
    /// The objects without an identity that each source lost. A later element of the same source
    /// reuses them, and `finish()` deletes the rest.
    var lost: [EntityLayout.Relationship.ID: [ObjectID: [ObjectID]]] = [:]
    /// The identifiers that name no object after `finish()`, or whose object was then deleted.
    /// `settlePendingLinks()` stores them.
    var unresolved: [PendingLink] = []
    /// Whether the store has identifiers that wait for their objects; nil if that is not known.
    var hasPendingLinks: Bool?
    /// The objects that lacked a mandatory relationship when they were merged. `reportIncomplete()`
    /// reports those that still lack it.
    var incomplete = IncompleteObjects()
    /// The objects that wait for unique values. `settleValues()` gives them these.
    var refusedRows = RefusedRows()
    /// The nested records that were merged, to skip repeated ones.
    var repeatedRecords = RepeatedRecords()
    /// How often each relationship was linked, from either end. While the number stays the same, a
    /// newly inserted object has no other links of the relationship.
    var relatings: [EntityLayout.Relationship: Int] = [:]

    /// What the payload has stated of objects that it may state more than once.
    var statements = Statements()
    /// The objects that the list moves from one object to another. `endReading()` links them.
    var movedTargets = MovedTargets()
    /// What nested objects state about objects of the list. `endReading()` applies what the list
    /// does not decide.
    var nested = NestedStatements()
    /// Whether what nested objects state about the list applies at once.
    var isListRead = false
    /// The index of the root entity of the payload's list; nil in an import, and if there is no
    /// list.
    let listRoot: Int?
    /// The objects that the list has had so far.
    var listed = ObjectSet()
    /// Whether a relationship leads to the list's entities, so that objects of the list can be
    /// nested.
    let nestsItself: Bool
    /// The number of objects that the ended changes deleted, for the removal limit.
    var sweptCount = 0
    /// The versions of the list's objects; nil if they are not compared.
    var versions: ListVersions?
    /// The call of which the pass is a run; nil for a sync of its own.
    var call: ChangeCall?
    /// The parent of the list's objects and its relationship to them; nil if the request has none.
    var listParent: (relationship: EntityLayout.Relationship, object: ObjectID)?
    /// Whether an object that the list contains twice is reported; false for remote sources, whose
    /// pages may be read again.
    var reportsDuplicates = true

    /// Creates a pass.
    ///
    /// - Parameter list: The entity of the payload's list; nil if there is no list.
    init(
        _ transaction: any StoreTransaction, mapper: RecordMapper, rules: SyncRules, list: EntityLayout? = nil
    ) {
        self.transaction = transaction
        self.mapper = mapper
        self.rules = rules
        let listRoot = rules.isImport ? nil : list?.root
        self.listRoot = listRoot
        let layouts = mapper.model.layouts
        nestsItself = layouts.contains { layout in
            layout.relationships.contains { layouts[$0.destination].root == listRoot }
        }
        let relationships = layouts.flatMap { layout in layout.relationships.filter { $0.source == layout.index } }
        deleting = Dictionary(
            grouping: relationships.filter { rules.deletesDetached(of: $0, in: mapper.model) },
            by: { layouts[$0.destination].root }
        ).mapValues { $0.map(\.id) }
        tally = SyncTally(mapper.model)
    }

    var model: DataModel {
        mapper.model
    }

    /// Where objects come from, and how this affects their merge.
    struct Origin {
        /// The allowed changes.
        var policy: MergeRequest.Policy
        /// The index of the expected entity; the objects may be of its sub-entities.
        var entity: Int?
        /// Whether the objects are nested in others.
        var isNested = false
        /// Whether they are nested in an array.
        var isToMany = false
        /// Returns whether the object of an ordinal may be inserted; nil if all may.
        var mayInsert: ((Int) -> Bool)?
        /// Whether one object can be nested in several others.
        var belongsToMany = false
        /// The relationship in which they are nested.
        var relationship: EntityLayout.Relationship.ID?
        /// The relationship back to the objects that contain them.
        var inverse: EntityLayout.Relationship.ID?
        /// Returns the parent within which the object of an ordinal is identified; nil if the
        /// identity is not scoped.
        var parents: ((Int) -> ObjectID?)?
        /// Whether the payload states of which entity the objects are.
        var statesEntity = true
        /// The index of each ordinal's element in the payload; nil if ordinals and indices are
        /// equal.
        var elementIndices: [Int]?
        /// The stored object of each ordinal whose element has no identity; see `reused`.
        var reused: [Int: Int64] = [:]
        /// The stored object that all records update, whatever their identity; nil in a sync.
        var known: Int64?
        /// The relationship to the containing objects, and that object by ordinal. New objects are
        /// inserted with this link; nil if they are linked later.
        var owners: (relationship: EntityLayout.Relationship, objects: [ObjectID?])?

        func elementIndex(_ ordinal: Int) -> Int {
            elementIndices?[ordinal] ?? ordinal
        }
    }

    /// Receives the ordinal of a merged object, the object with its change, and whether the store
    /// is known to have it linked to the object that contains it.
    typealias Collector = (Int, MergeRequest.Result.Row, _ isOwned: Bool) -> Void

    // MARK: Objects

    /// Merges objects of the payload's list and their nested objects.
    ///
    /// Elements that contradict each other are merged one after the other, so that the size of
    /// batches makes no difference.
    ///
    /// - Parameter collect: Receives each merged object.
    func mergeListed(_ batch: MappedBatch, _ origin: Origin, _ collect: Collector? = nil) async throws {
        let cuts = rules.relates ? BatchCuts.cuts(of: batch, in: model) : []
        for part in batch.parts(beginningAt: cuts) { try await merge(part, origin, collect) }
        if nested.count > rules.waitingLimit { try await applyNested() }
    }

    /// Merges objects and their nested objects.
    ///
    /// - Parameter collect: Receives each merged object.
    func merge(_ batch: MappedBatch, _ origin: Origin, _ collect: Collector? = nil) async throws {
        tally.toleratedCount += batch.toleratedCount
        if !batch.drift.isEmpty {
            tally.drift.add(batch.drift) { origin.elementIndex($0) }
            if !origin.isNested, batch.hasUnfitIdentity { tally.mayLackObjects = true }
        }
        for problem in batch.rejected {
            if rules.isImport { throw MappingError.unfit(problem) }
            tally.reject(problem.moved(to: origin.elementIndex(problem.index)), mayBeListed: true)
            if !origin.isNested, concernsIdentity(problem) { tally.unidentifiedCount += 1 }
        }
        for group in batch.groups {
            if !origin.isNested, !group.mapping.identifiesByKey { tally.unidentifiedCount += group.foreignRows.count }
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
            if let rest { try await merge(rest, origin, collect) }
        }
    }

    /// Maps objects again as the sub-entity that the store has them as.
    ///
    /// - Parameter remapped: Receives their element indices.
    private func remapped(_ group: MappedBatch.Group, _ remapped: inout Set<Int>) async throws -> [MappedBatch] {
        let found = try await transaction.find(group.records)
        let known = group.undetermined.keys.filter { found[$0] != nil }.sorted()
        guard !known.isEmpty else { return [] }
        var entities: [Int64: Int] = [:]
        let query = StoreQuery(group.mapping.layout.name, objects: .only(known.compactMap { found[$0] }))
        try await transaction.fetch(query, batchRowCount: 1000) { records in
            for stored in records { entities[stored.object] = stored.record.layout.index }
        }
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
        // The drift that the second mapping finds replaces that of the first.
        if let former = try former.takeBatch() {
            tally.toleratedCount -= former.toleratedCount
            tally.drift.remove(former.drift)
        }
        return try collectors.keys.sorted().compactMap { try collectors[$0]?.takeBatch() }
    }

    private func merge(_ group: MappedBatch.Group, _ origin: Origin, _ collect: Collector?) async throws {
        let layout = group.mapping.layout
        var origin = origin
        let scope = try await resolveScope(of: group, &origin)
        let combined = combine(group, origin)
        var records = combined?.records ?? group.records
        let ordinals = combined?.ordinals ?? group.elementIndices
        let index = { [origin] in origin.elementIndex(ordinals[$0]) }
        let own = records
        var refused = try await refuseIncomplete(
            records, ordinals, group, origin, stubs: stubs(of: group, combined))
        for (row, object) in try await olderRows(of: records, layout, origin) {
            refused.updateValue(object, forKey: row)
        }
        let (replaced, kept) = try await removeOtherClasses(
            of: &records, layout, origin, except: Set(refused.keys), index: index)
        for (row, object) in kept { refused.updateValue(object, forKey: row) }
        if !origin.isNested { noteReplaced(replaced, layout, index) }
        var matches = self.matches(of: records, ordinals, group.mapping, origin, skipping: Set(refused.keys))
        let relatingsBefore = relatings
        let (insertable, mayInsert) = insertable(ordinals, of: group, combined, origin)
        let known = try await known(records, mayInsert, &matches, layout, origin)
        var policy = origin.policy
        let isOfList = layout.root == listRoot
        let isDeferred = origin.isNested && policy.updates && isOfList
        if isDeferred { policy.updates = false }
        var early = try await mergeEarlyTargets(
            of: group, combined, origin, known, scope: scope, isWhole: matches?.contains(.skipped) != true)
        var links: [MergeRequest.InitialLinks] = []
        if let owners = origin.owners {
            links.append(
                MergeRequest.InitialLinks(owners.relationship, targets: insertable.map { owners.objects[$0] }))
        }
        for index in early.keys.sorted() {
            guard let initial = early[index]?.links else { continue }
            links.append(initial)
        }
        let request = MergeRequest(records, matches: matches, policy: policy)
        var result: MergeRequest.Result
        if let known, policy.updates {
            result = try await mergeRest(of: request, known, stating: own, linking: links, layout, index: index)
        } else {
            result = try await merge(request, linking: links, elementIndex: index)
        }
        let firstEarly = links.count - early.count
        for (index, key) in early.keys.sorted().enumerated() {
            early[key]?.noteLinked(result, by: firstEarly + index, combined)
        }
        if !replaced.isEmpty {
            let stated = group.statedRelationships { combined?.record(of: $0) ?? $0 }
            try await restoreLinks(replaced, result) { record, relationship in
                relationship.id == origin.owners?.relationship.id
                    || !relationship.isToMany && stated[relationship.index]?.contains(record) == true
            }
        }
        // A stored object whose row was refused is there, and keeps its values.
        var present = result
        for case (let row, let object?) in refused { present.rows[row] = MergeRequest.Result.Row(object, .unchanged) }
        for (row, kind) in tally.count(present, of: layout) {
            tally.drift.add(kind, entity: layout.name, keyPath: "", index: index(row))
        }
        if isDeferred {
            nested.add(own, result, layout, index)
            statements.insert(own, result.rows.map { $0?.change == .inserted ? $0?.object : nil }, of: layout)
        } else if !origin.isNested, isOfList {
            if nestsItself { statements.insert(own, result.objects, of: layout) }
            noteListed(present, layout, index)
        }
        noteElsewhere(present, layout, origin)
        if let combined {
            result = combined.expanded(result)
            present = refused.isEmpty ? result : combined.expanded(present)
        }
        if origin.statesEntity, isOfList ? nestsItself : origin.isNested {
            let objects = result.rows.indices.compactMap { row in
                group.undetermined[row] == nil ? result.rows[row]?.object : nil
            }
            statements.insertEntity(of: objects, layout, in: model)
        }
        if let collect {
            for (row, merged) in present.rows.enumerated() {
                guard let merged else { continue }
                collect(group.elementIndices[row], merged, origin.owners != nil && present.isLinked(row: row, by: 0))
            }
        }
        if group.hasNested, rules.relates {
            try await relate(group, result, origin, early: early, since: relatingsBefore)
        }
        noteIncomplete(group, result, origin)
    }

    /// The ordinal of each record's first row that may be inserted, or of its first row, and
    /// whether the record may be inserted.
    private func insertable(
        _ ordinals: [Int], of group: MappedBatch.Group, _ combined: CombinedRows?, _ origin: Origin
    ) -> (ordinals: [Int], mayInsert: [Bool]) {
        guard let isAllowed = origin.mayInsert else { return (ordinals, Array(repeating: true, count: ordinals.count)) }
        var (insertable, mayInsert) = (ordinals, [Bool](repeating: false, count: ordinals.count))
        for (row, ordinal) in group.elementIndices.enumerated() {
            let record = combined?.record(of: row) ?? row
            guard !mayInsert[record], isAllowed(ordinal) else { continue }
            (insertable[record], mayInsert[record]) = (ordinal, true)
        }
        return (insertable, mayInsert)
    }

    /// The records of a group of which all rows were read from identifiers only.
    private func stubs(of group: MappedBatch.Group, _ combined: CombinedRows?) -> Set<Int> {
        guard let combined, !group.stubRows.isEmpty else { return Set(group.stubRows) }
        let full = Set(0..<group.records.count).subtracting(group.stubRows)
        return Set(group.stubRows.map(combined.record)).subtracting(full.map(combined.record))
    }

    /// Notes the places that keep an object which another place loses.
    private func noteElsewhere(_ result: MergeRequest.Result, _ layout: EntityLayout, _ origin: Origin) {
        guard elsewhere != nil else { return }
        for id in deleting[layout.root] ?? [] where id != origin.relationship {
            for case let merged? in result.rows { elsewhere?[id, default: ObjectSet()].insert(merged.object) }
        }
    }

    private func noteListed(_ result: MergeRequest.Result, _ layout: EntityLayout, _ elementIndex: (Int) -> Int) {
        // Taken out during the change: a second reference would copy all of it.
        var listed = self.listed
        self.listed = ObjectSet()
        for (row, merged) in result.rows.enumerated() {
            guard let merged, !listed.insert(merged.object), reportsDuplicates else { continue }
            tally.drift.add(.duplicate, entity: layout.name, keyPath: "", index: elementIndex(row))
        }
        self.listed = listed
    }

    /// Reports objects of the list that a later element of the list states to be of another entity.
    private func noteReplaced(_ changes: [Int: ClassChange], _ layout: EntityLayout, _ elementIndex: (Int) -> Int) {
        for (row, change) in changes.sortedByKey {
            guard layout.root == listRoot, listed.remove(change.old), reportsDuplicates else { continue }
            tally.drift.add(.duplicate, entity: layout.name, keyPath: "", index: elementIndex(row))
        }
    }

    /// Combines the rows that have the same identity; nil if there are none.
    private func combine(_ group: MappedBatch.Group, _ origin: Origin) -> CombinedRows? {
        let name = group.mapping.layout.name
        let combined = CombinedRows(
            group, parents: origin.parents, laterCounts: rules.isImport || !origin.isNested
        ) { [self] keyPath, row in
            tally.drift.add(
                .conflict, entity: name, keyPath: keyPath, index: origin.elementIndex(group.elementIndices[row]))
        }
        guard let combined, !origin.isNested, !rules.isImport, reportsDuplicates else { return combined }
        for row in combined.repeatedRows {
            tally.drift.add(
                .duplicate, entity: name, keyPath: "", index: origin.elementIndex(group.elementIndices[row]))
        }
        return combined
    }
}

extension MappedBatch.Group {
    /// The records with a value for each relationship, by the index of the relationship.
    ///
    /// - Parameter record: Returns the record of a row.
    fileprivate func statedRelationships(_ record: (Int) -> Int) -> [Int: Set<Int>] {
        var stated: [Int: Set<Int>] = [:]
        for (index, nested) in nested.enumerated() {
            if let nested { stated[index] = Set(nested.sources.map { record($0.row) }) }
        }
        return stated
    }
}

extension MappedBatch {
    /// Whether the value of an identity did not fit. The store may have the object.
    fileprivate var hasUnfitIdentity: Bool {
        groups.contains { group in
            let layout = group.mapping.layout
            return (layout.identitySlots + layout.scopedIdentitySlots).contains { slot in
                let keyPath = group.mapping.keys.attributes[slot].path()?.joined(separator: ".")
                return drift.entries.contains {
                    $0.kind == .unfitValue && $0.entity == layout.name && $0.keyPath == keyPath
                }
            }
        }
    }
}
