import OneWayTestSupport
import SyncModel

/// A random model of entities that are related in every way, and random payloads for it.
///
/// A payload is rendered from links between objects, so it agrees with itself; or each of its
/// objects from links of its own, so that it contradicts itself.
struct RandomGraph {
    typealias Relation = RandomCase.Relation

    private static let ids = 1...4

    private var relations: [Relation] = []
    private var random: SeededRandom
    /// The links of each relation, in order.
    private var links: [[(source: Int, target: Int)]] = []
    /// Whether all objects of a payload agree with each other.
    private let isConsistent: Bool

    /// Random relationships, and payloads for them.
    static func make(seed: UInt64, isConsistent: Bool) -> RandomCase {
        var graph = RandomGraph(random: SeededRandom(seed: seed), isConsistent: isConsistent)
        for number in 0..<Int.random(in: 2...5, using: &graph.random) { graph.relations.append(graph.relation(number)) }
        for part in [RandomCase.scoped, RandomCase.plain] where graph.chance(40) { graph.addParts(part) }
        if graph.chance(40) { graph.addSubentity() }
        let payloads = (0..<3).map { _ in graph.payload() }
        return RandomCase(relations: graph.relations, payloads: payloads, isConsistent: isConsistent)
    }

    private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

    private mutating func relation(_ number: Int) -> Relation {
        let entity = chance(60) ? 0 : Int.random(in: 0...2, using: &random)
        let destination = Int.random(in: 0...2, using: &random)
        let isToMany = chance(60)
        let isSymmetric = entity == destination && chance(20)
        let isInverseToMany = isSymmetric ? isToMany : chance(50)
        return Relation(
            source: Relation.End(
                entity: entity, name: "r\(number)", isToMany: isToMany,
                isOrdered: isToMany && !isSymmetric && chance(30)),
            target: Relation.End(
                entity: destination, name: isSymmetric ? "r\(number)" : "s\(number)", isToMany: isInverseToMany,
                isOrdered: isInverseToMany && !isSymmetric && chance(30)),
            hasInverse: isSymmetric || chance(70), isSymmetric: isSymmetric,
            deleteRule: chance(30) ? .cascade : chance(5) ? .deny : .nullify, owns: !isSymmetric && chance(15),
            isMandatory: !isToMany && !isSymmetric && chance(15))
    }

    /// Gives relationships of the base entity to its sub-entity.
    private mutating func addSubentity() {
        for index in relations.indices where !relations[index].isSymmetric {
            if relations[index].source.entity == RandomCase.base, chance(50) {
                relations[index].source.entity = RandomCase.sub
            }
            if relations[index].target.entity == RandomCase.base, chance(40) {
                relations[index].target.entity = RandomCase.sub
            }
        }
    }

    /// Adds an entity whose objects are parts of one other object, and what it leads to.
    private mutating func addParts(_ part: Int) {
        let isNested = part == RandomCase.plain && relations.contains { $0.target.entity == RandomCase.scoped }
        let owner = isNested && chance(40) ? RandomCase.scoped : chance(60) ? 0 : Int.random(in: 1...2, using: &random)
        let (number, isToMany) = (relations.count, chance(75))
        relations.append(
            Relation(
                source: Relation.End(
                    entity: owner, name: "r\(number)", isToMany: isToMany, isOrdered: isToMany && chance(30)),
                target: Relation.End(entity: part, name: "s\(number)", isToMany: false, isOrdered: false),
                hasInverse: part == RandomCase.scoped || chance(50), isSymmetric: false,
                deleteRule: chance(30) ? .cascade : .nullify, owns: chance(30)))
        for _ in 0..<Int.random(in: 0...2, using: &random) {
            var relation = relation(relations.count)
            if relation.isSymmetric { continue }
            relation.source.entity = part
            relations.append(relation)
        }
    }

    private init(random: SeededRandom, isConsistent: Bool) {
        self.random = random
        self.isConsistent = isConsistent
    }

    // MARK: Links

    /// The numbers of all objects of an entity.
    private func numbers(of entity: Int) -> [Int] {
        if entity == RandomCase.sub { return Self.ids.filter { !$0.isMultiple(of: 2) } }
        guard RandomCase.isPart(entity) else { return Array(Self.ids) }
        let owner = relations.first { $0.target.entity == entity }?.source.entity ?? 0
        return numbers(of: owner).flatMap { owner in
            (1...2).map { RandomCase.number(of: entity, id: $0, partOf: owner) }
        }
    }

