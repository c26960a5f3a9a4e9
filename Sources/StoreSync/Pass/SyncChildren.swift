import OneWaySynchronizer
import SyncModel
import SyncStore

/// The parent that a payload's objects are children of, and the children it had before.
struct SyncChildren {
    private let parent: Int64
    private let layout: EntityLayout
    private let relationship: RelationshipLayout
    private let linked: [Int64]

    /// Nil where there is no parent.
    ///
    /// - Throws: `StoreSyncError` where the parent or the relationship is not to be found.
    init?(_ parent: SyncParent?, of child: EntityLayout, in pass: SyncPass) async throws {
        guard let parent else { return nil }
        relationship = try parent.relationship(to: child, in: pass.model)
        layout = try pass.model.layout(of: parent.entity)
        var found: [Int64] = []
        let query = StoreQuery(parent.entity, where: parent.predicate, limit: 2)
        try await pass.transaction.fetch(query, batchRowCount: 2) { found += $0.map(\.object) }
        guard found.count == 1 else { throw StoreSyncError.noParent(entity: parent.entity) }
        self.parent = found[0]
        linked = try await pass.transaction.links(relationship, of: found).map(\.target)
    }

    /// The children there were before.
    var linkedRows: StoreQuery.Objects {
        .only(linked)
    }

    /// Relates the parent to its children, and lets go of those that are absent: they are deleted
    /// where they can have no other parent.
    ///
    /// - Parameters:
    ///   - children: The objects of the payload, in order.
    ///   - scope: What children the payload speaks of; nil if none is let go.
    func relate(
        _ children: [Int64], sweeping scope: StoreQuery?, limit: (limit: RemovalLimit, localCount: Int)?,
        in pass: SyncPass
    ) async throws {
        let named = ObjectSet(children)
        var absent: [Int64] = []
        if var query = scope {
            query.objects = .only(linked.filter { !named.contains($0) })
            try await pass.transaction.fetch(query, batchRowCount: 1000) { absent += $0.map(\.object) }
            query.objects = .only(absent)
            if let inverse = pass.model.inverse(of: relationship), !inverse.isToMany {
                try await pass.sweep(query, limit: limit)
                // What was not deleted stays where it is.
                absent = []
            }
        }
        let gone = ObjectSet(absent)
        var batch = LinkBatch(relationship, mode: .replace)
        batch.append(parent, to: children + linked.filter { !named.contains($0) && !gone.contains($0) })
        _ = try await pass.transaction.link(batch)
    }
}
