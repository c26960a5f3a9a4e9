import JSONMapper
import OneWaySynchronizer
import SyncModel
import SyncStore

extension SyncPass {
    /// Ends the pass: links objects that were named before they came, and deletes objects that lost
    /// their place.
    func finish() async throws {
        try await writeHeld()
        try await applyHeldUpdates()
        try await settlePendingLinks(remembering: try await linkDeferred())
        for (relationship, objects) in detached.sorted(by: { $0.key.id < $1.key.id }) {
            // An object that was left out may be among those that seem to have lost their place. An
            // owned object has no identity that the object left out could have.
            guard relationship.isOwning || !tally.mayLackObjects else { continue }
            let destination = model.layouts[relationship.destination]
            let seen = tally.seen(destination)
            var lost = Array(Set(objects.filter { !seen.contains($0) })).sorted()
            if let inverse = model.inverse(of: relationship) {
                let held = Set(try await transaction.links(inverse, of: lost).map(\.source))
                lost.removeAll { held.contains($0) }
            } else if !relationship.isOwning {
                continue
            }
            guard !lost.isEmpty else { continue }
            try await remove(StoreQuery(destination.name, objects: .only(lost)))
        }
    }

    /// Relates what was named before it came, in the order of the payload.
    ///
    /// - Returns: The links to objects that did not come.
    private func linkDeferred() async throws -> [PendingLink] {
        var found: [RelationshipLayout.ID: [ObjectID?]] = [:]
        for (id, unknown) in deferred.unknown {
            found[id] = try await transaction.find(unknown)
        }
        var pending: [PendingLink] = []
        var batch: LinkBatch?
        for case let statement? in deferred.statements {
            let relationship = statement.relationship
            let objects = found[relationship.id] ?? []
            var isNew = false
            var targets: [ObjectID] = []
            var unknown: [(position: Int, row: Int)] = []
            for (position, target) in statement.targets.enumerated() {
                switch target {
                case .object(let object): targets.append(object)
                case .unknown(let row):
                    guard let object = objects[row] else {
                        unknown.append((position, row))
                        continue
                    }
                    isNew = true
                    targets.append(object)
                }
            }
            if !unknown.isEmpty, let identifiers = deferred.unknown[relationship.id] {
                if rules.mode(of: relationship) != .retain {
                    pending.append(PendingLink(statement, unknown, of: identifiers, in: model))
                }
                try noteUnknown(unknown.count, statement)
            }
            guard isNew else { continue }
            if let open = batch, open.relationship.id != relationship.id {
                try await link(open)
                batch = nil
            }
            var next = batch ?? LinkBatch(relationship, mode: rules.mode(of: relationship))
            next.append(statement.source, to: targets)
            batch = next
        }
        if let batch { try await link(batch) }
        return pending
    }

    private func noteUnknown(_ count: Int, _ statement: DeferredLinks.Statement) throws {
        let keys = try mapper.mapping(of: statement.entity).keys.relationships[statement.relationship.index]
        tally.drift.add(
            .unknownIdentifier, entity: statement.entity,
            keyPath: keys.path()?.joined(separator: ".") ?? statement.relationship.name, count: count,
            index: statement.elementIndex)
    }

    /// Links objects, and counts those that changed.
    func link(_ batch: LinkBatch) async throws {
        let changed = try await transaction.link(batch).changed
        tally.countChanged(changed, of: model.layouts[batch.relationship.source])
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
