import JSONMapper
import OneWayStoreKinds
import OneWayStoreTestSupport
import OneWayTestLimits
import OneWayTestSupport
import StoreSync
import SyncModel
import SyncStore
import Testing

/// Random payloads for random models, in batches of every size. A case that fails is reported in
/// its simplest form.
@Suite(.endsInTime) struct RandomCaseTests {
    /// What a payload states holds, without a conflict; the second sync writes nothing.
    @Test(arguments: StoreKind.all, seeds(6, thorough: 30))
    func whatAPayloadStatesHolds(kind: StoreKind, seed: UInt64) async throws {
        try await check(kind, RandomGraph.make(seed: seed, isConsistent: true), seed)
    }

    /// All sizes of batches leave the same and report as many conflicts; the second sync leaves
    /// the same.
    @Test(arguments: StoreKind.all, seeds(6, thorough: 30))
    func payloadsThatContradictThemselvesLeaveTheSame(kind: StoreKind, seed: UInt64) async throws {
        try await check(kind, RandomGraph.make(seed: seed, isConsistent: false), seed)
    }

    /// The same of changes, which delete only what loses its place.
    @Test(arguments: StoreKind.all, seeds(6, thorough: 30))
    func changesLeaveTheSame(kind: StoreKind, seed: UInt64) async throws {
        var changes = RandomGraph.make(seed: seed, isConsistent: seed.isMultiple(of: 2))
        changes.areChanges = true
        try await check(kind, changes, seed)
    }

    private func check(_ kind: StoreKind, _ whole: RandomCase, _ seed: UInt64) async throws {
        guard var problem = try await problem(kind, whole) else { return }
        var smallest = whole
        search: while true {
            for simpler in smallest.simpler {
                guard let found = try await self.problem(kind, simpler), found.kind == problem.kind else { continue }
                (smallest, problem) = (simpler, found)
                continue search
            }
            break
        }
        Issue.record("seed \(seed), \(problem.kind): \(problem.detail)\n\(smallest)")
    }

    private func problem(_ kind: StoreKind, _ tried: RandomCase) async throws -> (kind: String, detail: String)? {
        let mapper = try tried.mapper()
        let found = Found()
        try await kind.use { makeStore in
            var worlds: [RealJSONWorld] = []
            for rowCount in [1, 2, 1000] {
                let store = HookedStore(try await makeStore(mapper.model), SmallBatches(rowCount))
                worlds.append(try RealJSONWorld(store, mapper: mapper))
            }
            worlds.append(try RealJSONWorld(MemoryStore(exactly: mapper.model), mapper: mapper))
            for payload in tried.payloads {
                var first: (objects: Objects, conflictCount: Int)?
                var denials: Set<Bool> = []
                for world in worlds {
                    let outcome: (result: StoreSyncResult, problems: [RealJSONWorld.Problem])
                    do {
                        outcome = try await world.outcome(
                            of: payload.description, into: RandomCase.entityNames[0], isChange: tried.areChanges)
                        denials.insert(false)
                    } catch StoreError.deletionDenied {
                        denials.insert(true)
                        continue
                    } catch {
                        return await found.set("error", "\(error)")
                    }
                    let repeats = payload.repeatsIdentity
                    let problem = outcome.problems.first {
                        tried.isConsistent || !$0.isOfSecondSync && !(repeats && $0 == .secondSyncLeavesOtherObjects)
                    }
                    if let problem { return await found.set("\(problem)", "\(payload)") }
                    let stored = try await world.objects(of: tried)
                    let (drift, objects) = (outcome.result.drift, tried.comparable(stored, after: payload))
                    // Of three statements about one link, the second one contradicts the first, and
                    // the third one that or nothing.
                    let isCounted = !repeats && !tried.relations.contains { $0.isSymmetric && !$0.source.isToMany }
                    let conflictCount = isCounted || tried.isConsistent ? drift.count(of: .conflict) : 0
                    if tried.isConsistent {
                        if conflictCount > 0 { return await found.set("conflict", "\(drift.entries)") }
                        let failures = tried.failures(stored, after: payload)
                        if !failures.isEmpty { return await found.set("not as stated", "\(failures)") }
                    }
                    let orphans = try await world.orphans(of: tried)
                    if !orphans.isEmpty { return await found.set("orphans", "\(orphans) \(stored)") }
                    let lost = tried.failuresOfList(stored, after: payload)
                    if !lost.isEmpty { return await found.set("not as the list states", "\(lost)") }
                    if let first, first.objects != objects {
                        return await found.set("objects", "\(first.objects) \(objects)")
                    }
                    if let first, first.conflictCount != conflictCount {
                        return await found.set("conflicts", "\(first.conflictCount) \(drift.entries)")
                    }
                    first = (objects, conflictCount)
                }
                if denials.count > 1 { return await found.set("denials", "\(payload)") }
            }
        }
        return await found.problem
    }

