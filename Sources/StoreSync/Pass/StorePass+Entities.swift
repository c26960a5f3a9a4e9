import JSONMapper
import SyncBase
import SyncModel
import SyncStore

// A stored object gets the entity that the payload states for it. It stays the same object, with
// the values and the links that both entities have.
extension StorePass {
    /// Gives stored objects the entity that the payload states for them.
    ///
    /// A nested object whose entity the payload has stated before keeps it. If the list may yet
    /// state it, the change waits.
    func changeEntities(_ merge: inout GroupMerge) async throws {
        let (layout, origin) = (merge.layout, merge.origin)
        guard origin.known == nil, origin.policy.inserts, origin.policy.updates else { return }
        let candidates = try await objectsOfOtherEntities(merge)
        guard candidates.contains(where: { $0 != nil }) else { return }
        // If an object of the new entity exists too, it is the object of the record.
        let own = try await transaction.find(merge.records)
        var rows: [ObjectID: Int] = [:]
        for case (let row, let object?) in candidates.enumerated()
        where own[row] == nil || own[row] == object && !merge.waitsForList {
            if !merge.skipped.keys.contains(row) { rows[object] = row }
        }
        let (changed, others) = try await changeEntity(
            of: merge.waitsForList ? [] : rows.keys.sorted(), to: layout, keepsStated: origin.isNested
        ) { rows[$0].map(merge.elementIndex) ?? 0 }
        for (object, row) in rows {
            if changed.contains(object) {
                merge.changed.insert(row)
            } else if own[row] == nil || others.contains(object) {
                merge.skipped[row] = .some(object)
                if merge.waitsForList { merge.waiting[row] = object }
            }
        }
    }

    /// The stored object of each record that may have another entity than the payload states: one
    /// of the expected entity, or of a sub-entity.
    private func objectsOfOtherEntities(_ merge: GroupMerge) async throws -> [ObjectID?] {
        let (records, layout) = (merge.records, merge.layout)
        var objects = [ObjectID?](repeating: nil, count: records.count)
        if let base = base(of: layout, expected: merge.origin.entity) {
            objects = try await transaction.find(identities(of: records, as: base))
        }
        guard layout.hasIdentity, layout.family.count > 1 else { return objects }
        let stated = merge.statedRecords
        for child in stated.isEmpty ? [] : model.layouts where child.parent == layout.index {
            guard child.identityColumns == layout.identityColumns else { continue }
            let found = try await transaction.find(identities(of: records, as: child))
            for row in stated { objects[row] = found[row] ?? objects[row] }
        }
        return objects
    }

    /// Gives objects another entity.
    ///
    /// An object keeps its sub-entity if the payload has it in a place for such objects. This is
    /// reported.
    ///
    /// - Parameters:
    ///   - keepsStated: Whether an object keeps the entity that the payload has stated for it. This
    ///     is reported.
    ///   - index: Returns the index in the payload of an object's element.
    /// - Returns: The objects whose entity has changed, and those that stay of another one, because
    ///   of another statement or because the store refuses the change. Nothing of these has
    ///   changed.
    func changeEntity(
        of objects: [ObjectID], to layout: EntityLayout, keepsStated: Bool, index: (ObjectID) -> Int
    ) async throws -> (changed: ObjectSet, others: ObjectSet) {
        var (changed, others) = (ObjectSet(), ObjectSet())
        guard !objects.isEmpty else { return (changed, others) }
        var formers: [Int: [ObjectID]] = [:]
        let query = StoreQuery(model.layouts[layout.root].name, objects: .only(objects))
        try await transaction.fetch(query, batchRowCount: 1000) { records in
            for stored in records where stored.record.layout.index != layout.index {
                let isBelow = stored.record.layout.isKind(of: layout)
                // No object is of an abstract entity itself.
                if isBelow, layout.isAbstract { continue }
                if keepsStated && state.statements.statesEntity(of: stored.object, layout)
                    || isBelow && state.statements.isInPlace(stored.object, below: layout, in: model)
                {
                    let kind = state.counts.kindOfConflict(stored.object, of: layout)
                    state.problems.drift.add(kind, entity: layout.name, keyPath: "", index: index(stored.object))
                    if !isBelow { others.insert(stored.object) }
                } else {
                    formers[stored.record.layout.index, default: []].append(stored.object)
                }
            }
        }
        for (entity, objects) in formers.sortedByKey {
            try await changeEntity(of: objects, from: model.layouts[entity], to: layout, &changed, &others, index)
        }
        return (changed, others)
    }

