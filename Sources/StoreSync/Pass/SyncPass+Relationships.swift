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
        let count = group.mapping.layout.relationships.count
        var known = Array(repeating: ObjectSet(), count: count)
        var entries: [[RelationshipSlices.Entry]] = Array(repeating: [], count: count)
        for entry in group.relationships.entries.reversed() {
            guard let merged = result.rows[entry.row], origin.policy.updates || merged.change == .inserted else {
                continue
            }
            if known[entry.relationship].insert(merged.object) { entries[entry.relationship].append(entry) }
        }
        return entries.map { $0.reversed() }
    }

    private func relate(
        _ result: MergeResult, to elements: inout NestedElements, by relationship: RelationshipLayout,
        of layout: EntityLayout, _ outer: Origin, before relatingsBefore: Int
    ) async throws {
        let count = elements.elementIndices.count
        let owners = elements.owners.map { result.rows[$0]?.object }
        var targets: [ObjectID?] = Array(repeating: nil, count: count)
        var isNew = Array(repeating: false, count: count)
        var newTargets = ObjectSet()
        var mergeCount = 0
        var origin = Origin(
            policy: rules.nestedPolicy, isNested: true,
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
            } else if let group = identifiers.batch.groups.first {
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
            // New objects that lead to nothing but objects that came with them are related already.
            sources.removeAll { source in
                result.rows[source.row]?.change == .inserted && source.ordinals.allSatisfy { isNew[$0] }
            }
        }
        try await link(sources, of: result, to: targets, newTargets, by: relationship, of: layout)
        noteRelating(relationship)
        guard let unknown, !unknown.rows.isEmpty else { return }
        for source in elements.sources where source.ordinals.contains(where: { unknown.rows[$0] != nil }) {
            let wanted = source.ordinals.compactMap { ordinal -> DeferredLinks.Target? in
                if let target = targets[ordinal] { return .object(target) }
                return unknown.rows[ordinal].map { .unknown($0) }
            }
            guard let object = result.rows[source.row]?.object else { continue }
            deferred.add(object, relationship, to: wanted, of: unknown.batch)
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
        for source in sources {
            guard let row = result.rows[source.row]?.object else { continue }
            deferred.forget(row, relationship)
            let rows = source.ordinals.compactMap { targets[$0] }
            if deletes, source.holdsObjects {
                owning.append(row, to: rows)
            } else {
                naming.append(row, to: rows)
            }
        }
        for (batch, isOwning) in [(naming, false), (owning, true)] where !batch.isEmpty {
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
        _ batch: MappedBatch, _ owners: [ObjectID?], by relationship: RelationshipLayout
    ) async throws -> [Int: Int64] {
        guard !rules.isImport else { return [:] }
        var ordinals: [Int] = []
        for group in batch.groups {
            let slots = group.mapping.layout.identitySlots
            group.records.withReader { reader in
                for row in 0..<reader.count where !reader.isIdentified(row, by: slots) {
                    ordinals.append(group.elementIndices[row])
                }
            }
        }
        guard !ordinals.isEmpty else { return [:] }
        let parents = Set(ordinals.compactMap { owners[$0] }).sorted()
        let links = try await transaction.links(relationship, of: parents)
        var nameless = ObjectSet()
        let query = StoreQuery(model.layouts[relationship.destination].name, objects: .only(links.map(\.target)))
        try await transaction.fetch(query, batchRowCount: 1000) { records in
            for stored in records where stored.record.key == nil { nameless.insert(stored.object) }
        }
        var left: [Int64: ArraySlice<Int64>] = [:]
        for link in links where nameless.contains(link.target) { left[link.source, default: []].append(link.target) }
        var reused: [Int: Int64] = [:]
        for ordinal in ordinals.sorted() {
            if let owner = owners[ordinal] { reused[ordinal] = left[owner]?.popFirst() }
        }
        return reused
    }

    /// Shows the hook the objects that match none in the store.
    ///
    /// - Parameter json: By ordinal.
    /// - Returns: Their JSON as the hook leaves it, by ordinal.
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
