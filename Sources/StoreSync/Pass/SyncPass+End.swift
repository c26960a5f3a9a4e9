import JSONMapper
import OneWaySynchronizer
import SyncModel
import SyncStore

extension SyncPass {
    /// Ends the merging. Links objects that were named before they came, and deletes objects that
    /// lost their source.
    func finish() async throws {
        unresolved = try await linkDeferred()
        try await removeDetached()
    }

    /// Ends one of several changes, such that the next one finds the store as if each were a pass.
    ///
    /// - Parameter gone: The objects that changes named as gone; nil for none.
    func endChange(
        removing gone: StoreQuery?, limit: (limit: RemovalLimit, localCount: Int)?
    ) async throws {
        try await endReading()
        // Identifiers that wait for their objects get those that this change has inserted.
        var settles = !deferred.isEmpty
        if tally.hasInserted, !settles { settles = try await waitsForObjects() }
        tally.hasInserted = false
        if settles {
            unresolved = try await linkDeferred()
            deferred = DeferredLinks()
            try await settlePendingLinks()
            statements = Statements()
        }
        if !detached.isEmpty || gone != nil {
            try await removeDetached()
            if let gone { try await sweep(gone, isCertain: true, limit: limit) }
        }
        deferred.forgetNamed()
        (elsewhere, lost) = ([:], [:])
        forgetStatements()
        tally.mayLackObjects = false
    }

    /// Forgets what the payload has stated, before another reading or change states it anew.
    func forgetStatements() {
        (listed, repeatedRecords) = (ObjectSet(), RepeatedRecords())
        statements.beginAnew()
    }

    /// Deletes the objects that lost their source and have no other place.
    private func removeDetached() async throws {
        for (relationship, objects) in detached.sorted(by: { $0.key.id < $1.key.id }) {
            let destination = model.layouts[relationship.destination]
            // An object without an identity cannot exist without its source.
            let isPrivate = !destination.hasIdentity
            // A rejected object may be the new source of one that seems to have lost its source.
            guard isPrivate || relationship.isOwning || !tally.mayLackObjects else { continue }
            let seen = tally.seen(destination)
            let elsewhere = elsewhere.map { $0[relationship.id] ?? ObjectSet() }
            let hasPlace = { seen.contains($0) && elsewhere?.contains($0) != false }
            var lost = Array(Set(objects.filter { isPrivate || !hasPlace($0) })).sorted()
            if isPrivate, destination.root == listRoot { lost.removeAll { listed.contains($0) } }
            if let inverse = model.inverse(of: relationship) {
                let held = Set(try await transaction.links(inverse, of: lost).map(\.source))
                lost.removeAll { held.contains($0) }
            } else if !relationship.isOwning {
                continue
            } else {
                let sources = isPrivate ? self.lost[relationship.id]?.keys.sorted() : nil
                let isStated = !isPrivate && lost.contains { seen.contains($0) }
                let places = sources ?? (isStated ? statements.objects(stating: relationship) : nil) ?? []
                let links = places.isEmpty ? [] : try await transaction.links(relationship, of: places)
                let held = Set(links.map(\.target))
                lost.removeAll { held.contains($0) }
            }
            guard !lost.isEmpty else { continue }
            try await remove(StoreQuery(destination.name, objects: .only(lost)))
        }
        detached = [:]
    }

