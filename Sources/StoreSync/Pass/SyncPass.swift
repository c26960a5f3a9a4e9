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
/// A ``SyncRequest`` drives the pass. It calls `mergeListed` for each batch, `finish()` after the
/// last one, then `sweep`, `settleValues()`, `settlePendingLinks()` and `reportIncomplete()`.
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
    /// The objects that lacked a mandatory relationship when they were merged. `reportIncomplete()`
    /// reports those that still lack it.
    var incomplete = IncompleteObjects()
    /// The objects that wait for unique values. `settleValues()` gives them these.
    var refusedRows = RefusedRows()
    /// The nested records that were merged, to skip repeated ones.
    var repeatedRecords = RepeatedRecords()
    /// The changes that later changes of the same pass may undo; read by `hasUndoneItself(in:)`.
    var ledger = PassLedger()
    /// How often each relationship was linked, from either end. While the number stays the same, a
    /// newly inserted object has no other links of the relationship.
    var relatings: [EntityLayout.Relationship: Int] = [:]

    /// The objects whose relationship the payload has stated, by relationship. Used to report
    /// contradicting statements, and to drop stored identifiers that the payload states anew.
    var stated: [EntityLayout.Relationship.ID: ObjectSet] = [:]
    /// The part of `stated` that is from the current page; nil if the payload has no pages.
    var statedInPage: [EntityLayout.Relationship.ID: ObjectSet]?
    /// The objects of the list whose relationship the list states, by relationship. What nested
    /// objects state about these relationships is ignored. Empty unless `nestsItself`.
    var statedByList: [EntityLayout.Relationship.ID: ObjectSet] = [:]
    /// Whether updates and links are held. True until the pass writes one; false in an import.
    var isHolding: Bool
    /// Updates that wait until the pass writes something or ends.
    var heldRows = HeldRows()
    /// Changes of links that wait until the pass writes something or ends.
    var heldLinks = HeldLinks()
    /// Updates by nested objects to entities of the list. `finish()` applies those that the list
    /// does not decide.
    var nestedUpdates = NestedUpdates()
    /// The index of the root entity of the payload's list; nil in an import, and if there is no
    /// list.
    let listRoot: Int?
    /// The objects that the list has had so far.
    var listed = ObjectSet()
    /// The objects of the list for which it has no value yet, by attribute. A nested object may
    /// supply it. Empty unless `nestsItself`.
    var lacking: [AttributePlace: ObjectSet] = [:]
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
        isHolding = !rules.isImport
        tally = SyncTally(mapper.model)
    }

    var model: DataModel {
        mapper.model
    }

    /// An attribute, by the indices of its entity and of its slot.
    struct AttributePlace: Hashable {
        let entity: Int
        let slot: Int
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
        /// Whether nested objects are linked to the objects that contain them.
        var areRelated = true
        /// Whether one object can be nested in several others.
        var belongsToMany = false
        /// The relationship in which they are nested.
        var relationship: EntityLayout.Relationship.ID?
        /// The relationship back to the objects that contain them.
        var inverse: EntityLayout.Relationship.ID?
        /// Returns the parent within which the object of an ordinal is identified; nil if the
        /// identity is not scoped.
        var parents: ((Int) -> ObjectID?)?
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

    /// Receives the ordinal of a merged object, the object, and its change.
    typealias Collector = (Int, Int64, MergeRequest.Result.Change) -> Void

    // MARK: Objects

    /// Merges objects of the payload's list and their nested objects.
    ///
    /// If elements of the batch contradict each other, the last one counts, whatever the batch
    /// size.
    ///
    /// - Parameter collect: Receives each merged object.
    func mergeListed(_ batch: MappedBatch, _ origin: Origin, _ collect: Collector? = nil) async throws {
        let cuts = rules.relates ? BatchCuts.cuts(of: batch, in: model) : []
        for part in batch.parts(beginningAt: cuts) { try await merge(part, origin, collect) }
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
            var skipped: Set<Int> = []
            if !group.undetermined.isEmpty {
                for specific in try await remapped(group, &skipped) {
                    try await merge(specific, origin, collect)
                }
            }
            try await merge(group, origin, skipping: skipped, collect)
        }
    }

    /// Maps objects again as the sub-entity that the store has them as.
    ///
    /// - Parameter skipped: Receives their rows in the group.
    private func remapped(_ group: MappedBatch.Group, _ skipped: inout Set<Int>) async throws -> [MappedBatch] {
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
            skipped.insert(row)
        }
        // The drift that the second mapping finds replaces that of the first.
        if let former = try former.takeBatch() {
            tally.toleratedCount -= former.toleratedCount
            tally.drift.remove(former.drift)
        }
        return try collectors.keys.sorted().compactMap { try collectors[$0]?.takeBatch() }
    }

    private func merge(
        _ group: MappedBatch.Group, _ origin: Origin, skipping skipped: Set<Int>,
        _ collect: Collector?
    ) async throws {
        let layout = group.mapping.layout
        var origin = origin
        let scope = try await resolveScope(of: group, &origin)
        let combined = combine(group, origin, except: skipped)
        let skipped = combined.map { combined in Set(skipped.map { combined.record(of: $0) }) } ?? skipped
        var records = combined?.records ?? group.records
        let ordinals = combined?.ordinals ?? group.elementIndices
        var refused = try await refuseIncomplete(records, ordinals, group, origin, skipping: skipped)
        for (row, object) in try await olderRows(of: records, layout, origin) where !skipped.contains(row) {
            refused.updateValue(object, forKey: row)
        }
        let replaced =
            skipped.isEmpty
            ? try await removeOtherClasses(of: &records, layout, origin, except: Set(refused.keys)) : [:]
        if !origin.isNested { noteReplaced(replaced, layout) { origin.elementIndex(ordinals[$0]) } }
        let matches = self.matches(
            of: records, ordinals, group.mapping, origin, skipping: skipped.union(refused.keys))
        let relatingsBefore = relatings
        var policy = origin.policy
        let isDeferred = origin.isNested && policy.updates && layout.root == listRoot
        if isDeferred { policy.updates = false }
        if !origin.areRelated, !layout.hasIdentity { policy.inserts = false }
        if origin.known != nil { try await writeHeld() }
        var early = try await mergeEarlyTargets(
            of: group, combined, origin, scope: scope, isWhole: matches?.contains(.skipped) != true)
        var links: [MergeRequest.InitialLinks] = []
        if let owners = origin.owners {
            links.append(MergeRequest.InitialLinks(owners.relationship, targets: ordinals.map { owners.objects[$0] }))
        }
        for index in early.keys.sorted() {
            guard let initial = early[index]?.links else { continue }
            links.append(initial)
        }
        policy.previewsUpdates = isHolding && policy.updates
        var request = MergeRequest(records, matches: matches, policy: policy)
        let repeated = links.isEmpty ? self.repeated(request, layout, origin) : nil
        if let repeated { request.matches = repeated.matches }
        var result =
            repeated?.areComplete == true
            ? MergeRequest.Result(Array(repeating: nil, count: records.count))
            : try await merge(request, linking: links) { origin.elementIndex(ordinals[$0]) }
        repeatedRecords.note(repeated, result, of: layout)
        let firstEarly = links.count - early.count
        for (index, key) in early.keys.sorted().enumerated() {
            early[key]?.noteLinked(result, by: firstEarly + index, combined, heldLinks, in: model)
        }
        if !replaced.isEmpty {
            let stated = group.statedRelationships { combined?.record(of: $0) ?? $0 }
            try await restoreLinks(replaced, result) { record, relationship in
                relationship.id == origin.owners?.relationship.id
                    || !relationship.isToMany && stated[relationship.index]?.contains(record) == true
            }
        }
        if policy.previewsUpdates {
            result = try await hold(request, result, layout) { origin.elementIndex(ordinals[$0]) }
        }
        repeated?.complete(&result)
        // A stored object whose row was refused is there, and keeps its values.
        var present = result
        for case (let row, let object?) in refused { present.rows[row] = MergeRequest.Result.Row(object, .unchanged) }
        for (row, kind) in tally.count(present, of: layout) {
            tally.drift.add(kind, entity: layout.name, keyPath: "", index: origin.elementIndex(ordinals[row]))
        }
        if !origin.isNested, reportsDuplicates, result.rows.contains(where: { $0?.change == .inserted }) {
            ledger.hasCertainInsertion = true
        }
        if isDeferred {
            nestedUpdates.add(records, result, layout) { origin.elementIndex(ordinals[$0]) }
        } else if !origin.isNested, layout.root == listRoot {
            if nestsItself { noteLacking(records, result, layout) }
            noteListed(present, layout) { origin.elementIndex(ordinals[$0]) }
        }
        noteElsewhere(present, layout, origin)
        if let combined {
            result = combined.expanded(result)
            present = refused.isEmpty ? result : combined.expanded(present)
        }
        if let collect {
            for (ordinal, merged) in zip(group.elementIndices, present.rows) {
                if let merged { collect(ordinal, merged.object, merged.change) }
            }
        }
        if group.hasNested, rules.relates {
            try await relate(group, result, origin, early: early, since: relatingsBefore)
        }
        noteIncomplete(group, result, origin)
    }

    /// Notes the attributes for which an object of the list has no value yet.
    private func noteLacking(_ records: RecordBatch, _ result: MergeRequest.Result, _ layout: EntityLayout) {
        records.withReader { reader in
            for slot in 0..<reader.columnCount {
                let place = AttributePlace(entity: layout.index, slot: slot)
                // Taken out during the change: a second reference would copy all of it.
                var objects = lacking.removeValue(forKey: place) ?? ObjectSet()
                for (row, merged) in result.rows.enumerated() {
                    guard let object = merged?.object else { continue }
                    if reader.kind(row: row, slot: slot) != .absent {
                        objects.remove(object)
                    } else if !listed.contains(object) {
                        objects.insert(object)
                    }
                }
                if !objects.isEmpty { lacking[place] = objects }
            }
        }
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
    private func combine(
        _ group: MappedBatch.Group, _ origin: Origin, except skipped: Set<Int>
    ) -> CombinedRows? {
        let name = group.mapping.layout.name
        let combined = CombinedRows(group, except: skipped, parents: origin.parents) { [self] keyPath, row in
            tally.drift.add(
                .conflict, entity: name, keyPath: keyPath, index: origin.elementIndex(group.elementIndices[row]))
        }
        guard let combined, !origin.isNested, reportsDuplicates, !rules.isImport else { return combined }
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
