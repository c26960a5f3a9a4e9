import JSONMapper
import SyncModel
import SyncStore

extension SyncPass {
    /// Merges the objects nested in a group, and links them.
    ///
    /// - Parameters:
    ///   - nested: The nested elements by relationship.
    ///   - relatingsBefore: How often each relationship was processed before the group was merged.
    func relate(
        _ group: MappedBatch.Group, _ nested: [NestedElements?], _ result: MergeResult, _ origin: Origin,
        since relatingsBefore: [RelationshipLayout: Int]
    ) async throws {
        let layout = group.mapping.layout
        for (index, entries) in entries(of: group, result, origin).enumerated() where !entries.isEmpty {
            let relationship = layout.relationships[index]
            var elements: NestedElements
            if let mapped = nested[index], mapped.entryCount == entries.count {
                elements = mapped
            } else {
                // Some mapped elements must not be merged: their object is repeated later, or was
                // left out.
                elements = try NestedElements(
                    relationship, of: group, entries, mapper: mapper, keepsJSON: rules.isHookedWhereNested,
                    clearsAbsent: rules.clearsAbsent)
            }
            if let row = elements.unsuitableRow, rules.isImport {
                throw StoreSyncError.unsuitableRelationship(
                    entity: layout.name, relationship: relationship.name,
                    index: origin.elementIndex(group.elementIndices[row]))
            }
            tally.drift.add(elements.drift) { origin.elementIndex($0) }
            try await relate(
                result, to: &elements, by: relationship, of: layout, origin,
                before: relatingsBefore[relationship, default: 0])
        }
    }

    /// The last value of each relationship for each object, by relationship and in the order of the
    /// rows.
    private func entries(
        of group: MappedBatch.Group, _ result: MergeResult, _ origin: Origin
    ) -> [[RelationshipSlices.Entry]] {
        MappedObjects.entries(of: group).entries.map { entries in
            var known = ObjectSet()
            var counting: [RelationshipSlices.Entry] = []
            for entry in entries.reversed() {
                guard let merged = result.rows[entry.row], origin.policy.updates || merged.change == .inserted else {
                    continue
                }
                if known.insert(merged.object) { counting.append(entry) }
            }
            return counting.reversed()
        }
    }

