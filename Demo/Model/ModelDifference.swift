import SyncModel

/// The differences between the model of a database and another one, each as one line.
struct ModelDifference {
    private(set) var lines: [String] = []
    /// Whether the other model lacks entities or properties that the database stores.
    private(set) var hasDrops = false

    /// Compares two models. Bookkeeping does not count.
    init(from old: DataModel, to new: DataModel) {
        let former = Dictionary(old.dataEntities.map { ($0.name, $0) }) { first, _ in first }
        var kept: Set<String> = []
        for entity in new.dataEntities {
            guard let found = former[entity.name] ?? entity.formerName.flatMap({ former[$0] }) else {
                lines.append("\(entity.name) is new")
                continue
            }
            kept.insert(found.name)
            if found.name != entity.name { lines.append("\(found.name) is \(entity.name) now") }
            compare(Self.properties(of: found, in: former), Self.properties(of: entity, in: [:]), of: entity.name)
        }
        for name in old.dataEntities.map(\.name) where !kept.contains(name) { drop(name, isStored: true) }
    }

    private mutating func drop(_ name: String, isStored: Bool) {
        lines.append("\(name) is dropped")
        if isStored { hasDrops = true }
    }

    /// A property, and what it holds.
    private struct Property {
        let name: String
        let formerName: String?
        let content: String
        /// Whether the database has something for it: not for the other side of a to-one
        /// relationship.
        var isStored = true
    }

    private static func properties(of entity: SyncEntity, in entities: [String: SyncEntity]) -> [Property] {
        let attributes = entity.attributes.map {
            Property(name: $0.name, formerName: $0.formerName, content: $0.type.rawValue)
        }
        let relationships = entity.relationships.map {
            Property(
                name: $0.name, formerName: $0.formerName,
                content: $0.isToMany ? "a list of \($0.destination)" : $0.destination,
                isStored: !$0.isToMany || $0.isOrdered || isInverseToMany($0, in: entities))
        }
        return attributes + relationships
    }

    /// Whether the inverse of a relationship is a list, too, or missing.
    private static func isInverseToMany(_ relationship: SyncRelationship, in entities: [String: SyncEntity]) -> Bool {
        entities[relationship.destination]?.relationships.first { $0.name == relationship.inverse }?.isToMany ?? true
    }

    private mutating func compare(_ old: [Property], _ new: [Property], of entity: String) {
        let former = Dictionary(old.map { ($0.name, $0) }) { first, _ in first }
        var kept: Set<String> = []
        for property in new {
            let place = "\(entity).\(property.name)"
            guard let found = former[property.name] ?? property.formerName.flatMap({ former[$0] }) else {
                lines.append("\(place) is new: \(property.content)")
                continue
            }
            kept.insert(found.name)
            if found.name != property.name { lines.append("\(entity).\(found.name) is \(property.name) now") }
            if found.content != property.content {
                lines.append("\(place) is \(property.content) now, no longer \(found.content)")
            }
        }
        for property in old where !kept.contains(property.name) {
            drop("\(entity).\(property.name)", isStored: property.isStored)
        }
    }
}
