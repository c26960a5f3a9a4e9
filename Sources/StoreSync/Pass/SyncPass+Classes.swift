import JSONMapper
import SyncBase
import SyncModel
import SyncStore

// A stored object cannot change its entity. If the payload states another entity, an object of that
// entity replaces it, with its values and links.
extension SyncPass {
    /// A stored object that is replaced by an object of another entity.
    struct ClassChange {
        /// The object that was removed.
        let old: ObjectID
        /// The index of its root entity.
        fileprivate let root: Int
        /// The links of the relationships that both entities have.
        fileprivate var links: [(relationship: EntityLayout.Relationship, targets: [ObjectID])] = []
        /// The lists of other objects that contain the object, each with all its targets.
        fileprivate var lists: [(relationship: EntityLayout.Relationship, source: ObjectID, targets: [ObjectID])] = []
    }

    /// Removes stored objects that the payload states to be of another entity.
    ///
    /// - Parameters:
    ///   - records: The records of a group. Values that they lack are taken from the removed
    ///     objects.
    ///   - refused: Rows that are not merged, whose objects stay.
    ///   - index: Returns the index in the payload of a row's element.
    /// - Returns: The removed objects by record, and the objects that keep their entity because the
    ///   payload has stated it before.
    func removeOtherClasses(
        of records: inout RecordBatch, _ layout: EntityLayout, _ origin: Origin, except refused: Set<Int>,
        index: (Int) -> Int
    ) async throws -> (replaced: [Int: ClassChange], kept: [Int: ObjectID]) {
        guard let base = base(of: layout, origin), origin.known == nil, origin.policy.inserts, origin.policy.updates
        else { return ([:], [:]) }
        let found = try await transaction.find(identities(of: records, as: base))
        guard found.contains(where: { $0 != nil }) else { return ([:], [:]) }
        let query = StoreQuery(base.name, objects: .only(Array(Set(found.compactMap(\.self))).sorted()))
        var others = try await objects(of: query, outside: layout)
        guard !others.isEmpty else { return ([:], [:]) }
        // If an object of the new entity exists too, it is the object of this record.
        let own = try await transaction.find(records)
        var changes: [Int: ClassChange] = [:]
        var kept: [Int: ObjectID] = [:]
        var filled = RecordBatch(of: layout)
        var replaced: [(row: Int, record: Record)] = []
        for row in 0..<records.count {
            guard let old = found[row], own[row] == nil, !refused.contains(row),
                let record = others.removeValue(forKey: old)
            else {
                filled.append(row: row, of: records)
                continue
            }
            guard !origin.isNested || !statements.statesEntity(of: old, layout) else {
                kept[row] = old
                filled.append(row: row, of: records)
                let kind = tally.kindOfConflict(old, of: layout)
                tally.drift.add(kind, entity: layout.name, keyPath: "", index: index(row))
                continue
            }
            statements.remove(old, of: layout)
            let common = try commonLayout(record.layout, layout)
            // Before any of them is removed, because several may be in the same list.
            changes[row] = try await change(of: old, record, common)
            replaced.append((row, record))
            var both = RecordBatch(of: layout)
            both.beginRecord()
            for slot in common.attributes.indices { both.setValue(record[slot: slot], at: slot) }
            both.endRecord()
            both.append(row: row, of: records)
            filled.append(combining: [0, 1], of: both)
        }
        for (row, record) in replaced {
            if let change = changes[row] { try await remove(record, change) }
        }
        records = filled
        return (changes, kept)
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

    /// The objects of a query that are neither of an entity nor of one of its sub-entities.
    private func objects(of query: StoreQuery, outside layout: EntityLayout) async throws -> [ObjectID: Record] {
        var objects: [ObjectID: Record] = [:]
        try await transaction.fetch(query, batchRowCount: 1000) { stored in
            for stored in stored where !layout.family.contains(stored.record.layout.index) {
                objects[stored.object] = stored.record
            }
        }
        return objects
    }

    /// The closest common ancestor of two entities.
    private func commonLayout(_ one: EntityLayout, _ other: EntityLayout) throws -> EntityLayout {
        var common = one
        while !other.isKind(of: common), let parent = common.parent { common = model.layouts[parent] }
        return common
    }

    /// Reads the links that the new object will take over.
    private func change(of old: ObjectID, _ record: Record, _ common: EntityLayout) async throws -> ClassChange {
        var change = ClassChange(old: old, root: common.root)
        for relationship in common.relationships {
            let targets = try await transaction.links(relationship, of: [old]).map(\.target)
            guard !targets.isEmpty else { continue }
            if let inverse = model.inverse(of: relationship), inverse.isOrdered {
                var lists: [ObjectID: [ObjectID]] = [:]
                for link in try await transaction.links(inverse, of: targets.sorted()) {
                    lists[link.source, default: []].append(link.target)
                }
                for (source, targets) in lists.sortedByKey {
                    change.lists.append((inverse, source, targets))
                }
            }
            change.links.append((relationship, targets))
        }
        change.lists += try await lists(with: old, record)
        return change
    }

    /// Removes the replaced object.
    private func remove(_ record: Record, _ change: ClassChange) async throws {
        // Unlinked first, so that delete rules neither delete its targets nor deny the deletion.
        for (relationship, _) in change.links {
            var batch = LinkBatch(relationship, mode: .replace)
            batch.append(change.old, to: [])
            _ = try await transaction.link(batch)
        }
        let query = StoreQuery(record.layout.name, objects: .only([change.old]))
        tally.countDeleted(
            try await transaction.remove(query, reportsKeys: rules.reportsKeys || tally.mayHaveInserted(query)))
    }

    /// The lists that contain an object and have no inverse relationship.
    private func lists(
        with object: ObjectID, _ record: Record
    ) async throws -> [(relationship: EntityLayout.Relationship, source: ObjectID, targets: [ObjectID])] {
        var lists: [(relationship: EntityLayout.Relationship, source: ObjectID, targets: [ObjectID])] = []
        for layout in model.layouts {
            for relationship in layout.relationships
            where relationship.source == layout.index && relationship.inverse == nil
                && record.layout.isKind(of: model.layouts[relationship.destination])
            {
                let destination = model.layouts[relationship.destination]
                let slots = record.layout.identitySlots
                guard slots.allSatisfy({ $0 < destination.attributes.count }) else { continue }
                let identity = RecordPredicate.and(
                    slots.map { PropertyPath(record.layout.attributes[$0].name) == record[slot: $0] })
                let query = StoreQuery(
                    layout.name, where: .related(PropertyPath(relationship.name), .any, identity))
                let sources = try await transaction.records(query).map(\.object)
                var targets: [ObjectID: [ObjectID]] = [:]
                for link in try await transaction.links(relationship, of: sources) {
                    targets[link.source, default: []].append(link.target)
                }
                for source in sources {
                    guard let targets = targets[source], targets.contains(object) else { continue }
                    lists.append((relationship, source, targets))
                }
            }
        }
        return lists
    }

    /// Gives new objects the links of the objects that they replace. The payload's own links are
    /// made later.
    ///
    /// - Parameter isStated: Whether the payload states a to-one relationship of the new object,
    ///   which may have its link already.
    func restoreLinks(
        _ changes: [Int: ClassChange], _ result: MergeRequest.Result,
        isStated: (_ record: Int, EntityLayout.Relationship) -> Bool
    ) async throws {
        let changes = changes.sortedByKey
        let rows = Dictionary(changes.map { ($1.old, (row: $0, root: $1.root)) }) { first, _ in first }
        // Objects of other root entities may have the same numbers.
        func row(of object: ObjectID, _ entity: Int) -> Int? {
            rows[object].flatMap { model.layouts[entity].root == $0.root ? $0.row : nil }
        }
        func current(_ object: ObjectID, _ entity: Int) -> ObjectID? {
            guard let row = row(of: object, entity) else { return object }
            return result.rows[row]?.object
        }
        for (row, change) in changes {
            guard let new = result.rows[row]?.object else { continue }
            for (relationship, targets) in change.links where !isStated(row, relationship) {
                var batch = LinkBatch(relationship, mode: .replace)
                batch.append(new, to: targets.compactMap { current($0, relationship.destination) })
                _ = try await transaction.link(batch)
            }
        }
        // Several replaced objects may be in the same list.
        var restored: [EntityLayout.Relationship.ID: Set<ObjectID>] = [:]
        for (relationship, source, targets) in changes.flatMap(\.value.lists) {
            guard let source = current(source, relationship.source),
                restored[relationship.id, default: []].insert(source).inserted
            else { continue }
            var batch = LinkBatch(relationship, mode: .replace)
            batch.append(source, to: targets.compactMap { current($0, relationship.destination) })
            _ = try await transaction.link(batch)
        }
    }
}