    /// Makes the deferred links, in the order of the payload.
    ///
    /// - Returns: The links to objects that the payload did not contain.
    private func linkDeferred() async throws -> [PendingLink] {
        var found: [EntityLayout.Relationship.ID: [ObjectID?]] = [:]
        for (id, unknown) in deferred.unknown {
            found[id] = try await transaction.find(unknown)
        }
        var pending: [PendingLink] = []
        var batch: LinkBatch?
        // The relationships for which a deferred statement was made; a relationship and its inverse
        // are represented by the lower identifier. Later statements are made again.
        var repeated: Set<EntityLayout.Relationship.ID> = []
        for statement in deferred.statements {
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
                try noteUnknown(unknown.count, relationship, statement.entity, statement.elementIndex)
            }
            let pair = model.inverse(of: relationship).map { min($0.id, relationship.id) } ?? relationship.id
            if isNew { repeated.insert(pair) }
            guard repeated.contains(pair) else { continue }
            var mode = rules.mode(of: relationship)
            if statement.isIncomplete {
                guard mode != .retain else { continue }
                mode = .add
            }
            if let open = batch, open.relationship.id != relationship.id || open.mode != mode {
                try await link(open)
                batch = nil
            }
            var next = batch ?? LinkBatch(relationship, mode: mode)
            next.append(statement.source, to: targets)
            batch = next
        }
        if let batch { try await link(batch) }
        return pending
    }

    /// The identities, as JSON, of objects that identifiers name and that the payload does not
    /// contain.
    func namedIdentities() async throws -> [ObjectID: [UInt8]] {
        guard let layout = listRoot.map({ model.layouts[$0] }) else { return [:] }
        let objects = Set(deferred.named.flatMap { $0.targets.map(\.object) })
            .filter { !tally.isSeen($0, of: layout) }
        guard !objects.isEmpty else { return [:] }
        var identities: [ObjectID: [UInt8]] = [:]
        let query = StoreQuery(layout.name, objects: .only(objects.sorted()))
        try await transaction.fetch(query, batchRowCount: 1000) { records in
            for stored in records {
                guard let slot = stored.record.layout.identitySlots.first else { continue }
                var writer = JSONWriter()
                guard (try? writer.value(stored.record[slot: slot])) != nil else { continue }
                identities[stored.object] = writer.bytes
            }
        }
        return identities
    }

    /// Adds links to `unresolved` whose named objects were deleted because they were absent.
    ///
    /// - Parameter identities: The identities of the objects that may have been deleted.
    func rememberDeleted(_ identities: [ObjectID: [UInt8]]) async throws {
        guard let listRoot, !identities.isEmpty else { return }
        var left = ObjectSet()
        let query = StoreQuery(model.layouts[listRoot].name, objects: .only(identities.keys.sorted()))
        try await transaction.fetch(query, batchRowCount: 1000) { records in
            for stored in records { left.insert(stored.object) }
        }
        var indices: [EntityLayout.Relationship.ID: [ObjectID: Int]] = [:]
        for (index, link) in unresolved.enumerated() {
            indices[link.relationship.id, default: [:]][link.object] = index
        }
        for named in deferred.named {
            let gone = named.targets.compactMap { target in
                left.contains(target.object)
                    ? nil : identities[target.object].map { (position: target.position, json: $0) }
            }
            guard !gone.isEmpty else { continue }
            try noteUnknown(gone.count, named.relationship, named.entity, named.elementIndex)
            guard rules.mode(of: named.relationship) != .retain else { continue }
            if let index = indices[named.relationship.id]?[named.source] {
                unresolved[index].targets += gone
                unresolved[index].targets.sort { $0.position < $1.position }
            } else {
                unresolved.append(
                    PendingLink(relationship: named.relationship, object: named.source, targets: gone))
            }
        }
    }

    private func noteUnknown(
        _ count: Int, _ relationship: EntityLayout.Relationship, _ entity: String, _ elementIndex: Int
    ) throws {
        let keys = try mapper.mapping(of: entity).keys.relationships[relationship.index]
        tally.drift.add(
            transaction.model[SyncEntity.pendingLink.name] == nil ? .lostIdentifier : .unknownIdentifier,
            entity: entity, keyPath: keys.path()?.joined(separator: ".") ?? relationship.name, count: count,
            index: elementIndex)
    }

    /// Links objects at the end of the pass, and counts the changed sources.
    func link(_ batch: LinkBatch) async throws {
        let result = try await transaction.link(batch)
        tally.countChanged(result.changed, of: model.layouts[batch.relationship.source])
    }

    /// Deletes objects that are absent from the payload.
    ///
    /// The deletion is withheld if a rejected object may be one of them.
    ///
    /// - Parameters:
    ///   - absent: The objects to delete.
    ///   - isCertain: Whether the source named the objects as gone.
    ///   - limit: The removal limit, and the number of objects that it refers to.
    /// - Throws: `StoreSyncError.removalLimitExceeded` if the limit does not allow the deletion and
    ///   its action is to abort.
    func sweep(
        _ absent: StoreQuery, isCertain: Bool = false, limit: (limit: RemovalLimit, localCount: Int)?
    ) async throws {
        let layout = try model.layout(of: absent.entity)
        guard try await mayLack(absent, of: layout) else { return }
        let isDoubtful = tally.mayLackObjects && !isCertain
        if limit != nil || isDoubtful {
            let count = try await transaction.count(absent)
            let removals = sweptCount + count
            var isWithheld = isDoubtful
            if let (limit, localCount) = limit, !limit.allows(removals: removals, of: localCount) {
                guard limit.action != .abort else {
                    throw StoreSyncError.removalLimitExceeded(
                        entity: layout.name, removals: removals, localCount: localCount, limit: limit)
                }
                isWithheld = true
            }
            if isWithheld { return tally.countWithheld(count, of: layout) }
            sweptCount = removals
        }
        try await keepShared(absent)
        try await remove(absent)
    }

    /// Whether a stored object may be absent from the payload. False only if a count proves that
    /// none is.
    ///
    /// Counting a table is cheaper than finding its objects that are not in a set. A scope is not
    /// counted, because it may be a small part of the table.
    func mayLack(_ absent: StoreQuery, of layout: EntityLayout) async throws -> Bool {
        // After a deletion, the set may contain objects that are no longer stored.
        guard case .except(let seen) = absent.objects, absent.predicate == .constant(true),
            layout.root == layout.index, tally.deletesNothing
        else { return true }
        return try await transaction.count(StoreQuery(layout.name)) != seen.count
    }

    /// Unlinks objects of the payload from objects that are about to be deleted.
    ///
    /// Without an inverse, several objects can own the same one, and deleting one of them would
    /// delete it.
    private func keepShared(_ absent: StoreQuery) async throws {
        for index in try model.layout(of: absent.entity).family {
            let layout = model.layouts[index]
            for relationship in layout.relationships
            where relationship.deleteRule == .cascade && relationship.inverse == nil
                && model.layouts[relationship.destination].hasIdentity
            {
                let destination = model.layouts[relationship.destination]
                var query = absent
                query.entity = layout.name
                var owners: [ObjectID] = []
                try await transaction.fetch(query, batchRowCount: 1000) { owners += $0.map(\.object) }
                var kept: [ObjectID: [ObjectID]] = [:]
                var shared: Set<ObjectID> = []
                for link in try await transaction.links(relationship, of: owners) {
                    if tally.isSeen(link.target, of: destination) {
                        shared.insert(link.source)
                    } else {
                        kept[link.source, default: []].append(link.target)
                    }
                }
                var batch = LinkBatch(relationship, mode: .replace)
                for owner in shared.sorted() { batch.append(owner, to: kept[owner] ?? []) }
                if !batch.isEmpty { _ = try await transaction.link(batch) }
            }
        }
    }

    private func remove(_ query: StoreQuery) async throws {
        let reportsKeys = rules.reportsKeys || tally.mayHaveInserted(query)
        tally.countDeleted(try await transaction.remove(query, reportsKeys: reportsKeys))
    }

    /// The keys of stored objects.
    func keys(of rows: ObjectSet, _ layout: EntityLayout) async throws -> [Record.Key] {
        var keys: [Record.Key] = []
        let query = StoreQuery(layout.name, objects: .only(rows.objects))
        try await transaction.fetch(query, batchRowCount: 1000) { keys += $0.map(\.key) }
        return keys
    }
}
