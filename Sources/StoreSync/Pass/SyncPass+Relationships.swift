import JSONMapper
import SyncBase
import SyncModel
import SyncStore

extension SyncPass {
    /// Merges the objects nested in a group, and links the group's objects to them.
    ///
    /// - Parameters:
    ///   - early: The targets that were merged before the group, by the index of the relationship.
    ///   - relatingsBefore: The value of `relatings` before the group was merged.
    func relate(
        _ group: MappedBatch.Group, _ result: MergeRequest.Result, _ origin: Origin, early: [Int: EarlyTargets],
        since relatingsBefore: [EntityLayout.Relationship: Int]
    ) async throws {
        for (index, nested) in group.nested.enumerated() where nested != nil {
            let relationship = group.mapping.layout.relationships[index]
            if early[index] == nil, waitsForList(relationship, of: group.mapping.layout, origin) {
                self.nested.add(
                    NestedStatements.Links(
                        group: group, result: result, origin: origin, index: index, relatingsBefore: relatingsBefore))
            } else {
                try await relate(group, result, origin, by: index, early: early[index], since: relatingsBefore)
            }
        }
    }

    /// Whether the list may yet decide what nested objects state about a relationship.
    func waitsForList(_ relationship: EntityLayout.Relationship, of layout: EntityLayout, _ origin: Origin) -> Bool {
        guard origin.isNested, !isListRead, let listRoot, !isDecided(relationship, origin) else { return false }
        return layout.root == listRoot
            || model.layouts[relationship.destination].root == listRoot && relationship.inverse != nil
    }

    /// Whether a relationship leads back to the only object that can contain the objects of an
    /// origin. An object belongs to the one that it is nested in, whatever it states itself.
    private func isDecided(_ relationship: EntityLayout.Relationship, _ origin: Origin) -> Bool {
        relationship.id == origin.inverse && !relationship.isToMany
    }

    /// Merges the objects nested in a group by one relationship, and links the group's objects to
    /// them.
    ///
    /// - Parameters:
    ///   - index: The index of the relationship.
    ///   - early: The targets that were merged before the group.
    func relate(
        _ group: MappedBatch.Group, _ result: MergeRequest.Result, _ origin: Origin, by index: Int,
        early: EarlyTargets? = nil, since relatingsBefore: [EntityLayout.Relationship: Int]
    ) async throws {
        let relationship = group.mapping.layout.relationships[index]
        guard let elements = group.nested[index].flatMap({ counting($0, result, origin) }) else { return }
        try note(elements.misfits, of: group, relationship, origin)
        if let early, laterCounts(origin) {
            return try await link(
                early.merged, of: group, result, by: relationship, origin, isLinked: early.isLinked)
        }
        // The rows whose statement is not carried out, because an earlier one counts.
        var beaten: Set<Int> = []
        var isEarly = [Bool](repeating: false, count: group.records.count)
        for source in early?.merged.elements.sources ?? [] { isEarly[source.row] = true }
        let others = elements.sources.filter { !isEarly[$0.row] }
        var dropped: Set<Int> = []
        if !laterCounts(origin), !others.isEmpty {
            let stated = statements.stated(relationship)
            var known = ObjectSet()
            for source in early?.merged.elements.sources ?? [] {
                if let object = result.rows[source.row]?.object { known.insert(object) }
            }
            for source in others {
                guard let object = result.rows[source.row]?.object else { continue }
                let isRepeated = !known.insert(object)
                if isRepeated, !elements.isIdentified {
                    // Only one statement of a batch can be compared with objects that it does not
                    // name.
                    dropped.insert(source.row)
                } else if isRepeated || isDecided(relationship, origin)
                    || stated.contains(object)
                {
                    beaten.insert(source.row)
                }
            }
        }
        let barred = beaten.filter { row in
            // What the earlier statement names may be an element of this one.
            result.rows[row].map { !deferred.lacksObjects(of: $0.object, relationship) } ?? true
        }
        if let early {
            try await link(early.merged, of: group, result, by: relationship, origin, isLinked: early.isLinked)
            guard !beaten.isEmpty else { return }
        }
        let rest =
            early == nil && dropped.isEmpty
            ? elements : elements.restricted { isEarly[$0] || dropped.contains($0) ? nil : $0 }
        let owners = rest.owners.map { $0 < 0 ? nil : result.rows[$0]?.object }
        let merged = try await merge(rest, of: group, owners: owners, by: relationship, origin, barred: barred) {
            result.rows[$0]?.object
        }
        let carried = beaten.isEmpty ? merged : merged.restricted { !beaten.contains($0) }
        let isUntouched = relatings[relationship, default: 0] == relatingsBefore[relationship, default: 0]
        let linksNew = merged.linksNew && isUntouched && beaten.isEmpty
        if !carried.elements.sources.isEmpty {
            try await link(carried, of: group, result, by: relationship, origin) { source in
                // New objects whose targets were all inserted with their links need no linking.
                linksNew && result.rows[source.row]?.change == .inserted
                    && source.ordinals.allSatisfy { merged.isNew[$0] }
            }
        }
        if !beaten.isEmpty { try await compare(merged, beaten, of: group, result, by: relationship, origin) }
    }

