import SyncBase
import SyncModel

/// A transaction that records its changes for observers.
final class ObservedTransaction: MergeRequest.InitialLinks.Transaction, StoreSelection.Reader, LinkedTargetReader,
    ThreadedTransaction
{
    /// The changed objects of all entities that share a root.
    private struct Changed {
        var inserted = ObjectSet()
        var updated = ObjectSet()
        /// The entities and the keys that objects had before a change that can alter them: an
        /// update by number, or a change of entity.
        var former: [ObjectID: Former] = [:]
    }

    private struct Former: Equatable {
        let entity: String
        let key: Record.Key
    }

    private struct State {
        /// The changes by the index of the root entity.
        var changed: [Int: Changed] = [:]
        /// The keys of deleted objects by entity.
        var deleted: [String: Set<Record.Key>] = [:]

        /// Notes changed objects by the index of the root entity. New ones count as inserted only.
        mutating func noteUpdates(of objects: [Int: some Sequence<ObjectID>]) {
            for (root, objects) in objects {
                for object in objects where changed[root]?.inserted.contains(object) != true {
                    changed[root, default: Changed()].updated.insert(object)
                }
            }
        }
    }

    /// The number of keys that one query reads.
    private static let batchRowCount = 1000

    let model: DataModel
    private let base: any StoreTransaction
    private let state = Locked(State())

    init(_ base: any StoreTransaction) {
        self.base = base
        model = base.model
    }

    var batchRowCount: Int { base.batchRowCount }

    var executor: BlockingExecutor? { (base as? any ThreadedTransaction)?.executor }

    // MARK: Reading

    func fetch(
        _ query: StoreQuery, batchRowCount: Int, _ body: ([StoredRecord]) async throws -> Void
    ) async throws {
        try await base.fetch(query, batchRowCount: batchRowCount, body)
    }

    func selectRows(
        _ selection: StoreSelection, batchRowCount: Int, _ body: (RecordBatch) async throws -> Void
    ) async throws {
        try await base.select(selection, batchRowCount: batchRowCount, body)
    }

    func count(_ query: StoreQuery) async throws -> Int {
        try await base.count(query)
    }

    func counts(of queries: [StoreQuery]) async throws -> [Int] {
        try await base.counts(of: queries)
    }

    func links(_ relationship: EntityLayout.Relationship, of sources: [ObjectID]) async throws -> [LinkBatch.Link] {
        try await base.links(relationship, of: sources)
    }

    func linkedTargets(_ relationship: EntityLayout.Relationship, of sources: [ObjectID]) async throws
        -> [ObjectID: [ObjectID]]
    {
        try await base.targets(of: sources, by: relationship)
    }

    // MARK: Writing

    func find(_ records: RecordBatch) async throws -> [ObjectID?] {
        try await base.find(records)
    }

    func merge(_ request: MergeRequest) async throws -> MergeRequest.Result {
        try await merge(request, links: [])
    }

    func mergeLinking(_ request: MergeRequest, _ links: [MergeRequest.InitialLinks]) async throws -> MergeRequest.Result
    {
        try await merge(request, links: links)
    }

    private func merge(_ request: MergeRequest, links: [MergeRequest.InitialLinks]) async throws -> MergeRequest.Result
    {
        guard let root = request.records.layout?.root else { return try await base.merge(request, linking: links) }
        if request.policy.updates, let matches = request.matches {
            let given = matches.compactMap { match in if case .object(let object) = match { object } else { nil } }
            try await remember(given, root: root)
        }
        let result = try await base.merge(request, linking: links)
        state.withLock { state in
            // Taken out during the change, because a second reference would copy the whole
            // dictionary.
            var changed = state.changed.removeValue(forKey: root) ?? Changed()
            for row in result.rows {
                guard let row else { continue }
                switch row.change {
                case .inserted: changed.inserted.insert(row.object)
                case .updated:
                    if !changed.inserted.contains(row.object) { changed.updated.insert(row.object) }
                case .unchanged: break
                }
            }
            state.changed[root] = changed
        }
        return result
    }

    func changeEntity(of objects: [ObjectID], from former: String, to entity: String) async throws {
        let (layout, next) = try model.layouts(changing: former, to: entity)
        guard layout.index != next.index else { return }
        var changing: [ObjectID] = []
        let query = StoreQuery(layout.name, objects: .only(objects))
        try await base.fetch(query, batchRowCount: Self.batchRowCount) { records in
            changing += records.filter { $0.record.layout.index == layout.index }.map(\.object)
        }
        try await remember(changing, root: layout.root)
        var updated: [Int: Set<ObjectID>] = [layout.root: Set(changing)]
        for relationship in model.relationships(of: layout, lostBy: next).own where relationship.inverse != nil {
            let targets = try await base.links(relationship, of: changing).map(\.target)
            updated[model.layouts[relationship.destination].root, default: []].formUnion(targets)
        }
        try await base.changeEntity(of: objects, from: former, to: entity)
        state.withLock { $0.noteUpdates(of: updated) }
    }

    func link(_ batch: LinkBatch) async throws -> LinkBatch.Result {
        let result = try await base.link(batch)
        let root = model.layouts[batch.relationship.source].root
        state.withLock { $0.noteUpdates(of: [root: result.changed]) }
        return result
    }

    func remove(_ query: StoreQuery, reportsKeys: Bool) async throws -> RemovalResult {
        let related = try await related(to: query)
        var result = try await base.remove(query, reportsKeys: true)
        state.withLock { state in
            if !result.keys.isEmpty { state.noteUpdates(of: related) }
            for (entity, keys) in result.keys {
                guard let root = model[entity]?.root else { continue }
                for stored in keys where state.changed[root]?.inserted.remove(stored.object) != true {
                    state.changed[root]?.updated.remove(stored.object)
                    let former = state.changed[root]?.former.removeValue(forKey: stored.object)
                    state.deleted[former?.entity ?? entity, default: []].insert(former?.key ?? stored.key)
                }
            }
        }
        if !reportsKeys { result.keys = [:] }
        return result
    }

    func settleValues() async throws -> [StoreError.Refusal] {
        try await base.settleValues()
    }

    /// The objects that would lose a target if a query's objects were deleted, by the index of the
    /// root entity. Some of them may be deleted too.
    private func related(to query: StoreQuery) async throws -> [Int: Set<ObjectID>] {
        var related: [Int: Set<ObjectID>] = [:]
        var doomed: [Int: ObjectSet] = [:]
        var waiting = [query]
        while let next = waiting.popLast() {
            var fresh: [Int: [ObjectID]] = [:]
            try await base.fetch(next, batchRowCount: Self.batchRowCount) { records in
                for stored in records {
                    let layout = stored.record.layout
                    var known = doomed.removeValue(forKey: layout.root) ?? ObjectSet()
                    if known.insert(stored.object) { fresh[layout.index, default: []].append(stored.object) }
                    doomed[layout.root] = known
                }
            }
            for (entity, objects) in fresh.sortedByKey {
                for relationship in model.layouts[entity].relationships {
                    let cascades = relationship.deleteRule == .cascade
                    guard cascades || relationship.inverse != nil else { continue }
                    let targets = Set(try await base.links(relationship, of: objects).map(\.target))
                    guard !targets.isEmpty else { continue }
                    let destination = model.layouts[relationship.destination]
                    if cascades { waiting.append(StoreQuery(destination.name, objects: .only(targets.sorted()))) }
                    if relationship.inverse != nil { related[destination.root, default: []].formUnion(targets) }
                }
            }
        }
        return related
    }

    /// Notes the entities and keys of objects before they change.
    private func remember(_ objects: [ObjectID], root: Int) async throws {
        let unknown = state.withLock { state in
            let changed = state.changed[root] ?? Changed()
            return objects.filter { !changed.inserted.contains($0) && changed.former[$0] == nil }
        }
        guard !unknown.isEmpty else { return }
        let query = StoreQuery(model.layouts[root].name, objects: .only(unknown))
        try await base.fetch(query, batchRowCount: Self.batchRowCount) { records in
            state.withLock { state in
                for stored in records {
                    state.changed[root, default: Changed()].former[stored.object] =
                        Former(entity: stored.record.entityName, key: stored.key)
                }
            }
        }
    }

    // MARK: Result

    /// The changes so far.
    func changes() async throws -> ChangeSet {
        let state = self.state.withLock { $0 }
        // Bookkeeping of syncs is not reported.
        var entities = state.deleted.filter { model[$0.key]?.entity.isBookkeeping != true }
            .mapValues { ChangeSet.Keys(deleted: $0) }
        for (root, changed) in state.changed where !model.layouts[root].entity.isBookkeeping {
            let objects = changed.inserted.objects + changed.updated.objects
            for start in stride(from: 0, to: objects.count, by: Self.batchRowCount) {
                let part = Array(objects[start..<min(start + Self.batchRowCount, objects.count)])
                for stored in try await base.records(StoreQuery(model.layouts[root].name, objects: .only(part))) {
                    let entity = stored.record.entityName
                    let former = changed.former[stored.object] ?? Former(entity: entity, key: stored.key)
                    if changed.inserted.contains(stored.object) {
                        entities[entity, default: ChangeSet.Keys()].inserted.insert(stored.key)
                    } else if former == Former(entity: entity, key: stored.key) {
                        entities[entity, default: ChangeSet.Keys()].updated.insert(stored.key)
                    } else {
                        entities[entity, default: ChangeSet.Keys()].inserted.insert(stored.key)
                        entities[former.entity, default: ChangeSet.Keys()].deleted.insert(former.key)
                    }
                }
            }
        }
        return ChangeSet(entities)
    }
}