    private func relate(
        _ result: MergeResult, to elements: inout NestedElements, by relationship: RelationshipLayout,
        of layout: EntityLayout, _ outer: Origin, before relatingsBefore: Int
    ) async throws {
        let count = elements.elementIndices.count
        let owners = elements.owners.map { $0 < 0 ? nil : result.rows[$0]?.object }
        var targets: [ObjectID?] = Array(repeating: nil, count: count)
        var isNew = Array(repeating: false, count: count)
        var newTargets = ObjectSet()
        var mergeCount = 0
        var origin = Origin(
            policy: rules.nestedPolicy, isNested: true, isToMany: relationship.isToMany,
            elementIndices: elements.elementIndices.map { outer.elementIndex($0) })
        if let inverse = model.inverse(of: relationship), rules.mode(of: relationship) != .retain,
            InitialLinks.isPossible(inverse, in: model)
        {
            origin.owners = (inverse, owners)
        }
        if let batch = elements.objects?.batch, rules.isHookedWhereNested {
            let hooked = try await hook(batch, elements.json)
            if !hooked.isEmpty { try elements.replace(hooked, mapper: mapper) }
        }
        if model.isScope(of: relationship) { origin.parents = owners }
        if let objects = elements.objects {
            origin.reused = try await reused(objects.batch, owners, by: relationship)
            mergeCount += objects.batch.groups.count
            try await merge(objects, origin) { ordinal, row, change in
                targets[ordinal] = row
                isNew[ordinal] = change == .inserted
                if change == .inserted { newTargets.insert(row) }
            }
        }
        var unknown: (batch: RecordBatch, rows: [Int: Int])?
        if let identifiers = elements.identifiers {
            mergeCount += 1
            if rules.isImport {
                try await merge(identifiers, origin) { ordinal, row, change in
                    targets[ordinal] = row
                    isNew[ordinal] = change == .inserted
                    if change == .inserted { newTargets.insert(row) }
                }
            } else {
                for problem in identifiers.batch.rejected {
                    tally.reject(problem.moved(to: origin.elementIndex(problem.index)), hasKey: false)
                }
            }
            if !rules.isImport, let group = identifiers.batch.groups.first {
                let found = try await transaction.find(group.records)
                unknown = (group.records, [:])
                for (row, ordinal) in group.elementIndices.enumerated() {
                    targets[ordinal] = found[row]
                    if found[row] == nil { unknown?.rows[ordinal] = row }
                }
            }
        }
        var sources = elements.sources
        if origin.owners != nil, mergeCount == 1, relatings[relationship, default: 0] == relatingsBefore {
            // New objects that lead only to objects inserted with them are linked already.
            sources.removeAll { source in
                result.rows[source.row]?.change == .inserted && source.ordinals.allSatisfy { isNew[$0] }
            }
        }
        noteStated(elements.sources.compactMap { result.rows[$0.row]?.object }, relationship)
        try await link(sources, of: result, to: targets, newTargets, by: relationship, of: layout)
        if let inverse = model.inverse(of: relationship), !inverse.isToMany, deferred.unknown[inverse.id] != nil,
            rules.mode(of: relationship) != .retain
        {
            // An object belongs to the one that nests it, whatever batch brings the object that it
            // names itself.
            for case let target? in targets { deferred.forget(target, inverse) }
        }
        noteRelating(relationship)
        guard let unknown, !unknown.rows.isEmpty else { return }
        for source in elements.sources where source.ordinals.contains(where: { unknown.rows[$0] != nil }) {
            let wanted = source.ordinals.compactMap { ordinal -> DeferredLinks.Target? in
                if let target = targets[ordinal] { return .object(target) }
                return unknown.rows[ordinal].map { .unknown($0) }
            }
            guard let object = result.rows[source.row]?.object else { continue }
            let index = source.ordinals.first.map { origin.elementIndex($0) } ?? 0
            deferred.add(
                object, relationship, to: wanted, of: unknown.batch, entity: layout.name, elementIndex: index)
        }
    }

    private func link(
        _ sources: [NestedElements.Source], of result: MergeResult, to targets: [ObjectID?], _ newTargets: ObjectSet,
        by relationship: RelationshipLayout, of layout: EntityLayout
    ) async throws {
        let mode = rules.mode(of: relationship)
        let deletes = rules.deletesDetached(of: relationship, in: model)
        var owning = LinkBatch(relationship, mode: mode)
        owning.newTargets = newTargets
        var naming = owning
        // A list that could not be read in whole says nothing about missing objects.
        var adding = LinkBatch(relationship, mode: .add)
        adding.newTargets = newTargets
        for source in sources {
            guard let row = result.rows[source.row]?.object else { continue }
            deferred.forget(row, relationship)
            let rows = source.ordinals.compactMap { targets[$0] }
            if source.isIncomplete {
                if mode != .retain, !rows.isEmpty { adding.append(row, to: rows) }
            } else if deletes, source.holdsObjects || relationship.isOwning {
                owning.append(row, to: rows)
            } else {
                naming.append(row, to: rows)
            }
        }
        for (batch, isOwning) in [(naming, false), (adding, false), (owning, true)] where !batch.isEmpty {
            try await link(batch, deletesDetached: isOwning, of: layout)
        }
    }

    /// Counts a relationship, and its inverse, as processed.
    private func noteRelating(_ relationship: RelationshipLayout) {
        relatings[relationship, default: 0] += 1
        if let inverse = model.inverse(of: relationship), inverse != relationship {
            relatings[inverse, default: 0] += 1
        }
    }

