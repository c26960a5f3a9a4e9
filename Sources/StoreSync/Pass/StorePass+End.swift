import JSONMapper
import OneWaySynchronizer
import SyncBase
import SyncModel
import SyncStore

extension StorePass {
    /// Ends the merging. Links objects that were named before they came, and deletes objects that
    /// lost their source.
    ///
    /// - Returns: The identities, as JSON, of objects of the list's entities that identifiers name
    ///   and that the payload does not contain, for `rememberDeleted`. Empty without a list.
    @discardableResult
    func finish() async throws -> [ObjectID: String] {
        try await linkDeferred()
        let named = try await namedIdentities()
        try await removeOrphaned()
        return named
    }

    /// Ends one of several changes, such that the next one finds the store as if each were a pass.
    ///
    /// - Parameter gone: The objects that changes named as gone; nil for none.
    func endChange(removing gone: StoreQuery?) async throws {
        try await endReading()
        // Identifiers that wait for their objects get those that this change has inserted.
        var settles = !state.deferred.isEmpty
        if state.counts.hasInserted, !settles { settles = try await waitsForObjects() }
        state.counts.hasInserted = false
        if settles {
            try await linkDeferred()
            try await settlePendingLinks()
            state.deferred = DeferredLinks()
        }
        if !state.orphaned.isEmpty || gone != nil {
            try await removeOrphaned()
            if let gone { try await deleteAbsent(gone, isCertain: true) }
        }
        if settles { state.statements = Statements() }
        state.endChange()
    }

    /// Deletes the objects that lost their source and have no other place.
    private func removeOrphaned() async throws {
        for (relationship, objects, areKept) in state.takeOrphaned() {
            let (destination, inverse) = (model.layouts[relationship.destination], model.inverse(of: relationship))
            var held: Set<ObjectID> = []
            if let inverse { held = Set(try await transaction.links(inverse, of: objects).map(\.source)) }
            if inverse == nil || !destination.hasIdentity {
                let stated = objects.filter { !held.contains($0) && state.states($0, of: destination) }
                let owning = destination.hasIdentity ? [relationship] : model.relationships(owning: destination)
                held.formUnion(try await contained(stated, in: owning))
            }
            let orphaned = objects.filter { !held.contains($0) }
            guard !orphaned.isEmpty else { continue }
            let query = StoreQuery(destination.name, objects: .only(orphaned))
            if areKept {
                state.counts.countKept(try await transaction.count(query), of: destination)
                continue
            }
            try await keepStated(query)
            try await remove(query)
        }
    }

    /// Makes the deferred links, and notes the identifiers of objects that the payload did not
    /// contain.
    private func linkDeferred() async throws {
        let resolution = try await resolve(state.deferred)
        try noteContradictions(of: resolution)
        unresolved = resolution.pending
        for (place, count) in resolution.unknown {
            let first = state.deferred.stored.places[place.relationship]
            try noteUnknown(count, first?.entity == place.entity ? first ?? place : place)
        }
    }

    /// Makes deferred links, as far as their objects are stored now.
    func resolve(_ deferred: DeferredLinks) async throws -> DeferredLinks.Resolution {
        var found: [EntityLayout.Relationship.ID: [ObjectID?]] = [:]
        for (id, unknown) in deferred.unknown { found[id] = try await transaction.find(unknown) }
        let resolution = deferred.resolved(found, rules, in: model)
        for batch in resolution.batches {
            try await link(batch)
            state.statements.insert(
                batch.sources, batch.relationship, targets: batch.targets,
                inverse: model.inverse(of: batch.relationship))
        }
        return resolution
    }

    /// Stores the identifiers of deferred statements, so that memory is bounded. The end of the
    /// pass links those whose objects have come by then, like those of earlier passes.
    func storeDeferred() async throws {
        // Identifiers that nothing remembers after the pass have no place in the store.
        guard let layout = pendingLinks,
            state.deferred.unknown.keys.allSatisfy({ rules.mode(of: model.relationship($0)) != .retain })
        else { return }
        try await forgetReplaced(layout)
        let resolution = try await resolve(state.deferred.take())
        try noteContradictions(of: resolution)
        let rows = try await remember(resolution.pending.sorted(), layout)
        state.deferred.noteStored(rows, of: resolution)
        if !rows.isEmpty { hasPendingLinks = true }
    }

    private func namedIdentities() async throws -> [ObjectID: String] {
        guard let layout = state.listed.root.map({ model.layouts[$0] }) else { return [:] }
        let objects = Set(state.deferred.named.flatMap { $0.targets.map(\.object) })
            .filter { !state.counts.isSeen($0, of: layout) }
        guard !objects.isEmpty else { return [:] }
        return try await transaction.keys(of: objects.sorted(), layout).compactMapValues { key in
            if case .identity(let values) = key { values.first?.json } else { nil }
        }
    }

