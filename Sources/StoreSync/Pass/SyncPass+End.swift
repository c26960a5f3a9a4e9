import JSONMapper
import OneWaySynchronizer
import SyncModel
import SyncStore

extension SyncPass {
    /// Ends the pass: links objects that were named before they came, and deletes objects that lost
    /// their place.
    func finish() async throws {
        for (relationship, links) in deferred.links {
            let found = try await transaction.find(links.unknown)
            var batch = LinkBatch(relationship, mode: rules.mode(of: relationship))
            for (source, targets) in links.targets.sorted(by: { $0.key < $1.key }) {
                var isNew = false
                let rows = targets.compactMap { target -> Int64? in
                    switch target {
                    case .object(let row): return row
                    case .unknown(let index):
                        isNew = isNew || found[index] != nil
                        return found[index]
                    }
                }
                if isNew { batch.append(source, to: rows) }
            }
            guard !batch.isEmpty else { continue }
            let changed = try await transaction.link(batch).changed
            tally.countChanged(changed, of: model.layouts[relationship.source])
        }
        // An object that was left out may be one that seems to have lost its place.
        guard !tally.mayLackObjects else { return }
        for (relationship, rows) in detached.sorted(by: {
            ($0.key.source, $0.key.index) < ($1.key.source, $1.key.index)
        }) {
            guard let inverse = model.inverse(of: relationship) else { continue }
            let destination = model.layouts[relationship.destination]
            let seen = tally.seen(destination)
            let absent = Array(Set(rows.filter { !seen.contains($0) })).sorted()
            let held = Set(try await transaction.links(inverse, of: absent).map(\.source))
            let lost = absent.filter { !held.contains($0) }
            guard !lost.isEmpty else { continue }
            try await remove(StoreQuery(destination.name, objects: .only(lost)))
        }
    }

    /// Deletes objects that are absent from the payload.
    ///
    /// The deletion is withheld if an object was left out that may be one of them.
    ///
    /// - Parameters:
    ///   - absent: The objects.
    ///   - isCertain: Whether the source named the objects as gone.
    ///   - limit: The removal limit and the number of objects it applies to.
    func sweep(
        _ absent: StoreQuery, isCertain: Bool = false, limit: (limit: RemovalLimit, localCount: Int)?
    ) async throws {
        let layout = try model.layout(of: absent.entity)
        let isDoubtful = tally.mayLackObjects && !isCertain
        if limit != nil || isDoubtful {
            let removals = try await transaction.count(absent)
            let isAllowed = limit.map { $0.limit.allows(removals: removals, of: $0.localCount) } ?? true
            if let (limit, localCount) = limit, !isAllowed, limit.action == .abort {
                throw StoreSyncError.removalLimitExceeded(
                    entity: layout.name, removals: removals, localCount: localCount, limit: limit)
            }
            if !isAllowed || isDoubtful {
                return tally.countWithheld(removals, of: layout)
            }
        }
        try await remove(absent)
    }

    private func remove(_ query: StoreQuery) async throws {
        tally.countDeleted(try await transaction.remove(query, reportsKeys: rules.reportsKeys))
    }

    /// The keys of some objects.
    func keys(of rows: ObjectSet, _ layout: EntityLayout) async throws -> [RecordKey] {
        var keys: [RecordKey] = []
        let query = StoreQuery(layout.name, objects: .only(rows.objects))
        try await transaction.fetch(query, batchRowCount: 1000) { keys += $0.map(\.key) }
        return keys
    }
}