    /// The elements whose links count; nil if there are none.
    ///
    /// If several rows of the list are of one object, only the elements of the last one count.
    /// Values that do not fit are reported for each row.
    private func counting(_ nested: NestedElements, _ result: MergeRequest.Result, _ origin: Origin) -> NestedElements?
    {
        func object(_ row: Int) -> ObjectID? {
            guard let merged = result.rows[row], origin.policy.updates || merged.change == .inserted
            else { return nil }
            return merged.object
        }
        let misfits = nested.misfits.filter { object($0.row) != nil }
        var known = ObjectSet()
        var isCounting = [Bool](repeating: false, count: result.rows.count)
        for source in nested.sources.reversed() {
            guard let object = object(source.row) else { continue }
            isCounting[source.row] = known.insert(object) || !laterCounts(origin)
        }
        guard !known.isEmpty || !misfits.isEmpty else { return nil }
        var counting = nested
        if !nested.sources.allSatisfy({ isCounting[$0.row] }) {
            counting = nested.restricted { isCounting[$0] ? $0 : nil }
        }
        counting.misfits = misfits
        return counting
    }

    /// Reports values that do not fit the relationship.
    ///
    /// - Throws: `StoreSyncError.unsuitableRelationship` in an import.
    private func note(
        _ misfits: [NestedElements.Misfit], of group: MappedBatch.Group, _ relationship: EntityLayout.Relationship,
        _ origin: Origin
    ) throws {
        guard !misfits.isEmpty else { return }
        let layout = group.mapping.layout
        if rules.isImport, let misfit = misfits.first(where: { $0.kind == .changedShape }) {
            throw StoreSyncError.unsuitableRelationship(
                entity: layout.name, relationship: relationship.name,
                index: origin.elementIndex(group.elementIndices[misfit.row]))
        }
        let path = keyPath(of: relationship, group)
        for misfit in misfits {
            tally.drift.add(
                misfit.kind, entity: layout.name, keyPath: path,
                index: origin.elementIndex(group.elementIndices[misfit.row]), found: misfit.found.map { "\($0)" })
        }
    }

    /// The key path from an object of a group to the value of a relationship.
    func keyPath(of relationship: EntityLayout.Relationship, _ group: MappedBatch.Group) -> String {
        group.mapping.keys.relationships[relationship.index].path()?.joined(separator: ".") ?? relationship.name
    }

    /// The result of merging the elements of one relationship.
    struct MergedElements {
        var elements: NestedElements
        /// The object of each ordinal; nil if the element was rejected or its identifier is
        /// unknown.
        var targets: [ObjectID?]
        /// Whether the object of each ordinal was inserted.
        var isNew: [Bool]
        /// Whether the object of each ordinal is known to have the object that contains it.
        var isOwned: [Bool]
        /// The objects that were inserted.
        var newTargets = ObjectSet()
        /// The identifiers, and the row of each ordinal whose identifier no stored object has; nil
        /// without identifiers.
        var unknown: (batch: RecordBatch?, rows: [Int: Int])?
        /// The ordinals whose identifier names an object of the list's entities.
        var identified: Set<Int> = []
        /// Whether inserted objects were linked to the objects that contain them.
        var linksNew = false
        /// The objects without an identity that each source had before.
        var former: [ObjectID: [ObjectID]] = [:]
        /// Whether an element was rejected.
        var hasRejected = false
        /// The index in the payload of each ordinal's element.
        var elementIndices: [Int]

        /// The result for only some rows.
        func restricted(_ isKept: (Int) -> Bool) -> MergedElements {
            var merged = self
            merged.elements.keepSources { isKept($0.row) }
            return merged
        }

        /// Whether a source leads to one object more than once.
        func repeatsTarget(_ source: NestedElements.Source) -> Bool {
            let ordinals = source.ordinals
            guard ordinals.count > 1 else { return false }
            if ordinals.count > 16 {
                let named = targets[ordinals].compactMap(\.self)
                return Set(named).count < named.count
            }
            return ordinals.contains { ordinal in
                targets[ordinal] != nil && targets[ordinals.lowerBound..<ordinal].contains(targets[ordinal])
            }
        }
    }

