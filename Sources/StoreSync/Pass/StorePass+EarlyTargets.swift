import JSONMapper
import SyncModel
import SyncStore

// The targets of a group's to-one relationships are merged before the group if the order does not
// matter. New objects of the group are then inserted with their links, and the merge compares the
// links of the others with their values. This saves a separate linking statement.
extension StorePass {
    /// The maximum number of early relationships. More would make the statements of a merge too
    /// long to pay off.
    private static let earlyLimit = 3

    /// Merges the targets of a group's to-one relationships before the group itself.
    func mergeEarlyTargets(of merge: inout GroupMerge) async throws {
        let (group, origin, layout, rows) = (merge.group, merge.origin, merge.layout, merge.rows)
        guard merge.matches?.contains(.skipped) != true, group.hasNested, rules.relates, !rules.isImport,
            !rules.isHookedWhereNested, group.undetermined.isEmpty, origin.known == nil, origin.policy.inserts,
            origin.policy.updates,
            // The list may have stated the relationships of its own objects.
            !origin.isNested || layout.root != state.listed.root
        else { return }
        // The families whose objects are merged later: those of the group, and of relationships
        // that are not early.
        var later: Set<Int> = [layout.root]
        for (index, nested) in group.nested.enumerated() {
            guard let nested else { continue }
            let relationship = layout.relationships[index]
            let families = nested.families(model, relationship)
            let parents = index == layout.identityScope ? merge.parents : nil
            guard merge.early.count < Self.earlyLimit, parents != nil || families.isDisjoint(with: later),
                MergeRequest.InitialLinks.isPossible(relationship, in: model),
                // An object comes at the end of an ordered list, which only linking knows.
                model.inverse(of: relationship)?.isOrdered == false,
                relationship.id != origin.owners?.relationship.id, relationship.id != origin.inverse?.id,
                !state.waitsForList(relationship, of: layout, origin), nested.isIdentified
            else {
                later.formUnion(families)
                continue
            }
            var elements = nested.counting(rows, laterCounts: state.laterCounts(origin))
            if let known = merge.known {
                // What was stated before is compared later.
                let stated = state.statements.stated(relationship)
                if !stated.isEmpty {
                    elements = elements.keeping { known.objects[rows.record(of: $0)].map(stated.contains) != true }
                }
                guard !elements.sources.isEmpty else { continue }
            }
            var merged: MergedElements
            if var parents {
                parents.elements = elements
                merged = parents
            } else {
                merged = try await self.merge(elements, of: group, by: relationship, origin)
            }
            var targets = [ObjectID?](repeating: nil, count: rows.records.count)
            let stated = origin.isNested ? model.inverse(of: relationship).map(state.statements.stated) : nil
            for source in elements.sources {
                guard let target = source.ordinals.last.flatMap({ merged.targets[$0] }) else { continue }
                // A nested statement about the target decides which objects lead to it.
                if stated?.contains(target) == true { continue }
                targets[rows.record(of: source.row)] = target
            }
            merge.early[index] = EarlyTargets(
                merged: merged, links: MergeRequest.InitialLinks(relationship, targets: targets))
        }
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
        if !origin.isNested, let children, children.relationship.id == inverse.id {
            for ordinal in group.elementIndices { parents[ordinal] = children.parent }
        }
        var merged: MergedElements?
        if rules.relates, group.hasNested, let nested = group.nested[scope] {
            var targets: OrdinalObjects
            if nested.isIdentified, !rules.isHookedWhereNested {
                let scope = try await merge(nested, of: group, by: layout.relationships[scope], origin)
                targets = scope.targets
                merged = scope
            } else {
                targets = OrdinalObjects(count: nested.owners.count)
                for group in nested.groups {
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
        let stored = try await reused([group], owners, by: inverse).objects
        for ordinal in group.elementIndices where parents[ordinal] != nil || !origin.isNested {
            // The object that contains the element may not be linked to its parent yet.
            origin.reused[ordinal] = stored[ordinal] ?? origin.scoped[ordinal]
        }
        return merged
    }
}

/// The targets of a to-one relationship that were merged before the objects that lead to them.
struct EarlyTargets {
    let merged: MergedElements
    /// The target of each record of the group.
    let links: MergeRequest.InitialLinks
    /// Whether a source has its link after the merge of the group; set by `noteLinked`.
    private(set) var isLinked: (NestedElements.Source) -> Bool = { _ in false }

    /// Notes which objects have their links.
    ///
    /// - Parameter number: The index of the links among those passed to the merge.
    mutating func noteLinked(_ result: MergeRequest.Result, by number: Int, _ rows: CombinedRows) {
        isLinked = { source in
            let record = rows.record(of: source.row)
            return result.isLinked(row: record, by: number) && result.rows[record] != nil
        }
    }
}

extension NestedElements {
    /// The root entities of the elements and of everything nested in them.
    func families(_ model: DataModel, _ relationship: EntityLayout.Relationship) -> Set<Int> {
        var families: Set<Int> = [model.layouts[relationship.destination].root]
        for group in objects?.groups ?? [] {
            for (index, nested) in group.nested.enumerated() {
                guard let nested else { continue }
                families.formUnion(nested.families(model, group.mapping.layout.relationships[index]))
            }
        }
        return families
    }

    /// The elements to merge. If several rows are combined into one record, only the elements of
    /// one row remain.
    fileprivate func counting(_ rows: CombinedRows, laterCounts: Bool) -> NestedElements {
        guard !rows.repeatedRows.isEmpty else { return self }
        var known: Set<Int> = []
        let ordered = laterCounts ? sources.reversed() : sources
        let counting = Set(ordered.map(\.row).filter { known.insert(rows.record(of: $0)).inserted })
        return keeping(counting.contains)
    }

    /// Whether each object has an identity of its own. It can then be found without the object that
    /// contains it.
    var isIdentified: Bool {
        packedObjects.map(\.isIdentified)
            ?? (objects?.groups ?? []).allSatisfy { group in
                let columns = group.mapping.layout.identityColumns
                return group.records.withReader { reader in
                    (0..<reader.count).allSatisfy { reader.isIdentified($0, by: columns) }
                }
            }
    }
}