    /// Adds links to `unresolved` whose named objects were deleted because they were absent.
    ///
    /// - Parameter identities: The identities of the objects that may have been deleted.
    func rememberDeleted(_ identities: [ObjectID: String]) async throws {
        guard let listRoot = state.listed.root, !identities.isEmpty else { return }
        let left = try await transaction.keys(of: identities.keys.sorted(), model.layouts[listRoot])
        for named in state.deferred.named {
            let place = named.place
            var count = 0
            for target in named.targets where left[target.object] == nil {
                guard let identifier = identities[target.object] else { continue }
                count += 1
                guard rules.mode(of: model.relationship(place.relationship)) != .retain else { continue }
                unresolved.add(
                    PendingLinks.Target(object: place.source, position: target.position, identifier: identifier),
                    of: place.relationship)
            }
            try noteUnknown(count, place)
        }
    }

    func noteUnknown(_ count: Int, _ place: DeferredLinks.Place) throws {
        try note(
            transaction.model[SyncEntity.pendingLink.name] == nil ? .lostIdentifier : .unknownIdentifier,
            at: place, count: count)
    }

    private func noteContradictions(of resolution: DeferredLinks.Resolution) throws {
        for place in resolution.contradicting {
            try note(state.counts.kindOfConflict(place.source, of: model.layouts[place.entity]), at: place)
        }
    }

    private func note(_ kind: DriftReport.Kind, at place: DeferredLinks.Place, count: Int = 1) throws {
        let relationship = model.relationship(place.relationship)
        let entity = model.layouts[place.entity].name
        state.problems.drift.add(
            kind, entity: entity, keyPath: try mapper.mapping(of: entity).keyPath(of: relationship), count: count,
            index: place.elementIndex)
    }

    /// Links objects at the end of the pass, and counts the changed sources.
    func link(_ batch: LinkBatch) async throws {
        let result = try await transaction.link(batch)
        state.counts.countChanged(result.changed, of: model.layouts[batch.relationship.source])
    }

    /// Deletes objects that are absent from the payload.
    ///
    /// They are kept if a rejected object may be one of them.
    ///
    /// - Parameters:
    ///   - absent: The objects to delete.
    ///   - isCertain: Whether the source named the objects as gone.
    /// - Throws: `StoreSyncError.removalLimitExceeded` if the limit does not allow the deletion and
    ///   its action is to abort.
    func deleteAbsent(_ absent: StoreQuery, isCertain: Bool = false) async throws {
        let layout = try model.layout(of: absent.entity)
        guard try await mayLack(absent, of: layout) else { return }
        let isDoubtful = state.problems.mayLackObjects && !isCertain
        if limit != nil || isDoubtful {
            let count = try await transaction.count(absent)
            let removals = deletedCount + count - (limit == nil ? 0 : try await insertedCount(absent, layout))
            var isKept = isDoubtful
            if let (limit, localCount) = limit, !limit.allows(removals: removals, of: localCount) {
                guard limit.action != .abort else {
                    throw StoreSyncError.removalLimitExceeded(
                        entity: layout.name, removals: removals, localCount: localCount, limit: limit)
                }
                isKept = true
            }
            if isKept { return state.counts.countKept(count, of: layout) }
            deletedCount = removals
        }
        if state.orphaned.keepsStated { try await keepStated(absent) }
        try await remove(absent)
    }

    /// The number of absent objects that the pass has inserted: pages had them, and had them no
    /// longer when they were read again. They are no loss.
    private func insertedCount(_ absent: StoreQuery, _ layout: EntityLayout) async throws -> Int {
        let inserted = state.counts.inserted(layout)
        let objects =
            switch absent.objects {
            case .all: inserted.objects
            case .only(let objects): objects.filter(inserted.contains)
            case .except(let seen): inserted.objects.filter { !seen.contains($0) }
            }
        guard !objects.isEmpty else { return 0 }
        return try await transaction.count(StoreQuery(absent.entity, where: absent.predicate, objects: .only(objects)))
    }

    /// Whether a stored object may be absent from the payload. False only if a count proves that
    /// none is.
    ///
    /// Counting a table is cheaper than finding its objects that are not in a set. A scope is not
    /// counted, because it may be a small part of the table.
    func mayLack(_ absent: StoreQuery, of layout: EntityLayout) async throws -> Bool {
        // After a deletion, the set may contain objects that are no longer stored.
        guard case .except(let seen) = absent.objects, absent.predicate == .constant(true),
            layout.root == layout.index, state.counts.deletesNothing
        else { return true }
        // The end of the pass asks whether identifiers wait.
        let pending = hasPendingLinks == nil ? pendingLinks : nil
        let counts = try await transaction.counts(of: [layout, pending].compactMap { $0.map { StoreQuery($0.name) } })
        if pending != nil { hasPendingLinks = counts[1] > 0 }
        return counts[0] != seen.count
    }

