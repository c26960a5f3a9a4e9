import JSONMapper
import SyncModel
import SyncStore

// The targets of a group's to-one relationships are merged before the group if the order does not
// matter. New objects of the group are then inserted with their links, and the merge compares the
// links of the others with their values. This saves a separate linking statement.
extension SyncPass {
    /// The targets of a to-one relationship that were merged before the objects that lead to them.
    struct EarlyTargets {
        let merged: MergedElements
        /// The target of each record of the group.
        let links: MergeRequest.InitialLinks
        /// Whether a source has its link after the merge of the group; set by `noteLinked`.
        private(set) var isLinked: (NestedElements.Source) -> Bool = { _ in false }

        /// Notes which objects have their links.
        ///
        /// - Parameters:
        ///   - number: The index of the links among those passed to the merge.
        ///   - combined: The combined rows of the group; nil if all rows are different objects.
        mutating func noteLinked(_ result: MergeRequest.Result, by number: Int, _ combined: CombinedRows?) {
            isLinked = { source in
                let row = combined?.record(of: source.row) ?? source.row
                return result.isLinked(row: row, by: number) && result.rows[row] != nil
            }
        }
    }

    /// The maximum number of early relationships. More would make the statements of a merge too
    /// long to pay off.
    private static let earlyLimit = 3

    /// Merges the targets of a group's to-one relationships before the group itself.
    ///
    /// - Parameters:
    ///   - combined: The combined rows of the group; nil if all rows are different objects.
    ///   - known: The objects of nested records that the payload has stated before.
    ///   - scope: The parents that `resolveScope` merged; nil if there are none.
    ///   - isWhole: Whether each record of the group is inserted or matches an object.
    /// - Returns: The targets by the index of the relationship.
    func mergeEarlyTargets(
        of group: MappedBatch.Group, _ combined: CombinedRows?, _ origin: Origin, _ known: Known?,
        scope: MergedElements?, isWhole: Bool
    ) async throws -> [Int: EarlyTargets] {
        guard isWhole, group.hasNested, rules.relates, !rules.isImport, !rules.isHookedWhereNested,
            group.undetermined.isEmpty, origin.known == nil, origin.policy.inserts, origin.policy.updates
        else { return [:] }
        let layout = group.mapping.layout
        var early: [Int: EarlyTargets] = [:]
        // The families whose objects are merged later: those of the group, and of relationships
        // that are not early.
        var later: Set<Int> = [layout.root]
        for (index, nested) in group.nested.enumerated() {
            guard let nested else { continue }
            let relationship = layout.relationships[index]
            let families = nested.families(model, relationship)
            let isMerged = index == layout.identityScope && scope != nil
            guard early.count < Self.earlyLimit, isMerged || families.isDisjoint(with: later),
                MergeRequest.InitialLinks.isPossible(relationship, in: model),
                relationship.id != origin.owners?.relationship.id, relationship.id != origin.inverse,
                !waitsForList(relationship, of: layout, origin), nested.isIdentified,
                var elements = counting(nested, combined, rowCount: group.records.count, origin)
            else {
                later.formUnion(families)
                continue
            }
            if let known {
                // What was stated before is compared later.
                let stated = statements.stated(relationship)
                let isStated = { (row: Int) in
                    known.objects[combined?.record(of: row) ?? row].map(stated.contains) == true
                }
                if !stated.isEmpty, elements.sources.contains(where: { isStated($0.row) }) {
                    elements = elements.restricted { isStated($0) ? nil : $0 }
                }
                guard !elements.sources.isEmpty else { continue }
            }
            var merged: MergedElements
            if isMerged, let scope {
                merged = scope
                merged.elements = elements
            } else {
                merged = try await merge(elements, of: group, owners: nil, by: relationship, origin)
            }
            var targets = [ObjectID?](repeating: nil, count: combined?.records.count ?? group.records.count)
            let stated = origin.isNested ? model.inverse(of: relationship).map(statements.stated) : nil
            for source in elements.sources {
                guard let target = source.ordinals.last.flatMap({ merged.targets[$0] }) else { continue }
                // A nested statement about the target decides which objects lead to it.
                if stated?.contains(target) == true { continue }
                targets[combined?.record(of: source.row) ?? source.row] = target
            }
            early[index] = EarlyTargets(
                merged: merged, links: MergeRequest.InitialLinks(relationship, targets: targets))
        }
        return early
    }

