import JSONMapper
import SyncBase
import SyncModel
import SyncStore

// A stored object cannot change its entity. If the payload states another entity, an object of that
// entity replaces it, with its values and links.
extension StorePass {
    /// Skips or replaces stored objects that the payload states to be of another entity.
    ///
    /// An object keeps its entity if the payload has stated it before. A replaced object is
    /// removed, and values that the payload lacks are taken from it.
    func replaceOthers(_ merge: inout GroupMerge) async throws {
        let (layout, origin, records) = (merge.layout, merge.origin, merge.records)
        guard let base = base(of: layout, origin), origin.known == nil, origin.policy.inserts, origin.policy.updates
        else { return }
        let found = try await transaction.find(identities(of: records, as: base))
        guard found.contains(where: { $0 != nil }) else { return }
        let query = StoreQuery(base.name, objects: .only(Set(found.compactMap(\.self)).sorted()))
        var others: [ObjectID: Record] = [:]
        for stored in try await transaction.records(query)
        where !layout.family.contains(stored.record.layout.index) {
            others[stored.object] = stored.record
        }
        guard !others.isEmpty else { return }
        // If an object of the new entity exists too, it is the object of this record.
        let own = try await transaction.find(records)
        merge.records = RecordBatch(of: layout)
        var replaced: [(record: Record, object: ReplacedObject)] = []
        for row in 0..<records.count {
            guard let old = found[row], own[row] == nil, !merge.skipped.keys.contains(row),
                let record = others.removeValue(forKey: old)
            else {
                merge.records.append(row: row, of: records)
                continue
            }
            guard !origin.isNested || !state.statements.statesEntity(of: old, layout) else {
                merge.skipped[row] = .some(old)
                merge.records.append(row: row, of: records)
                state.counts.drift.add(
                    state.counts.kindOfConflict(old, of: layout), entity: layout.name, keyPath: "",
                    index: merge.elementIndex(row))
                continue
            }
            state.statements.remove(old, of: layout)
            let common = commonLayout(record.layout, layout)
            // Before any of them is removed, because several may be in the same list.
            let object = try await replacedObject(old, record, common)
            merge.replaced[row] = object
            replaced.append((record, object))
            var both = RecordBatch(of: layout)
            both.beginRecord()
            for slot in common.attributes.indices { both.setValue(record[slot: slot], at: slot) }
            both.endRecord()
            both.append(row: row, of: records)
            merge.records.append(combining: [0, 1], of: both)
        }
        for (record, object) in replaced { try await remove(record, object) }
    }

    /// The entity that a payload states for objects of one of its sub-entities; nil if it is the
    /// entity itself, or has another identity.
    func base(of layout: EntityLayout, _ origin: Origin) -> EntityLayout? {
        guard let base = origin.entity.map({ model.layouts[$0] }), base.index != layout.index, base.hasIdentity,
            layout.isKind(of: base), base.identitySlots == layout.identitySlots
        else { return nil }
        return base
    }

    /// The identities of records, as records of another entity with the same identity.
    func identities(of records: RecordBatch, as layout: EntityLayout) -> RecordBatch {
        var identities = RecordBatch(of: layout)
        records.withReader { reader in
            for row in 0..<reader.count {
                identities.beginRecord()
                for slot in layout.identitySlots {
                    if let value = reader.value(row: row, slot: slot) { identities.setValue(value, at: slot) }
                }
                identities.endRecord()
            }
        }
        return identities
    }

    /// The closest common ancestor of two entities.
    private func commonLayout(_ one: EntityLayout, _ other: EntityLayout) -> EntityLayout {
        var common = one
        while !other.isKind(of: common), let parent = common.parent { common = model.layouts[parent] }
        return common
    }

