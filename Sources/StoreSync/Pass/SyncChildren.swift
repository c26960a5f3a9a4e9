import SyncModel
import SyncStore

/// The parent of the list's objects, and its children before the pass.
struct SyncChildren {
    /// The stored object that is the parent.
    let parent: Int64
    private let child: EntityLayout
    /// The relationship from the parent to its children.
    let relationship: EntityLayout.Relationship
    /// The children before the pass, in the order of the relationship.
    let linked: [Int64]

    /// Finds the parent; nil if the request has none.
    ///
    /// - Throws: `StoreSyncError.noParent` unless exactly one object matches the predicate;
    ///   `noRelationship` unless exactly one relationship is suitable.
    init?(_ parent: StoreSyncOptions.Parent?, of child: EntityLayout, in pass: StorePass) async throws {
        guard let parent else { return nil }
        relationship = try parent.relationship(to: child, in: pass.model)
        self.child = child
        let query = StoreQuery(parent.entity, where: parent.predicate, limit: 2)
        let found = try await pass.transaction.records(query).map(\.object)
        guard found.count == 1 else { throw StoreSyncError.noParent(entity: parent.entity) }
        self.parent = found[0]
        linked = try await pass.transaction.links(relationship, of: found).map(\.target)
    }

    /// Links the parent to its children. Absent children are unlinked, or deleted if they can have
    /// only one parent.
    ///
    /// Unless the pass may update objects, the children before it keep their order, and objects of
    /// the store that can have only one parent keep theirs.
    ///
    /// - Parameters:
    ///   - children: The objects of the payload, in order.
    ///   - scope: The children that the payload covers; nil if absent children are kept.
    func relate(
        _ children: [Int64], deletingAbsent scope: StoreQuery?, in pass: StorePass
    ) async throws {
        let named = ObjectSet(children)
        var absent: [Int64] = []
        if var query = scope {
            query.objects = .only(linked.filter { !named.contains($0) })
            try await pass.transaction.fetch(query, batchRowCount: 1000) { absent += $0.map(\.object) }
            query.objects = .only(absent)
            if let inverse = pass.model.inverse(of: relationship), !inverse.isToMany {
                try await pass.deleteAbsent(query)
                // Kept objects stay linked.
                absent = []
            }
        }
        let (gone, former) = (ObjectSet(absent), ObjectSet(linked))
        let updates = pass.rules.policy.updates
        var stated = children
        if !updates, pass.model.inverse(of: relationship)?.isToMany == false {
            let inserted = pass.state.counts.inserted(child)
            stated.removeAll { !former.contains($0) && !inserted.contains($0) }
        }
        let kept = linked.filter { !gone.contains($0) }
        var batch = LinkBatch(relationship, mode: .replace)
        batch.append(
            parent,
            to: updates || !relationship.isOrdered
                ? stated + kept.filter { !named.contains($0) } : kept + stated.filter { !former.contains($0) })
        _ = try await pass.transaction.link(batch)
    }
}
