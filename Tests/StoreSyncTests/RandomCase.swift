import JSONMapper
import SyncModel

/// Payloads for a model of up to six entities, and simpler ones of the same kind.
///
/// An object is a number. Those of the first three entities are their identities. Objects of the
/// next two are parts of one other object, their owner: see ``number(of:id:partOf:)``. The last one
/// is a sub-entity of the second, for objects with an odd number.
struct RandomCase: Sendable {
    /// A relationship with its inverse, if it has one.
    struct Relation: Sendable {
        struct End: Sendable {
            var entity: Int
            var name: String
            var isToMany: Bool
            var isOrdered: Bool
        }

        var source: End
        var target: End
        var hasInverse: Bool
        /// Whether the relationship is its own inverse.
        var isSymmetric: Bool
        var deleteRule: SyncRelationship.DeleteRule
        var owns: Bool
        /// Whether the source needs a target.
        var isMandatory = false

        /// Whether it leads from objects to their parts.
        var isOfParts: Bool { RandomCase.isPart(target.entity) }

        var hasSubentity: Bool { [source.entity, target.entity].contains(RandomCase.sub) }

        var leadsToSubentity: Bool {
            target.entity == RandomCase.sub || hasInverse && source.entity == RandomCase.sub
        }
    }

    /// JSON of a payload. An object has its number and other fields.
    indirect enum Node: Sendable, CustomStringConvertible {
        case null
        case number(Int)
        case list([Node])
        case object(Int, [Field])

        /// Whether a list has an object twice.
        var repeatsIdentity: Bool {
            guard case .list(let nodes) = self else { return false }
            let ids = RandomCase.ids(of: self)
            return Set(ids).count < nodes.count
        }

        var description: String {
            switch self {
            case .null: "null"
            case .number(let number): "\(number % 10)"
            case .list(let nodes): "[\(nodes.map(\.description).joined(separator: ","))]"
            case .object(let id, let fields):
                "{\(([id < 100 ? "\"id\":\(id % 10)" : "\"rank\":\(id)"] + fields.map(\.description)).joined(separator: ","))}"
            }
        }
    }

    struct Field: Sendable, CustomStringConvertible {
        var key: String
        var value: Node

        init(_ key: String, _ value: Node) {
            self.key = key
            self.value = value
        }

        var description: String { "\"\(key)\":\(value)" }

        /// The name of the attribute or relationship.
        var property: String { String(key.prefix { $0 != "_" }) }
    }

    static let entityNames = ["Ant", "Bee", "Cat", "Egg", "Dot", "Fly"]
    /// The entity whose objects have an identity among the parts of their owner.
    static let scoped = 3
    /// The entity whose objects have no identity. Their attribute `rank` has their number.
    static let plain = 4
    /// The entity of which ``sub`` is a sub-entity. Its objects name theirs by the key `kind`.
    static let base = 1
    static let sub = 5

    static func isPart(_ entity: Int) -> Bool { entity == scoped || entity == plain }

    /// The entity under whose numbers an object is known.
    static func root(of entity: Int) -> Int { entity == sub ? base : entity }

    static func number(of entity: Int, id: Int, partOf owner: Int) -> Int {
        (entity == plain ? 100 : 0) + owner * 10 + id
    }

    static func owner(of number: Int) -> Int { (number >= 100 ? number - 100 : number) / 10 }

    var relations: [Relation]
    var payloads: [Node]
    /// Whether no statement of a payload contradicts another one of it.
    var isConsistent: Bool
    /// Whether each payload has changed objects, and not all of them.
    var areChanges = false

    func model() throws -> DataModel {
        try DataModel(
            entities.map { index in
                @DataModel.Builder<SyncEntity.Property> func properties() -> [SyncEntity.Property] {
                    if index != Self.plain, index != Self.sub { SyncAttribute("id", .int64, optional: false) }
                    if index != Self.sub { SyncAttribute("rank", .int64) }
                    for relation in relations { Self.declarations(of: relation, in: index) }
                }
                let name = Self.entityNames[index]
                switch index {
                case Self.plain: return SyncEntity(name, properties: properties)
                case Self.sub: return SyncEntity(name, parent: Self.entityNames[Self.base], properties: properties)
                case Self.scoped:
                    let scope = relations.first { $0.target.entity == index }?.target.name
                    return SyncEntity(name, identity: "id", within: scope, properties: properties)
                case Self.base where entities.contains(Self.sub):
                    return SyncEntity(
                        name, identity: "id", userInfo: ["entityMapperName": "kind"], properties: properties)
                default: return SyncEntity(name, identity: "id", properties: properties)
                }
            })
    }

    /// A mapper of the model, which knows the objects of the sub-entity.
    func mapper() throws -> RecordMapper {
        var transformers = RecordMapper.Transformers()
        transformers.registerEntityMapper("kind") { (object: JSONValue.Object) -> String? in
            switch object["kind"] {
            case .integer(0)?: Self.entityNames[Self.base]
            case .integer(1)?: Self.entityNames[Self.sub]
            default: nil
            }
        }
        var dialect = JSONDialect.sync
        dialect.annotations.entityMapper = ["entityMapperName"]
        return try RecordMapper(model(), JSONMapping(dialect: dialect, transformers: transformers))
    }

    /// The entities of the model: those of parts only if something has parts, and the sub-entity
    /// only if something has relationships of its own with it.
    var entities: [Int] {
        Self.entityNames.indices.filter { index in
            index < Self.scoped
                || relations.contains { $0.target.entity == index || index == Self.sub && $0.source.entity == index }
        }
    }

    private static func declarations(of relation: Relation, in entity: Int) -> [SyncEntity.Property] {
        func declaration(
            _ end: Relation.End, to other: Relation.End, inverse: String?, rule: SyncRelationship.DeleteRule,
            owns: Bool?, optional: Bool = true
        ) -> SyncEntity.Property {
            let destination = entityNames[other.entity]
            return .relationship(
                end.isOrdered
                    ? SyncRelationship(end.name, toOrdered: destination, inverse: inverse, deleteRule: rule, owns: owns)
                    : end.isToMany
                        ? SyncRelationship(
                            end.name, toMany: destination, inverse: inverse, deleteRule: rule, owns: owns)
                        : SyncRelationship(
                            end.name, toOne: destination, inverse: inverse, deleteRule: rule, owns: owns,
                            optional: optional))
        }
        var declarations: [SyncEntity.Property] = []
        if relation.source.entity == entity {
            declarations.append(
                declaration(
                    relation.source, to: relation.target, inverse: relation.hasInverse ? relation.target.name : nil,
                    rule: relation.deleteRule, owns: relation.owns ? true : nil, optional: !relation.isMandatory))
        }
        if relation.target.entity == entity, relation.hasInverse, !relation.isSymmetric {
            declarations.append(
                declaration(
                    relation.target, to: relation.source, inverse: relation.source.name, rule: .nullify, owns: nil))
        }
        return declarations
    }

    // MARK: Facts

    /// What a payload says of an object.
    struct Statement: Equatable {
        var rank: Int?
        /// The related objects, by the name of the relationship.
        var targets: [String: [Int]] = [:]
    }

    /// What a payload says of each object that it states, by the index of the entity.
    func statements(of payload: Node) -> [[Int: Statement]] {
        var statements: [[Int: Statement]] = Self.entityNames.map { _ in [:] }
        collect(payload, entity: 0, into: &statements)
        return statements
    }

    private func collect(_ node: Node, entity: Int, into statements: inout [[Int: Statement]]) {
        switch node {
        case .null, .number: break
        case .list(let nodes): for node in nodes { collect(node, entity: entity, into: &statements) }
        case .object(let id, let fields):
            let entity = Self.root(of: entity)
            if statements[entity][id] == nil { statements[entity][id] = Statement() }
            for field in fields {
                if case .number(let rank) = field.value, field.key == "rank" { statements[entity][id]?.rank = rank }
                guard let other = destination(of: field.property) else { continue }
                statements[entity][id]?.targets[field.property] = Self.ids(of: field.value)
                collect(field.value, entity: other, into: &statements)
            }
        }
    }

    func isOrdered(_ property: String) -> Bool {
        relations.contains { relation in
            [relation.source, relation.target].contains { $0.name == property && $0.isOrdered }
        }
    }

    func destination(of property: String) -> Int? {
        for relation in relations {
            if relation.source.name == property { return relation.target.entity }
            if relation.target.name == property { return relation.source.entity }
        }
        return nil
    }

    static func ids(of node: Node) -> [Int] {
        switch node {
        case .null: []
        case .number(let id), .object(let id, _): [id]
        case .list(let nodes): nodes.flatMap { ids(of: $0) }
        }
    }

    // MARK: Simpler cases

    /// Cases with one part less.
    var simpler: [RandomCase] {
        var cases: [RandomCase] = []
        for index in payloads.indices {
            var simpler = self
            simpler.payloads.remove(at: index)
            cases.append(simpler)
        }
        for index in relations.indices {
            var simpler = self
            var removed = [simpler.relations.remove(at: index)]
            while let index = simpler.relations.firstIndex(where: { !simpler.entities.contains($0.source.entity) }) {
                removed.append(simpler.relations.remove(at: index))
            }
            let names = removed.flatMap { [$0.source.name, $0.target.name] }
            simpler.payloads = payloads.map { Self.without($0, names) }
            cases.append(simpler)
        }
        for (index, payload) in payloads.enumerated() {
            cases += parts(of: payload, isList: true).map { part in
                var simpler = self
                simpler.payloads[index] = part
                return simpler
            }
        }
        for (index, relation) in relations.enumerated() {
            var plain = relation
            plain.deleteRule = .nullify
            plain.owns = false
            plain.isMandatory = false
            if relation.deleteRule != .nullify || relation.owns || relation.isMandatory {
                var simpler = self
                simpler.relations[index] = plain
                cases.append(simpler)
            }
            if relation.source.isOrdered {
                var simpler = self
                simpler.relations[index].source.isOrdered = false
                cases.append(simpler)
            }
            if relation.target.isOrdered {
                var simpler = self
                simpler.relations[index].target.isOrdered = false
                cases.append(simpler)
            }
        }
        return cases
    }

    private static func without(_ node: Node, _ names: [String]) -> Node {
        switch node {
        case .null, .number: node
        case .list(let nodes): .list(nodes.map { without($0, names) })
        case .object(let id, let fields):
            .object(
                id,
                fields.filter { !names.contains($0.property) }.map { Field($0.key, without($0.value, names)) })
        }
    }

    /// A node without one of its parts. A list of related objects stays whole in a consistent
    /// payload.
    private func parts(of node: Node, isList: Bool) -> [Node] {
        switch node {
        case .null, .number: return []
        case .list(let nodes):
            var found: [Node] = []
            for (index, node) in nodes.enumerated() {
                if isList || !isConsistent {
                    var fewer = nodes
                    fewer.remove(at: index)
                    found.append(.list(fewer))
                }
                for part in parts(of: node, isList: false) {
                    var simpler = nodes
                    simpler[index] = part
                    found.append(.list(simpler))
                }
            }
            return found
        case .object(let id, let fields):
            var found: [Node] = []
            for (index, field) in fields.enumerated() {
                var fewer = fields
                fewer.remove(at: index)
                found.append(.object(id, fewer))
                for part in parts(of: field.value, isList: false) {
                    var simpler = fields
                    simpler[index].value = part
                    found.append(.object(id, simpler))
                }
            }
            return found
        }
    }
}

extension RandomCase: CustomStringConvertible {
    var description: String {
        let relations = relations.map { relation in
            func form(_ end: Relation.End) -> String {
                "\(Self.entityNames[end.entity]).\(end.name)\(end.isOrdered ? " ordered" : end.isToMany ? " many" : "")"
            }
            let inverse = relation.isSymmetric ? "itself" : relation.hasInverse ? form(relation.target) : "none"
            let rules = [
                relation.deleteRule == .nullify ? "" : " \(relation.deleteRule)", relation.owns ? " owns" : "",
                relation.isMandatory ? " mandatory" : "",
            ].joined()
            return "\(form(relation.source)) to \(Self.entityNames[relation.target.entity]), inverse \(inverse)\(rules)"
        }
        return (relations + payloads.map(\.description)).joined(separator: "\n")
    }
}
