import SyncBase
import SyncModel

/// A transaction that remembers what it changes.
final class ObservedTransaction: StoreTransaction {
    /// The objects of the entities that share a root.
    private struct Changed {
        var inserted = RowSet()
        var updated = RowSet()
        /// What objects were known by before they were updated by their row, which may have changed that.
        var formerKeys: [Int64: RecordKey] = [:]
    }

    private struct State {
        /// By the places of root entities.
        var changed: [Int: Changed] = [:]
        /// By entity.
        var deleted: [String: Set<RecordKey>] = [:]
    }

    /// How many keys are looked up at a time.
    private static let batchRowCount = 1000

    let model: DataModel
    private let base: any StoreTransaction
    private let state = Locked(State())

    init(_ base: any StoreTransaction) {
        self.base = base
        model = base.model
    }

    var batchRowCount: Int { base.batchRowCount }

    // MARK: Reading

    func fetch(
        _ query: StoreQuery, batchRowCount: Int, _ body: ([StoredRecord]) async throws -> Void
    ) async throws {
        try await base.fetch(query, batchRowCount: batchRowCount, body)
    }

    func count(_ query: StoreQuery) async throws -> Int {
        try await base.count(query)
    }

    func links(_ relationship: RelationshipLayout, of sources: [Int64]) async throws -> [StoreLink] {
        try await base.links(relationship, of: sources)
    }

    // MARK: Writing

    func merge(
        _ batch: RecordBatch, handles: [Int64]?, links: InitialLinks?, policy: MergePolicy
    ) async throws -> MergeResult {
        guard let root = batch.layout?.root else {
            return try await base.merge(batch, handles: handles, links: links, policy: policy)
        }
        if policy.updates, let handles { try await rememberKeys(of: handles.filter { $0 > 0 }, root: root) }
        let result = try await base.merge(batch, handles: handles, links: links, policy: policy)
        state.withLock { state in
            // Taken out while it is changed: with a second reference all of it would be copied.
            var changed = state.changed.removeValue(forKey: root) ?? Changed()
            for (row, change) in zip(result.rows, result.changes) {
                switch change {
                case .inserted: changed.inserted.insert(row)
                case .updated: if !changed.inserted.contains(row) { changed.updated.insert(row) }
                case .none, .unchanged: break
                }
            }
            state.changed[root] = changed
        }
        return result
    }

    func link(_ batch: LinkBatch) async throws -> LinkResult {
        let result = try await base.link(batch)
        let root = model.layouts[batch.relationship.source].root
        state.withLock { state in
            for row in result.changed where state.changed[root]?.inserted.contains(row) != true {
                state.changed[root, default: Changed()].updated.insert(row)
            }
        }
        return result
    }

    func remove(_ query: StoreQuery, reportsKeys: Bool) async throws -> RemovalResult {
        var result = try await base.remove(query, reportsKeys: true)
        state.withLock { state in
            for (entity, keys) in result.keys {
                guard let root = model[entity]?.root else { continue }
                for stored in keys where state.changed[root]?.inserted.remove(stored.row) != true {
                    state.changed[root]?.updated.remove(stored.row)
                    let former = state.changed[root]?.formerKeys.removeValue(forKey: stored.row)
                    state.deleted[entity, default: []].insert(former ?? stored.key)
                }
            }
        }
        if !reportsKeys { result.keys = [:] }
        return result
    }

    private func rememberKeys(of rows: [Int64], root: Int) async throws {
        let unknown = state.withLock { state in
            let changed = state.changed[root] ?? Changed()
            return rows.filter { !changed.inserted.contains($0) && changed.formerKeys[$0] == nil }
        }
        guard !unknown.isEmpty else { return }
        let query = StoreQuery(model.layouts[root].name, rows: .only(unknown))
        try await base.fetch(query, batchRowCount: Self.batchRowCount) { records in
            state.withLock { state in
                for stored in records {
                    state.changed[root, default: Changed()].formerKeys[stored.row] = stored.key
                }
            }
        }
    }

    // MARK: Result

    /// What the transaction has changed so far.
    func changes() async throws -> ChangeSet {
        let state = self.state.withLock { $0 }
        // What syncs keep for themselves is no change of the data.
        var entities = state.deleted.filter { model[$0.key]?.entity.isBookkeeping != true }
            .mapValues { ChangeSet.Keys(deleted: $0) }
        for (root, changed) in state.changed where !model.layouts[root].entity.isBookkeeping {
            let rows = changed.inserted.rows + changed.updated.rows
            for start in stride(from: 0, to: rows.count, by: Self.batchRowCount) {
                let part = Array(rows[start..<min(start + Self.batchRowCount, rows.count)])
                for stored in try await base.records(StoreQuery(model.layouts[root].name, rows: .only(part))) {
                    let former = changed.formerKeys[stored.row] ?? stored.key
                    let entity = stored.record.entityName
                    if changed.inserted.contains(stored.row) {
                        entities[entity, default: ChangeSet.Keys()].inserted.insert(stored.key)
                    } else if former == stored.key {
                        entities[entity, default: ChangeSet.Keys()].updated.insert(stored.key)
                    } else {
                        entities[entity, default: ChangeSet.Keys()].inserted.insert(stored.key)
                        entities[entity, default: ChangeSet.Keys()].deleted.insert(former)
                    }
                }
            }
        }
        return ChangeSet(entities)
    }
}
