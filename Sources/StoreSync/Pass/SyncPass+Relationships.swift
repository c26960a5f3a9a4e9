import JSONMapper
import SyncModel
import SyncStore

extension SyncPass {
    /// Merges what is nested in the objects of a group, and relates them.
    ///
    /// - Parameters:
    ///   - nested: What is nested in them, by relationship.
    ///   - relatingsBefore: How often relationships were spoken of before the group was merged.
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
                // Not all that was mapped is to be merged: some objects have a later word, or are
                // none.
                elements = try NestedElements(
                    relationship, of: group, entries, mapper: mapper, keepsJSON: rules.isHookedWhereNested)
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

    /// What objects are to be related to, by relationship; the last word on each object, in the
    /// order of their rows.
    private func entries(
        of group: MappedBatch.Group, _ result: MergeResult, _ origin: Origin
    ) -> [[RelationshipSlices.Entry]] {
        MappedObjects.entries(of: group).entries.map { entries in
            var known = RowSet()
            var counting: [RelationshipSlices.Entry] = []
            for entry in entries.reversed() {
                let object = result.rows[entry.row]
                guard object != 0, origin.policy.updates || result.changes[entry.row] == .inserted else { continue }
                if known.insert(object) { counting.append(entry) }
            }
            return counting.reversed()
        }
    }

    private func relate(
        _ result: MergeResult, to elements: inout NestedElements, by relationship: RelationshipLayout,
        of layout: EntityLayout, _ outer: Origin, before relatingsBefore: Int
    ) async throws {
        let count = elements.elementIndices.count
        let owners = elements.owners.map { $0 < 0 ? 0 : result.rows[$0] }
        var targets = Array(repeating: Int64(0), count: count)
        var isNew = Array(repeating: false, count: count)
        var newTargets = RowSet()
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
                let found = try await transaction.merge(group.records, handles: nil, policy: .find)
                unknown = (group.records, [:])
                for (row, ordinal) in group.elementIndices.enumerated() {
                    targets[ordinal] = found.rows[row]
                    if found.rows[row] == 0 { unknown?.rows[ordinal] = row }
                }
            }
        }
        var sources = elements.sources
        if origin.owners != nil, mergeCount == 1, relatings[relationship, default: 0] == relatingsBefore {
            // New objects that lead to nothing but objects that came with them are related already.
            sources.removeAll { source in
                result.changes[source.row] == .inserted && source.ordinals.allSatisfy { isNew[$0] }
            }
        }
        noteStated(elements.sources.map { result.rows[$0.row] }, relationship)
        try await link(sources, of: result, to: targets, newTargets, by: relationship, of: layout)
        noteRelating(relationship)
        guard let unknown, !unknown.rows.isEmpty else { return }
        for source in elements.sources where source.ordinals.contains(where: { unknown.rows[$0] != nil }) {
            let wanted = source.ordinals.compactMap { ordinal -> DeferredLinks.Target? in
                if targets[ordinal] != 0 { return .object(targets[ordinal]) }
                return unknown.rows[ordinal].map { .unknown($0) }
            }
            let index = source.ordinals.first.map { origin.elementIndex($0) } ?? 0
            deferred.add(
                result.rows[source.row], relationship, to: wanted, of: unknown.batch, entity: layout.name,
                elementIndex: index)
        }
    }

    private func link(
        _ sources: [NestedElements.Source], of result: MergeResult, to targets: [Int64], _ newTargets: RowSet,
        by relationship: RelationshipLayout, of layout: EntityLayout
    ) async throws {
        let mode = rules.mode(of: relationship)
        let deletes = rules.deletesDetached(of: relationship, in: model)
        var owning = LinkBatch(relationship, mode: mode)
        owning.newTargets = newTargets
        var naming = owning
        // Of a list that could not be read in whole, nothing is known to be missing.
        var adding = LinkBatch(relationship, mode: .add)
        adding.newTargets = newTargets
        for source in sources {
            let row = result.rows[source.row]
            deferred.forget(row, relationship)
            var rows: [Int64] = []
            for ordinal in source.ordinals where targets[ordinal] != 0 { rows.append(targets[ordinal]) }
            if source.isIncomplete {
                if mode != .retain, !rows.isEmpty { adding.append(row, to: rows) }
            } else if deletes, source.holdsObjects || relationship.isOwning {
                owning.append(row, to: rows)
            } else {
                naming.append(row, to: rows)
            }
        }
        for (batch, isOwning) in [(naming, false), (adding, false), (owning, true)] where !batch.isEmpty {
            let result = try await transaction.link(batch)
            tally.countChanged(result.changed, of: layout)
            if isOwning, !result.detached.isEmpty {
                detached[relationship, default: []] += result.detached
            }
        }
    }

    /// Notes that what a relationship leads to has been said for some objects.
    private func noteRelating(_ relationship: RelationshipLayout) {
        relatings[relationship, default: 0] += 1
        if let inverse = model.inverse(of: relationship), inverse != relationship {
            relatings[inverse, default: 0] += 1
        }
    }

    /// Which objects nested ones without an identity are: those without one that the relationship
    /// leads to already, one after the other. So that the same payload does not make new ones each
    /// time.
    ///
    /// - Parameter owners: The objects that they are nested in, by ordinal.
    private func reused(
        _ batch: MappedBatch, _ owners: [Int64], by relationship: RelationshipLayout
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
        let parents = Set((ordinals + scoped.map(\.ordinal)).map { owners[$0] }.filter { $0 != 0 }).sorted()
        let links = try await transaction.links(relationship, of: parents)
        var nameless = RowSet()
        var identities: [Int64: [AttributeValue]] = [:]
        let query = StoreQuery(model.layouts[relationship.destination].name, rows: .only(links.map(\.target)))
        try await transaction.fetch(query, batchRowCount: 1000) { records in
            for stored in records where stored.record.key == nil {
                let slots = isScope ? stored.record.layout.scopedIdentitySlots : []
                let identity = slots.map { stored.record[slot: $0] }
                if identity.isEmpty || identity.contains(where: \.isNull) {
                    nameless.insert(stored.row)
                } else {
                    identities[stored.row] = identity
                }
            }
        }
        var left: [Int64: ArraySlice<Int64>] = [:]
        var known: [ScopedIdentity: Int64] = [:]
        for link in links {
            if nameless.contains(link.target) {
                left[link.source, default: []].append(link.target)
            } else if let identity = identities[link.target] {
                known[ScopedIdentity(parent: link.source, values: identity)] = link.target
            }
        }
        var reused: [Int: Int64] = [:]
        for (ordinal, identity) in scoped {
            reused[ordinal] = known[ScopedIdentity(parent: owners[ordinal], values: identity)]
        }
        for ordinal in ordinals.sorted() {
            reused[ordinal] = left[owners[ordinal]]?.popFirst()
        }
        return reused
    }

    /// An identity within a parent.
    private struct ScopedIdentity: Hashable {
        let parent: Int64
        let values: [AttributeValue]
    }

    /// Shows the hook the objects that match none in the store.
    ///
    /// - Parameter json: By ordinal.
    /// - Returns: Their JSON as the hook leaves it, by ordinal.
    func hook(_ batch: MappedBatch, _ json: [[UInt8]]) async throws -> [Int: [UInt8]] {
        guard let willInsert = rules.willInsert else { return [:] }
        var hooked: [Int: [UInt8]] = [:]
        for group in batch.groups {
            let found = try await transaction.merge(group.records, handles: nil, policy: .find)
            for (row, ordinal) in group.elementIndices.enumerated() where found.rows[row] == 0 {
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
