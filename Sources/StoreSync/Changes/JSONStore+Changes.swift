import JSONMapper
import SyncModel
import SyncStore

extension JSONStore {
    /// Applies changes that a source reported on its own, in one transaction.
    ///
    /// Objects are inserted, updated and related as in a sync. Objects that are named as gone are
    /// deleted. Many changes in one call leave the same objects as one call for each of them: an
    /// object that comes after its removal is a new one.
    ///
    /// A change may contain only a part of an object. A key that it lacks leaves the property
    /// unchanged, even if the entity was inferred from a sample, unless the options say
    /// `absentKeys: .clear`.
    ///
    /// The bookmarks of the changed entities lose their entity tags. The next sync therefore reads
    /// the lists themselves, and corrects anything that a change stored wrongly.
    ///
    ///     // In the handler of a webhook
    ///     let change = RemoteChange.objects(.bytes(body), keyPath: "data.object")
    ///     let options = StoreSyncOptions(newerBy: "updatedAt")
    ///     try await store.apply([change], into: "Order", options: options)
    ///
    /// A concurrent sync may have read its pages before the change happened, and would then undo
    /// it. A ``LiveSync`` prevents this.
    ///
    /// - Parameters:
    ///   - changes: The changes, in order.
    ///   - entity: The entity of the objects, unless a change names its own.
    ///   - options: The allowed operations and other options. The key path is not used. The removal
    ///     limit applies to all objects of an entity that are named as gone. If the limit keeps
    ///     objects, it keeps those of the changes that exceed it. `newerBy` ignores changes and
    ///     removals that are older than the stored object, unless they are in a file or a stream;
    ///     without it, changes are applied in order.
    /// - Returns: The result, with the coverage ``StoreSyncResult/Coverage/changes``.
    /// - Throws: The errors of ``sync(_:into:childrenOf:options:)``. After an error, nothing has
    ///   changed.
    @discardableResult
    package func apply(
        _ changes: [RemoteChange], into entity: String, options: StoreSyncOptions = StoreSyncOptions()
    ) async throws -> StoreSyncResult {
        try await apply(changes) { ChangeRules(entity: $0 ?? entity, options: options) }.result
    }

    /// Applies changes of several entities, in order and in one transaction.
    ///
    /// - Parameter rules: Returns the rules of the changes that name an entity, or none.
    func apply(
        _ changes: [RemoteChange], by rules: (_ entity: String?) throws -> ChangeRules
    ) async throws -> ChangesResult {
        var runs: [ChangeRun] = []
        for change in changes {
            let rules = try rules(change.entity)
            if runs.last?.rules.entity == rules.entity {
                runs[runs.count - 1].changes.append(change)
            } else {
                runs.append(ChangeRun(rules: rules, changes: [change], mapper: mapper))
            }
        }
        guard let first = runs.first else {
            var result = StoreSyncResult()
            result.coverage = .changes
            return ChangesResult(result: result)
        }
        return try await recorded(into: first.rules.entity, from: "push") { [runs] recorder in
            try await change { transaction in
                let call = ChangeCall(runCount: runs.count)
                // The results of each entity, in the order of its first change.
                var entities: [(request: SyncRequest, result: StoreSyncResult)] = []
                for run in runs {
                    recorder?.begin(run.rules.entity)
                    let result = try await run.apply(in: transaction, call)
                    if let index = entities.firstIndex(where: { $0.request.entity == run.rules.entity }) {
                        entities[index].result.add(result)
                    } else {
                        entities.append((run.request, result))
                    }
                }
                for (request, result) in entities {
                    try await BookmarkPlace.noteChanges(in: result, by: request, asList: false, transaction)
                    try await recorder?.succeed(result, of: request.entity, in: transaction)
                }
                let failedCount = min(call.failedCount, changes.count)
                var result = ChangesResult(result: entities[0].result, failedCount: failedCount)
                for other in entities.dropFirst() { result.result.add(other.result, ofOtherEntity: true) }
                return result
            }
        }
    }
}

/// The result of applied changes.
struct ChangesResult: Sendable {
    var result: StoreSyncResult
    /// The number of changes of which objects were rejected.
    var failedCount = 0
}

/// How the changes of an entity are applied.
struct ChangeRules: Sendable {
    var entity: String
    let options: StoreSyncOptions
}

/// Changes of one entity that follow each other.
private struct ChangeRun: Sendable {
    let rules: ChangeRules
    var changes: [RemoteChange]
    let request: SyncRequest

    init(rules: ChangeRules, changes: [RemoteChange], mapper: RecordMapper) {
        self.rules = rules
        self.changes = changes
        // The JSON may contain only a part of an object.
        request = SyncRequest(
            mapper: mapper, entity: rules.entity, options: rules.options,
            rules: SyncRules(rules.options, isInferred: false))
    }

    func apply(in transaction: any StoreTransaction, _ call: ChangeCall) async throws -> StoreSyncResult {
        var request = request
        request.call = call
        let stale = try rules.options.newerBy.map { try StaleChanges($0, changes.count, request, transaction) }
        let inspector = try ChangeInspector(request, transaction, versionAttribute: rules.options.newerBy)
        let pages = ChangePages(try await inspector.pages(of: changes, without: stale))
        var result = try await request.run(pages, as: .changes, in: transaction).summary
        if let stale, stale.count > 0 { result.warnings.append(ListVersions.warning(olderCount: stale.count)) }
        if let stale, stale.uncomparedCount > 0 {
            result.warnings.append(
                "\(stale.uncomparedCount) of the changes are not in memory, and were applied whatever their versions")
        }
        return result
    }
}

extension StoreSyncResult {
    /// Adds the result of a later run of the same call.
    ///
    /// The keys of several entities have no common meaning, so that there are none.
    fileprivate mutating func add(_ later: StoreSyncResult, ofOtherEntity: Bool = false) {
        counts += later.counts
        countsByEntity.merge(later.countsByEntity) { one, other in
            var sum = one
            sum += other
            return sum
        }
        rejected = Array((rejected + later.rejected).prefix(PassProblems.reportedCount))
        rejectedCount += later.rejectedCount
        toleratedCount += later.toleratedCount
        excludedRelationshipCount += later.excludedRelationshipCount
        drift.append(later.drift)
        if !ofOtherEntity, let others = later.keys {
            keys?.inserted += others.inserted
            keys?.updated += others.updated
            keys?.deleted += others.deleted
        } else {
            keys = nil
        }
        if absentKeys != later.absentKeys { absentKeys = nil }
        pageCount += later.pageCount
        byteCount += later.byteCount
        warnings += later.warnings
    }
}