    /// Unlinks objects of the payload from objects that are about to be deleted, and from those
    /// that go with these.
    ///
    /// Deleting an object deletes what a cascade reaches, even if the payload states that in
    /// another place.
    private func keepStated(_ leaving: StoreQuery) async throws {
        var queries = [leaving]
        var cascades: [Int: [EntityLayout.Relationship]] = [:]
        // The objects that go, and those without an identity that may stay, by the root of their
        // entity.
        var (going, inDoubt): ([Int: ObjectSet], [Int: ObjectSet]) = ([:], [:])
        // All targets of objects that go, if the payload states some of them.
        var links: [EntityLayout.Relationship: [(owner: ObjectID, targets: [ObjectID])]] = [:]
        while !queries.isEmpty {
            while let query = queries.popLast() {
                for index in try model.layout(of: query.entity).family {
                    let layout = model.layouts[index]
                    let taking = cascades[index] ?? layout.relationships.filter { state.mayTakeStated(along: $0) }
                    cascades[index] = taking
                    guard !taking.isEmpty else { continue }
                    var part = query
                    part.entity = layout.name
                    var owners: [ObjectID] = []
                    try await transaction.fetch(part, batchRowCount: 1000) { owners += $0.map(\.object) }
                    going[layout.root, default: ObjectSet()].formUnion(owners)
                    for relationship in taking {
                        let destination = model.layouts[relationship.destination]
                        let keeps = state.mayState(targetsOf: relationship)
                        var unstated: Set<ObjectID> = []
                        for (owner, targets) in try await targets(of: owners, by: relationship).sortedByKey {
                            let stated = keeps ? targets.filter { state.states($0, of: destination) } : []
                            unstated.formUnion(targets)
                            guard !stated.isEmpty else { continue }
                            unstated.subtract(stated)
                            links[relationship, default: []].append((owner, targets))
                            guard !destination.hasIdentity else { continue }
                            inDoubt[destination.root, default: ObjectSet()].formUnion(stated)
                        }
                        if relationship.sharesTargets, let inverse = model.inverse(of: relationship) {
                            // Another owner keeps them.
                            let holders = try await self.targets(of: unstated.sorted(), by: inverse)
                            unstated = unstated.filter { target in
                                (holders[target] ?? []).allSatisfy { going[layout.root]?.contains($0) == true }
                            }
                        }
                        unstated = unstated.filter { going[destination.root, default: ObjectSet()].insert($0) }
                        guard !unstated.isEmpty else { continue }
                        queries.append(StoreQuery(destination.name, objects: .only(unstated.sorted())))
                    }
                }
            }
            for (root, objects) in inDoubt.sortedByKey {
                let owning = model.relationships(owning: model.layouts[root])
                let held = try await contained(objects.objects, in: owning, except: going)
                let lost = objects.objects.filter { !held.contains($0) && going[root, default: ObjectSet()].insert($0) }
                if !lost.isEmpty { queries.append(StoreQuery(model.layouts[root].name, objects: .only(lost))) }
            }
        }
        for (relationship, links) in links.sorted(by: { $0.key.id < $1.key.id }) {
            let going = going[model.layouts[relationship.destination].root] ?? ObjectSet()
            var batch = LinkBatch(relationship, mode: .replace)
            for (owner, targets) in links { batch.append(owner, to: targets.filter(going.contains)) }
            _ = try await transaction.link(batch)
        }
    }

    /// The objects that the payload has in some relationships of objects which do not go.
    private func contained(
        _ objects: [ObjectID], in relationships: [EntityLayout.Relationship], except going: [Int: ObjectSet] = [:]
    ) async throws -> Set<ObjectID> {
        guard !objects.isEmpty else { return [] }
        let sought = ObjectSet(objects)
        var contained: Set<ObjectID> = []
        for relationship in relationships {
            let going = going[model.layouts[relationship.source].root] ?? ObjectSet()
            let containers = state.statements.objects(stating: relationship).filter { !going.contains($0) }
            if let inverse = model.inverse(of: relationship) {
                let containers = ObjectSet(containers)
                for (object, owners) in try await targets(of: objects, by: inverse)
                where owners.contains(where: containers.contains) {
                    contained.insert(object)
                }
            } else {
                for part in containers.parts(of: Self.soughtCount) {
                    let found = try await transaction.targets(of: Array(part), by: relationship)
                    contained.formUnion(found.values.joined().filter(sought.contains))
                }
            }
        }
        return contained
    }

    /// Deletes objects, and counts them.
    func remove(_ query: StoreQuery) async throws {
        let reportsKeys = rules.reportsKeys || state.counts.mayHaveInserted(query)
        state.counts.countDeleted(try await transaction.remove(query, reportsKeys: reportsKeys))
    }
}