    /// Gives objects of one entity another one. Of several objects that the store refuses together,
    /// each is set aside that it refuses alone.
    private func changeEntity(
        of objects: [ObjectID], from former: EntityLayout, to layout: EntityLayout, _ changed: inout ObjectSet,
        _ refused: inout ObjectSet, _ index: (ObjectID) -> Int
    ) async throws {
        let lost = model.relationships(of: former, lostBy: layout).own
        var detached: [(relationship: EntityLayout.Relationship, objects: ObjectSet)] = []
        for relationship in lost where rules.deletesDetached(of: relationship, in: model) {
            let targets = try await targets(of: objects, by: relationship).values.joined()
            detached.append((relationship, ObjectSet(targets)))
        }
        do {
            try await transaction.changeEntity(of: objects, from: former.name, to: layout.name)
        } catch StoreError.refused(var refusal) {
            guard objects.count == 1 || !rules.setsRefusedAside else {
                for half in [objects.prefix(objects.count / 2), objects.dropFirst(objects.count / 2)] {
                    try await changeEntity(of: Array(half), from: former, to: layout, &changed, &refused, index)
                }
                return
            }
            refusal.index = (refusal.object ?? (objects.count == 1 ? objects.first : nil)).map(index)
            guard rules.setsRefusedAside else { throw StoreError.refused(refusal) }
            reject(refusal, index: refusal.index)
            for object in objects { refused.insert(object) }
            return
        }
        for (relationship, objects) in detached { state.orphaned.insert(objects.objects, by: relationship) }
        for relationship in lost { noteLinking(by: relationship) }
        state.counts.move(objects, from: former, to: layout)
        let commonCount = model.commonAncestor(of: former, layout).attributes.count
        for object in objects {
            state.statements.keep(object, columnsBelow: commonCount, of: layout)
            changed.insert(object)
        }
    }

    /// The entity that a payload states for objects of one of its sub-entities; nil if it is the
    /// entity itself, or has another identity.
    func base(of layout: EntityLayout, expected entity: Int?) -> EntityLayout? {
        guard let base = entity.map({ model.layouts[$0] }), base.index != layout.index, base.hasIdentity,
            layout.isKind(of: base), base.identityColumns == layout.identityColumns
        else { return nil }
        return base
    }

    /// The identities of records, as records of another entity with the same identity.
    func identities(of records: RecordBatch, as layout: EntityLayout) -> RecordBatch {
        var identities = RecordBatch(of: layout)
        records.withReader { reader in
            for row in 0..<reader.count {
                identities.beginRecord()
                for column in layout.identityColumns {
                    if let value = reader.value(row: row, column: column) { identities.setValue(value, at: column) }
                }
                identities.endRecord()
            }
        }
        return identities
    }

    /// The stored object of each record; its entity may be any of the record's family.
    ///
    /// - Parameter entity: The index of the entity that the payload states for the records.
    func stored(
        _ records: RecordBatch, _ layout: EntityLayout, expected entity: Int?
    ) async throws -> [ObjectID?] {
        guard layout.hasIdentity else { return Array(repeating: nil, count: records.count) }
        guard let base = base(of: layout, expected: entity) else { return try await transaction.find(records) }
        return try await transaction.find(identities(of: records, as: base))
    }
}

extension GroupMerge {
    /// The records whose object is of this entity, as the payload states, and of no sub-entity.
    var statedRecords: Set<Int> {
        guard origin.statesEntity, group.mapping.keys.entityMapperName != nil else { return [] }
        let stubs = Set(group.stubRows)
        let stated = group.elementIndices.indices.filter { group.undetermined[$0] == nil && !stubs.contains($0) }
        return Set(stated.map(rows.record))
    }
}

extension MergeRequest.Result {
    /// Notes rows whose objects have changed before the merge.
    mutating func noteUpdates(of rows: some Sequence<Int>) {
        for row in rows where self.rows[row]?.change == .unchanged { self.rows[row]?.change = .updated }
    }
}
