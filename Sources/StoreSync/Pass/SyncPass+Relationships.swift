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
        let layout = group.mapping.layout
        for (index, nested) in group.nested.enumerated() {
            let relationship = layout.relationships[index]
            defer { noteStatedByList(nested, layout, relationship, result, origin) }
            if let targets = early[index] {
                try note(targets.merged.elements.misfits, of: group, relationship, origin)
                try await link(targets.merged, of: group, result, by: relationship, origin, isLinked: targets.isLinked)
                continue
            }
            let beaten = origin.isNested && layout.root == listRoot ? statedByList[relationship.id] : nil
            if let nested, let beaten {
                try await mergeValues(of: nested, of: group, result, relationship, beaten, origin)
            }
            guard let elements = nested.flatMap({ counting($0, result, origin, beaten: beaten) }) else { continue }
            try note(elements.misfits, of: group, relationship, origin)
            let owners = elements.owners.map { $0 < 0 ? nil : result.rows[$0]?.object }
            let merged = try await merge(elements, of: group, owners: owners, by: relationship, origin) {
                result.rows[$0]?.object
            }
            let isUntouched = relatings[relationship, default: 0] == relatingsBefore[relationship, default: 0]
            let linksNew = merged.linksNew && isUntouched
            try await link(merged, of: group, result, by: relationship, origin) { source in
                // New objects whose targets were all inserted with their links need no linking.
                linksNew && result.rows[source.row]?.change == .inserted
                    && source.ordinals.allSatisfy { merged.isNew[$0] }
            }
        }
    }

    /// Notes the objects of the list whose relationship the list itself states.
    private func noteStatedByList(
        _ nested: NestedElements?, _ layout: EntityLayout, _ relationship: EntityLayout.Relationship,
        _ result: MergeRequest.Result,
        _ origin: Origin
    ) {
        guard let nested, !origin.isNested, layout.root == listRoot, nestsItself else { return }
        // Taken out during the change, because a second reference would copy the whole set.
        var stated = statedByList.removeValue(forKey: relationship.id) ?? ObjectSet()
        for source in nested.sources {
            if let object = result.rows[source.row]?.object { stated.insert(object) }
        }
        statedByList[relationship.id] = stated
    }

    /// Merges nested objects without linking them, if the list states the relationship itself.
    ///
    /// The list decides the links. It may lack values that the nested objects have.
    ///
    /// - Parameter beaten: The objects whose relationship the list states.
    private func mergeValues(
        of nested: NestedElements, of group: MappedBatch.Group, _ result: MergeRequest.Result,
        _ relationship: EntityLayout.Relationship, _ beaten: ObjectSet, _ origin: Origin
    ) async throws {
        let isBeaten = result.rows.map { $0.map { beaten.contains($0.object) } ?? false }
        guard (nested.sources.map(\.row) + nested.misfits.map(\.row)).contains(where: { isBeaten[$0] }) else { return }
        let elements = nested.restricted { isBeaten[$0] ? $0 : nil }
        try note(elements.misfits, of: group, relationship, origin)
        let owners = elements.owners.map { $0 < 0 ? nil : result.rows[$0]?.object }
        _ = try await merge(elements, of: group, owners: owners, by: relationship, origin, areRelated: false)
    }

    /// The elements whose links count; nil if there are none.
    ///
    /// If several rows are of one object, only the elements of the last row count. Values that do
    /// not fit are reported for each row.
    ///
    /// - Parameter beaten: Objects whose links the list decides.
    private func counting(
        _ nested: NestedElements, _ result: MergeRequest.Result, _ origin: Origin, beaten: ObjectSet?
    ) -> NestedElements? {
        func object(_ row: Int) -> ObjectID? {
            guard let merged = result.rows[row], origin.policy.updates || merged.change == .inserted,
                beaten?.contains(merged.object) != true
            else { return nil }
            return merged.object
        }
        let misfits = nested.misfits.filter { object($0.row) != nil }
        var known = ObjectSet()
        var isCounting = [Bool](repeating: false, count: result.rows.count)
        for source in nested.sources.reversed() {
            if let object = object(source.row) { isCounting[source.row] = known.insert(object) }
        }
        guard !known.isEmpty || !misfits.isEmpty else { return nil }
        var counting = nested
        if known.count < nested.sources.count { counting = nested.restricted { isCounting[$0] ? $0 : nil } }
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
    private func keyPath(of relationship: EntityLayout.Relationship, _ group: MappedBatch.Group) -> String {
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
        /// The index in the payload of each ordinal's element.
        var elementIndices: [Int]

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
    ///   - areRelated: Whether the elements are linked to their owners. If not, an element that
    ///     only its owner can have is not inserted.
    ///   - objectOfRow: Returns the object of a row of the group; nil if it was not merged.
    func merge(
        _ elements: NestedElements, of group: MappedBatch.Group, owners: [ObjectID?]?,
        by relationship: EntityLayout.Relationship, _ outer: Origin, areRelated: Bool = true,
        objectOfRow: (Int) -> ObjectID? = { _ in nil }
    ) async throws -> MergedElements {
        var elements = elements
        let count = elements.owners.count
        var origin = Origin(
            policy: rules.nestedPolicy, entity: relationship.destination, isNested: true,
            isToMany: relationship.isToMany,
            elementIndices: elements.owners.map { $0 < 0 ? 0 : outer.elementIndex(group.elementIndices[$0]) })
        origin.areRelated = areRelated
        if !areRelated, relationship.deleteRule == .cascade { origin.policy.inserts = false }
        origin.relationship = relationship.id
        origin.inverse = model.inverse(of: relationship)?.id
        origin.belongsToMany = model.inverse(of: relationship)?.isToMany ?? true
        if let owners {
            if areRelated, let inverse = model.inverse(of: relationship),
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
            isNew: Array(repeating: false, count: count), elementIndices: origin.elementIndices ?? [])
        if let owners, areRelated, !rules.isImport {
            let groups = elements.objects?.groups ?? []
            (origin.reused, merged.former) = try await reused(
                groups, { owners[$0] }, by: relationship, emptied: elements.emptied.compactMap(objectOfRow))
        }
        var mergeCount = 0
        func collect(_ ordinal: Int, _ object: ObjectID, _ change: MergeRequest.Result.Change) {
            merged.targets[ordinal] = object
            guard change == .inserted else { return }
            merged.isNew[ordinal] = true
            merged.newTargets.insert(object)
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
        merged.linksNew = origin.owners != nil && mergeCount == 1
        return merged
    }

    /// Links the objects of a group to the merged elements of a relationship.
    ///
    /// - Parameter isLinked: Whether a source has its link already.
    private func link(
        _ merged: MergedElements, of group: MappedBatch.Group, _ result: MergeRequest.Result,
        by relationship: EntityLayout.Relationship, _ origin: Origin, isLinked: (NestedElements.Source) -> Bool
    ) async throws {
        let layout = group.mapping.layout
        let sources = merged.elements.sources
        let targets = merged.targets
        func report(_ kind: DriftReport.Kind, _ source: NestedElements.Source) {
            tally.drift.add(
                kind, entity: layout.name, keyPath: keyPath(of: relationship, group),
                index: origin.elementIndex(group.elementIndices[source.row]))
        }
        if relationship.isToMany {
            for source in sources where merged.repeatsTarget(source) { report(.duplicate, source) }
        }
        let restated = restatements(of: sources, result, relationship)
        noteStated(sources.compactMap { result.rows[$0.row]?.object }, relationship)
        for source in sources {
            if let object = result.rows[source.row]?.object { deferred.forget(object, relationship) }
        }
        noteLost(merged, of: result, by: relationship)
        let changed = try await link(
            sources.filter { !isLinked($0) }, of: result, to: targets, merged.newTargets, by: relationship, of: layout)
        if !restated.isEmpty {
            for object in changed {
                if let (kind, source) = restated[object] { report(kind, source) }
            }
        }
        if let inverse = model.inverse(of: relationship), !inverse.isToMany, deferred.unknown[inverse.id] != nil,
            rules.mode(of: relationship) != .retain
        {
            // An object belongs to the one that it is nested in, even if another batch contains the
            // object that it names itself.
            for case let target? in targets { deferred.forget(target, inverse) }
        }
        noteRelating(relationship)
        deferUnknown(merged, of: group, result, by: relationship)
        noteNamed(merged, of: group, result, by: relationship)
    }

    /// The objects whose relationship the payload stated before, with the kind of drift to report
    /// if linking changes it.
    private func restatements(
        of sources: [NestedElements.Source], _ result: MergeRequest.Result, _ relationship: EntityLayout.Relationship
    ) -> [ObjectID: (kind: DriftReport.Kind, source: NestedElements.Source)] {
        // Unknown identifiers are resolved at the end of the pass, so they cannot be compared yet.
        guard let stated = stated[relationship.id], deferred.unknown[relationship.id] == nil, !rules.isImport
        else { return [:] }
        var restated: [ObjectID: (kind: DriftReport.Kind, source: NestedElements.Source)] = [:]
        for source in sources {
            guard let object = result.rows[source.row]?.object, stated.contains(object) else { continue }
            let isOfOneMoment = statedInPage.map { $0[relationship.id]?.contains(object) ?? false } ?? true
            restated[object] = (isOfOneMoment ? .conflict : .changedBetweenPages, source)
        }
        return restated
    }

    /// Defers statements that name unknown objects, and statements that may contradict deferred
    /// ones.
    private func deferUnknown(
        _ merged: MergedElements, of group: MappedBatch.Group, _ result: MergeRequest.Result,
        by relationship: EntityLayout.Relationship
    ) {
        let inverse = model.inverse(of: relationship)
        let lacksObjects = merged.unknown?.rows.isEmpty == false
        // A deferred statement may take an object from a later source of this batch, so that the
        // statement of that source is deferred too.
        let isRestated =
            deferred.concerns(relationship, inverse: inverse) || lacksObjects && inverse?.isToMany == false
        guard isRestated || lacksObjects else { return }
        let unknown = merged.unknown ?? (nil, [:])
        for source in merged.elements.sources
        where isRestated || source.ordinals.contains(where: { unknown.rows[$0] != nil }) {
            let wanted = source.ordinals.compactMap { ordinal -> DeferredLinks.Target? in
                if let target = merged.targets[ordinal] { return .object(target) }
                return unknown.rows[ordinal].map { .unknown($0) }
            }
            guard let object = result.rows[source.row]?.object else { continue }
            let index = source.ordinals.first.map { merged.elementIndices[$0] } ?? 0
            let hasUnknown = source.ordinals.contains { unknown.rows[$0] != nil }
            deferred.add(
                object, relationship, to: wanted, of: hasUnknown ? unknown.batch : nil,
                isIncomplete: source.isIncomplete, entity: group.mapping.layout.name, elementIndex: index)
        }
    }

    /// Notes the objects that identifiers name and that the list is to contain but has not
    /// contained yet.
    ///
    /// The end of the pass deletes them if the list does not contain them.
    private func noteNamed(
        _ merged: MergedElements, of group: MappedBatch.Group, _ result: MergeRequest.Result,
        by relationship: EntityLayout.Relationship
    ) {
        let destination = model.layouts[relationship.destination]
        guard destination.root == listRoot, !merged.identified.isEmpty else { return }
        for source in merged.elements.sources {
            guard let object = result.rows[source.row]?.object else { continue }
            let targets = source.ordinals.enumerated().compactMap { position, ordinal in
                merged.targets[ordinal].flatMap { target in
                    !merged.identified.contains(ordinal) || tally.isSeen(target, of: destination)
                        ? nil : (position: position, object: target)
                }
            }
            guard !targets.isEmpty, let first = source.ordinals.first else { continue }
            deferred.add(
                DeferredLinks.Named(
                    relationship: relationship, source: object, targets: targets,
                    entity: group.mapping.layout.name, elementIndex: merged.elementIndices[first]))
        }
    }

    private func link(
        _ sources: [NestedElements.Source], of result: MergeRequest.Result, to targets: [ObjectID?],
        _ newTargets: ObjectSet,
        by relationship: EntityLayout.Relationship, of layout: EntityLayout
    ) async throws -> [ObjectID] {
        let mode = rules.mode(of: relationship)
        let deletes = rules.deletesDetached(of: relationship, in: model)
        var owning = LinkBatch(relationship, mode: mode)
        owning.newTargets = newTargets
        var naming = owning
        // A list that could not be read completely proves no absence.
        var adding = LinkBatch(relationship, mode: .add)
        adding.newTargets = newTargets
        for source in sources {
            guard let row = result.rows[source.row]?.object else { continue }
            let rows = source.ordinals.compactMap { targets[$0] }
            if source.isIncomplete {
                if mode != .retain, !rows.isEmpty { adding.append(row, to: rows) }
            } else if deletes, source.holdsObjects || relationship.isOwning {
                owning.append(row, to: rows)
            } else {
                naming.append(row, to: rows)
            }
        }
        var changed: [ObjectID] = []
        for (batch, isOwning) in [(naming, false), (adding, false), (owning, true)] where !batch.isEmpty {
            changed += try await link(batch, deletesDetached: isOwning, of: layout)
        }
        return changed
    }

    /// Counts a linking of a relationship and of its inverse.
    private func noteRelating(_ relationship: EntityLayout.Relationship) {
        relatings[relationship, default: 0] += 1
        if let inverse = model.inverse(of: relationship), inverse != relationship {
            relatings[inverse, default: 0] += 1
        }
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