    private actor Found {
        private(set) var problem: (kind: String, detail: String)?

        func set(_ kind: String, _ detail: String) { problem = (kind, detail) }
    }
}

/// The objects that a store has, by entity and identifier.
private typealias Objects = [String: [Int: RandomCase.Statement]]

extension RealJSONWorld {
    /// The parts that are stored and no object contains, by entity.
    fileprivate func orphans(of tried: RandomCase) async throws -> [String: [ObjectID]] {
        try await store.store.read { reader in
            var orphans: [String: [ObjectID]] = [:]
            for name in tried.entities.filter(RandomCase.isPart).map({ RandomCase.entityNames[$0] }) {
                var parts = Set(try await reader.records(StoreQuery(name)).map(\.object))
                for relation in tried.relations where RandomCase.entityNames[relation.target.entity] == name {
                    let source = try reader.model.layout(of: RandomCase.entityNames[relation.source.entity])
                    guard let relationship = source.relationship(relation.source.name) else { continue }
                    let owners = try await reader.records(StoreQuery(source.name)).map(\.object)
                    for link in try await reader.links(relationship, of: owners) { parts.remove(link.target) }
                }
                if !parts.isEmpty { orphans[name] = parts.sorted() }
            }
            return orphans
        }
    }

    fileprivate func objects(of tried: RandomCase) async throws -> Objects {
        try await store.store.read { reader in
            var objects: Objects = [:]
            var numbers: [Int: [ObjectID: Int]] = [:]
            var layouts: [(layout: EntityLayout, objects: [ObjectID])] = []
            // Owners come before their parts.
            for index in tried.entities where index != RandomCase.sub {
                let layout = try reader.model.layout(of: RandomCase.entityNames[index])
                let records = try await reader.records(StoreQuery(layout.name))
                layouts.append((layout, records.map(\.object)))
                var owners: [ObjectID: Int] = [:]
                for relation in tried.relations where relation.target.entity == index && relation.isOfParts {
                    let owner = layouts[RandomCase.root(of: relation.source.entity)]
                    let source = try reader.model.layout(of: RandomCase.entityNames[relation.source.entity])
                    guard let relationship = source.relationship(relation.source.name) else { continue }
                    for link in try await reader.links(relationship, of: owner.objects) {
                        owners[link.target] = numbers[owner.layout.index]?[link.source]
                    }
                }
                for stored in records {
                    let (id, rank) = (stored.record["id"].number ?? 0, stored.record["rank"].number)
                    let number =
                        switch index {
                        case RandomCase.plain: rank ?? 0
                        case RandomCase.scoped:
                            RandomCase.number(of: index, id: id, partOf: owners[stored.object] ?? 9)
                        default: id
                        }
                    numbers[layout.index, default: [:]][stored.object] = number
                    objects[layout.name, default: [:]][number] = RandomCase.Statement(
                        rank: rank, targets: Dictionary(layout.relationships.map { ($0.name, []) }) { $1 })
                }
            }
            if tried.entities.contains(RandomCase.sub) {
                let layout = try reader.model.layout(of: RandomCase.entityNames[RandomCase.sub])
                let found = try await reader.records(StoreQuery(layout.name)).map(\.object)
                numbers[layout.index] = numbers[layout.root]
                layouts.append((layout, found))
                for object in found {
                    guard let number = numbers[layout.root]?[object] else { continue }
                    objects[layout.name, default: [:]][number] = RandomCase.Statement()
                }
            }
            for (layout, found) in layouts {
                for relationship in layout.relationships where relationship.source == layout.index {
                    for link in try await reader.links(relationship, of: found) {
                        guard let source = numbers[layout.index]?[link.source],
                            let target = numbers[relationship.destination]?[link.target]
                        else { continue }
                        let root = reader.model.layouts[layout.root].name
                        objects[root]?[source]?.targets[relationship.name, default: []].append(target)
                    }
                }
            }
            return objects
        }
    }
}