    /// Reads the links that the new object will take over.
    private func replacedObject(
        _ object: ObjectID, _ record: Record, _ common: EntityLayout
    ) async throws -> ReplacedObject {
        var replaced = ReplacedObject(reference: ObjectReference(object, of: common))
        for relationship in common.relationships {
            guard let targets = try await targets(of: [object], by: relationship)[object] else { continue }
            replaced.links.append((relationship, object, targets))
            guard let inverse = model.inverse(of: relationship), inverse.isOrdered else { continue }
            for (source, targets) in try await self.targets(of: targets.sorted(), by: inverse).sortedByKey {
                replaced.lists.append((inverse, source, targets))
            }
        }
        for layout in model.layouts {
            for relationship in layout.relationships
            where relationship.source == layout.index && relationship.inverse == nil
                && record.layout.isKind(of: model.layouts[relationship.destination])
            {
                replaced.lists += try await lists(with: object, record, by: relationship)
            }
        }
        return replaced
    }

    /// The lists of a relationship without an inverse that contain an object.
    private func lists(
        with object: ObjectID, _ record: Record, by relationship: EntityLayout.Relationship
    ) async throws -> [ReplacedObject.Links] {
        let destination = model.layouts[relationship.destination]
        let slots = record.layout.identitySlots
        guard slots.allSatisfy({ $0 < destination.attributes.count }) else { return [] }
        let identity = RecordPredicate.and(
            slots.map { PropertyPath(record.layout.attributes[$0].name) == record[slot: $0] })
        let query = StoreQuery(
            model.layouts[relationship.source].name,
            where: .related(PropertyPath(relationship.name), .any, identity))
        let sources = try await transaction.records(query).map(\.object)
        let targets = try await targets(of: sources, by: relationship)
        return sources.compactMap { source in
            targets[source].flatMap { $0.contains(object) ? (relationship, source, $0) : nil }
        }
    }

    /// Removes the replaced object.
    private func remove(_ record: Record, _ replaced: ReplacedObject) async throws {
        // Unlinked first, so that delete rules neither delete its targets nor deny the deletion.
        for (relationship, _, _) in replaced.links {
            var batch = LinkBatch(relationship, mode: .replace)
            batch.append(replaced.object, to: [])
            _ = try await transaction.link(batch)
        }
        try await remove(StoreQuery(record.layout.name, objects: .only([replaced.object])))
    }

    /// Gives new objects the links of the objects that they replace. The payload's own links are
    /// made later.
    func restoreLinks(_ merge: GroupMerge) async throws {
        let replaced = merge.replaced.sortedByKey
        let rows = Dictionary(replaced.map { ($1.reference, $0) }) { first, _ in first }
        func current(_ object: ObjectID, _ entity: Int) -> ObjectID? {
            guard let row = rows[ObjectReference(object, of: model.layouts[entity])] else { return object }
            return merge.result.rows[row]?.object
        }
        /// Whether the new object may have its link already.
        func isStated(_ row: Int, _ relationship: EntityLayout.Relationship) -> Bool {
            guard relationship.id != merge.origin.owners?.relationship.id else { return true }
            guard !relationship.isToMany, merge.group.hasNested else { return false }
            return merge.group.nested[relationship.index]?.sources.contains {
                merge.rows.record(of: $0.row) == row
            } == true
        }
        let links = replaced.flatMap { row, object in object.links.filter { !isStated(row, $0.relationship) } }
        // Several replaced objects may be in the same list.
        var restored: [EntityLayout.Relationship.ID: Set<ObjectID>] = [:]
        for (relationship, source, targets) in links + replaced.flatMap(\.1.lists) {
            guard let source = current(source, relationship.source),
                restored[relationship.id, default: []].insert(source).inserted
            else { continue }
            var batch = LinkBatch(relationship, mode: .replace)
            batch.append(source, to: targets.compactMap { current($0, relationship.destination) })
            _ = try await transaction.link(batch)
            noteLinking(by: relationship)
        }
    }
}

/// A stored object that is replaced by an object of another entity.
struct ReplacedObject {
    /// All targets of a source.
    typealias Links = (relationship: EntityLayout.Relationship, source: ObjectID, targets: [ObjectID])

    /// The object that was removed.
    fileprivate let reference: ObjectReference
    /// The links of the relationships that both entities have.
    fileprivate var links: [Links] = []
    /// The lists of other objects that contain the object.
    fileprivate var lists: [Links] = []

    var object: ObjectID { reference.object }
}