    /// Finds the stored objects that nested elements without an identity stand for.
    ///
    /// They are the objects without an identity that the relationship already leads to, in order,
    /// so that the same payload does not insert new ones each time.
    ///
    /// - Parameter owners: The objects that contain the elements, by ordinal.
    private func reused(
        _ batch: MappedBatch, _ owners: [ObjectID?], by relationship: RelationshipLayout
    ) async throws -> [Int: Int64] {
        guard !rules.isImport else { return [:] }
        let isScope = model.isScope(of: relationship)
        var ordinals: [Int] = []
        var scoped: [(ordinal: Int, identity: [AttributeValue])] = []
        for group in batch.groups {
            let layout = group.mapping.layout
            group.records.withReader { reader in
                for row in 0..<reader.count where !reader.isIdentified(row, by: layout.identitySlots) {
                    if isScope, reader.isIdentified(row, by: layout.scopedIdentitySlots) {
                        let identity = layout.scopedIdentitySlots.compactMap { reader.value(row: row, slot: $0) }
                        scoped.append((group.elementIndices[row], identity))
                    } else {
                        ordinals.append(group.elementIndices[row])
                    }
                }
            }
        }
        guard !ordinals.isEmpty || !scoped.isEmpty else { return [:] }
        if heldLinks.touches(owners, relationship, inverse: model.inverse(of: relationship)) { try await writeHeld() }
        let parents = Set((ordinals + scoped.map(\.ordinal)).compactMap { owners[$0] }).sorted()
        let links = try await transaction.links(relationship, of: parents)
        var nameless = ObjectSet()
        var identities: [ObjectID: [AttributeValue]] = [:]
        let query = StoreQuery(model.layouts[relationship.destination].name, objects: .only(links.map(\.target)))
        try await transaction.fetch(query, batchRowCount: 1000) { records in
            for stored in records where stored.record.key == nil {
                let slots = isScope ? stored.record.layout.scopedIdentitySlots : []
                let identity = slots.map { stored.record[slot: $0] }
                if identity.isEmpty || identity.contains(where: \.isNull) {
                    nameless.insert(stored.object)
                } else {
                    identities[stored.object] = identity
                }
            }
        }
        var left: [ObjectID: ArraySlice<ObjectID>] = [:]
        var known: [ScopedIdentity: ObjectID] = [:]
        for link in links {
            if nameless.contains(link.target) {
                left[link.source, default: []].append(link.target)
            } else if let identity = identities[link.target] {
                known[ScopedIdentity(parent: link.source, values: identity)] = link.target
            }
        }
        var reused: [Int: ObjectID] = [:]
        for (ordinal, identity) in scoped {
            if let owner = owners[ordinal] { reused[ordinal] = known[ScopedIdentity(parent: owner, values: identity)] }
        }
        for ordinal in ordinals.sorted() {
            if let owner = owners[ordinal] { reused[ordinal] = left[owner]?.popFirst() }
        }
        return reused
    }

    /// An identity within a parent.
    private struct ScopedIdentity: Hashable {
        let parent: ObjectID
        let values: [AttributeValue]
    }

    /// Calls the hook for the objects that match none in the store.
    ///
    /// - Parameter json: By ordinal.
    /// - Returns: The JSON that the hook returned, by ordinal.
    func hook(_ batch: MappedBatch, _ json: [[UInt8]]) async throws -> [Int: [UInt8]] {
        guard let willInsert = rules.willInsert else { return [:] }
        var hooked: [Int: [UInt8]] = [:]
        for group in batch.groups {
            let found = try await transaction.find(group.records)
            for (row, ordinal) in group.elementIndices.enumerated() where found[row] == nil {
                guard case .object(let object) = try JSONValue(parsing: json[ordinal], exactDecimals: true) else {
                    continue
                }
                var writer = JSONWriter()
                try writer.value(.object(try willInsert(object, group.mapping.layout.name)))
                hooked[ordinal] = writer.bytes
            }
        }
        return hooked
    }
}

extension DataModel {
    /// Whether a relationship leads from parents to objects whose identity is scoped by it.
    func isScope(of relationship: RelationshipLayout) -> Bool {
        let destination = layouts[relationship.destination]
        guard let scope = destination.identityScope else { return false }
        return inverse(of: destination.relationships[scope])?.id == relationship.id
    }
}