extension AttributeValue {
    fileprivate var number: Int? {
        if case .int(let number) = self { Int(number) } else { nil }
    }
}

extension RandomCase {
    /// The objects, in the order of their lists only where a payload states it.
    fileprivate func comparable(_ objects: Objects, after payload: Node) -> Objects {
        let statements = statements(of: payload)
        var comparable = objects
        for (index, name) in Self.entityNames.enumerated() {
            for (id, object) in objects[name] ?? [:] {
                for (key, targets) in object.targets
                where !isOrdered(key) || statements[index][id]?.targets[key] == nil {
                    comparable[name]?[id]?.targets[key] = targets.sorted()
                }
            }
        }
        return comparable
    }

    /// What the elements of a list state and the objects lack, whatever nested objects state: ranks
    /// and relationships that other elements of the list cannot contradict.
    fileprivate func failuresOfList(_ objects: Objects, after payload: Node) -> [String] {
        guard case .list(let nodes) = payload, !payload.repeatsIdentity else { return [] }
        let comparable = comparable(objects, after: payload)
        var failures: [String] = []
        for case .object(let id, let fields) in nodes {
            for field in fields {
                let object = comparable[Self.entityNames[0]]?[id]
                if case .number(let rank) = field.value, field.key == "rank", object?.rank != rank {
                    failures.append("\(id).rank")
                }
                guard isDecidedByList(field.property), let destination = destination(of: field.property) else {
                    continue
                }
                let known = comparable[Self.entityNames[destination]] ?? [:]
                let stated = Self.ids(of: field.value).filter { known[$0] != nil }
                if (object?.targets[field.property] ?? []).sorted() != stated.sorted() {
                    failures.append("\(id).\(field.property) is \(object?.targets[field.property] ?? [])")
                }
            }
        }
        return failures
    }

    /// Whether only one element of a list can state a link.
    private func isDecidedByList(_ property: String) -> Bool {
        relations.contains { relation in
            let ends = [(relation.source, relation.target), (relation.target, relation.source)]
            return ends.contains { end, other in
                end.name == property && [1, 2, Self.sub].contains(other.entity)
                    && (!relation.hasInverse || other.isToMany)
            }
        }
    }

    /// What a consistent payload states and the objects lack.
    fileprivate func failures(_ objects: Objects, after payload: Node) -> [String] {
        let comparable = comparable(objects, after: payload)
        var failures: [String] = []
        for (index, (name, statements)) in zip(Self.entityNames, statements(of: payload)).enumerated() {
            let stored = comparable[name] ?? [:]
            if index == 0, !areChanges, Set(stored.keys) != Set(statements.keys) {
                failures.append("\(name) has \(stored.keys)")
            }
            for (id, statement) in statements {
                guard let object = stored[id] else {
                    failures.append("\(name) \(id) is missing")
                    continue
                }
                if let rank = statement.rank, object.rank != rank { failures.append("\(name) \(id).rank") }
                for (key, targets) in statement.targets {
                    let destination = destination(of: key).map { comparable[Self.entityNames[$0]] ?? [:] } ?? [:]
                    let expected = targets.filter { destination[$0] != nil }
                    if object.targets[key] ?? [] != (isOrdered(key) ? expected : expected.sorted()) {
                        failures.append("\(name) \(id).\(key) is \(object.targets[key] ?? [])")
                    }
                }
            }
        }
        return failures.sorted()
    }
}