    private mutating func relink() {
        links = relations.indices.map { index in
            let relation = relations[index]
            var links: [(source: Int, target: Int)] = []
            for source in numbers(of: relation.source.entity).shuffled(using: &random) {
                for target in numbers(of: relation.target.entity).shuffled(using: &random) where chance(35) {
                    if relation.isOfParts, RandomCase.owner(of: target) != source { continue }
                    let sources = relation.isSymmetric ? links + links.map { ($0.target, $0.source) } : links
                    if sources.contains(where: { $0 == (source, target) }) { continue }
                    if !relation.source.isToMany, sources.contains(where: { $0.source == source }) { continue }
                    if relation.hasInverse, !relation.target.isToMany,
                        sources.contains(where: { $0.target == target })
                    {
                        continue
                    }
                    links.append((source, target))
                }
            }
            return links
        }
    }

    private func targets(_ relation: Int, isForward: Bool, of id: Int) -> [Int] {
        let links = links[relation]
        let forward = links.filter { $0.source == id }.map(\.target)
        let back = links.filter { $0.target == id }.map(\.source)
        if relations[relation].isSymmetric { return forward + back.filter { !forward.contains($0) } }
        return isForward ? forward : back
    }

    // MARK: Payloads

    /// A list of objects of the first entity.
    private mutating func payload() -> RandomCase.Node {
        relink()
        var ids = Array(Self.ids.shuffled(using: &random).prefix(Int.random(in: 0...4, using: &random)))
        if !isConsistent, chance(20), let first = ids.first { ids.append(first) }
        return .list(ids.map { object(0, $0, depth: 0) })
    }

    private mutating func object(_ entity: Int, _ id: Int, depth: Int) -> RandomCase.Node {
        if !isConsistent, chance(40) { relink() }
        var fields: [RandomCase.Field] = []
        // Objects without an identity are equal if all that is said of them is.
        let isWhole = isConsistent && entity == RandomCase.plain
        if entity != RandomCase.plain, chance(40) {
            fields.append(
                RandomCase.Field("rank", .number(isConsistent ? id % 10 : Int.random(in: 1...2, using: &random))))
        }
        var entities = [RandomCase.root(of: entity)]
        if entities == [RandomCase.base], relations.contains(where: \.hasSubentity) {
            var isSub = !id.isMultiple(of: 2)
            // A place for objects of the sub-entity does not look for others.
            let varies = !relations.contains(where: \.leadsToSubentity)
            if !isConsistent, varies, chance(30) { isSub.toggle() }
            if !varies || chance(70) {
                fields.append(RandomCase.Field("kind", .number(isSub ? 1 : 0)))
                if isSub { entities.append(RandomCase.sub) }
            }
        }
        for (relation, isForward, end, other) in entities.flatMap(ends) where isWhole || chance(depth == 0 ? 70 : 45) {
            let isNested = RandomCase.isPart(other) || !isWhole && chance(65)
            if isNested, depth >= 3 { continue }
            let targets = targets(relation, isForward: isForward, of: id)
            let values = targets.map { isNested ? object(other, $0, depth: depth + 1) : .number($0) }
            let key = isNested ? end.name : end.name + (end.isToMany ? "_ids" : "_id")
            fields.append(RandomCase.Field(key, end.isToMany ? .list(values) : values.first ?? .null))
        }
        return .object(id, fields.shuffled(using: &random))
    }

    private func ends(of entity: Int) -> [(relation: Int, isForward: Bool, end: Relation.End, other: Int)] {
        relations.enumerated().flatMap { index, relation in
            var ends: [(relation: Int, isForward: Bool, end: Relation.End, other: Int)] = []
            if relation.source.entity == entity { ends.append((index, true, relation.source, relation.target.entity)) }
            // Only its owner can name a part.
            let isOfParts = RandomCase.isPart(relation.source.entity) && !relation.isOfParts
            if relation.target.entity == entity, relation.hasInverse, !relation.isSymmetric, !isOfParts {
                ends.append((index, false, relation.target, relation.source.entity))
            }
            return ends
        }
    }
}