    /// Finds the parents of a group's objects if their identity is scoped and they are not nested
    /// in their parents. Finds the stored objects with these identities too.
    ///
    /// Parents that are nested in the objects are merged first.
    ///
    /// - Parameter origin: Receives the parents and the stored objects.
    /// - Returns: The parents that were merged; nil if there are none.
    func resolveScope(of group: MappedBatch.Group, _ origin: inout Origin) async throws -> MergedElements? {
        let layout = group.mapping.layout
        guard let scope = layout.identityScope, !rules.isImport, origin.parents == nil, origin.known == nil,
            let inverse = model.inverse(of: layout.relationships[scope])
        else { return nil }
        var parents: [Int: ObjectID] = [:]
        if !origin.isNested, let listParent, listParent.relationship.id == inverse.id {
            for ordinal in group.elementIndices { parents[ordinal] = listParent.object }
        }
        var merged: MergedElements?
        if rules.relates, group.hasNested, let nested = group.nested[scope] {
            var targets: [ObjectID?]
            if nested.isIdentified, !rules.isHookedWhereNested {
                let scope = try await merge(
                    nested, of: group, owners: nil, by: layout.relationships[scope], origin)
                targets = scope.targets
                merged = scope
            } else {
                targets = Array(repeating: nil, count: nested.owners.count)
                for group in (nested.objects?.groups ?? []) + (nested.identifiers?.groups ?? []) {
                    let found = try await transaction.find(group.records)
                    for (row, ordinal) in group.elementIndices.enumerated() { targets[ordinal] = found[row] }
                }
            }
            for source in nested.sources {
                guard let ordinal = source.ordinals.last else { continue }
                parents[group.elementIndices[source.row]] = targets[ordinal]
            }
        }
        let owners = { (ordinal: Int) in parents[ordinal] }
        origin.parents = owners
        let stored = try await reused([group], owners, by: inverse).reused
        for ordinal in group.elementIndices where parents[ordinal] != nil || !origin.isNested {
            origin.reused[ordinal] = stored[ordinal]
        }
        return merged
    }

    /// The elements to merge. If several rows are combined into one record, only the elements of
    /// one row remain, and the values of all rows that do not fit.
    private func counting(
        _ nested: NestedElements, _ combined: CombinedRows?, rowCount: Int, _ origin: Origin
    ) -> NestedElements? {
        guard let combined else { return nested }
        let rows = nested.sources.map(\.row)
        var isKnown = [Bool](repeating: false, count: combined.records.count)
        var isCounting = [Bool](repeating: false, count: rowCount)
        for row in laterCounts(origin) ? rows.reversed() : rows where !isKnown[combined.record(of: row)] {
            isKnown[combined.record(of: row)] = true
            isCounting[row] = true
        }
        guard !rows.allSatisfy({ isCounting[$0] }) else { return nested }
        var counting = nested.restricted { isCounting[$0] ? $0 : nil }
        counting.misfits = nested.misfits
        return counting
    }
}

extension NestedElements {
    /// The root entities of the elements and of everything nested in them.
    fileprivate func families(_ model: DataModel, _ relationship: EntityLayout.Relationship) -> Set<Int> {
        var families: Set<Int> = [model.layouts[relationship.destination].root]
        for group in objects?.groups ?? [] {
            for (index, nested) in group.nested.enumerated() {
                guard let nested else { continue }
                families.formUnion(nested.families(model, group.mapping.layout.relationships[index]))
            }
        }
        return families
    }

    /// Whether each object has an identity of its own. It can then be found without the object that
    /// contains it.
    var isIdentified: Bool {
        (objects?.groups ?? []).allSatisfy { group in
            let slots = group.mapping.layout.identitySlots
            return group.records.withReader { reader in
                (0..<reader.count).allSatisfy { reader.isIdentified($0, by: slots) }
            }
        }
    }
}
