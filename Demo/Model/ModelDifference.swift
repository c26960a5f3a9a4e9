import SyncModel
import SyncStoreSQL

/// The differences between the model of a database and another one, each as one line.
struct ModelDifference {
    private(set) var lines: [String] = []
    /// Whether the other model lacks entities or properties that the database stores.
    private(set) var hasDrops = false

    /// Compares two models. Bookkeeping does not count.
    init(from old: DataModel, to new: DataModel) {
        let (stored, wanted) = (old.dataEntities, new.dataEntities)
        let former = Dictionary(stored.map { ($0.name, $0) }) { first, _ in first }
        // As a store finds what it continues.
        let counterparts = SQLRenaming.counterparts(
            of: wanted.map { .init($0.name, formerName: $0.formerName) },
            in: stored.map { .init($0.name, formerName: $0.formerName) })
        for (entity, counterpart) in zip(wanted, counterparts) {
            guard let found = counterpart.map({ stored[$0] }) else {
                lines.append("\(entity.name) is new")
                continue
            }
            if found.name != entity.name { lines.append("\(found.name) is \(entity.name) now") }
            compare(Self.properties(of: found, in: former), Self.properties(of: entity, in: [:]), of: entity.name)
        }
        let kept = counterparts.compactMap(\.self)
        for (index, entity) in stored.enumerated() where !kept.contains(index) { drop(entity.name, isStored: true) }
        if kept != kept.sorted() { lines.append("the entities are in another order now") }
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
        /// The delete rule of a relationship; nil for an attribute.
        var deleteRule: SyncRelationship.DeleteRule?
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
                content: content(of: $0), deleteRule: $0.deleteRule,
                isStored: !$0.isToMany || $0.isOrdered || isInverseToMany($0, in: entities))
        }
        return attributes + relationships
    }

    private static func content(of relationship: SyncRelationship) -> String {
        guard relationship.isToMany else { return relationship.destination }
        return "\(relationship.isOrdered ? "an ordered list" : "a list") of \(relationship.destination)"
    }

    /// Whether the inverse of a relationship is a list, too, or missing.
    private static func isInverseToMany(_ relationship: SyncRelationship, in entities: [String: SyncEntity]) -> Bool {
        entities[relationship.destination]?.relationships.first { $0.name == relationship.inverse }?.isToMany ?? true
    }

    private mutating func compare(_ old: [Property], _ new: [Property], of entity: String) {
        let counterparts = SQLRenaming.counterparts(
            of: new.map { .init($0.name, formerName: $0.formerName) },
            in: old.map { .init($0.name, formerName: $0.formerName) })
        for (property, counterpart) in zip(new, counterparts) {
            let place = "\(entity).\(property.name)"
            guard let found = counterpart.map({ old[$0] }) else {
                lines.append("\(place) is new: \(property.content)")
                continue
            }
            if found.name != property.name { lines.append("\(entity).\(found.name) is \(property.name) now") }
            if found.content != property.content {
                lines.append("\(place) is \(property.content) now, no longer \(found.content)")
            }
            if let rule = property.deleteRule, let former = found.deleteRule, rule != former {
                lines.append("the delete rule of \(place) is \(rule.rawValue) now, no longer \(former.rawValue)")
            }
        }
        for (index, property) in old.enumerated() where !counterparts.contains(index) {
            drop("\(entity).\(property.name)", isStored: property.isStored)
        }
    }
}