    /// Merges the elements of a relationship.
    ///
    /// - Parameters:
    ///   - owners: The object that contains each element, by ordinal; nil if the elements are
    ///     merged before those objects.
    ///   - barred: The rows whose elements are not inserted.
    ///   - objectOfRow: Returns the object of a row of the group; nil if it was not merged.
    func merge(
        _ elements: NestedElements, of group: MappedBatch.Group, owners: [ObjectID?]?,
        by relationship: EntityLayout.Relationship, _ outer: Origin, barred: Set<Int> = [],
        objectOfRow: (Int) -> ObjectID? = { _ in nil }
    ) async throws -> MergedElements {
        var elements = elements
        let count = elements.owners.count
        var origin = Origin(
            policy: rules.nestedPolicy, entity: relationship.destination, isNested: true,
            isToMany: relationship.isToMany,
            elementIndices: elements.owners.map { $0 < 0 ? 0 : outer.elementIndex(group.elementIndices[$0]) })
        if !barred.isEmpty {
            origin.mayInsert = { [owners = elements.owners] in !barred.contains(owners[$0]) }
        }
        origin.relationship = relationship.id
        origin.inverse = model.inverse(of: relationship)?.id
        origin.belongsToMany = model.inverse(of: relationship)?.isToMany ?? true
        if let owners {
            if let inverse = model.inverse(of: relationship),
                MergeRequest.InitialLinks.isPossible(inverse, in: model)
            {
                origin.owners = (inverse, owners)
            }
            if let batch = elements.objects, rules.isHookedWhereNested {
                let hooked = try await hook(batch, elements.json)
                if !hooked.isEmpty {
                    try elements.replace(hooked, by: relationship, mapper: mapper, options: rules.readerOptions)
                }
            }
            if model.isScope(of: relationship) { origin.parents = { owners[$0] } }
        }
        var merged = MergedElements(
            elements: elements, targets: Array(repeating: nil, count: count),
            isNew: Array(repeating: false, count: count), isOwned: Array(repeating: false, count: count),
            elementIndices: origin.elementIndices ?? [])
        if let owners, !rules.isImport {
            let groups = elements.objects?.groups ?? []
            (origin.reused, merged.former) = try await reused(
                groups, { owners[$0] }, by: relationship, emptied: elements.emptied.compactMap(objectOfRow))
        }
        var mergeCount = 0
        let rejectedCount = tally.rejectedCount
        func collect(_ ordinal: Int, _ row: MergeRequest.Result.Row, isOwned: Bool) {
            merged.targets[ordinal] = row.object
            merged.isOwned[ordinal] = isOwned
            guard row.change == .inserted else { return }
            merged.isNew[ordinal] = true
            merged.newTargets.insert(row.object)
        }
        if let objects = elements.objects {
            mergeCount += objects.groups.count
            try await merge(objects, origin, collect)
        }
        if let identifiers = elements.identifiers {
            mergeCount += 1
            // Identifiers of another type were reported with the objects that contain them.
            if rules.isImport {
                try await merge(identifiers, origin, collect)
            } else if let named = identifiers.groups.first {
                let found = try await transaction.find(named.records)
                var rows: [Int: Int] = [:]
                let isListed = model.layouts[relationship.destination].root == listRoot
                for (row, ordinal) in named.elementIndices.enumerated() {
                    merged.targets[ordinal] = found[row]
                    if found[row] == nil { rows[ordinal] = row } else if isListed { merged.identified.insert(ordinal) }
                }
                merged.unknown = (named.records, rows)
            }
        }
        if let groups = elements.objects?.groups {
            noteRefused(groups, merged.targets, by: relationship, origin, in: &merged.unknown)
        }
        merged.hasRejected = tally.rejectedCount > rejectedCount
        merged.linksNew = origin.owners != nil && mergeCount == 1
        return merged
    }

    /// Calls the hook for the objects that the store does not have.
    ///
    /// - Parameter json: The JSON of each ordinal.
    /// - Returns: The JSON that the hook returned, by ordinal.
    func hook(_ batch: MappedBatch, _ json: [[UInt8]]) async throws -> [Int: [UInt8]] {
        guard let willInsert = rules.willInsert else { return [:] }
        var hooked: [Int: [UInt8]] = [:]
        for group in batch.groups {
            let found = try await transaction.find(group.records)
            // The hook may be slow, and the store's connection must stay responsive.
            try await BlockingExecutor.outside {
                for (row, ordinal) in group.elementIndices.enumerated() where found[row] == nil {
                    guard case .object(let object) = try JSONValue(parsing: json[ordinal], exactDecimals: true) else {
                        continue
                    }
                    var writer = JSONWriter()
                    try writer.value(.object(try willInsert(object, group.mapping.layout.name)))
                    hooked[ordinal] = writer.bytes
                }
            }
        }
        return hooked
    }
}
